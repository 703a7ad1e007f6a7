#include "broad_phase/sorted/slab_partition.hpp"

#include "base/assert.hpp"

#include <hwy/cache_control.h>

#include <algorithm>

namespace quadrat::broad_phase {

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
        tasks_[t].filtered.clear();
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
    QUADRAT_ASSERT(slab < task.count.size() && task.next + chunk_stride <= pool_.size());
    task.chunks[slab].push_back(task.next);
    task.end[slab] = pool_.data() + task.next;
    task.next += chunk_stride;
}

template <int D, class T>
std::size_t SlabPartition<D, T>::bytes() const {
    std::size_t sum = pool_.bytes() + tasks_.capacity() * sizeof(Task);
    for (const Task& t : tasks_) {
        sum += t.count.capacity() * sizeof(t.count[0]) + t.end.capacity() * sizeof(t.end[0]) + t.buffer.bytes() +
               t.filtered.capacity() + t.chunks.capacity() * sizeof(t.chunks[0]);
        for (const auto& list : t.chunks) sum += list.capacity() * sizeof(list[0]);
    }
    return sum;
}

template <int D, class T>
void SlabPrefetcher<D, T>::start(const SlabPartition<D, T>& partition, std::size_t slab) {
    chunks_.clear();
    at_ = 0;
    partition.for_each_chunk(slab, [&](const Record<D, T>* r, std::uint32_t n) {
        chunks_.push_back({reinterpret_cast<const char*>(r), n * sizeof(Record<D, T>)});
    });
}

template <int D, class T>
void SlabPrefetcher<D, T>::next(std::size_t lines) {
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

template class SlabPartition<2, float>;
template class SlabPartition<3, float>;
template class SlabPartition<2, double>;
template class SlabPartition<3, double>;
template class SlabPrefetcher<2, float>;
template class SlabPrefetcher<3, float>;
template class SlabPrefetcher<2, double>;
template class SlabPrefetcher<3, double>;

}  // namespace quadrat::broad_phase
