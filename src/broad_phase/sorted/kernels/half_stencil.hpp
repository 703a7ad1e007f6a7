// The half stencil of HHG 3.6 (figure 17), as rows along x.
#pragma once

#include "broad_phase/sorted/grid_shape.hpp"

#include <cstdint>

namespace quadrat::broad_phase {

/// Rows that a home looks into: its own, of which on average half of a cell's boxes lie behind it, and those that
/// follow it. 3D: 0.5 + 4, 2D: 0.5 + 1.
template <int D>
inline constexpr double rows_to_search = D == 3 ? 4.5 : 1.5;

/// The rows that follow `row` in the half stencil, as row numbers. Returns how many.
template <int D, class T>
std::uint32_t following_rows(const GridShape<D, T>& shape, std::uint32_t row, std::uint32_t (&rows)[4]) {
    std::uint32_t n = 0;
    const auto step = [](const Axis<T>& axis, std::int32_t c, std::int32_t by) {
        const std::int32_t next = axis.wrapped() ? (c + by) & axis.mask : c + by;
        return next >= 0 && next < axis.count ? next : -1;
    };
    if constexpr (D == 2) {
        const std::int32_t y = step(shape.axis[1], static_cast<std::int32_t>(row), 1);
        if (y >= 0) rows[n++] = static_cast<std::uint32_t>(y);
    } else {
        const std::int32_t count = shape.axis[1].count;
        const std::int32_t y = static_cast<std::int32_t>(row) % count, z = static_cast<std::int32_t>(row) / count;
        const std::int32_t up = step(shape.axis[1], y, 1), down = step(shape.axis[1], y, -1),
                           deep = step(shape.axis[2], z, 1);
        if (up >= 0) rows[n++] = static_cast<std::uint32_t>(z * count + up);
        if (deep >= 0) {
            if (down >= 0) rows[n++] = static_cast<std::uint32_t>(deep * count + down);
            rows[n++] = static_cast<std::uint32_t>(deep * count + y);
            if (up >= 0) rows[n++] = static_cast<std::uint32_t>(deep * count + up);
        }
    }
    return n;
}

}  // namespace quadrat::broad_phase
