// From a coordinate to a cell of a grid that has an end: the distance from the origin, times the cells per unit of
// length, clamped to the grid and truncated. It rounds where cells/quantiser.hpp is exact, and costs four instructions
// where that one costs twenty. What makes a rounded cell good enough is that every step is monotone: for x <= y the
// cell of x is never above that of y, so a search that asks for the cells of both ends of a range misses nothing of it
// (docs/concepts.md). NaN is in cell 0.
//
// cells/clamped_axis-inl.hpp has the same steps in vector code, with the same result for every bit of x.
#pragma once

#include "base/assert.hpp"

#include <cstdint>

namespace quadrat::cells {

/// t clamped to [0, last] and truncated. `last` is representable in Integer.
template <class Integer, class T>
[[nodiscard]] constexpr Integer clamped_cell(T t, T last) {
    QUADRAT_ASSERT(last >= T{0});
    t = t > T{0} ? t : T{0};
    t = t < last ? t : last;
    return static_cast<Integer>(t);
}

/// An axis whose cells are wide enough for their inverse to be finite. All zeros, as at first: one cell.
template <class T>
struct ClampedAxis {
    T origin{};
    T inverse{};  ///< cells per unit of length
    T last{};     ///< the last cell, a whole number below 2^31

    /// The place of x in units of cells, not clamped.
    [[nodiscard]] constexpr T place(T x) const { return (x - origin) * inverse; }
    /// In [0, last], monotone in x.
    [[nodiscard]] constexpr std::int32_t cell(T x) const { return clamped_cell<std::int32_t>(place(x), last); }
};

/// An axis with cells of any positive size: where 1 / edge would overflow, the distance is first scaled up.
template <class T>
struct ScaledAxis {
    T origin{};
    T scale = 1;  ///< a power of two, so that it rounds nothing
    T inverse{};  ///< cells per unit of length, over the scale
    T last{};     ///< as of ClampedAxis

    [[nodiscard]] constexpr T place(T x) const { return (x - origin) * scale * inverse; }
    [[nodiscard]] constexpr std::int32_t cell(T x) const { return clamped_cell<std::int32_t>(place(x), last); }
};

}  // namespace quadrat::cells
