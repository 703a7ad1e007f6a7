#include "broad_phase/sorted/sorted_grid.hpp"

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/counting_sort.hpp"

#include <algorithm>
#include <cstring>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t piece = 128;     // records taken apart between two requests for memory
constexpr std::size_t in_cache = 512;  // where there is nothing to ask for
constexpr std::size_t filters_at_once = 1 << 15;

}  // namespace

template <int D, class T>
void SortedGrid<D, T>::resize(const GridShape<D, T>& shape, std::size_t size) {
    shape_ = shape;
    size_ = size;
    for (int k = 0; k < D; ++k) {
        lo_[k].resize_discard(size);
        hi_[k].resize_discard(size);
    }
    id_.resize_discard(size);
    start_.resize_discard(shape.cells() + 1);
    start_[0] = 0;
}

template <int D, class T>
void SortedGrid<D, T>::build(const GridShape<D, T>& shape, const SlabPartition<D, T>& partition, std::size_t first_slab,
                             Copy copy, Executor* executor) {
    filtered_ = false;
    std::vector<std::size_t> begin(shape.slabs + 1, 0);
    std::size_t largest = 0;
    for (std::uint32_t s = 0; s < shape.slabs; ++s) {
        const std::size_t n = partition.size(first_slab + s);
        begin[s + 1] = begin[s] + n;
        largest = std::max(largest, n);
    }
    resize(shape, begin[shape.slabs]);
    const bool keep = copy == Copy::columns_and_records;
    if (keep)
        records_.resize_discard(size_);
    else
        records_ = {};
    const std::size_t tasks = std::min<std::size_t>(shape.slabs, base::thread_count(executor));
    if (scratch_.size() < tasks) scratch_.resize(tasks);
    base::run_tasks(executor, tasks, [&](std::size_t t) {
        if (!keep) scratch_[t].resize_discard(largest);
        SlabPrefetcher<D, T> ahead;
        // Cut by slabs; the result does not depend on where.
        const auto first = static_cast<std::uint32_t>(shape.slabs * t / tasks);
        const auto last = static_cast<std::uint32_t>(shape.slabs * (t + 1) / tasks);
        for (std::uint32_t s = first; s < last; ++s) {
            const auto from = static_cast<std::uint32_t>(begin[s]);
            Record<D, T>* const records = keep ? records_.data() + from : scratch_[t].data();
            sort_slab(s, from, partition, first_slab, records);
            // The next slab comes from memory if it was written past the cache.
            const bool far = partition.streamed() && s + 1 < last;
            if (far) ahead.start(partition, first_slab + s + 1);
            take_apart(records, from, begin[s + 1] - begin[s], far ? &ahead : nullptr);
        }
    });
    QUADRAT_ASSERT(start_[shape.cells()] == size_);
}

template <int D, class T>
void SortedGrid<D, T>::fill_filters(const Filter* filters, Executor* executor) {
    filtered_ = true;
    group_.resize_discard(size_);
    mask_.resize_discard(size_);
    base::parallel_for(executor, size_, filters_at_once, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            group_[i] = filters[id_[i]].group;
            mask_[i] = filters[id_[i]].mask;
        }
    });
}

// The records of a slab in the order of their bins. The starts of its bins but for the first, and of the next slab's
// first bin, are its counters (cells/counting_sort.hpp).
template <int D, class T>
void SortedGrid<D, T>::sort_slab(std::uint32_t slab, std::uint32_t from, const SlabPartition<D, T>& partition,
                                 std::size_t first_slab, Record<D, T>* to) {
    const std::uint32_t row = slab << shape_.slab_shift, bins = shape_.bins();
    const std::size_t rows = std::min(shape_.rows_per_slab(), shape_.rows - row);
    std::uint32_t* const next = start_.data() + std::size_t{row} * bins + 1;
    std::memset(next, 0, rows * bins * sizeof(std::uint32_t));
    partition.for_each_chunk(first_slab + slab, [&](const Record<D, T>* r, std::uint32_t n) {
        for (std::uint32_t i = 0; i < n; ++i) ++next[r[i].key];
    });
    cells::places_from_counts({next, rows * bins}, from);
    partition.for_each_chunk(first_slab + slab, [&](const Record<D, T>* r, std::uint32_t n) {
        for (std::uint32_t i = 0; i < n; ++i) to[next[r[i].key]++ - from] = r[i];
    });
}

// Into columns, while what comes next is asked for.
template <int D, class T>
void SortedGrid<D, T>::take_apart(const Record<D, T>* records, std::size_t from, std::size_t n,
                                  SlabPrefetcher<D, T>* ahead) {
    const std::size_t step = ahead ? piece : in_cache;
    for (std::size_t i = 0; i < n; i += step) {
        const std::size_t count = std::min(step, n - i);
        T *lo[D], *hi[D];
        for (int k = 0; k < D; ++k) {
            lo[k] = lo_[k].data() + from + i;
            hi[k] = hi_[k].data() + from + i;
        }
        unpack<D, T>(records + i, count, lo, hi, id_.data() + from + i);
        if (ahead) ahead->next((count * sizeof(Record<D, T>) + 63) / 64);
    }
}

template <int D, class T>
GridView<D, T> SortedGrid<D, T>::view() const {
    GridView<D, T> view{shape_, {}, {}, id_.data(), start_.data(), {}, size_};
    if (records_.size() != 0) view.records = records_.data();
    for (int k = 0; k < D; ++k) {
        view.lo[k] = lo_[k].data();
        view.hi[k] = hi_[k].data();
    }
    if (filtered_) view.filter = {group_.data(), mask_.data()};
    return view;
}

template <int D, class T>
std::size_t SortedGrid<D, T>::bytes() const {
    std::size_t sum = id_.bytes() + group_.bytes() + mask_.bytes() + start_.bytes() + records_.bytes();
    for (int k = 0; k < D; ++k) sum += lo_[k].bytes() + hi_[k].bytes();
    for (const auto& records : scratch_) sum += records.bytes();
    return sum + scratch_.capacity() * sizeof(scratch_[0]);
}

template class SortedGrid<2, float>;
template class SortedGrid<3, float>;
template class SortedGrid<2, double>;
template class SortedGrid<3, double>;

}  // namespace quadrat::broad_phase
