// Sorted points that moved a little: most are still in their cell, so their coordinates are replaced where they stand,
// and only the others are sorted and merged in. The result is that of build(), byte for byte: the order inside a cell
// is the order of the ids. Where more than one in 64 changes its cell, sorting all of them anew is faster
// (docs/decisions/0036-eight-lanes.md); a sample says so before anything is touched.
#include "neighbors/grid.hpp"

#include "base/parallel.hpp"
#include "base/radix_sort.hpp"
#include "neighbors/keys.hpp"

#include <algorithm>
#include <vector>

namespace quadrat::neighbors {
namespace {

constexpr std::size_t least_points = 4096;
constexpr std::size_t sample_size = 1024;
constexpr std::size_t most_movers = 64;  // one of so many
constexpr std::size_t block = 256;
constexpr std::size_t ahead = 24;  // points that are fetched early

/// Cell and id of a point that came, in the order of storage.
constexpr std::uint64_t arrival(std::uint32_t cell, std::uint32_t id) {
    return std::uint64_t{cell} << 32 | id;
}

}  // namespace

template <int D, class T>
bool Grid<D, T>::stays(const Vec<D, T>& v, std::uint32_t position) const {
    const std::size_t cell =
        dense_row(v.v) * static_cast<std::size_t>(geometry_.cells[0]) + geometry_.dense_cell(v[0], 0);
    return start_[cell] <= position && position < start_[cell + 1];
}

template <int D, class T>
bool Grid<D, T>::update(std::span<const Vec<D, T>> points, Executor* executor) {
    const std::size_t n = size_;
    if (!geometry_.dense || points.size() != n || n < least_points) return false;
    std::size_t moved = 0;
    for (std::size_t k = 0; k < sample_size; ++k) {
        const auto p = static_cast<std::uint32_t>(k * n / sample_size);
        moved += !stays(points[id_[p]], p);
    }
    if (moved > sample_size / most_movers) return false;

    // New coordinates in the old order. Chunks keep their leavers in order of position.
    const std::size_t grain = std::max<std::size_t>(16384, n / 64 + 1);
    struct Moved {
        std::vector<std::uint32_t> leavers;   // positions
        std::vector<std::uint64_t> arrivals;  // unsorted
    };
    std::vector<Moved> chunk(base::chunk_count(n, grain));
    base::parallel_for(executor, n, grain, [&](std::size_t begin, std::size_t end) {
        Moved& mine = chunk[begin / grain];
        Record<D, T> records[block];
        std::uint32_t cells[block];
        for (std::size_t first = begin; first < end; first += block) {
            const std::size_t count = std::min(block, end - first);
            for (std::size_t k = 0; k < count; ++k) {
                __builtin_prefetch(&points[id_[std::min(first + k + ahead, n - 1)]]);
                const std::uint32_t id = id_[first + k];
                for (int axis = 0; axis < D; ++axis) {
                    records[k].v[axis] = points[id][axis];
                    c_[axis][first + k] = points[id][axis];
                }
                records[k].id = id;
            }
            find_cells<D, T>(geometry_, records, count, cells);
            for (std::size_t k = 0; k < count; ++k) {
                const auto p = static_cast<std::uint32_t>(first + k);
                if (start_[cells[k]] <= p && p < start_[cells[k] + std::size_t{1}]) continue;
                mine.leavers.push_back(p);
                mine.arrivals.push_back(arrival(cells[k], records[k].id));
            }
        }
    });
    std::vector<std::uint32_t> leavers;
    std::vector<std::uint64_t> arrivals;
    for (const Moved& m : chunk) {
        leavers.insert(leavers.end(), m.leavers.begin(), m.leavers.end());
        arrivals.insert(arrivals.end(), m.arrivals.begin(), m.arrivals.end());
    }
    if (leavers.empty()) return true;
    if (leavers.size() > n / (most_movers / 2)) return false;  // the sample was wrong
    base::RadixSorter(executor).sort(std::span(arrivals));

    records_.release();
    for (int k = 0; k < D; ++k) next_c_[k].resize_discard(n + 16);
    next_id_.resize_discard(n + 16);
    const Parts parts = make_parts();
    struct Range {
        std::size_t arrival, leaver;
    };
    std::vector<Range> first(parts.count + 1);
    const auto first_cell = [&](std::size_t p) { return std::min(parts.rows, p << parts.shift) * parts.bins; };
    for (std::size_t p = 0; p <= parts.count; ++p) {
        const std::size_t cell = first_cell(p);
        first[p].arrival = static_cast<std::size_t>(
            std::lower_bound(arrivals.begin(), arrivals.end(), std::uint64_t{cell} << 32) - arrivals.begin());
        first[p].leaver =
            static_cast<std::size_t>(std::lower_bound(leavers.begin(), leavers.end(), start_[cell]) - leavers.begin());
    }
    base::run_tasks(executor, parts.count, [&](std::size_t p) {
        std::size_t a = first[p].arrival, l = first[p].leaver;
        std::size_t from = start_[first_cell(p)], to = from + a - l;
        const auto copy_until = [&](std::size_t end) {
            for (int k = 0; k < D; ++k) std::copy(&c_[k][from], &c_[k][0] + end, &next_c_[k][to]);
            std::copy(&id_[from], &id_[0] + end, &next_id_[to]);
            to += end - from;
            from = end;
        };
        while (a < first[p + 1].arrival || l < first[p + 1].leaver) {
            std::size_t place = n;  // where the next arrival goes, in old positions
            std::uint32_t id = 0;
            if (a < first[p + 1].arrival) {
                const std::size_t cell = arrivals[a] >> 32;
                id = static_cast<std::uint32_t>(arrivals[a]);
                place = std::max<std::size_t>(from, start_[cell]);
                while (place < start_[cell + 1] && id_[place] < id) ++place;
            }
            if (l < first[p + 1].leaver && leavers[l] < place) {
                copy_until(leavers[l++]);
                ++from;
                continue;
            }
            copy_until(place);
            for (int k = 0; k < D; ++k) next_c_[k][to] = points[id][k];
            next_id_[to++] = id;
            ++a;
        }
        copy_until(start_[first_cell(p + 1)]);
    });
    base::run_tasks(executor, parts.count, [&](std::size_t p) {
        // Entry c holds the begin of cell c; that of the next part's first cell is the next part's.
        std::size_t a = first[p].arrival, l = first[p].leaver;
        for (std::size_t c = first_cell(p); c < first_cell(p + 1); ++c) {
            while (a < first[p + 1].arrival && arrivals[a] >> 32 < c) ++a;
            while (l < first[p + 1].leaver && leavers[l] < start_[c]) ++l;
            start_[c] += static_cast<std::uint32_t>(a - l);
        }
    });
    for (int k = 0; k < D; ++k) c_[k].swap(next_c_[k]);
    id_.swap(next_id_);
    finish();
    return true;
}

template bool Grid<2, float>::update(std::span<const Vec<2, float>>, Executor*);
template bool Grid<3, float>::update(std::span<const Vec<3, float>>, Executor*);
template bool Grid<2, double>::update(std::span<const Vec<2, double>>, Executor*);
template bool Grid<3, double>::update(std::span<const Vec<3, double>>, Executor*);

}  // namespace quadrat::neighbors
