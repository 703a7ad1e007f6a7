// The first pass of a bulk update: the caller's boxes are streamed once into lists of records, one list per slab (a run
// of rows), so that everything after it works on one slab at a time in the cache. Nothing like it is in HHG, which puts
// one object at a time into the container of its cell.
#pragma once

#include "base/array.hpp"
#include "base/stream_copy.hpp"
#include "broad_phase/sorted/kernels/record_kernel.hpp"

#include <cstdint>
#include <utility>
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
        std::vector<std::uint8_t> filtered;              ///< per slab: not 0 if a record has a filter; or empty
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

    /// Whether a task said that a record of the slab has a filter.
    [[nodiscard]] bool filtered(std::size_t slab) const {
        bool any = false;
        for (const Task& t : tasks_) any |= !t.filtered.empty() && t.filtered[slab] != 0;
        return any;
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

    /// Records by their place, which a chunk gives by its address.
    [[nodiscard]] const Record<D, T>& operator[](std::uint32_t place) const { return pool_[place]; }
    [[nodiscard]] std::uint32_t place(const Record<D, T>* record) const {
        return static_cast<std::uint32_t>(record - pool_.data());
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

/// Asks for the records of a slab, a few lines at a time, while another slab is worked on.
template <int D, class T>
class SlabPrefetcher {
  public:
    void start(const SlabPartition<D, T>& partition, std::size_t slab);
    void stop() { at_ = chunks_.size(); }
    void next(std::size_t lines);

  private:
    std::vector<std::pair<const char*, std::size_t>> chunks_;  // what is left of each
    std::size_t at_ = 0;
};

}  // namespace quadrat::broad_phase
