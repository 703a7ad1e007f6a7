// What a search for neighbours stores, and in which order.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>

#include <cstdint>
#include <span>

namespace quadrat {

/// Which order the rows of a list are stored in. Reading row i is the same in both.
enum class RowOrder : std::uint8_t {
    cell,   ///< as found, fastest
    input,  ///< row 0, 1, 2, ... without gaps: NeighborList::offsets() and indices() may be used
};

/// What find_neighbors stores. The defaults give full rows of indices and nothing else. What each option costs is in
/// docs/reference/neighbors.md.
struct NeighborOptions {
    /// Each pair once: in the row of the one that is first in order(). Of a pair and its mirror image in a periodic box
    /// the one whose image, seen from the home, has its last component that is not zero positive. The rule of the radii
    /// must be symmetric and groups must see each other, or Error{unsupported} is thrown. Default: each pair in both
    /// rows.
    bool half = false;
    /// Point i is in its own row, too. Default: it is not.
    bool self = false;
    /// How the rows lie in memory. Default: as they are found.
    RowOrder order = RowOrder::cell;
    /// What is stored beside each index, in the unit of the coordinates or its square. Default: nothing.
    DistanceKind distances = DistanceKind::none;
    /// Stores x_j - x_i, with images x_j + shift - x_i, in the unit of the coordinates. Default: not.
    bool vectors = false;
    /// Stores which periodic image it is, in whole box vectors. Default: not.
    bool shifts = false;
    /// The group of each point, 0 to 63, by index. Empty, the default: all are in group 0. With queries, too, these are
    /// the groups of the points; a query is in group 0.
    std::span<const std::uint8_t> groups = {};
    /// Bit h of searches[g] is set if rows of group g hold points of group h. Empty, the default: everyone sees
    /// everyone.
    ///
    ///     searches = {0b10, 0b11}:  rows of group 0 hold group 1 alone, rows of group 1 hold both
    std::span<const std::uint64_t> searches = {};
    /// To follow the search and to stop it. Default: nobody watches.
    Watch watch = {};
};

}  // namespace quadrat
