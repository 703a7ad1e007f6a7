// The searches of CellIndex: lists, counts and streams of pairs. Homes are taken in chunks whose number depends on the
// data alone; a chunk writes its rows one after the other into its own segment of the list. What is scattered, the
// record or the count of a row, is first written in cell order and brought into the order of the input at the end: one
// pass that does nothing but wait for memory waits less than the search would at every row.
#include <quadrat/neighbors/cell_index.hpp>

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/validate.hpp"
#include "neighbors/refine.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>

namespace quadrat {
namespace {

using detail::NeighborListWriter;
using neighbors::Group;
using neighbors::Job;
using neighbors::Kernel;
using neighbors::Refiner;
using neighbors::Walk;
using ListSegment = NeighborListWriter::Segment;

constexpr std::size_t smallest_chunk = 8192;
constexpr std::size_t most_chunks = 8192;
constexpr std::size_t stream_chunk = 2048;
constexpr std::size_t charged_at_once = 4096;  // entries
constexpr std::uint32_t scatter_ahead = 24;    // rows

constexpr std::uint32_t nobody[neighbors::max_group] = {
    neighbors::no_self, neighbors::no_self, neighbors::no_self, neighbors::no_self,
    neighbors::no_self, neighbors::no_self, neighbors::no_self, neighbors::no_self,
    neighbors::no_self, neighbors::no_self, neighbors::no_self, neighbors::no_self,
    neighbors::no_self, neighbors::no_self, neighbors::no_self, neighbors::no_self};

struct ListTooLong {};

/// Memory that all segments of a list may take. With a forecast it also gives up when a small part of it is used and
/// the homes that are left, if they are like those before, would need clearly more than the rest: hopeless lists are
/// then counted, not stored up to the limit.
class Budget {
  public:
    static constexpr std::uint64_t unlimited = std::uint64_t{1} << 60;

    Budget(std::uint64_t bytes, std::size_t homes, bool forecast)
        : bytes_(std::min(bytes, unlimited)), homes_(static_cast<double>(homes)), forecast_(forecast) {}
    void take(std::uint64_t bytes, std::uint64_t homes) {
        const std::uint64_t used = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        const std::uint64_t done = done_.fetch_add(homes, std::memory_order_relaxed) + homes;
        if (used > bytes_) throw ListTooLong{};
        if (forecast_ && used > bytes_ / 32 &&
            static_cast<double>(used) * homes_ > 1.5 * static_cast<double>(bytes_) * static_cast<double>(done))
            throw ListTooLong{};
    }

