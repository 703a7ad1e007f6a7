// The k nearest points in a periodic box, where every image of a point counts as one: a point may come several times,
// and a home's own images are among its neighbours.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>

#include "neighbors/grid/grid.hpp"
#include "neighbors/grid/images.hpp"
#include "neighbors/nearest/kept.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace quadrat::neighbors {

/// Points and their images out to some distance from the box, in cells.
template <int D, class T>
struct ImageCells {
    Images<D, T> images;
    Grid<D, T> points;

    [[nodiscard]] std::uint64_t bytes() const {
        return points.bytes() + images.wrapped.capacity() * sizeof(Vec<D, T>) +
               (images.turns.capacity() + images.shift.capacity()) * sizeof(Shift) +
               images.source.capacity() * sizeof(std::uint32_t);
    }
};
template <int D, class T>
using KeptImages = Kept<ImageCells<D, T>, T>;  ///< by that distance

template <int D, class T>
class TreeOnDemand;

template <int D, class T>
struct NearestImages {
    const Lattice<D, T>& lattice;
    const Images<D, T>& points;             ///< wrapped, with their turns
    std::span<const std::uint8_t> erased;   ///< by index of points; empty when none is
    const Images<D, T>& homes;              ///< the same as points, or wrapped queries
    std::span<const std::uint8_t> skipped;  ///< by index of homes: rows that stay empty; empty when there are none
    bool own;                               ///< homes are the points: a home is not its own neighbour
    std::uint32_t k;
    T farthest;  ///< 0: no limit
    Executor* executor;
    std::uint64_t max_bytes;
    KeptImages<D, T>& first_round;   ///< what the first round of an earlier call searched, or of this one
    const TreeOnDemand<D, T>& tree;  ///< of the same points
    const Watch& watch;
};

template <int D, class T>
struct ImageRounds {
    /// One row per home, nearest first, equal distances by index and then by shift, with distances and shifts. Throws
    /// Error{too_large} if the list or the images need more than max_bytes. Returns the number of distance tests.
    static std::uint64_t list(const NearestImages<D, T>& job, NeighborList& out);
};

}  // namespace quadrat::neighbors
