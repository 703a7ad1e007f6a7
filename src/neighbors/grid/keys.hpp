// Cells of many points at once: the vector twin of Geometry::dense_cell, for the two passes of the dense build, and the
// bounds that a geometry is made from.
//
// A key numbers the cells of the dense form as they are stored, x fastest:
//
//     row  = layer * cells[1] + y cell          3D; in 2D the row is the y cell
//     cell = row * cells[0] + x bin            position in Grid::starts()
#pragma once

#include "base/kinds.hpp"
#include "neighbors/grid/grid.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::neighbors {

/// Scalars from one record to the next.
template <int D, class T>
inline constexpr std::size_t record_stride = sizeof(Record<D, T>) / sizeof(T);

/// The vector code of keys.cpp for one kind.
template <int D, class T>
struct KeyKernel {
    /// The row of n points that lie `stride` scalars apart: D for plain points, record_stride for records. The geometry
    /// is dense, here and below.
    void (*rows)(const Geometry<D, T>&, const T* points, std::size_t stride, std::size_t n, std::uint32_t* rows);
    /// The cell of n records.
    void (*cells)(const Geometry<D, T>&, const Record<D, T>* records, std::size_t n, std::uint32_t* cells);
    /// Smallest and largest coordinate per axis of n points; false (and no bounds) if one is not finite. n > 0.
    bool (*bounds)(const T* coordinates, std::size_t n, T* lo, T* hi);
};
/// The best for this processor.
[[nodiscard]] const base::PerKind<KeyKernel>& key_kernels();

}  // namespace quadrat::neighbors
