// One grid of the hierarchy as sorted arrays: boxes in the order of their cells, x fastest, structure of arrays, with a
// table of where each bin starts. HHG 3.1 gives every cell its own container; here a cell is a range, so that three
// neighbours along x are one contiguous read and nothing is allocated per cell.
//
// Building takes two passes that both work in the cache. SlabPartition streams the caller's boxes once into lists of
// chunks, one list per slab (a run of rows); SortedGrid then counting-sorts each slab by bin and takes the records
// apart. The order is stable, so the result does not depend on how many tasks did the work.
#pragma once

#include "base/array.hpp"
#include "base/stream_copy.hpp"
#include "broad_phase/fine_grid.hpp"
#include "broad_phase/grid_shape.hpp"
#include "broad_phase/record_kernel.hpp"

#include <quadrat/executor.hpp>

#include <cstdint>
#include <vector>

namespace quadrat::broad_phase {

/// Lists of records per slab, filled by several tasks side by side and read back in task order.
template <int D, class T>
class SlabPartition {
  public:
    static constexpr std::uint32_t chunk_records = 256;
    static constexpr std::uint32_t buffer_records = 8;  ///< a whole number of cache lines for every record type
    /// From chunk to chunk: not a power of two, or the ends of all lists would lie in the same sets of the cache.
    static constexpr std::uint32_t chunk_stride = chunk_records + buffer_records;
    /// Pools above this size are written past the cache: they are not in it any more when they are read.
    static constexpr std::size_t streamed_from = std::size_t{6} << 20;

    /// One task's share. Slabs of all grids are numbered in one sequence.
    struct Task {
        std::vector<std::uint32_t> count;                ///< records per slab
        std::vector<Record<D, T>*> end;                  ///< where the next buffer of a slab goes
        base::Array<Record<D, T>> buffer;                ///< the newest records of each slab, not yet in the pool
        std::vector<std::vector<std::uint32_t>> chunks;  ///< first record of each chunk of a slab
        std::uint32_t next = 0;                          ///< first record of the next free chunk
    };

    /// Forgets everything; tasks may then add up to `objects_per_task` records each.
    void start(std::size_t tasks, std::size_t objects_per_task, std::size_t slabs);

    [[nodiscard]] Task& task(std::size_t t) { return tasks_[t]; }

    /// Whether records go through add_streamed, or straight into their chunk by add.
    [[nodiscard]] bool streamed() const { return streamed_; }

    void add(Task& task, std::uint32_t slab, const Box<D, T>& box, std::uint32_t id, std::uint32_t key) {
        if (task.count[slab]++ % chunk_records == 0) open_chunk(task, slab);
        *task.end[slab]++ = {box, id, key};
    }
    void add_streamed(Task& task, std::uint32_t slab, const Box<D, T>& box, std::uint32_t id, std::uint32_t key) {
        const std::uint32_t k = task.count[slab]++;
        Record<D, T>* const buffer = task.buffer.data() + std::size_t{slab} * buffer_records;
        buffer[k % buffer_records] = {box, id, key};
        if (k % buffer_records == buffer_records - 1) flush(task, slab, k, buffer);
    }
    /// Every task calls this when it has added its last record.
    void finish(Task& task);

    [[nodiscard]] std::size_t size(std::size_t slab) const {
        std::size_t sum = 0;
        for (const Task& t : tasks_) sum += t.count[slab];
        return sum;
    }

    /// Calls visit(records, n) for each chunk of a slab, in the order of adding.
    template <class Visit>
    void for_each_chunk(std::size_t slab, Visit&& visit) const {
        for (const Task& t : tasks_) {
            std::uint32_t left = t.count[slab];
            for (const std::uint32_t first : t.chunks[slab]) {
                const std::uint32_t n = left < chunk_records ? left : chunk_records;
                visit(pool_.data() + first, n);
                left -= n;
            }
        }
    }

    [[nodiscard]] std::size_t bytes() const;

  private:
    void open_chunk(Task& task, std::uint32_t slab);

    // Written past the cache: it is read again only when everything has been distributed.
    void flush(Task& task, std::uint32_t slab, std::uint32_t last, const Record<D, T>* buffer) {
        if (last % chunk_records == buffer_records - 1) open_chunk(task, slab);
        base::stream_copy(task.end[slab], buffer, buffer_records * sizeof(Record<D, T>));
        task.end[slab] += buffer_records;
    }

    base::Array<Record<D, T>> pool_;
    std::vector<Task> tasks_;
    bool streamed_ = false;
};

/// Group and mask bits of an object; see Filter in the public header.
template <class T>
struct FilterLanes {
    const Lane<T>* group = nullptr;  ///< null: everything may meet everything
    const Lane<T>* mask = nullptr;
};

/// What the SIMD kernels read of a grid.
template <int D, class T>
struct GridView {
    GridShape<D, T> shape;
    const T* lo[D];
    const T* hi[D];
    const Lane<T>* id;
    const std::uint32_t* start;  ///< of each bin; one past the last bin is the number of boxes
    FilterLanes<T> filter;
    std::size_t size;
    const std::uint16_t* fine;  ///< columns of fine_columns, fine_stride apart, or null
    std::size_t fine_stride;
    std::int32_t longest;  ///< of FineGrid
};

template <int D, class T>
class SortedGrid {
  public:
    /// Takes slabs [first_slab, first_slab + shape.slabs) of the partition, which are this grid's.
    /// filters holds {group, mask} per id, or is null.
    void build(const GridShape<D, T>& shape, const SlabPartition<D, T>& partition, std::size_t first_slab,
               const std::uint32_t (*filters)[2], Executor* executor);

    [[nodiscard]] GridView<D, T> view() const;
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const;

  private:
    void make_fine_columns(std::size_t first, std::size_t n);

    GridShape<D, T> shape_;
    std::size_t size_ = 0;
    base::Array<T> lo_[D];
    base::Array<T> hi_[D];
    base::Array<Lane<T>> id_;
    base::Array<Lane<T>> group_;
    base::Array<Lane<T>> mask_;
    base::Array<std::uint32_t> start_;
    base::Array<std::uint16_t> fine_;  // all columns
    std::size_t fine_stride_ = 0;
    FineGrid<D, T> fine_grid_;
    struct Scratch {
        base::Array<Record<D, T>> sorted;  // the records of one slab
        base::Array<std::uint32_t> next;   // place of the next record of each bin
    };
    std::vector<Scratch> scratch_;  // one per task
    bool filtered_ = false;
    bool has_fine_ = false;
};

}  // namespace quadrat::broad_phase
