// The points of one size class of radii. An index whose radii differ by a factor of two at most has one level;
// otherwise each level holds the points whose radius is within a factor of two (or more, where there would be too many
// levels), the largest first, in cells that fit them. A few large grains among many small ones then cost what they
// touch.
#pragma once

#include "base/array.hpp"
#include "neighbors/grid/grid.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

inline constexpr std::size_t most_levels = 16;

template <int D, class T>
struct Level {
    Grid<D, T> grid;
    base::Array<T> radii;     ///< by position in the grid, and zeros behind them; no memory when all are the same
    T largest = 0;            ///< of the radii
    std::uint32_t begin = 0;  ///< points in the levels before
};

/// Cuts the records into one list per size class, the largest radii first; none is empty.
///
/// radii: by id. smallest, largest: of them.
template <int D, class T>
[[nodiscard]] std::vector<std::vector<Record<D, T>>> by_size(std::span<const Record<D, T>> records,
                                                             std::span<const T> radii, T smallest, T largest);

}  // namespace quadrat::neighbors
