#include "neighbors/grid/dense_move.hpp"

#include "base/parallel.hpp"
#include "base/radix_sort.hpp"
#include "neighbors/grid/keys.hpp"

#include <algorithm>

namespace quadrat::neighbors {
namespace {

constexpr std::size_t least_points = 4096;
constexpr std::size_t sample_size = 1024;
constexpr std::size_t most_movers = 64;  // one of so many
constexpr std::size_t block = 256;
constexpr std::size_t ahead = 24;  // points that are fetched early

/// A point that came, in the order of storage:  63..32 cell | 31..0 id
constexpr std::uint64_t arrival(std::uint32_t cell, std::uint32_t id) {
    return std::uint64_t{cell} << 32 | id;
}
constexpr std::size_t cell_of(std::uint64_t a) {
    return a >> 32;
}
constexpr std::uint32_t id_of(std::uint64_t a) {
    return static_cast<std::uint32_t>(a);
}

}  // namespace

template <int D, class T>
bool DenseMove<D, T>::worthwhile(const GridStore<D, T>& store, std::span<const Vec<D, T>> points) {
    const std::size_t n = store.size;
    if (!store.geometry.dense || points.size() != n || n < least_points) return false;
    const auto bins = static_cast<std::size_t>(store.geometry.count[0]);
    std::size_t moved = 0;
    for (std::size_t k = 0; k < sample_size; ++k) {
        const std::size_t p = k * n / sample_size;
        const Vec<D, T>& v = points[store.id[p]];
        const std::size_t cell = store.dense_row(v.v) * bins + store.geometry.dense_cell(v[0], 0);
        moved += !(store.start[cell] <= p && p < store.start[cell + 1]);
    }
    return moved <= sample_size / most_movers;
}

template <int D, class T>
DenseMove<D, T>::DenseMove(GridStore<D, T>& store, std::span<const Vec<D, T>> points, Executor* executor)
    : store_(store), points_(points), executor_(executor) {
    QUADRAT_ASSERT(store.geometry.dense && points.size() == store.size);
    // New coordinates in the old order. Chunks keep their leavers in order of position.
    const std::size_t n = store.size;
    const std::size_t grain = std::max<std::size_t>(16384, n / 64 + 1);
    struct Moved {
        std::vector<std::uint32_t> leavers;   // positions
        std::vector<std::uint64_t> arrivals;  // unsorted
    };
    std::vector<Moved> chunk(base::chunk_count(n, grain));
    const KeyKernel<D, T> kernel = key_kernels().get<D, T>();
    base::parallel_for(executor, n, grain, [&](std::size_t begin, std::size_t end) {
        Moved& mine = chunk[begin / grain];
        Record<D, T> records[block];
        std::uint32_t cells[block];
        for (std::size_t first = begin; first < end; first += block) {
            const std::size_t count = std::min(block, end - first);
            for (std::size_t k = 0; k < count; ++k) {
                __builtin_prefetch(&points[store.id[std::min(first + k + ahead, n - 1)]]);
                const std::uint32_t id = store.id[first + k];
                QUADRAT_ASSERT(id < n);
                for (int axis = 0; axis < D; ++axis) {
                    records[k].v[axis] = points[id][axis];
                    store.c[axis][first + k] = points[id][axis];
                }
                records[k].id = id;
            }
            kernel.cells(store.geometry, records, count, cells);
            for (std::size_t k = 0; k < count; ++k) {
                const auto p = static_cast<std::uint32_t>(first + k);
                if (store.start[cells[k]] <= p && p < store.start[cells[k] + std::size_t{1}]) continue;
                mine.leavers.push_back(p);
                mine.arrivals.push_back(arrival(cells[k], records[k].id));
            }
        }
    });
    for (const Moved& m : chunk) {
        leavers_.insert(leavers_.end(), m.leavers.begin(), m.leavers.end());
        arrivals_.insert(arrivals_.end(), m.arrivals.begin(), m.arrivals.end());
    }
}

template <int D, class T>
bool DenseMove<D, T>::too_many() const {
    return leavers_.size() > store_.size / (most_movers / 2);
}

template <int D, class T>
void DenseMove<D, T>::merge(GridStore<D, T>& next) {
    QUADRAT_ASSERT(leavers_.size() == arrivals_.size());
    base::RadixSorter(executor_).sort(std::span(arrivals_));
    next.resize_discard(store_.size);
    const GridParts parts = GridParts::of(store_);
    const std::vector<PartBegin> first = part_begins(parts);
    base::run_tasks(executor_, parts.count, [&](std::size_t p) {
        merge_part(store_.start[parts.first_cell(p)], store_.start[parts.first_cell(p + 1)], first[p], first[p + 1],
                   next);
    });
    base::run_tasks(executor_, parts.count, [&](std::size_t p) {
        // Entry c holds the begin of cell c; that of the next part's first cell is the next part's.
        std::size_t a = first[p].arrival, l = first[p].leaver;
        for (std::size_t c = parts.first_cell(p); c < parts.first_cell(p + 1); ++c) {
            while (a < first[p + 1].arrival && cell_of(arrivals_[a]) < c) ++a;
            while (l < first[p + 1].leaver && leavers_[l] < store_.start[c]) ++l;
            store_.start[c] += static_cast<std::uint32_t>(a - l);
        }
    });
    for (int k = 0; k < D; ++k) store_.c[k].swap(next.c[k]);
    store_.id.swap(next.id);
    store_.seal();
}

template <int D, class T>
auto DenseMove<D, T>::part_begins(const GridParts& parts) const -> std::vector<PartBegin> {
    std::vector<PartBegin> first(parts.count + 1);
    for (std::size_t p = 0; p <= parts.count; ++p) {
        const std::size_t cell = parts.first_cell(p);
        const auto a = std::lower_bound(arrivals_.begin(), arrivals_.end(), std::uint64_t{cell} << 32);
        const auto l = std::lower_bound(leavers_.begin(), leavers_.end(), store_.start[cell]);
        first[p] = {static_cast<std::size_t>(a - arrivals_.begin()), static_cast<std::size_t>(l - leavers_.begin())};
    }
    QUADRAT_ASSERT(first.back().arrival == arrivals_.size() && first.back().leaver == leavers_.size());
    return first;
}

/// The points at [from, last) without the leavers and with the arrivals of the part.
template <int D, class T>
void DenseMove<D, T>::merge_part(std::size_t from, std::size_t last, PartBegin begin, PartBegin end,
                                 GridStore<D, T>& next) const {
    std::size_t a = begin.arrival, l = begin.leaver, to = from + a - l;
    const auto copy_until = [&](std::size_t until) {
        QUADRAT_ASSERT(from <= until && until <= store_.size);
        for (int k = 0; k < D; ++k) std::copy(&store_.c[k][from], &store_.c[k][0] + until, &next.c[k][to]);
        std::copy(&store_.id[from], &store_.id[0] + until, &next.id[to]);
        to += until - from;
        from = until;
    };
    while (a < end.arrival || l < end.leaver) {
        std::size_t place = store_.size;  // where the next arrival goes, in old positions
        std::uint32_t id = 0;
        if (a < end.arrival) {
            const std::size_t cell = cell_of(arrivals_[a]);
            id = id_of(arrivals_[a]);
            place = std::max<std::size_t>(from, store_.start[cell]);
            while (place < store_.start[cell + 1] && store_.id[place] < id) ++place;
        }
        if (l < end.leaver && leavers_[l] < place) {
            copy_until(leavers_[l++]);
            ++from;
            continue;
        }
        copy_until(place);
        for (int k = 0; k < D; ++k) next.c[k][to] = points_[id][k];
        next.id[to++] = id;
        ++a;
    }
    copy_until(last);
}

template class DenseMove<2, float>;
template class DenseMove<3, float>;
template class DenseMove<2, double>;
template class DenseMove<3, double>;

}  // namespace quadrat::neighbors
