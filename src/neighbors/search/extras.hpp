// Rows with what is stored beside the indices: distances, vectors and shifts of a group, written at once where they
// stay. The kernel packs labels and squared distances into the list itself and the components of vectors into scratch;
// roots and interleaving then run over all rows of the group, which are still in the first-level cache.
#pragma once

#include "base/array.hpp"
#include "cells/neighbor_list_writer.hpp"
#include "cells/predicate.hpp"
#include "neighbors/search/search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace quadrat::neighbors {

class Extras {
  public:
    using Segment = detail::NeighborListWriter::Segment;

    /// Appends the rows of a culled group to the segment from entry `at` on, and leaves their lengths in the group.
    template <int D, class T>
    void write(const Search<D, T>& search, std::uint32_t first, Group<T>& group, std::size_t candidates, Segment& to,
               std::uint64_t at) {
        const NeighborOptions& o = search.options();
        const std::size_t room = group.size * (candidates + 2 * max_lanes);
        const bool measured = o.distances != DistanceKind::none || o.vectors;
        RowsOut<T> out{.half = o.half, .self = o.self};
        to.indices.grow(at + room);
        out.labels = to.indices.data() + at;
        if (o.distances != DistanceKind::none) {
            to.distances.grow((at + room) * sizeof(T));
            out.squared = reinterpret_cast<T*>(to.distances.data()) + at;
        } else if (measured) {
            out.squared = scratch<T>(3, room);
        }
        if (o.vectors)
            for (int k = 0; k < D; ++k) out.delta[k] = scratch<T>(k, room);
        if (o.shifts) {
            in_part_.resize_discard(group.size * group.part_count);
            out.in_part = in_part_.data();
        }
        const RowsKernel<T>& kernel = search.row_kernel();
        const std::size_t n = (measured ? kernel.measured : kernel.labels)(group, out);
        if (o.vectors) {
            to.vectors.grow((at + n) * sizeof(Vec<D, T>));
            search.rows().interleave(out.delta, n, reinterpret_cast<T*>(to.vectors.data()) + D * at);
        }
        if (o.distances == DistanceKind::distance && !search.rows().roots(out.squared, n))
            find_lengths(search, group, out, room, n);
        if (o.shifts) write_shifts(search, first, group, to, at, n);
    }

  private:
    /// Where squares left the range of the type the lengths are found from the components.
    template <int D, class T>
    void find_lengths(const Search<D, T>& search, Group<T>& group, RowsOut<T> out, std::size_t room, std::size_t n) {
        T* const distances = out.squared;
        out.squared = scratch<T>(3, room);
        for (int k = 0; k < D; ++k) out.delta[k] = scratch<T>(k, room);
        out.in_part = nullptr;
        search.row_kernel().measured(group, out);
        for (std::size_t e = 0; e < n; ++e) {
            const T square = out.squared[e];
            if (square >= std::numeric_limits<T>::min() && square <= std::numeric_limits<T>::max()) continue;
            Vec<D, T> d;
            for (int k = 0; k < D; ++k) d[k] = out.delta[k][e];
            distances[e] = cells::length(d);
        }
    }

    template <int D, class T>
    void write_shifts(const Search<D, T>& search, std::uint32_t first, const Group<T>& group, Segment& to,
                      std::uint64_t at, std::size_t n) {
        to.shifts.grow(at + n);
        Shift* shift = to.shifts.data() + at;
        const bool unturned = search.unturned();
        if (unturned &&
            std::none_of(group.parts, group.parts + group.part_count, [](const Part<T>& p) { return p.shifted; })) {
            std::fill_n(shift, n, Shift{});
            return;
        }
        const std::uint32_t* label = to.indices.data() + at;
        const std::uint32_t* count = in_part_.data();
        for (unsigned a = 0; a < group.size; ++a)
            for (std::size_t k = 0; k < group.part_count; ++k, ++count) {
                const std::int32_t* const image = group.parts[k].n;
                if (unturned)
                    std::fill_n(shift, *count, Shift{{image[0], image[1], image[2]}});
                else
                    for (std::uint32_t e = 0; e < *count; ++e)
                        shift[e] = search.shift(image, search.homes()[first + a], label[e]);
                shift += *count;
                label += *count;
            }
    }

    /// Memory number k for so many values.
    template <class T>
    T* scratch(int k, std::size_t count) {
        scratch_[k].resize_discard(count * sizeof(T));
        return reinterpret_cast<T*>(scratch_[k].data());
    }

    base::Array<unsigned char> scratch_[4];
    base::Array<std::uint32_t> in_part_;
};

}  // namespace quadrat::neighbors
