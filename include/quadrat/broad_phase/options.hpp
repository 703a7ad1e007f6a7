// Options and small types that the broad phases share.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/id.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace quadrat {

/// Two objects may meet only if the group bits of each meet the mask bits of the other.
struct Filter {
    std::uint32_t group = 1;
    std::uint32_t mask = 0xffffffff;

    friend constexpr bool operator==(const Filter&, const Filter&) = default;
};

/// How update(span) brings the structure up to date (HHG 2.6).
enum class UpdateStrategy {
    sorted,      ///< sort everything into contiguous cells again; the fastest for anything but single objects
    reinsert,    ///< the paper's first strategy: clear its hash grids and insert all objects
    individual,  ///< the paper's second strategy: only objects that left their cell are moved
};

struct HashGridOptions {
    Executor* executor = nullptr;  ///< null: everything on the caller's thread
    UpdateStrategy update = UpdateStrategy::sorted;
    /// Ratio of cell sizes of two successive grids for objects that were inserted or moved one by one. The grids of
    /// bulk updates are chosen from the sizes instead. 1.01 to 1e6.
    double factor = 2;
    std::uint32_t initial_cells = 16;    ///< per axis of a new hash grid; a power of two, 4 to 64 (2D: 256)
    std::uint32_t min_cells = 4;         ///< per axis, of a grid that has shrunk; a power of two, 4 to 64 (2D: 256)
    std::uint32_t cells_per_object = 8;  ///< a hash grid doubles its axes when objects > cells / this; 1 to 256
    std::uint32_t row_reserve = 0;       ///< objects that a new hash grid has room for at once; 0: 2 factor^D (HHG 3.9)
    /// Sets of at most so many objects are tested all against all (HHG 3.7). Above it grids are faster for every shape
    /// and mix of sizes that was measured (make paper-hhg, part "threshold").
    std::uint32_t all_pairs_below = 512;
    /// A result of find_pairs that would need more throws ErrorKind::too_large, with the size it needs.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    /// Follows and ends find_pairs; a structure that was stopped is as it was.
    Watch watch = {};
};

/// What the last find_pairs did.
struct BroadPhaseStats {
    std::uint64_t tests = 0;    ///< box tests made
    std::size_t grids = 0;      ///< sorted grids, one per class of sizes
    std::size_t loose = 0;      ///< objects in the paper's hash grids: edited one by one, or of no class
    std::size_t unbounded = 0;  ///< objects in the global list (HHG 3.3)
    std::size_t bytes = 0;      ///< memory held, used or not, without results
};

}  // namespace quadrat
