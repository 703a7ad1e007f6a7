// Coordinates of 16 bits for the search inside one grid: the position of a corner in fractions of a cell, modulo 2^16.
// Within the neighbourhood of a cell differences of such coordinates are true differences, so six subtractions compare
// two boxes, for sixteen candidates at once where eight floats would fit. Quantisation is monotone: a positive
// difference is certain, a negative one too, and only zero asks for the coordinates of the caller. The answer is
// therefore the exact one, for float and double alike.
#pragma once

#include "broad_phase/sorted/grid_shape.hpp"
#include "broad_phase/sorted/kernels/record_kernel.hpp"
#include "cells/clamped_axis.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::broad_phase {

/// Its cells are units of a fine coordinate; everything beyond the grid has the last one.
template <class T>
struct FineAxis : cells::ScaledAxis<T> {
    /// The low 16 of up to 30 bits:  cccccccccccccc|uuuuuuuuuuuuuuuu
    [[nodiscard]] std::uint16_t operator()(T x) const {
        return static_cast<std::uint16_t>(static_cast<std::uint32_t>(this->cell(x)));
    }
};

template <int D, class T>
struct FineGrid {
    FineAxis<T> axis[D];
    /// Differences along x are true among boxes whose lower corners lie in so many consecutive bins. Beyond, a box that
    /// is far away may look near, but never the other way round.
    std::int32_t longest = 0;

    /// For a grid of that shape, which is not wrapped, with so many objects.
    [[nodiscard]] static FineGrid of(const GridShape<D, T>& shape, std::size_t objects);
};

/// A box in fine coordinates, and what else is known of it: half a cache line, so that a record finds its place with
/// one access to memory.
struct alignas(32) FineRecord {
    std::uint16_t part[8];  ///< lo on each axis, then the negative of hi on each axis; the rest means nothing
    std::uint32_t id;
    std::uint32_t bin;   ///< of the lower corner, within the slab
    std::uint32_t from;  ///< place in the partition
};

/// Each of the n numbers becomes the sum of itself and those before it.
void sum_up(std::uint32_t* numbers, std::size_t n);

/// The vector code of fine_scatter.cpp for one kind.
template <int D, class T>
struct FineScatterKernel {
    void (*scatter)(const FineGrid<D, T>& fine, const Record<D, T>* records, std::uint32_t n, std::uint32_t from,
                    std::uint32_t* next, FineRecord* to);
};
[[nodiscard]] const base::PerKind<FineScatterKernel>& fine_scatter_kernels();

/// Puts n records, the first of which is at place `from` of the partition, into the order of their bins; next[b] is the
/// place of the next record of bin b.
template <int D, class T>
void fine_scatter(const FineGrid<D, T>& fine, const Record<D, T>* records, std::uint32_t n, std::uint32_t from,
                  std::uint32_t* next, FineRecord* to) {
    fine_scatter_kernels().get<D, T>().scatter(fine, records, n, from, next, to);
}

/// Takes n records apart into their ids and columns, `stride` apart, of numbers less one: a sum of a record's and a
/// column's part is then negative where corners coincide. Writes up to seven elements behind the last one of a column.
void fine_columns(const FineRecord* records, std::size_t n, std::size_t columns, std::uint16_t* to, std::size_t stride,
                  std::uint32_t* ids);

}  // namespace quadrat::broad_phase
