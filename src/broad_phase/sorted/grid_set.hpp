// The room of the sorted grids: boxes that come in bulk, sorted by cell into one grid per class of sizes. Others use
// this header and what it includes of the room (GridView, PairBuffer, Found, the shape of a grid), and who plans a set
// by hand, as the pipeline of contact does, size_classes.hpp; crowds (crowded_cells.hpp), how records are spread
// (slab_partition.hpp) and searched (kernels/) is the room's own business.
//
// A bulk update has four steps:
//   plan        which grids: shapes from a sample of the boxes, or from the caller;
//   distribute  every box is checked and put, as a record, into the slab of the first grid that it fits. A slab is a
//               run of rows, small enough to be sorted in the cache. Bad boxes are found here, and leave the set as it
//               was;
//   commit      the records become what queries and pairs see;
//   pairs, overlaps  inside a grid slab by slab (fine_window.hpp) or in its columns, otherwise in columns
//               (sorted_grid.hpp), which are made when somebody needs them.
//
// HHG 3.3 has the hierarchy and puts one object at a time into the container of its cell; see size_classes.hpp and
// sorted_grid.hpp for where and why this departs.
#pragma once

#include "base/assert.hpp"
#include "broad_phase/filter_table.hpp"
#include "broad_phase/sorted/fine_window.hpp"
#include "broad_phase/sorted/grid_shape.hpp"
#include "broad_phase/sorted/kernels/pair_kernel.hpp"
#include "broad_phase/sorted/kernels/query_kernel.hpp"
#include "broad_phase/sorted/slab_partition.hpp"
#include "broad_phase/sorted/sorted_grid.hpp"

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace quadrat::broad_phase {

/// Boxes on their way into a GridSet.
template <int D, class T>
struct BoxInput {
    std::span<const Box<D, T>> boxes;
    std::span<const std::uint32_t> ids = {};  ///< of each box; empty: its position
    std::span<const std::uint8_t> skip = {};  ///< per box, not 0: passed over, and may be anything; empty: none is
    const FilterTable* filters = nullptr;     ///< of the ids; null: there are none
    StopToken stop = {};                      ///< ends the update, which then has changed nothing

    [[nodiscard]] std::uint32_t id(std::size_t i) const { return ids.empty() ? static_cast<std::uint32_t>(i) : ids[i]; }
    [[nodiscard]] bool skipped(std::size_t i) const { return !skip.empty() && skip[i] != 0; }
    /// Boxes that are not passed over.
    [[nodiscard]] std::size_t live() const;
};

/// What is kept of a set when it is committed.
enum class Keep {
    records,  ///< what pairs inside a grid are found in, slab by slab; columns are made when they are asked for
    columns,  ///< columns only, made at once; for sets that are searched by many jobs and then thrown away
    both,     ///< records, and columns with a copy of them in the order of the cells; for sets that stay while a few
              ///< others come and look
};

template <int D, class T>
class GridSet {
  public:
    using BoxT = Box<D, T>;
    using Shape = GridShape<D, T>;

    /// One grid; its records are in the slabs from first_slab on.
    struct Grid {
        Shape shape;
        std::size_t first_slab;
        std::size_t size;
        bool fine;  ///< pairs inside it are found slab by slab (fine_window.hpp), otherwise in its columns
    };
    /// Boxes that are in no grid, as positions in the input, ascending.
    struct Rest {
        std::vector<std::uint32_t> misfits;    ///< that fit no grid
        std::vector<std::uint32_t> unbounded;  ///< that are not regular()
    };

    /// Chooses the grids by a sample of the boxes, and distributes them. At most all_pairs_below boxes are put into one
    /// cell (HHG 3.7). Throws bad_value naming the first bad box, and nothing has changed.
    [[nodiscard]] Rest distribute(const BoxInput<D, T>& input, std::size_t all_pairs_below, Executor* executor);
    /// The same into grids of these shapes, the smallest boxes' first.
    [[nodiscard]] Rest distribute(const BoxInput<D, T>& input, std::span<const Shape> shapes, Executor* executor);
    /// Makes what was distributed the content of the set; ends every Window. `filters` knows every id, and stays at
    /// this address until the next commit, or is null.
    void commit(const FilterTable* filters, Keep keep, Executor* executor);

    /// Forgets the boxes and keeps the memory.
    void forget();
    /// Gives the memory back too.
    void release();
    /// Filters have changed since the commit. Until the next one every slab is taken for one that has some.
    void filters_changed() {
        filters_changed_ = true;
        column_filters_ready_ = false;
    }

    /// Smallest boxes first.
    [[nodiscard]] std::span<const Grid> grids() const { return grids_; }
    /// Boxes in all grids.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Memory held, used or not.
    [[nodiscard]] std::size_t bytes() const;

    /// The columns of a grid. May be called by several threads at once.
    [[nodiscard]] GridView<D, T> view(std::size_t grid) const {
        QUADRAT_ASSERT(grid < grids_.size());
        if (!columns_used_.load(std::memory_order_relaxed)) columns_used_.store(true, std::memory_order_relaxed);
        if (!columns_ready_.load(std::memory_order_acquire)) {
            const std::lock_guard lock(columns_mutex_);
            // Not on the executor: the caller may be one of its threads, and hold up those that wait here.
            if (!columns_ready_.load(std::memory_order_relaxed)) make_columns(nullptr);
        }
        return columns_[grid].view();
    }

    [[nodiscard]] static BoxT box_at(const GridView<D, T>& view, std::size_t i) {
        BoxT box;
        for (int k = 0; k < D; ++k) {
            box.lo[k] = view.lo[k][i];
            box.hi[k] = view.hi[k][i];
        }
        return box;
    }

    /// Calls visit(id, box) for every box, slab by slab. Not after a commit that kept columns only.
    template <class Visit>
    void for_each(Visit&& visit) const {
        QUADRAT_ASSERT(keep_ != Keep::columns);
        for (const Grid& grid : grids_)
            for (std::size_t slab = grid.first_slab; slab < grid.first_slab + grid.shape.slabs; ++slab)
                partition_.for_each_chunk(slab, [&](const Record<D, T>* records, std::uint32_t n) {
                    for (std::uint32_t i = 0; i < n; ++i) visit(records[i].id, records[i].box);
                });
    }

    /// Calls visit(id, box) for every box that overlaps `box`. `found` is scratch. Returns the number of tests.
    template <class Visit>
    std::uint64_t for_each_overlap(const BoxT& box, Found& found, Visit&& visit) const {
        std::uint64_t tests = 0;
        for (std::size_t g = 0; g < grids_.size(); ++g) {
            const GridView<D, T> columns = view(g);
            found.count = 0;
            tests += overlapping(columns, box, Entry::position, found);
            for (std::size_t h = 0; h < found.count; ++h) {
                const std::uint32_t i = found.entries[h];
                visit(static_cast<std::uint32_t>(columns.id[i]), box_at(columns, i));
            }
        }
        return tests;
    }

    /// A share of the work of finding pairs: those of `home` with `grid`.
    struct Job {
        std::uint32_t home, grid;  ///< equal: pairs inside one grid
        std::size_t begin, end;    ///< slabs of a fine grid, rows of another one, boxes of home for two grids
        bool swapped = false;      ///< between two sets: home is of the second one
    };
    /// Where work is cut. That decides the order of pairs between two grids, so it must not depend on the number of
    /// threads where that order is promised.
    struct Cut {
        std::size_t objects;           ///< per job, about
        std::size_t fine_pieces = 64;  ///< a fine grid is cut into at most so many
    };
    static constexpr std::size_t least_fine_piece = 4096;  ///< objects; less is not worth the slabs sorted twice

    /// What a thread needs to run jobs: a window on slabs, opened when a fine grid is first searched. A thread that
    /// takes the pieces of a grid in their order sorts each slab once.
    class Window {
      public:
        explicit Window(const GridSet& set) : set_(set) {}
        Window(const Window&) = delete;
        Window& operator=(const Window&) = delete;
        ~Window();
        FineWindow<D, T>& on(std::size_t grid);

      private:
        const GridSet& set_;
        std::unique_ptr<FineWindow<D, T>> window_;
        std::size_t grid_ = SIZE_MAX;
    };

    [[nodiscard]] std::vector<Job> jobs(const Cut& cut) const;
    /// Appends the pairs of a job, each once over all jobs with first < second. Returns the number of tests.
    std::uint64_t run(const Job& job, Window& window, PairBuffer& out) const;

    /// The same for pairs of two sets: of each pair the home's id comes first, which is that of b where the job is
    /// swapped.
    [[nodiscard]] static std::vector<Job> jobs_between(const GridSet& a, const GridSet& b, std::size_t objects);
    static std::uint64_t run_between(const GridSet& a, const GridSet& b, const Job& job, PairBuffer& out);

  private:
    [[nodiscard]] bool checks_first(std::size_t boxes) const;
    void make_columns(Executor* executor) const;
    void cut_within(std::uint32_t grid, const Cut& cut, std::vector<Job>& jobs) const;
    [[nodiscard]] bool filtered() const { return filters_ != nullptr && filters_->stored(); }
    void fill_column_filters(Executor* executor) const;
    /// A grid as the search for pairs sees it: with filters, where there are some.
    [[nodiscard]] GridView<D, T> view_for_pairs(std::size_t grid) const {
        GridView<D, T> columns = view(grid);
        columns.filter = {};
        if (!filtered()) return columns;
        if (!column_filters_ready_.load(std::memory_order_acquire)) {
            const std::lock_guard lock(columns_mutex_);
            if (!column_filters_ready_.load(std::memory_order_relaxed)) fill_column_filters(nullptr);
        }
        return columns_[grid].view();
    }

    std::vector<Grid> grids_;
    std::size_t size_ = 0;
    Keep keep_ = Keep::records;
    const FilterTable* filters_ = nullptr;
    bool filters_changed_ = false;  // since the commit

    // What the grids are made of, and where the next update puts its boxes if it does not check them first.
    SlabPartition<D, T> partition_, spare_;
    base::Array<BlockCells> block_cells_;  // of an update that does
    std::vector<Shape> distributed_;       // shapes of what is distributed and not yet committed
    bool beside_ = false;                  // and whether that is in spare_

    // Made by the commit if they are needed for pairs or were looked at since the one before it, otherwise when
    // somebody looks at them.
    mutable std::vector<SortedGrid<D, T>> columns_;
    mutable std::atomic<bool> columns_ready_{false}, columns_used_{false}, column_filters_ready_{false};
    mutable std::mutex columns_mutex_;

    mutable std::mutex window_mutex_;
    mutable std::vector<std::unique_ptr<FineWindow<D, T>>> windows_;  // not in use
    mutable std::size_t window_count_ = 0;
};

}  // namespace quadrat::broad_phase
