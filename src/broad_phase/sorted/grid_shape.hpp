// The shape of one grid of boxes: how coordinates become rows and bins. A row is a run of cells along x; rows are
// numbered by (y, z) cell and each is cut into x bins, finer than a cell where that is worth it. Boxes are kept in the
// cell of their lower corner (HHG 2.3, figure 5).
//
// Departures from HHG 3.2: an axis is either clamped to the bounds of the data (a dense grid, where the world fits) or
// wrapped by a power of two as in the paper (where it does not); x is never wrapped, so that neighbours along x are one
// contiguous range. What makes either exact is one rule on quantised values (docs/concepts.md): a box
// belongs to a grid only if cell(hi) - cell(lo) <= reach on every axis. Quantisation is monotone, so two boxes that
// overlap are then at most `reach` cells apart, whatever was rounded.
#pragma once

#include "cells/clamped_axis.hpp"

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace quadrat::broad_phase {

/// One axis of a grid. cell() is monotone for all finite x; it gives cells before wrapping, [0, last].
template <class T>
struct Axis : cells::ScaledAxis<T> {
    std::int32_t count = 1;  ///< number of cells, a power of two if wrapped
    std::int32_t mask = -1;  ///< count - 1 if wrapped, all ones if clamped: cell & mask is where a cell is kept
    std::int32_t reach = 1;  ///< largest legal cell(hi) - cell(lo)

    [[nodiscard]] bool wrapped() const { return mask != -1; }
    [[nodiscard]] double edge() const { return 1 / double(this->inverse) / double(this->scale); }
    [[nodiscard]] double cells_along(double length) const {
        return length * double(this->inverse) * double(this->scale);
    }
};

template <int D, class T>
struct GridDemand;

/// How an axis that would need more cells than there is memory for is cut down.
enum class Overflow { enlarge, wrap };

template <int D, class T>
struct GridShape {
    /// A shape with at most max(64, 2 * objects) cells (times a small constant) for boxes of at most the demanded size.
    [[nodiscard]] static GridShape fitting(const GridDemand<D, T>& demand, Overflow overflow);

    Axis<T> axis[D];
    std::uint32_t rows = 1;  ///< y cells, times z cells in 3D
    /// log2 of the rows per slab: a run of rows that one pass of the sort fits into the cache.
    std::uint32_t slab_shift = 0;
    std::uint32_t slabs = 1;
    Box<D, T> inside = everywhere();  ///< boxes that are not inside are not taken

    [[nodiscard]] static constexpr Box<D, T> everywhere() {
        Box<D, T> all;
        for (int k = 0; k < D; ++k) {
            all.lo[k] = -std::numeric_limits<T>::infinity();
            all.hi[k] = std::numeric_limits<T>::infinity();
        }
        return all;
    }
    [[nodiscard]] bool bounded() const { return inside.lo[0] > -std::numeric_limits<T>::infinity(); }
    [[nodiscard]] std::uint32_t bins() const { return static_cast<std::uint32_t>(axis[0].count); }
    [[nodiscard]] std::uint32_t rows_per_slab() const { return 1u << slab_shift; }
    [[nodiscard]] std::size_t cells() const { return std::size_t{rows} * bins(); }
    [[nodiscard]] bool wrapped() const {
        bool any = false;
        for (const Axis<T>& a : axis) any |= a.wrapped();
        return any;
    }

    /// The row of unwrapped cells (y, z).
    [[nodiscard]] std::uint32_t row(const std::int32_t (&cell)[D]) const {
        auto r = static_cast<std::uint32_t>(cell[D - 1] & axis[D - 1].mask);
        if constexpr (D == 3)
            r = r * static_cast<std::uint32_t>(axis[1].count) + static_cast<std::uint32_t>(cell[1] & axis[1].mask);
        return r;
    }

    /// Quantises both corners; false if the box is too large for this grid, or not inside.
    [[nodiscard]] bool quantise(const Box<D, T>& box, std::int32_t (&lo)[D]) const {
        std::int32_t excess = 0;
        bool in = true;
        for (int k = 0; k < D; ++k) {
            lo[k] = axis[k].cell(box.lo[k]);
            excess |= axis[k].reach - (axis[k].cell(box.hi[k]) - lo[k]);
            in = in && box.lo[k] >= inside.lo[k] && box.hi[k] <= inside.hi[k];
        }
        return in && excess >= 0;
    }
};

/// What is known of a set of boxes before a grid is made for it.
template <int D, class T>
struct GridDemand {
    std::size_t objects = 0;
    Vec<D, T> first_corner{};  ///< smallest lower corner, axis by axis
    Vec<D, T> last_corner{};   ///< largest lower corner
    Vec<D, T> largest{};       ///< largest size

    /// Counts nothing: objects is what the caller makes of a sample.
    void include(const Box<D, T>& box, bool first) {
        for (int k = 0; k < D; ++k) {
            first_corner[k] = first ? box.lo[k] : std::min(first_corner[k], box.lo[k]);
            last_corner[k] = first ? box.lo[k] : std::max(last_corner[k], box.lo[k]);
            largest[k] = first ? box.hi[k] - box.lo[k] : std::max(largest[k], box.hi[k] - box.lo[k]);
        }
    }
};

}  // namespace quadrat::broad_phase
