#include "broad_phase/sorted_grid.hpp"

#include "base/parallel.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t piece = 128;  // records taken apart between two requests for memory
constexpr std::size_t read_ahead = 64;
constexpr std::size_t in_cache = 512;  // where there is nothing to ask for

// Asks for the records of a slab, a few lines at a time, while another slab is worked on.
template <int D, class T>
class Prefetcher {
  public:
    void start(const SlabPartition<D, T>& partition, std::size_t slab) {
        chunks_.clear();
        at_ = 0;
        partition.for_each_chunk(slab, [&](const Record<D, T>* r, std::uint32_t n) {
            chunks_.push_back({reinterpret_cast<const char*>(r), n * sizeof(Record<D, T>)});
        });
    }
    void next(std::size_t lines) {
        for (; lines != 0 && at_ < chunks_.size(); --lines) {
            auto& [address, bytes] = chunks_[at_];
            hwy::Prefetch(address);
            address += 64;
            if (bytes <= 64)
                ++at_;
            else
                bytes -= 64;
        }
    }

  private:
    std::vector<std::pair<const char*, std::size_t>> chunks_;  // what is left of each
    std::size_t at_ = 0;
};

}  // namespace

template <int D, class T>
void SlabPartition<D, T>::start(std::size_t tasks, std::size_t objects_per_task, std::size_t slabs) {
    const std::size_t share = (objects_per_task / chunk_records + slabs + 1) * chunk_stride;
    pool_.resize_discard(tasks * share);
    streamed_ = tasks * share * sizeof(Record<D, T>) > streamed_from;
    tasks_.resize(tasks);
    for (std::size_t t = 0; t < tasks; ++t) {
        tasks_[t].count.assign(slabs, 0);
        tasks_[t].end.assign(slabs, nullptr);
        tasks_[t].buffer.resize_discard(slabs * buffer_records);
        if (tasks_[t].chunks.size() < slabs) tasks_[t].chunks.resize(slabs);
        for (auto& list : tasks_[t].chunks) list.clear();
        tasks_[t].next = static_cast<std::uint32_t>(t * share);
    }
}

template <int D, class T>
void SlabPartition<D, T>::finish(Task& task) {
    if (!streamed_) return;
    for (std::uint32_t slab = 0; slab < task.count.size(); ++slab) {
        const std::uint32_t rest = task.count[slab] % buffer_records;
        if (rest == 0) continue;
        if (task.count[slab] % chunk_records == rest) open_chunk(task, slab);
        std::copy_n(task.buffer.data() + std::size_t{slab} * buffer_records, rest, task.end[slab]);
    }
    base::stream_fence();
}

template <int D, class T>
void SlabPartition<D, T>::open_chunk(Task& task, std::uint32_t slab) {
    task.chunks[slab].push_back(task.next);
    task.end[slab] = pool_.data() + task.next;
    task.next += chunk_stride;
}

template <int D, class T>
std::size_t SlabPartition<D, T>::bytes() const {
    std::size_t sum = pool_.bytes() + tasks_.capacity() * sizeof(Task);
    for (const Task& t : tasks_) {
        sum += t.count.capacity() * sizeof(t.count[0]) + t.end.capacity() * sizeof(t.end[0]) + t.buffer.bytes() +
               t.chunks.capacity() * sizeof(t.chunks[0]);
        for (const auto& list : t.chunks) sum += list.capacity() * sizeof(list[0]);
    }
    return sum;
}

