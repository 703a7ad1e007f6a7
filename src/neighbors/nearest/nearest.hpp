// The room of the k nearest. CellIndex uses Nearest, and its state what is kept between calls; the rest is for this
// room alone: nearest_search asks groups of homes in an open world, tree_search does where points are crowded,
// nearest_images goes round by round through a periodic box, best_first (and alone) asks single homes that no radius
// fits, rank puts what they find in order, kept keeps cells and tree.
#pragma once

#include "neighbors/state.hpp"

#include "base/assert.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

namespace quadrat::neighbors {

/// The radius of a ball (of a disc, of a stretch, by the dimensions) that holds `count` of n points that fill a volume
/// evenly.
inline double even_radius(double volume, int dimensions, std::size_t n, double count) {
    QUADRAT_ASSERT(dimensions >= 1 && dimensions <= 3 && n > 0);
    constexpr double unit_ball[] = {2, std::numbers::pi, 4 * std::numbers::pi / 3};
    return std::pow(volume * count / (static_cast<double>(n) * unit_ball[dimensions - 1]), 1.0 / dimensions);
}

/// How many points the first radius should hold on average for a row of k. Of points that are spread at random, so that
/// the number within a radius is a Poisson variable, 87 % (k = 4) to 99 % (k = 64) of the homes then find their k at
/// the first try; the others ask again.
inline double expected_count(std::uint32_t k) {
    return 1.3 * static_cast<double>(k) + 1;
}

/// True if cells that would hold a few points each, were these spread about evenly, hold so many. Counted, not timed.
inline bool crowded(double crowding, std::uint32_t k) {
    // Were the points even, a bin would hold the point itself and fewer than expected_count() others: several times as
    // many are a crowd. What is chosen decides how long it takes, not what is found.
    return crowding > 4 * (expected_count(k) + 1);
}

template <int D, class T>
struct Nearest {
    /// One row per point of the index, or per query if they are not null. What CellIndex promises of it is in its
    /// header.
    static void find(const IndexState<D, T>& state, const std::span<const Vec<D, T>>* queries, std::uint32_t k,
                     T max_distance, NeighborList& out, const Watch& watch);
};

}  // namespace quadrat::neighbors
