// Sorted points that moved a little: most are still in their cell, so their coordinates are replaced where they stand,
// and only the others are sorted and merged in. The result is that of a sort, byte for byte: the order inside a cell is
// the order of the ids. Where more than one in 64 changes its cell, sorting all of them anew is faster
// (docs/decisions/0036-eight-lanes.md); a sample says so before anything is touched.
#pragma once

#include "neighbors/grid/dense_sort.hpp"

#include <span>
#include <vector>

namespace quadrat::neighbors {

template <int D, class T>
class DenseMove {
  public:
    /// True if it looks as if few of the points have left the cells that they had in `store`.
    [[nodiscard]] static bool worthwhile(const GridStore<D, T>& store, std::span<const Vec<D, T>> points);

    /// Replaces the coordinates of all points in `store`, by id, and finds those that have left their cell. Unless
    /// nobody_left(), the store is not sorted until merge() or another sort.
    DenseMove(GridStore<D, T>& store, std::span<const Vec<D, T>> points, Executor* executor);

    [[nodiscard]] bool nobody_left() const { return leavers_.empty(); }
    /// True if the sample was wrong and a sort is cheaper.
    [[nodiscard]] bool too_many() const;
    /// Brings the store into order. `scratch` gets its arrays of before.
    void merge(GridStore<D, T>& scratch);

  private:
    /// Where the part begins in arrivals_ and in leavers_.
    struct PartBegin {
        std::size_t arrival, leaver;
    };
    [[nodiscard]] std::vector<PartBegin> part_begins(const GridParts& parts) const;
    void merge_part(std::size_t from, std::size_t last, PartBegin begin, PartBegin end, GridStore<D, T>& to) const;

    GridStore<D, T>& store_;
    std::span<const Vec<D, T>> points_;
    Executor* executor_;
    std::vector<std::uint32_t> leavers_;   // positions, ascending
    std::vector<std::uint64_t> arrivals_;  // see arrival()
};

}  // namespace quadrat::neighbors
