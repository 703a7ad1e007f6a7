#include "ccd/pipeline/decide.hpp"

#include "ccd/filter/filter.hpp"
#include "ccd/filter/separation.hpp"
#include "ccd/filter/separation_kernel.hpp"
#include "ccd/impact_batch.hpp"

#include <bit>

namespace quadrat::ccd {
namespace {

constexpr std::size_t chunk = 4096;  // pairs at a time, which stay in the cache

// Column q of the block: relative positions at both ends of a motion, second feature seen from the first.
template <class Motion>
void fill(DifferenceBlock& block, std::size_t q, const Motion& motion, const std::uint32_t (&v)[4], bool edges) {
    const auto put = [&](int vector, std::uint32_t a, std::uint32_t b) {
        for (int k = 0; k < 3; ++k) {
            block.value[vector][k][q] = motion.start(a, k) - motion.start(b, k);
            block.value[vector + 1][k][q] = motion.end(a, k) - motion.end(b, k);
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

// From where a window begins to a time of the whole step.
struct Cut {
    const base::Array<Trace>& window;
    const base::Array<Trace>& step;
    double time;

    [[nodiscard]] double start(std::uint32_t v, int k) const { return window[v].start[k]; }
    [[nodiscard]] double end(std::uint32_t v, int k) const {
        return (1 - time) * step[v].start[k] + time * step[v].end[k];
    }
};

// Copies the pairs for which no direction separates the features by more than the gap; returns how many. `out` may be
// where the pairs are.
template <class Motion>
std::size_t select_not_separated(const Features& f, const Motion& motion, ContactKind kind, std::span<const Pair> pairs,
                                 double gap, Pair* out) {
    const bool edges = kind == ContactKind::edge_edge;
    DifferenceBlock block;
    std::size_t kept = 0;
    for (std::size_t begin = 0; begin < pairs.size(); begin += block_size) {
        const std::size_t n = std::min(block_size, pairs.size() - begin);
        for (std::size_t q = 0; q < block_size; ++q) {  // the rest of the last block repeats its first query
            std::uint32_t v[4] = {};
            corners(f, kind, pairs[begin + (q < n ? q : 0)], v);
            fill(block, q, motion, v, edges);
        }
        std::uint64_t left = ~separated(block, edges ? 8 : 6, gap);
        if (n < block_size) left &= (std::uint64_t{1} << n) - 1;
        for (; left; left &= left - 1) out[kept++] = pairs[begin + static_cast<std::size_t>(std::countr_zero(left))];
    }
    return kept;
}

}  // namespace

std::size_t Decider::select(ContactKind kind, std::span<const Pair> pairs, std::vector<Pair>& kept) const {
    kept.resize(pairs.size());
    const Path* const vertices = paths_.vertices.data();
    const Path* const edges = paths_.edges.data();
    const auto near = [&](const Path* first, const auto* second) {
        const std::size_t some = select_near(Directions::centres, first, second, paths_.gap, pairs, kept.data());
        return select_near(Directions::many, first, second, paths_.gap, {kept.data(), some}, kept.data());
    };
    switch (kind) {
        case ContactKind::vertex_face:
            return near(vertices, paths_.faces.data());
        case ContactKind::edge_edge:
            return near(edges, edges);
        case ContactKind::vertex_edge:
            return near(vertices, edges);
        case ContactKind::vertex_vertex:
            break;
    }
    return near(vertices, vertices);
}

double Decider::time_of(ContactKind kind, const Pair& pair, ImpactStats& statistics) const {
    const ImpactKind query = query_of(kind);
    std::uint32_t v[4] = {};
    corners(f_, kind, pair, v);
    FourPoints start;
    FourPoints finish;
    for (std::size_t i = 0; i < 4; ++i) {
        start[i] = start_of(step_[v[i]]);
        finish[i] = end_of(step_[v[i]]);
    }
    return min_distance_ > 0 ? separation_time(query, start, finish, min_distance_, tolerance_)
                             : settle(query, start, finish, tolerance_, true, statistics);
}

void Decider::decide(ContactKind kind, std::span<const Pair> pairs, std::vector<Hit>& hits,
                     ImpactStats& statistics) const {
    std::vector<Pair> kept;
    for (std::size_t from = 0; from < pairs.size(); from += chunk) {
        const std::span<const Pair> all = pairs.subspan(from, std::min(chunk, pairs.size() - from));
        const std::size_t left = select(kind, all, kept);
        statistics.queries += all.size();
        statistics.by_separation += all.size() - left;
        for (std::size_t i = 0; i < left; ++i) {
            const double time = time_of(kind, kept[i], statistics);
            if (time <= 1) hits.push_back({time, kept[i]});
        }
    }
}

void Decider::lower(ContactKind kind, std::span<const Pair> pairs, std::atomic<double>& earliest) const {
    ImpactStats statistics;
    std::vector<Pair> kept;
    for (std::size_t from = 0; from < pairs.size(); from += chunk) {
        const std::size_t left = select(kind, pairs.subspan(from, std::min(chunk, pairs.size() - from)), kept);
        for (std::size_t begin = 0; begin < left;) {
            // What is told to touch before the earliest time so far touches at most the tolerance behind it.
            const std::size_t n = std::min(block_size, left - begin);
            const double until = earliest.load(std::memory_order_relaxed) + tolerance_;
            std::size_t end = begin + n;
            if (until < 1)
                end = begin + select_not_separated(f_, Cut{f_.vertices, step_, until}, kind, {&kept[begin], n}, gap_,
                                                   &kept[begin]);
            for (std::size_t i = begin; i < end; ++i) {
                const double time = time_of(kind, kept[i], statistics);
                double now = earliest.load(std::memory_order_relaxed);
                while (time < now && !earliest.compare_exchange_weak(now, time, std::memory_order_relaxed)) {
                }
            }
            begin += n;
        }
    }
}

}  // namespace quadrat::ccd