template <int D, class T>
void SortedGrid<D, T>::build(const GridShape<D, T>& shape, const SlabPartition<D, T>& partition, std::size_t first_slab,
                             const std::uint32_t (*filters)[2], Executor* executor) {
    shape_ = shape;
    filtered_ = filters != nullptr;
    std::vector<std::size_t> begin(shape.slabs + 1, 0);
    std::size_t largest = 0;
    for (std::uint32_t s = 0; s < shape.slabs; ++s) {
        const std::size_t n = partition.size(first_slab + s);
        begin[s + 1] = begin[s] + n;
        largest = std::max(largest, n);
    }
    const std::size_t total = begin[shape.slabs];
    for (int k = 0; k < D; ++k) {
        lo_[k].resize_discard(total);
        hi_[k].resize_discard(total + read_ahead);  // the fine kernel reads groups of boxes whole
    }
    size_ = total;
    id_.resize_discard(total + read_ahead);  // copied by vectors of 16-bit lanes
    if (filtered_) {
        group_.resize_discard(total);
        mask_.resize_discard(total);
    }
    // A single cell has no neighbourhood, rows of a wrapped grid hold boxes from all over the world, and filters are
    // tested beside coordinates of their own width.
    has_fine_ = !filtered_ && !shape.wrapped() && shape.cells() > 1;
    if (has_fine_) {
        fine_grid_ = make_fine(shape, total);
        // Whole vectors are read behind the last one; not a power of two apart.
        fine_stride_ = (total + 127) / 64 * 64 + 32;
        fine_.resize_discard(2 * D * fine_stride_);
    }
    const std::uint32_t bins = shape.bins();
    start_.resize_discard(shape.cells() + 1);
    start_[shape.cells()] = static_cast<std::uint32_t>(total);

    const std::size_t tasks = std::min<std::size_t>(shape.slabs, base::thread_count(executor));
    if (scratch_.size() < tasks) scratch_.resize(tasks);
    base::run_tasks(executor, tasks, [&](std::size_t t) {
        scratch_[t].sorted.resize_discard(largest);
        scratch_[t].next.resize_discard(std::size_t{shape.rows_per_slab()} * bins);
        Prefetcher<D, T> ahead;
        // Cut by slabs; the result does not depend on where.
        const auto first = static_cast<std::uint32_t>(shape.slabs * t / tasks);
        const auto last = static_cast<std::uint32_t>(shape.slabs * (t + 1) / tasks);
        for (std::uint32_t s = first; s < last; ++s) {
            const std::uint32_t row = s << shape.slab_shift;
            const std::size_t rows = std::min(shape.rows_per_slab(), shape.rows - row);
            std::uint32_t* const start = start_.data() + std::size_t{row} * bins;
            const std::size_t slab_bins = rows * bins;
            const auto base = static_cast<std::uint32_t>(begin[s]);
            if (begin[s] == begin[s + 1]) {
                std::fill_n(start, slab_bins, base);
                continue;
            }
            std::uint32_t* const next = scratch_[t].next.data();
            std::memset(next, 0, slab_bins * sizeof(std::uint32_t));
            partition.for_each_chunk(first_slab + s, [&](const Record<D, T>* r, std::uint32_t n) {
                for (std::uint32_t i = 0; i < n; ++i) ++next[r[i].key];
            });
            std::uint32_t sum = 0;
            for (std::size_t c = 0; c < slab_bins; ++c) {
                const std::uint32_t n = next[c];
                start[c] = base + sum;
                next[c] = sum;
                sum += n;
            }
            Record<D, T>* const to = scratch_[t].sorted.data();
            partition.for_each_chunk(first_slab + s, [&](const Record<D, T>* r, std::uint32_t n) {
                for (std::uint32_t i = 0; i < n; ++i) to[next[r[i].key]++] = r[i];
            });
            const std::size_t n = begin[s + 1] - begin[s];
            // The next slab comes from memory if it was written past the cache.
            const bool far = partition.streamed() && s + 1 < last;
            if (far) ahead.start(partition, first_slab + s + 1);
            const std::size_t step = far ? piece : in_cache;
            for (std::size_t i = 0; i < n; i += step) {
                const std::size_t count = std::min(step, n - i);
                T *lo[D], *hi[D];
                for (int k = 0; k < D; ++k) {
                    lo[k] = lo_[k].data() + base + i;
                    hi[k] = hi_[k].data() + base + i;
                }
                unpack<D, T>(to + i, count, lo, hi, id_.data() + base + i);
                if (has_fine_) make_fine_columns(base + i, count);
                if (far) ahead.next((count * sizeof(Record<D, T>) + 63) / 64);
            }
            if (filtered_)
                for (std::size_t i = base; i < base + n; ++i) {
                    group_[i] = filters[id_[i]][0];
                    mask_[i] = filters[id_[i]][1];
                }
        }
    });
}

template <int D, class T>
void SortedGrid<D, T>::make_fine_columns(std::size_t first, std::size_t n) {
    const T *lo[D], *hi[D];
    std::uint16_t* column[2 * D];
    for (int k = 0; k < D; ++k) {
        lo[k] = lo_[k].data() + first;
        hi[k] = hi_[k].data() + first;
    }
    for (int c = 0; c < 2 * D; ++c) column[c] = fine_.data() + static_cast<std::size_t>(c) * fine_stride_ + first;
    fine_columns<D, T>(fine_grid_, lo, hi, n, column);
}

template <int D, class T>
GridView<D, T> SortedGrid<D, T>::view() const {
    GridView<D, T> view{shape_,
                        {},
                        {},
                        id_.data(),
                        start_.data(),
                        {},
                        size_,
                        has_fine_ ? fine_.data() : nullptr,
                        fine_stride_,
                        fine_grid_.longest};
    for (int k = 0; k < D; ++k) {
        view.lo[k] = lo_[k].data();
        view.hi[k] = hi_[k].data();
    }
    if (filtered_) view.filter = {group_.data(), mask_.data()};
    return view;
}

template <int D, class T>
std::size_t SortedGrid<D, T>::bytes() const {
    std::size_t sum = id_.bytes() + group_.bytes() + mask_.bytes() + start_.bytes() + fine_.bytes();
    for (int k = 0; k < D; ++k) sum += lo_[k].bytes() + hi_[k].bytes();
    for (const Scratch& s : scratch_) sum += s.sorted.bytes() + s.next.bytes();
    return sum + scratch_.capacity() * sizeof(Scratch);
}

template class SlabPartition<2, float>;
template class SlabPartition<3, float>;
template class SlabPartition<2, double>;
template class SlabPartition<3, double>;
template class SortedGrid<2, float>;
template class SortedGrid<3, float>;
template class SortedGrid<2, double>;
template class SortedGrid<3, double>;

}  // namespace quadrat::broad_phase
