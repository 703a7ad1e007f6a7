// From coordinates to the cells of a Grid. A cell is (layer, row, bin): z and y cells of at least about the radius, x
// bins a quarter of it; in 2D the rows are the y cells. The quantiser of each axis is a clamped monotone function, and
// a search asks it for the cells of a coordinate range: nothing can be missed, however the coordinates round (the +-1
// cells of exactly h of Onderik & Durikovic 2008 can miss).
#pragma once

#include "base/assert.hpp"
#include "cells/clamped_axis.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::neighbors {

/// How coordinates become cells. Axis 0 is x; row() is y in 3D; layer() is the last axis.
template <int D, class T>
struct Geometry {
    bool dense = true;
    cells::ClampedAxis<T> axes[D];  ///< cells in [0, count), when dense
    T edge[D] = {};                 ///< x: width of a bin
    std::int64_t count[D] = {};     ///< dense: how many along each axis
    T slack = 0;                    ///< more than any rounding error of a cell border

    /// Cell borders for points within lo..hi, of which there are n, and a typical search radius. subdivision: cells per
    /// radius along y and z (the paper's H); 0 chooses.
    Geometry() = default;
    Geometry(const T* bounds_lo, const T* bounds_hi, std::size_t n, double radius, unsigned subdivision);

    /// Monotone in v; in [0, count). Only if dense.
    [[nodiscard]] std::uint32_t dense_cell(T v, int axis) const {
        QUADRAT_ASSERT(dense && axis < D);
        return static_cast<std::uint32_t>(axes[axis].cell(v));
    }
    /// Monotone in v; in [0, 2^62].
    [[nodiscard]] std::int64_t sparse_cell(T v, int axis) const {
        const double origin = static_cast<double>(axes[axis].origin), inverse = static_cast<double>(axes[axis].inverse);
        return cells::clamped_cell<std::int64_t>((static_cast<double>(v) - origin) * inverse, 0x1p62);
    }
    [[nodiscard]] std::int64_t cell(T v, int axis) const { return dense ? dense_cell(v, axis) : sparse_cell(v, axis); }

    /// No point of cell c lies below this, none above upper(c).
    [[nodiscard]] T lower(std::int64_t c, int axis) const;
    [[nodiscard]] T upper(std::int64_t c, int axis) const;
};

}  // namespace quadrat::neighbors
