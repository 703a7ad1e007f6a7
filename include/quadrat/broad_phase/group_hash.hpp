// What touches what by group spatial hashing (Jung & Choi, GSH section 3.2): uniform cells mapped to a small number of
// voxels, n / 5 of them, where each cell may choose the emptiest of a few voxels ("group mapping"), so that no voxel
// gets crowded.
//
//     hash of a cell mod 3:  0     1     2
//     voxels                 0     1     2        a group of size 3 is one column: the cell takes the voxel of its
//                            3     4     5        column that has the fewest entries
//                            6     7     8
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace quadrat {

/// Options of a GroupHash. Only the speed depends on them, and the order of pairs; not which pairs there are.
struct GroupHashOptions {
    /// Voxels that a cell can choose from, 1..64; 1 is plain hashing. GSH uses 3 and 4. Default: 3.
    std::uint32_t group_size = 3;
    /// Number of voxels over number of objects, above 0 and at most 64; GSH finds the optimum near 1/5. There are never
    /// fewer voxels than group_size. Default: 0.2.
    double voxels_per_object = 0.2;
    /// In the unit of the coordinates, finite and at least 0. 0, the default: the longest finite side of any box at the
    /// first insertion, kept from then on (GSH 3.2).
    double cell_edge = 0;
    /// Where find_pairs runs; hashing and sorting are on the caller's thread. Must outlive the structure. Default:
    /// null, the caller's thread.
    Executor* executor = nullptr;
    /// Bytes that a call may allocate for its result. One that would need more throws ErrorKind::too_large, which names
    /// the size, and leaves the result empty. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// What a GroupHash holds, and what its last find_pairs or for_each_pair did.
struct GroupHashStats {
    std::size_t voxels = 0;    ///< number of voxels, 0 before the first insertion
    std::size_t cells = 0;     ///< cells that hold objects
    std::size_t entries = 0;   ///< (cell, object) entries
    std::size_t oversize = 0;  ///< objects that cover more than 64 cells, or are infinite: tested against all
    /// Box tests of the last find_pairs: pairs of entries that share a cell, and those of oversize objects.
    std::uint64_t tests = 0;
    /// In the unit of the coordinates, 0 before the first insertion.
    double cell_edge = 0;
    /// Memory held by boxes, entries and voxels, without results.
    std::size_t bytes = 0;
};

/// A set of boxes that can be asked for all overlapping pairs. Overlap is closed: boxes that touch overlap. Exact for
/// every input that insert() accepts, whatever the cell size. Boxes may grow or move anywhere later; topology changes
/// (fracture) mean clear() and insert(). Compiled for D = 2, 3 and T = float, double.
///
/// Take it to reproduce GSH, or for boxes of like size of which many rest; HashGridHierarchy is faster for most sets,
/// and takes single edits and queries. Holds a copy of the boxes and an entry for each cell that a box touches.
///
///     GroupHash<3, double> hash({.group_size = 4});
///     hash.insert_static(std::span<const Box3d>(ground));
///     hash.insert(std::span<const Box3d>(cloth));
///     std::vector<Pair> pairs;
///     hash.find_pairs(pairs);
///
/// Const members may be called concurrently with each other, and with no other member; the counters of stats() then
/// belong to no call in particular. One that was moved from can be assigned to or destroyed.
template <int D, class T>
class GroupHash {
  public:
    using Options = GroupHashOptions;

    /// An empty set. Throws bad_value naming an option that is out of its range.
    explicit GroupHash(const Options& options = {});
    ~GroupHash();
    GroupHash(GroupHash&&) noexcept;
    GroupHash& operator=(GroupHash&&) noexcept;

    /// Adds boxes at consecutive slots and returns the first: in an empty set box i gets slot i. The first insertion
    /// fixes the cell edge; each one sets the number of voxels. Cost: everything that moves is hashed and sorted again,
    /// O(entries log entries).
    /// boxes: no NaN, lo <= hi, or bad_value names the first bad one and nothing has changed; bounds may be infinite.
    /// At most 2^32 - 2 in all, or too_large.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// The same for objects at rest: their cells are found and sorted once, and update() skips them. They are paired
    /// with each other like all others. Cost: what is at rest is hashed and sorted again, too.
    std::uint32_t insert_static(std::span<const Box<D, T>> boxes);
    /// Moves everything that does not rest. Cost: what moves is hashed and sorted again, and merged with the rest.
    /// boxes: boxes[i] is the new box of slot i; boxes.size() == slots(). Entries of static slots are ignored and may
    /// be anything. Throws bad_shape for another size, and bad_value naming the first bad box; nothing has changed
    /// then.
    void update(std::span<const Box<D, T>> boxes);
    /// Removes all boxes and gives their memory back; the next insertion chooses the cell edge anew.
    void clear();

    /// Refills `out` with every overlapping pair, each once, first < second, in an order that depends on the boxes
    /// alone. Throws too_large beyond max_bytes, with `out` empty. Keeps the capacity of `out`. Cost: a test for every
    /// pair of boxes that share a cell, and of each oversize box with all; pairs are stored twice for a moment.
    void find_pairs(std::vector<Pair>& out) const;
    /// Calls fn(Pair) for each on the caller's thread, in the same order, storing a few thousand at a time. fn may
    /// throw, which ends the search, and must not change the structure.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        visit_pairs(
            [](void* f, std::span<const Pair> pairs) {
                for (const Pair& p : pairs) (*static_cast<std::remove_reference_t<Fn>*>(f))(p);
            },
            const_cast<void*>(static_cast<const void*>(&fn)));
    }

    /// Boxes in the set, static ones included; none is ever removed but by clear().
    [[nodiscard]] std::size_t slots() const;
    /// The same: every slot has its box.
    [[nodiscard]] std::size_t size() const { return slots(); }
    /// What is held, and what the last search cost. O(1).
    [[nodiscard]] GroupHashStats stats() const;
    /// Number of entries of each voxel (GSH figure 4); oversize objects are in none. O(voxels); empty before the first
    /// insertion.
    [[nodiscard]] std::vector<std::uint32_t> voxel_loads() const;

  private:
    struct Impl;
    void visit_pairs(void (*visit)(void*, std::span<const Pair>), void* context) const;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
