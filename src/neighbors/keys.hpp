// Cells of many points at once: the vector twin of Geometry::dense_cell, for the two passes of the dense build.
#pragma once

#include "neighbors/grid.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::neighbors {

/// The row (slab * rows + row) of n points that lie `stride` scalars apart: D for plain points, record_stride for
/// records.
template <int D, class T>
void find_rows(const Geometry<D, T>& geometry, const T* points, std::size_t stride, std::size_t n, std::uint32_t* rows);

/// The cell (row * bins + bin) of n records.
template <int D, class T>
void find_cells(const Geometry<D, T>& geometry, const Record<D, T>* records, std::size_t n, std::uint32_t* cells);

/// Scalars from one record to the next.
template <int D, class T>
inline constexpr std::size_t record_stride = sizeof(Record<D, T>) / sizeof(T);

}  // namespace quadrat::neighbors
