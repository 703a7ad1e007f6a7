// The room of the k nearest. CellIndex uses Nearest, and its state holds the cells between calls (nearest_grid); the
// rest is for this room alone: nearest_search asks groups of homes in an open world, nearest_images goes round by round
// through a periodic box.
#pragma once

#include "neighbors/state.hpp"

#include <cstdint>
#include <span>

namespace quadrat::neighbors {

template <int D, class T>
struct Nearest {
    /// One row per point of the index, or per query if they are not null. What CellIndex promises of it is in its
    /// header.
    static void find(const IndexState<D, T>& state, const std::span<const Vec<D, T>>* queries, std::uint32_t k,
                     T max_distance, NeighborList& out);
};

}  // namespace quadrat::neighbors
