// Options and small types that the broad phases share.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/id.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace quadrat {

/// Two objects may meet only if the group bits of each meet the mask bits of the other. The default meets every other
/// default.
struct Filter {
    std::uint32_t group = 1;          ///< the groups that the object is in, one bit each
    std::uint32_t mask = 0xffffffff;  ///< the groups that it may meet

    friend constexpr bool operator==(const Filter&, const Filter&) = default;
};

/// How update(span) brings the structure up to date (HHG 2.6).
enum class UpdateStrategy {
    sorted,      ///< sort everything into contiguous cells again; the fastest for anything but single objects
    reinsert,    ///< the paper's first strategy: clear its hash grids and insert all objects
    individual,  ///< the paper's second strategy: only objects that left their cell are moved
};

/// Options of a HashGridHierarchy. Those of the paper's hash grids (factor to row_reserve) change the speed of single
/// edits only; no option but max_bytes and watch changes a result.
struct HashGridOptions {
    /// Where bulk work runs; null: everything on the caller's thread. Must outlive the structure.
    Executor* executor = nullptr;
    /// How update(span) works.
    UpdateStrategy update = UpdateStrategy::sorted;
    /// Ratio of cell sizes of two successive grids for objects that were inserted or moved one by one. The grids of
    /// bulk updates are chosen from the sizes instead. 1.01 to 1e6.
    double factor = 2;
    /// Cells per axis of a new hash grid; a power of two, 4 to 64 (2D: 256).
    std::uint32_t initial_cells = 16;
    /// Cells per axis of a grid that has shrunk; a power of two, 4 to 64 (2D: 256).
    std::uint32_t min_cells = 4;
    /// A hash grid doubles its axes when it has more objects than cells / this; 1 to 256 (HHG 3.4: 8).
    std::uint32_t cells_per_object = 8;
    /// Objects that a new hash grid has room for at once; 0: 2 factor^D (HHG 3.9).
    std::uint32_t row_reserve = 0;
    /// Sets of at most so many objects are tested all against all (HHG 3.7). Above it grids are faster for every shape
    /// and mix of sizes that was measured (make paper-hhg, part "threshold").
    std::uint32_t all_pairs_below = 512;
    /// Bytes that a call may allocate for its result. One that would need more throws ErrorKind::too_large, which
    /// names the size, and leaves the result empty.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    /// Follows and ends find_pairs and its variants; a structure that was stopped is as it was.
    Watch watch = {};
};

/// What a HashGridHierarchy holds, and what its last find_pairs did.
struct BroadPhaseStats {
    std::uint64_t tests = 0;    ///< box tests made by the last find_pairs, for_each_pair or for_each_chunk
    std::size_t grids = 0;      ///< sorted grids, one per class of sizes
    std::size_t loose = 0;      ///< objects in the paper's hash grids: edited one by one, or of no class
    std::size_t unbounded = 0;  ///< objects in the global list (HHG 3.3)
    std::size_t bytes = 0;      ///< memory held, used or not, without results
};

}  // namespace quadrat