  private:
    std::uint64_t bytes_;
    double homes_;
    bool forecast_;
    std::atomic<std::uint64_t> used_{0}, done_{0};
};

template <int D, class T>
Kernel<T> kernel_for(bool plain) {
    return plain ? neighbors::vector_kernel<D, T>() : neighbors::scalar_kernel<D, T>();
}

template <int D, class T>
std::size_t entry_bytes(const NeighborOptions& o) {
    return sizeof(std::uint32_t) + (o.distances != DistanceKind::none ? sizeof(T) : 0) +
           (o.vectors ? sizeof(Vec<D, T>) : 0) + (o.shifts ? sizeof(Shift) : 0);
}

/// Brings values that are in cell order into the order of the input.
template <class Value>
void scatter(Executor* executor, const std::uint32_t* ids, std::size_t n, const Value* from, Value* to) {
    constexpr std::size_t grain = 65536;
    base::parallel_for(executor, n, grain, [&](std::size_t begin, std::size_t end) {
        std::size_t p = begin;
        for (; p + scatter_ahead < end; ++p) {
            __builtin_prefetch(to + ids[p + scatter_ahead], 1);
            to[ids[p]] = from[p];
        }
        for (; p < end; ++p) to[ids[p]] = from[p];
    });
}

/// Rows of the homes at [begin, end), final ids, one after the other in `to` from entry 0; done(place, first entry,
/// count).
template <int D, class T, class State, bool kDense, class Done>
std::uint64_t fill(const Job<D, T, State>& job, std::size_t begin, std::size_t end, ListSegment& to, Budget& budget,
                   Done&& done) {
    const Kernel<T> kernel = kernel_for<D, T>(job.reach.plain);
    Walk<D, T, kDense> walk(job.homes, job.state.points, job.reach);
    std::uint64_t used = 0, charged = 0, tests = 0, homes_done = 0;
    const auto charge = [&](std::uint64_t most_uncharged, unsigned homes) {
        homes_done += homes;
        if (used - charged < most_uncharged) return;
        budget.take((used - charged) * entry_bytes<D, T>(job.options), homes_done);
        charged = used;
        homes_done = 0;
    };
    const auto first = static_cast<std::uint32_t>(begin), last = static_cast<std::uint32_t>(end);
    if (!job.refined) {
        const bool leave_self = job.own && !job.options.self;
        const auto visit = [&](std::uint32_t h, Group<T>& group) {
            if (!leave_self) group.self = nobody;
            const std::size_t candidates = kernel.cull(group);
            tests += group.size * candidates;
            to.indices.grow(used + group.size * candidates + neighbors::max_lanes);
            (job.options.half ? kernel.half : kernel.full)(group, candidates, to.indices.data() + used);
            for (unsigned a = 0; a < group.size; ++a) {
                done(h + a, used, group.count[a]);
                used += group.count[a];
            }
            charge(charged_at_once, group.size);
        };
        job.options.half ? walk.template run<true>(first, last, visit) : walk.template run<false>(first, last, visit);
        charge(1, 0);
        job.state.tests += tests;
        return used;
    }
    Refiner<D, T, State> refiner(job);
    base::Array<std::uint32_t> positions;
    walk.report_positions();
    walk.template run<false>(first, last, [&](std::uint32_t h, Group<T>& group) {
        group.self = nobody;
        const std::size_t candidates = kernel.cull(group);
        positions.resize_discard(group.size * (candidates + neighbors::max_lanes));
        kernel.full(group, candidates, positions.data());
        tests += group.size * candidates;
        const std::uint32_t* row = positions.data();
        for (unsigned a = 0; a < group.size; ++a) {
            refiner.grow(to, used + group.count[a]);
            const std::uint32_t kept = refiner.row(h + a, row, group.count[a], &to, used);
            done(h + a, used, kept);
            used += kept;
            row += group.count[a];
        }
        charge(charged_at_once, group.size);
    });
    charge(1, 0);
    job.state.tests += tests;
    return used;
}

/// count(place, n) for the homes at [begin, end).
template <int D, class T, class State, bool kDense, class Count>
void count_rows(const Job<D, T, State>& job, std::size_t begin, std::size_t end, Count&& count) {
    const Kernel<T> kernel = kernel_for<D, T>(job.reach.plain);
    Walk<D, T, kDense> walk(job.homes, job.state.points, job.reach);
    const auto first = static_cast<std::uint32_t>(begin), last = static_cast<std::uint32_t>(end);
    if (!job.refined) {
        const std::uint32_t self = job.own && !job.options.self && !job.options.half ? 1 : 0;
        const auto visit = [&](std::uint32_t h, Group<T>& group) {
            const std::size_t candidates = kernel.cull_unlabelled(group);
            (job.options.half ? kernel.count_half : kernel.count)(group, candidates, nullptr);
            for (unsigned a = 0; a < group.size; ++a) count(h + a, group.count[a] - self);
        };
        job.options.half ? walk.template run<true>(first, last, visit) : walk.template run<false>(first, last, visit);
        return;
    }
    Refiner<D, T, State> refiner(job);
    base::Array<std::uint32_t> positions;
    walk.report_positions();
    walk.template run<false>(first, last, [&](std::uint32_t h, Group<T>& group) {
        group.self = nobody;
        const std::size_t candidates = kernel.cull(group);
        positions.resize_discard(group.size * (candidates + neighbors::max_lanes));
        kernel.full(group, candidates, positions.data());
        const std::uint32_t* row = positions.data();
        for (unsigned a = 0; a < group.size; ++a) {
            count(h + a, refiner.row(h + a, row, group.count[a], nullptr, 0));
            row += group.count[a];
        }
    });
}

template <int D, class T, class State>
std::uint64_t count_all(const Job<D, T, State>& job) {
    const std::size_t grain = std::max(smallest_chunk, job.homes.size() / most_chunks + 1);
    return base::parallel_reduce(
        job.state.options.executor, job.homes.size(), grain, std::uint64_t{0},
        [&](std::size_t begin, std::size_t end) {
            std::uint64_t sum = 0;
            const auto add = [&](std::uint32_t, std::uint32_t n) { sum += n; };
            job.state.points.geometry().dense ? count_rows<D, T, State, true>(job, begin, end, add)
                                              : count_rows<D, T, State, false>(job, begin, end, add);
            return sum;
        },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

/// The whole list of a job. `rows` may be more than there are homes: the others are empty.
template <int D, class T, class State>
void list(const Job<D, T, State>& job, std::size_t rows, NeighborList& out) {
    const std::size_t homes = job.homes.size();
    const NeighborOptions& o = job.options;
    const std::size_t grain = std::max(smallest_chunk, homes / most_chunks + 1);
    const std::size_t chunks = base::chunk_count(homes, grain);
    const std::uint64_t allowed = job.state.max_bytes();
    const std::uint64_t fixed = rows * sizeof(std::uint64_t);
    const auto refuse = [&](std::uint64_t entries) {
        out.clear();
        throw Error(ErrorKind::too_large, "the neighbour list needs " +
                                              std::to_string(entries * entry_bytes<D, T>(o) + fixed) + " bytes for " +
                                              std::to_string(entries) + " entries, more than max_bytes (" +
                                              std::to_string(allowed) + "): use counts or for_each_pair");
    };
    NeighborListWriter writer(out, rows, std::max<std::size_t>(chunks, 1),
                              {.distances = o.distances,
                               .scalar_bytes = sizeof(T),
                               .vector_bytes = static_cast<std::uint8_t>(o.vectors ? sizeof(Vec<D, T>) : 0),
                               .shifts = o.shifts});
    std::uint64_t* const records = writer.records();
    if (homes < rows) std::fill_n(records, rows, NeighborListWriter::record(0, 0, 0));
    std::vector<std::uint64_t> entries(chunks, 0);
    struct Wide {
        std::uint32_t row;
        NeighborListWriter::WideRow place;
    };
    std::vector<std::vector<Wide>> wide(chunks);
    base::Array<std::uint64_t> placed(homes);  // records in cell order
    std::mutex report;
    const auto fill_all = [&](bool forecast) {
        Budget budget(allowed > fixed ? allowed - fixed : 0, homes, forecast);
        job.state.tests = 0;
        std::size_t finished = 0;
        base::parallel_for(job.state.options.executor, homes, grain, [&](std::size_t begin, std::size_t end) {
            const std::size_t c = begin / grain;
            ListSegment& segment = writer.segment(c);
            wide[c].clear();
            const auto done = [&](std::uint32_t place, std::uint64_t first, std::uint32_t count) {
                placed[place] = NeighborListWriter::record(c, first, count);
                if (!NeighborListWriter::fits(first, count)) [[unlikely]]
                    wide[c].push_back({job.homes.ids()[place], {first, count, static_cast<std::uint32_t>(c)}});
            };
            entries[c] = job.state.points.geometry().dense
                             ? fill<D, T, State, true>(job, begin, end, segment, budget, done)
                             : fill<D, T, State, false>(job, begin, end, segment, budget, done);
            if (o.watch.report || o.watch.stop.stop_requested()) {
                const std::lock_guard lock(report);
                base::check_in(o.watch, ++finished, chunks);
            }
        });
    };
    try {
        fill_all(true);
    } catch (const ListTooLong&) {
        for (std::size_t c = 0; c < chunks; ++c) writer.segment(c) = {};
        const std::uint64_t count = count_all(job);
        if (count * entry_bytes<D, T>(o) + fixed > allowed) {
            out = NeighborList();
            refuse(count);
        }
        fill_all(false);
    }
    scatter(job.state.options.executor, job.homes.ids(), homes, placed.data(), records);
    for (const auto& rows_of_chunk : wide)
        for (const Wide& w : rows_of_chunk) writer.set_wide(w.row, w.place);
    const std::uint64_t total = std::accumulate(entries.begin(), entries.end(), std::uint64_t{0});
    writer.finish(total);
    if (total * entry_bytes<D, T>(o) + fixed > allowed) refuse(total);
    if (o.order == RowOrder::input) out.compact();
}

/// list(), and no rows at all where it throws.
template <int D, class T, class State>
void list_or_clear(const Job<D, T, State>& job, std::size_t rows, NeighborList& out) {
    try {
        list(job, rows, out);
    } catch (...) {
        out.clear();
        throw;
    }
}

void check_groups(const NeighborOptions& o, std::size_t points) {
    if (o.searches.empty() && o.groups.empty()) return;
    if (o.groups.size() != points)
        throw Error(ErrorKind::bad_shape, "one group per point is needed", Where{.field = "groups"});
    const std::size_t known = std::min<std::size_t>(64, o.searches.empty() ? 64 : o.searches.size());
    for (std::size_t i = 0; i < points; ++i)
        if (o.groups[i] >= known)
            throw Error(ErrorKind::bad_value, "there is no group " + std::to_string(o.groups[i]),
                        Where{.index = i, .field = "groups"});
}

/// A pair is in one row of a half list only, so both of its groups must see each other.
void check_mutual(std::span<const std::uint64_t> searches) {
    const std::size_t known = std::min<std::size_t>(64, searches.size());
    for (std::size_t g = 0; g < known; ++g)
        for (std::size_t h = 0; h < g; ++h)
            if ((searches[g] >> h & 1) != (searches[h] >> g & 1))
                throw Error(ErrorKind::unsupported,
                            "a half list needs groups that see each other: of " + std::to_string(h) + " and " +
                                std::to_string(g) + " only one sees the other",
                            Where{.field = "half"});
}

template <int D, class T, class State>
bool needs_refining(const State& s, const NeighborOptions& o, bool own) {
    const bool combined = own && !s.support.radii.empty() && s.options.rule != RadiusRule::own;
    return combined || s.periodic() || o.distances != DistanceKind::none || o.vectors || o.shifts ||
           !o.searches.empty() || (o.half && o.self);
}

}  // namespace

template <int D, class T>
void CellIndex<D, T>::find_neighbors(NeighborList& out, const NeighborOptions& options) const {
    const State& s = *state_;
    out.clear();
    check_groups(options, s.slots);
    if (options.half) check_mutual(options.searches);
    if (options.half && s.directed())
        throw Error(ErrorKind::unsupported, "a half list needs a symmetric rule: own radii have none",
                    Where{.field = "half"});
    const Job<D, T, State> job{s,        s.homes(), options, true, &s.images, needs_refining<D, T>(s, options, true),
                               s.reach()};
    list_or_clear(job, s.slots, out);
}

template <int D, class T>
void CellIndex<D, T>::find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out,
                                     const NeighborOptions& options) const {
    const State& s = *state_;
    out.clear();
    check_groups(options, s.slots);
    if (options.half) throw Error(ErrorKind::unsupported, "queries have no half list", Where{.field = "half"});
    if (!queries.empty()) cells::check_radius(s.options.radius);
    cells::check_count(queries.size());
    cells::check_points(queries, s.options.executor);
    neighbors::Images<D, T> images;
    if (s.periodic()) images.wrap(s.lattice, queries);
    neighbors::Grid<D, T> homes;
    homes.build(s.points.geometry(), s.periodic() ? std::span<const Vec<D, T>>(images.wrapped) : queries,
                s.options.executor);
    neighbors::Reach<T> reach = s.reach();
    reach.radii = nullptr;
    reach.plain = cells::plain_radius(s.options.radius + s.options.skin);
    if (!s.support.radii.empty()) reach.radius = s.options.radius + s.options.skin + s.points.geometry().slack;
    Job<D, T, State> job{s, homes, options, false, &images, needs_refining<D, T>(s, options, false), reach};
    if (!s.support.radii.empty()) job.refined = true;
    list_or_clear(job, queries.size(), out);
}

template <int D, class T>
void CellIndex<D, T>::count_neighbors(std::vector<std::uint32_t>& out) const {
    const State& s = *state_;
    out.assign(s.slots, 0);
    const NeighborOptions options;
    const Job<D, T, State> job{s,        s.homes(), options, true, &s.images, needs_refining<D, T>(s, options, true),
                               s.reach()};
    const std::size_t grain = std::max(smallest_chunk, job.homes.size() / most_chunks + 1);
    base::Array<std::uint32_t> placed(job.homes.size());
    base::parallel_for(s.options.executor, job.homes.size(), grain, [&](std::size_t begin, std::size_t end) {
        const auto set = [&](std::uint32_t place, std::uint32_t n) { placed[place] = n; };
        s.points.geometry().dense ? count_rows<D, T, State, true>(job, begin, end, set)
                                  : count_rows<D, T, State, false>(job, begin, end, set);
    });
    scatter(s.options.executor, job.homes.ids(), job.homes.size(), placed.data(), out.data());
}

template <int D, class T>
std::uint64_t CellIndex<D, T>::count_pairs() const {
    const State& s = *state_;
    NeighborOptions options;
    options.half = !s.directed();
    const Job<D, T, State> job{s,        s.homes(), options, true, &s.images, needs_refining<D, T>(s, options, true),
                               s.reach()};
    return count_all(job);
}

template <int D, class T>
void CellIndex<D, T>::stream(void* context, void (*sink)(void*, const Batch&), Threads threads) const {
    const State& s = *state_;
    NeighborOptions options;
    options.half = !s.directed();
    const Job<D, T, State> job{s,        s.homes(), options, true, &s.images, needs_refining<D, T>(s, options, true),
                               s.reach()};
    const std::uint32_t* const ids = job.homes.ids();
    const auto chunk = [&](std::size_t begin, std::size_t end, ListSegment& rows, std::vector<std::uint32_t>& homes,
                           std::vector<std::uint32_t>& counts) {
        Budget budget(Budget::unlimited, 1, false);
        homes.assign(ids + begin, ids + end);
        counts.assign(end - begin, 0);
        const auto done = [&](std::uint32_t place, std::uint64_t, std::uint32_t n) { counts[place - begin] = n; };
        s.points.geometry().dense ? fill<D, T, State, true>(job, begin, end, rows, budget, done)
                                  : fill<D, T, State, false>(job, begin, end, rows, budget, done);
        sink(context, Batch{homes, counts, rows.indices.data(), s.directed()});
    };
    // Where points are dense a batch holds fewer homes, so that its pairs stay within a few megabytes.
    const std::size_t n = job.homes.size();
    constexpr std::size_t batch = neighbors::max_group;
    base::run_tasks(threads == Threads::executor ? s.options.executor : nullptr, base::chunk_count(n, stream_chunk),
                    [&](std::size_t c) {
                        ListSegment rows;
                        std::vector<std::uint32_t> homes, counts;
                        const std::size_t begin = c * stream_chunk, end = std::min(n, begin + stream_chunk);
                        std::uint64_t pairs = 0;
                        const auto add = [&](std::uint32_t, std::uint32_t k) { pairs += k; };
                        const std::size_t probe = std::min(end, begin + batch);
                        s.points.geometry().dense ? count_rows<D, T, State, true>(job, begin, probe, add)
                                                  : count_rows<D, T, State, false>(job, begin, probe, add);
                        const std::uint64_t each = pairs / (probe - begin) + 1;
                        const std::size_t step =
                            std::clamp<std::size_t>((std::size_t{1} << 20) / each, 1, stream_chunk);
                        for (std::size_t b = begin; b < end; b += step)
                            chunk(b, std::min(end, b + step), rows, homes, counts);
                    });
}

template <int D, class T>
void CellIndex<D, T>::find_row(std::uint32_t i, std::vector<std::uint32_t>& row) const {
    const State& s = *state_;
    row.clear();
    s.find_places();
    if (i >= s.slots || s.places[i] == 0xffffffffu)
        throw Error(ErrorKind::stale_id, "there is no point " + std::to_string(i), Where{.index = i});
    const NeighborOptions options;
    const Job<D, T, State> job{s,        s.homes(), options, true, &s.images, needs_refining<D, T>(s, options, true),
                               s.reach()};
    ListSegment to;
    Budget budget(Budget::unlimited, 1, false);
    const std::size_t p = s.places[i];
    const auto done = [](std::uint32_t, std::uint64_t, std::uint32_t) {};
    const std::uint64_t count = s.points.geometry().dense ? fill<D, T, State, true>(job, p, p + 1, to, budget, done)
                                                          : fill<D, T, State, false>(job, p, p + 1, to, budget, done);
    row.assign(to.indices.data(), to.indices.data() + count);
}

template <int D, class T>
void CellIndex<D, T>::find_row(const Vec<D, T>& position, std::vector<std::uint32_t>& row) const {
    NeighborList list_of_one;
    find_neighbors(std::span(&position, 1), list_of_one);
    row.assign(list_of_one[0].begin(), list_of_one[0].end());
}

#define QUADRAT_CELL_INDEX(D, T)                                                                                     \
    template void CellIndex<D, T>::find_neighbors(NeighborList&, const NeighborOptions&) const;                      \
    template void CellIndex<D, T>::find_neighbors(std::span<const Vec<D, T>>, NeighborList&, const NeighborOptions&) \
        const;                                                                                                       \
    template void CellIndex<D, T>::count_neighbors(std::vector<std::uint32_t>&) const;                               \
    template std::uint64_t CellIndex<D, T>::count_pairs() const;                                                     \
    template void CellIndex<D, T>::stream(void*, void (*)(void*, const Batch&), Threads) const;                      \
    template void CellIndex<D, T>::find_row(std::uint32_t, std::vector<std::uint32_t>&) const;                       \
    template void CellIndex<D, T>::find_row(const Vec<D, T>&, std::vector<std::uint32_t>&) const;
QUADRAT_CELL_INDEX(2, float)
QUADRAT_CELL_INDEX(3, float)
QUADRAT_CELL_INDEX(2, double)
QUADRAT_CELL_INDEX(3, double)
#undef QUADRAT_CELL_INDEX

}  // namespace quadrat
