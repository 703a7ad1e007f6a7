#include "ccd/pipeline/decide.hpp"

#include "ccd/filter/filter.hpp"
#include "ccd/filter/separation.hpp"
#include "ccd/filter/separation_kernel.hpp"
#include "ccd/impact_batch.hpp"

#include <bit>

namespace quadrat::ccd {
namespace {

// Column q of the block: relative positions at both ends of the step, second feature seen from the first.
void fill(DifferenceBlock& block, std::size_t q, const base::Array<Trace>& step, const std::uint32_t (&v)[4],
          bool edges) {
    const auto put = [&](int vector, std::uint32_t a, std::uint32_t b) {
        const Trace& s = step[a];
        const Trace& t = step[b];
        for (int k = 0; k < 3; ++k) {
            block.value[vector][k][q] = s.start[k] - t.start[k];
            block.value[vector + 1][k][q] = s.end[k] - t.end[k];
        }
    };
    if (edges) {
        put(0, v[2], v[0]);
        put(2, v[3], v[0]);
        put(4, v[2], v[1]);
        put(6, v[3], v[1]);
    } else {
        put(0, v[1], v[0]);
        put(2, v[2], v[0]);
        put(4, v[3], v[0]);
    }
}

}  // namespace

std::span<const Pair> Decider::select(ContactKind kind, std::span<const Pair> pairs, std::vector<Pair>& kept) const {
    const base::Array<Slabs>& second = kind == ContactKind::vertex_face     ? slabs_.faces
                                       : kind == ContactKind::vertex_vertex ? slabs_.vertices
                                                                            : slabs_.edges;
    const base::Array<Slabs>& first = kind == ContactKind::edge_edge ? slabs_.edges : slabs_.vertices;
    kept.resize(pairs.size());
    return {kept.data(), select_overlapping(first.data(), second.data(), pairs, kept.data())};
}

double Decider::time_of(ImpactKind query, const std::uint32_t (&v)[4], ImpactStats& statistics) const {
    FourPoints start;
    FourPoints finish;
    for (std::size_t i = 0; i < 4; ++i) {
        start[i] = start_of(step_[v[i]]);
        finish[i] = end_of(step_[v[i]]);
    }
    return min_distance_ > 0 ? separation_time(query, start, finish, min_distance_, tolerance_)
                             : settle(query, start, finish, tolerance_, true, statistics);
}

template <class Visit>
void Decider::run(ContactKind kind, std::span<const Pair> pairs, ImpactStats& statistics, Visit&& visit) const {
    constexpr std::size_t chunk = 4096;
    const bool edges = kind == ContactKind::edge_edge;
    DifferenceBlock block;
    std::vector<Pair> scratch;
    for (std::size_t from = 0; from < pairs.size(); from += chunk) {
        const std::span<const Pair> all = pairs.subspan(from, std::min(chunk, pairs.size() - from));
        const std::span<const Pair> kept = select(kind, all, scratch);
        statistics.queries += all.size();
        statistics.by_separation += all.size() - kept.size();
        for (std::size_t begin = 0; begin < kept.size(); begin += block_size) {
            const std::size_t n = std::min(block_size, kept.size() - begin);
            std::uint32_t v[block_size][4];
            for (std::size_t q = 0; q < n; ++q) {
                corners(f_, kind, kept[begin + q], v[q]);
                fill(block, q, step_, v[q], edges);
            }
            for (std::size_t q = n; q < block_size; ++q)  // the rest of the last block repeats its first query
                fill(block, q, step_, v[0], edges);
            std::uint64_t left = ~separated(block, edges ? 8 : 6, min_distance_);
            if (n < block_size) left &= (std::uint64_t{1} << n) - 1;
            statistics.by_separation += n - static_cast<std::size_t>(std::popcount(left));
            for (; left; left &= left - 1) {
                const auto q = static_cast<std::size_t>(std::countr_zero(left));
                const double time = time_of(query_of(kind), v[q], statistics);
                if (time <= 1) visit(time, kept[begin + q]);
            }
        }
    }
}

void Decider::decide(ContactKind kind, std::span<const Pair> pairs, std::vector<Hit>& hits,
                     ImpactStats& statistics) const {
    run(kind, pairs, statistics, [&](double time, const Pair& pair) { hits.push_back({time, pair}); });
}

void Decider::lower(ContactKind kind, std::span<const Pair> pairs, std::atomic<double>& earliest) const {
    ImpactStats statistics;
    run(kind, pairs, statistics, [&](double time, const Pair&) {
        double now = earliest.load(std::memory_order_relaxed);
        while (time < now && !earliest.compare_exchange_weak(now, time, std::memory_order_relaxed)) {
        }
    });
}

}  // namespace quadrat::ccd
