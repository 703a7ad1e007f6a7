// The slow lane: rows that need more than ids within one radius. The kernel gives positions of storage that may belong
// to a row; here each gets the exact test (radii per point, periodic images), the filters (groups, half lists) and what
// is stored beside the index.
#pragma once

#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "cells/neighbor_list_writer.hpp"
#include "cells/predicate.hpp"
#include "neighbors/state.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quadrat::neighbors {

/// What a search is about: homes are the points of the index, or queries. Made once per call, by Search.
template <int D, class T>
struct Job {
    const IndexState<D, T>& state;
    const Grid<D, T>& homes;
    const NeighborOptions& options;
    bool own;                         ///< homes are the points
    const Images<D, T>* home_images;  ///< of homes in a periodic box
    bool refined;                     ///< the kernel's rows are not final
    Reach<T> reach;
};

template <int D, class T>
class Refiner {
  public:
    using Segment = detail::NeighborListWriter::Segment;

    explicit Refiner(const Job<D, T>& job) : job_(job), near_(cells::NearTest<T>(T(1))) {
        if (job.own && !job.state.support.radii.empty()) return;
        one_radius_ = true;
        near_ = cells::NearTest<T>(job.state.options.radius + job.state.options.skin);
    }

    /// Writes what remains of the row of the home at `place` to entry `at` of the segment, which is null to count only.
    std::uint32_t row(std::uint32_t place, const std::uint32_t* positions, std::uint32_t count, Segment* to,
                      std::uint64_t at) {
        const IndexState<D, T>& s = job_.state;
        const NeighborOptions& o = job_.options;
        const Grid<D, T>& points = s.points;
        QUADRAT_ASSERT(place < job_.homes.size());
        const std::uint32_t i = job_.homes.ids()[place];
        const bool images = s.periodic();
        const std::uint32_t real = static_cast<std::uint32_t>(images ? s.images.real() : s.slots);
        const Vec<D, T> home = job_.homes.point(place);
        const std::uint64_t sees = o.searches.empty() ? ~std::uint64_t{0} : o.searches[job_.own ? o.groups[i] : 0];
        std::uint32_t kept = 0;
        for (std::uint32_t e = 0; e < count; ++e) {
            const std::uint32_t p = positions[e];
            QUADRAT_ASSERT(p < points.size());
            std::uint32_t j = points.ids()[p];
            Shift shift{};
            Vec<D, T> d;
            if (j >= real) {
                shift = s.images.shift[j - real];
                j = s.images.source[j - real];
                const Vec<D, T> offset = s.lattice.offset(shift);
                for (int k = 0; k < D; ++k) d[k] = (s.images.wrapped[j][k] - home[k]) + offset[k];
            } else {
                for (int k = 0; k < D; ++k) d[k] = points.axis(k)[p] - home[k];
            }
            if (!o.searches.empty() && !(sees >> o.groups[j] & 1)) continue;
            const bool itself = job_.own && j == i && shift == Shift{};
            if (itself && !o.self) continue;
            if (o.half && !itself && !first_of_pair(images, place, p, i, j, shift)) continue;
            if (!one_radius_) near_ = cells::NearTest<T>(s.radius_of(i, j));
            if (!(square(d) <= near_.radius_sq())) continue;
            if (to) store(*to, at + kept, i, j, shift, d);
            ++kept;
        }
        return kept;
    }

    /// Room for so many entries in all arrays that are stored.
    void grow(Segment& to, std::uint64_t entries) const {
        const NeighborOptions& o = job_.options;
        to.indices.grow(entries);
        if (o.distances != DistanceKind::none) to.distances.grow(entries * sizeof(T));
        if (o.vectors) to.vectors.grow(entries * sizeof(Vec<D, T>));
        if (o.shifts) to.shifts.grow(entries);
    }

  private:
    static bool first_of_pair(bool images, std::uint32_t place, std::uint32_t p, std::uint32_t i, std::uint32_t j,
                              const Shift& shift) {
        if (!images) return p > place;
        if (i != j) return i < j;
        for (int k = 2; k >= 0; --k)
            if (shift[k] != 0) return shift[k] > 0;
        return false;
    }

    T square(const Vec<D, T>& d) const {
        T sum = 0;
        for (int k = 0; k < D; ++k) {
            T c = d[k];
            if (near_.scaled()) c = c * near_.scale(0) * near_.scale(1);
            sum = k == 0 ? c * c : sum + c * c;
        }
        return sum;
    }

    void store(Segment& to, std::uint64_t at, std::uint32_t i, std::uint32_t j, Shift shift, const Vec<D, T>& d) {
        const NeighborOptions& o = job_.options;
        to.indices.data()[at] = j;
        if (o.distances != DistanceKind::none) {
            const T value = o.distances == DistanceKind::distance ? cells::length(d) : cells::length_sq(d);
            std::memcpy(to.distances.data() + at * sizeof(T), &value, sizeof(T));
        }
        if (o.vectors) std::memcpy(to.vectors.data() + at * sizeof(d), &d, sizeof(d));
        if (o.shifts) {
            // In terms of the coordinates that were given: x_j + shift - x_i.
            if (job_.state.periodic())
                for (int k = 0; k < D; ++k) shift[k] += job_.home_images->turns[i][k] - job_.state.images.turns[j][k];
            to.shifts.data()[at] = shift;
        }
    }

    const Job<D, T>& job_;
    bool one_radius_ = false;
    cells::NearTest<T> near_;
};

}  // namespace quadrat::neighbors
