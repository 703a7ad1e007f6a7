// Options and small types that the broad phases share.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/id.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace quadrat {

/// Two objects may meet only if the group bits of each meet the mask bits of the other. The default meets every other
/// default.
///
///     bullets   group 0b10, mask 0b01    do not meet each other
///     walls     group 0b01, mask 0b11    meet both
struct Filter {
    /// The groups that the object is in, one bit each. One in no group meets nothing. Default: bit 0.
    std::uint32_t group = 1;
    /// The groups that it may meet. Default: all.
    std::uint32_t mask = 0xffffffff;

    friend constexpr bool operator==(const Filter&, const Filter&) = default;
};

/// How update(span) brings the structure up to date (HHG 2.6). The last two keep all objects in the paper's own hash
/// grids, where single edits between queries find everything in place and nothing is ever sorted again.
enum class UpdateStrategy {
    sorted,      ///< sort everything into contiguous cells again; the fastest for anything but single objects
    reinsert,    ///< the paper's first strategy: clear its hash grids and insert all objects
    individual,  ///< the paper's second strategy: only objects that left their cell are moved
};

/// Options of a HashGridHierarchy. Those of the paper's hash grids (factor to row_reserve) change the speed of single
/// edits only; no option but max_bytes and watch changes a result.
struct HashGridOptions {
    /// Where bulk work runs. Must outlive the structure. Default: null, everything on the caller's thread.
    Executor* executor = nullptr;
    /// How update(span) works. Default: by sorting.
    UpdateStrategy update = UpdateStrategy::sorted;
    /// Ratio of cell sizes of two successive grids for objects that were inserted or moved one by one. The grids of
    /// bulk updates are chosen from the sizes instead. 1.01 to 1e6. Default: 2.
    double factor = 2;
    /// Cells per axis of a new hash grid; a power of two, 4 to 64 (2D: 256). Default: 16.
    std::uint32_t initial_cells = 16;
    /// Cells per axis of a grid that has shrunk; a power of two, 4 to 64 (2D: 256). Default: 4.
    std::uint32_t min_cells = 4;
    /// A hash grid doubles its axes when it has more objects than cells / this; 1 to 256. Default: 8 (HHG 3.4).
    std::uint32_t cells_per_object = 8;
    /// Objects that a new hash grid has room for at once. 0, the default: 2 factor^D (HHG 3.9).
    std::uint32_t row_reserve = 0;
    /// Sets of at most so many objects are tested all against all (HHG 3.7). Above it grids are faster for every shape
    /// and mix of sizes that was measured (make paper-hhg, part "threshold"). Any number; 0: never. Default: 512.
    std::uint32_t all_pairs_below = 512;
    /// Bytes that find_pairs, its variants and find_all may allocate for their result. A call that would need more
    /// throws ErrorKind::too_large, which names the size, and leaves the result empty. Memory of the structure itself
    /// does not count, nor do results that hold at most one entry per object or per query. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    /// Follows and ends find_pairs and its variants, and ends bulk inserts and update(), which are not reported. They
    /// then throw ErrorKind::stopped; a structure that was stopped is as it was. What `report` calls may ask the
    /// structure anything that is const. Default: nobody watches.
    Watch watch = {};
};

/// Whom a query finds.
struct QueryOptions {
    /// Objects that may meet an object of this filter. Default: nothing, and all objects are found whatever their
    /// filters.
    std::optional<Filter> filter = {};
};

/// What many queries found: one row of slots per query.
struct QueryRows {
    /// Where each row begins in `slots`; one more than there are queries, so that the last is the size of `slots`.
    std::vector<std::uint64_t> offsets;
    /// All rows behind each other.
    std::vector<std::uint32_t> slots;

    /// Number of queries.
    [[nodiscard]] std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
    /// What query i found. i: below size().
    [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t i) const {
        return std::span(slots).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
};

/// What a HashGridHierarchy holds, and what its last find_pairs did.
struct BroadPhaseStats {
    /// Box tests made by the last find_pairs, for_each_pair or for_each_chunk; of concurrent calls, of no one in
    /// particular.
    std::uint64_t tests = 0;
    /// Sorted grids, one per class of sizes, and per crowd that got its own.
    std::size_t grids = 0;
    /// Objects at rest, wherever they are kept.
    std::size_t resting = 0;
    /// Objects in the paper's hash grids: edited one by one since the last bulk update, or of no class.
    std::size_t loose = 0;
    /// Objects in the global list (HHG 3.3): infinite boxes and half-spaces. Each is tested against all.
    std::size_t unbounded = 0;
    /// Memory held, used or not, without results.
    std::size_t bytes = 0;
};

}  // namespace quadrat
