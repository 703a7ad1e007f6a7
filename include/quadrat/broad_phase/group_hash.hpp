// What touches what by group spatial hashing (Jung & Choi, GSH section 3.2): uniform cells mapped to a small number of
// voxels, n / 5 of them, where each cell may choose the emptiest of a few voxels ("group mapping"), so that no voxel
// gets crowded.
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

/// How the objects of a voxel are compared.
enum class VoxelOrder : std::uint8_t {
    by_cell,  ///< sorted by cell: only objects that share a cell meet; the default
    mixed,    ///< as in the paper: all objects of a voxel meet, and pairs that share no cell are culled one by one
};

/// Options of a GroupHash. Only the speed depends on them, and the order of pairs; not which pairs there are.
struct GroupHashOptions {
    std::uint32_t group_size = 3;  ///< voxels that a cell can choose from, 1..64; 1 is plain hashing. GSH uses 3 and 4
    /// Number of voxels over number of objects, above 0 and at most 64; GSH finds the optimum near 1/5.
    double voxels_per_object = 0.2;
    /// In units of length, at least 0. 0: the longest side of any box at insertion, kept from then on (GSH 3.2).
    double cell_edge = 0;
    VoxelOrder order = VoxelOrder::by_cell;
    /// Where pairs are found; null: on the caller's thread. Must outlive the structure.
    Executor* executor = nullptr;
    /// Bytes that a call may allocate for its result. One that would need more throws ErrorKind::too_large, which names
    /// the size, and leaves the result empty.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// What a GroupHash holds, and what its last find_pairs did.
struct GroupHashStats {
    std::size_t voxels = 0;      ///< number of voxels
    std::size_t cells = 0;       ///< cells that hold objects
    std::size_t entries = 0;     ///< (cell, object) entries
    std::size_t oversize = 0;    ///< objects that cover more than 64 cells, or are infinite: tested against all
    std::uint64_t tests = 0;     ///< box tests of the last find_pairs
    std::uint64_t compared = 0;  ///< pairs of entries looked at by the last find_pairs
    double cell_edge = 0;        ///< in units of length
    std::size_t bytes = 0;       ///< memory held, without results
};

/// A set of boxes that can be asked for all overlapping pairs. Exact for every input that insert() accepts, whatever
/// the cell size. Boxes may grow or move anywhere later; topology changes (fracture) mean clear() and insert(). Const
/// members may be called concurrently, but not statistics' counters, which belong to the last find_pairs.
template <int D, class T>
class GroupHash {
  public:
    using Options = GroupHashOptions;

    /// An empty set. Throws bad_value naming an option that is out of its range.
    explicit GroupHash(const Options& options = {});
    ~GroupHash();
    GroupHash(GroupHash&&) noexcept;
    GroupHash& operator=(GroupHash&&) noexcept;

    /// Adds boxes at consecutive slots and returns the first. Throws bad_value naming the first bad box. The first
    /// insertion fixes the cell edge; each one sets the number of voxels. Cost: everything that moves is hashed and
    /// sorted again.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// The same for objects at rest: they are put into voxels once, and update() skips them.
    std::uint32_t insert_static(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box of slot i; boxes.size() == slots(). Entries of static slots are ignored.
    /// Throws bad_shape for another size, and bad_value naming the first bad box; nothing has changed then.
    void update(std::span<const Box<D, T>> boxes);
    /// Removes all boxes; the next insertion chooses the cell edge anew.
    void clear();

    /// Refills `out` with every overlapping pair, each once, first < second, in an order that depends on the boxes
    /// alone. Throws too_large beyond max_bytes, with `out` empty.
    void find_pairs(std::vector<Pair>& out) const;
    /// Calls fn(Pair) for each on the caller's thread, in the same order, storing a few at a time.
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
    [[nodiscard]] std::size_t size() const { return slots(); }
    [[nodiscard]] GroupHashStats stats() const;
    /// Number of entries of each voxel (GSH figure 4).
    [[nodiscard]] std::vector<std::uint32_t> voxel_loads() const;

  private:
    struct Impl;
    void visit_pairs(void (*visit)(void*, std::span<const Pair>), void* context) const;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
