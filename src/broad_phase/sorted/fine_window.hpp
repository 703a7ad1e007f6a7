// The slabs of one grid that the search for pairs looks at, sorted when they are needed and forgotten afterwards: a
// slab and those that the rows of its half stencil reach into. What is sorted is read while it is in the cache, and
// never goes to memory.
#pragma once

#include "base/array.hpp"
#include "base/assert.hpp"
#include "broad_phase/filter_table.hpp"
#include "broad_phase/sorted/fine_grid.hpp"
#include "broad_phase/sorted/slab_partition.hpp"

#include <cstdint>
#include <vector>

namespace quadrat::broad_phase {

/// The boxes of one slab in the order of their bins.
struct FineSlab {
    base::Array<FineRecord> record;
    base::Array<std::uint16_t>
        columns;  ///< the same, `stride` apart and one less; whole vectors may be read behind the end
    std::size_t stride = 0;
    base::Array<std::uint32_t> id;
    base::Array<std::uint32_t> start;  ///< of each bin; one past the last bin is the number of boxes
    std::uint32_t size = 0;
    bool filtered = false;  ///< holds a box that is not of FilterTable::plain
};

/// A row of a slab.
struct FineRow {
    const FineSlab* slab;
    const std::uint32_t* start;  ///< of its bins, and of the next row
};

template <int D, class T>
class FineWindow {
  public:
    /// Looks at a grid of `objects` boxes in the slabs of `partition` from first_slab on. Both must stay as they are.
    /// filters: of the boxes, or null; with them slabs have one column more: of each box the bit of its kind, and boxes
    /// that can meet nothing are left out. changed: the partition does not know which slabs have filters.
    void open(const GridShape<D, T>& shape, const SlabPartition<D, T>& partition, std::size_t first_slab,
              std::size_t objects, const FilterTable* filters, bool changed);

    /// Sorts what the rows of a slab can meet, unless it was sorted for the slab before this one.
    void move_to(std::uint32_t slab);

    [[nodiscard]] const GridShape<D, T>& shape() const { return shape_; }
    [[nodiscard]] const FineGrid<D, T>& fine() const { return fine_; }
    [[nodiscard]] std::size_t objects() const { return objects_; }
    /// Null where no box that the slab moved to can meet has a filter.
    [[nodiscard]] const FilterTable* filters() const;
    /// Of the slab moved to, and of the rows that follow it in the half stencil.
    [[nodiscard]] FineRow row(std::uint32_t row) const {
        QUADRAT_ASSERT(row >> shape_.slab_shift >= sorted_from_ && row >> shape_.slab_shift < sorted_to_);
        const FineSlab& slab = ring_[(row >> shape_.slab_shift) & ring_mask_];
        return {&slab, slab.start.data() + std::size_t{row & (shape_.rows_per_slab() - 1)} * shape_.bins()};
    }
    [[nodiscard]] const Box<D, T>& box(const FineSlab& slab, std::size_t i) const {
        return (*partition_)[slab.record[i].from].box;
    }
    /// Asks for some of the memory that the next slab will be sorted from; called once per row.
    void fetch_ahead() { ahead_.next(lines_per_row_); }

    [[nodiscard]] std::size_t bytes() const;

  private:
    void sort(std::uint32_t slab);
    /// Calls visit(records, n) for the records of a slab that can meet something.
    template <class Visit>
    void for_each_run(std::size_t slab, bool filtered, Visit&& visit) const;

    GridShape<D, T> shape_;
    FineGrid<D, T> fine_;
    const SlabPartition<D, T>* partition_ = nullptr;
    std::size_t first_slab_ = 0;
    std::size_t objects_ = 0;
    const FilterTable* filters_ = nullptr;
    bool filters_changed_ = false;
    std::vector<FineSlab> ring_;  // a power of two of them
    std::size_t ring_mask_ = 0;
    std::uint32_t reach_ = 1;  // slabs that are sorted at the same time
    std::uint32_t sorted_from_ = 0, sorted_to_ = 0;
    SlabPrefetcher<D, T> ahead_;
    std::size_t lines_per_row_ = 0;
};

}  // namespace quadrat::broad_phase
