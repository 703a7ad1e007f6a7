// The boxes of a GroupHash, their entries and voxels: group mapping (GSH Algorithm 1) with the index rule
// I_k = h mod floor(H / n) + k floor(H / n), k < n: the paper's text can map one cell to two voxels and lose pairs, its
// Algorithm 1 cannot.
//
// Departures: unique cells choose their voxels in sorted order, so that the map does not depend on the order of objects
// or threads; a pair that shares several cells is reported in the one that holds the larger of the two lower corners;
// objects that cover more than 64 cells are kept in a list and tested against all; objects of a voxel are sorted by
// cell, and only those that share one meet. The paper's way, in which all objects of a voxel meet, is kept beside it as
// VoxelOrder::mixed, for tests and for bench/papers/gsh alone.
#pragma once

#include <quadrat/broad_phase/group_hash.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::broad_phase {

/// How the objects of a voxel are compared.
enum class VoxelOrder : std::uint8_t {
    by_cell,  ///< sorted by cell: only objects that share a cell meet
    mixed,    ///< as in the paper: all objects of a voxel meet, and pairs that share no cell are culled one by one
};

template <int D, class T>
class GroupMap {
  public:
    using Visit = void (*)(void* context, std::span<const Pair> pairs);

    /// Throws bad_value naming an option that is out of its range.
    explicit GroupMap(const GroupHashOptions& options, VoxelOrder order = VoxelOrder::by_cell);

    /// As in GroupHash.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    std::uint32_t insert_static(std::span<const Box<D, T>> boxes);
    void update(std::span<const Box<D, T>> boxes);
    void find_pairs(std::vector<Pair>& out) const;
    /// The pairs in the order of find_pairs(), a block at a time.
    void visit_pairs(Visit visit, void* context) const;
    [[nodiscard]] const GroupHashOptions& options() const { return options_; }
    [[nodiscard]] std::size_t slots() const { return boxes_.size(); }
    [[nodiscard]] GroupHashStats stats() const;
    [[nodiscard]] const std::vector<std::uint32_t>& voxel_loads() const { return load_; }

    /// Pairs of entries that the last search looked at: those of its tests, and with VoxelOrder::mixed more.
    [[nodiscard]] std::uint64_t compared() const { return compared_; }

  private:
    using Cell = Vec<D, std::int64_t>;
    struct Entry {
        Cell cell;
        std::uint32_t object;
    };
    // Entries of the same cell.
    struct Run {
        std::uint32_t begin;
        std::uint32_t end;
        std::uint32_t voxel;
    };

    [[nodiscard]] static bool before(const Entry& a, const Entry& b);
    std::uint32_t append(std::span<const Box<D, T>> boxes, std::uint8_t still);
    void rebuild();
    void choose_edge();
    void find_static_entries();
    void add_entries(std::uint32_t object, std::vector<Entry>& out);
    void map_groups();
    [[nodiscard]] bool home(const Cell& cell, std::uint32_t a, std::uint32_t b) const;
    template <class Out>
    void meet(const Cell& cell, std::uint32_t a, std::uint32_t b, Out& out, std::uint64_t& tested) const;
    template <class Out>
    void voxel_pairs(std::size_t voxel, Out& out, std::uint64_t& tested, std::uint64_t& seen) const;
    template <class Out>
    void mixed_pairs(std::size_t voxel, Out& out, std::uint64_t& tested, std::uint64_t& seen) const;
    template <class Out>
    void oversize_pairs(Out& out) const;

    GroupHashOptions options_;
    VoxelOrder order_;
    std::vector<Box<D, T>> boxes_;
    std::vector<std::uint8_t> still_;
    double edge_ = 0;
    std::size_t voxels_ = 0;
    std::vector<Entry> static_entries_;  // sorted by cell; found once
    std::vector<Entry> entries_;         // all, sorted by cell
    std::vector<Cell> lower_;            // cell of the lower corner of each object
    std::vector<std::uint32_t> oversize_;
    std::vector<std::uint8_t> is_oversize_;
    std::vector<Run> runs_;                   // sorted by voxel, then by cell
    std::vector<std::uint32_t> voxel_begin_;  // runs of each voxel
    std::vector<std::uint32_t> load_;         // entries of each voxel
    mutable std::atomic<std::uint64_t> tests_{0};
    mutable std::atomic<std::uint64_t> compared_{0};
};

}  // namespace quadrat::broad_phase
