#include "broad_phase/sorted/sorted_grid.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <cstring>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t piece = 128;     // records taken apart between two requests for memory
constexpr std::size_t in_cache = 512;  // where there is nothing to ask for

}  // namespace

template <int D, class T>
void SortedGrid<D, T>::build(const GridShape<D, T>& shape, const SlabPartition<D, T>& partition, std::size_t first_slab,
                             const Filter* filters, Executor* executor) {
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
        hi_[k].resize_discard(total);
    }
    size_ = total;
    id_.resize_discard(total);
    if (filtered_) {
        group_.resize_discard(total);
        mask_.resize_discard(total);
    }
    const std::uint32_t bins = shape.bins();
    start_.resize_discard(shape.cells() + 1);
    start_[shape.cells()] = static_cast<std::uint32_t>(total);

    const std::size_t tasks = std::min<std::size_t>(shape.slabs, base::thread_count(executor));
    if (scratch_.size() < tasks) scratch_.resize(tasks);
    base::run_tasks(executor, tasks, [&](std::size_t t) {
        scratch_[t].sorted.resize_discard(largest);
        scratch_[t].next.resize_discard(std::size_t{shape.rows_per_slab()} * bins);
        SlabPrefetcher<D, T> ahead;
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
                if (far) ahead.next((count * sizeof(Record<D, T>) + 63) / 64);
            }
            if (filtered_)
                for (std::size_t i = base; i < base + n; ++i) {
                    group_[i] = filters[id_[i]].group;
                    mask_[i] = filters[id_[i]].mask;
                }
        }
    });
}

template <int D, class T>
GridView<D, T> SortedGrid<D, T>::view() const {
    GridView<D, T> view{shape_, {}, {}, id_.data(), start_.data(), {}, size_};
    for (int k = 0; k < D; ++k) {
        view.lo[k] = lo_[k].data();
        view.hi[k] = hi_[k].data();
    }
    if (filtered_) view.filter = {group_.data(), mask_.data()};
    return view;
}

template <int D, class T>
std::size_t SortedGrid<D, T>::bytes() const {
    std::size_t sum = id_.bytes() + group_.bytes() + mask_.bytes() + start_.bytes();
    for (int k = 0; k < D; ++k) sum += lo_[k].bytes() + hi_[k].bytes();
    for (const Scratch& s : scratch_) sum += s.sorted.bytes() + s.next.bytes();
    return sum + scratch_.capacity() * sizeof(Scratch);
}

template class SortedGrid<2, float>;
template class SortedGrid<3, float>;
template class SortedGrid<2, double>;
template class SortedGrid<3, double>;

}  // namespace quadrat::broad_phase
