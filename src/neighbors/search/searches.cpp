#include "neighbors/search/searches.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/validate.hpp"
#include "neighbors/search/list_builder.hpp"
#include "neighbors/search/loop_rows.hpp"
#include "neighbors/search/search.hpp"
#include "neighbors/search/sinks.hpp"

#include <string>

namespace quadrat::neighbors {
namespace {

using detail::NeighborListWriter;

constexpr std::size_t stream_chunk = 2048;
constexpr std::uint64_t streamed_at_once = 1 << 20;  // pairs, roughly

/// The list of a search, and no rows at all where that throws.
template <int D, class T>
void build_list(const Search<D, T>& search, std::size_t rows, NeighborList& out) {
    try {
        ListBuilder<D, T>(search, rows, out).build();
    } catch (...) {
        out.clear();
        throw;
    }
}

/// Each pair once where the rule is symmetric.
template <int D, class T>
NeighborOptions pair_options(const IndexState<D, T>& state) {
    NeighborOptions options;
    options.half = !state.directed();
    return options;
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

template <int D, class T>
void check(const IndexState<D, T>& s, const NeighborOptions& options) {
    check_groups(options, s.slots);
    if (options.half) check_mutual(options.searches);
    if (options.half && s.directed())
        throw Error(ErrorKind::unsupported, "a half list needs a symmetric rule: own radii have none",
                    Where{.field = "half"});
}

}  // namespace

template <int D, class T>
void Searches<D, T>::find(const IndexState<D, T>& s, const NeighborOptions& options, NeighborList& out) {
    out.clear();
    check(s, options);
    build_list(Search<D, T>(s, options), s.slots, out);
}

template <int D, class T>
void Searches<D, T>::find(const IndexState<D, T>& s, std::span<const Vec<D, T>> queries, const NeighborOptions& options,
                          NeighborList& out) {
    out.clear();
    check_groups(options, s.slots);
    if (options.half) throw Error(ErrorKind::unsupported, "queries have no half list", Where{.field = "half"});
    if (!queries.empty()) cells::check_radius(s.options.radius);
    cells::check_count(queries.size());
    cells::check_points(queries, s.options.executor);
    Wrapped<D, T> around;
    if (s.periodic()) around = Wrapped<D, T>::of(s.lattice, queries, {}, s.options.executor);
    Grid<D, T> homes;
    homes.build(s.geometry(), around.or_as(queries), s.options.executor);
    build_list(Search<D, T>(s, options, homes, around.turns), queries.size(), out);
}

template <int D, class T>
void Searches<D, T>::count_each(const IndexState<D, T>& s, std::vector<std::uint32_t>& out, const Watch& watch) {
    out.clear();
    const NeighborOptions options;
    const Search<D, T> search(s, options);
    const std::span<const std::uint32_t> homes = search.homes();
    const std::size_t grain = grain_for(homes.size());
    base::Array<std::uint32_t> placed(homes.size());
    base::TaskProgress progress(watch, base::chunk_count(homes.size(), grain));
    base::parallel_for(s.options.executor, homes.size(), grain, [&](std::size_t begin, std::size_t end) {
        CountRows rows([&](std::uint32_t place, std::uint32_t n) { placed[place] = n; });
        search.run(begin, end, rows);
        progress.done_one();
    });
    progress.finish();
    out.assign(s.slots, 0);
    scatter(s.options.executor, homes.data(), homes.size(), placed.data(), out.data());
}

template <int D, class T>
std::uint64_t Searches<D, T>::count_pairs(const IndexState<D, T>& s, const Watch& watch) {
    const NeighborOptions options = pair_options(s);
    return count_all(Search<D, T>(s, options), watch);
}

template <int D, class T>
void Searches<D, T>::stream(const IndexState<D, T>& s, Executor* executor, void* context, detail::RowSink* sink) {
    const NeighborOptions options = pair_options(s);
    const Search<D, T> search(s, options);
    const std::uint32_t* const ids = search.homes().data();
    const std::size_t n = search.homes().size();
    base::run_tasks(executor, base::chunk_count(n, stream_chunk), [&](std::size_t c) {
        const std::size_t begin = c * stream_chunk, end = std::min(n, begin + stream_chunk);
        // Where points are dense a batch holds fewer homes, so that its pairs stay within a few megabytes.
        std::uint64_t pairs = 0;
        CountRows probe([&](std::uint32_t, std::uint32_t k) { pairs += k; });
        const std::size_t probed = std::min<std::size_t>(end, begin + max_group);
        search.run(begin, probed, probe);
        const std::uint64_t each = pairs / (probed - begin) + 1;
        const std::size_t step = std::clamp<std::size_t>(streamed_at_once / each, 1, stream_chunk);
        NeighborListWriter::Segment segment;
        std::vector<std::uint32_t> counts;
        for (std::size_t b = begin; b < end; b += step) {
            const std::size_t e = std::min(end, b + step);
            counts.resize(e - b);
            StoreRows rows(segment, 0, nullptr,
                           [&](std::uint32_t place, std::uint64_t, std::uint32_t k) { counts[place - b] = k; });
            search.run(b, e, rows);
            sink(context, {{ids + b, e - b}, counts, segment.indices.data(), s.directed()});
        }
    });
}

template <int D, class T>
void Searches<D, T>::find_row(const IndexState<D, T>& s, std::uint32_t i, std::vector<std::uint32_t>& row) {
    const std::size_t p = s.place_of(i);
    const NeighborOptions options;
    NeighborListWriter::Segment segment;
    StoreRows rows(segment, 0, nullptr, [](std::uint32_t, std::uint64_t, std::uint32_t) {});
    Search<D, T>(s, options).run(p, p + 1, rows);
    row.assign(segment.indices.data(), segment.indices.data() + rows.used());
}

template <int D, class T>
void Searches<D, T>::stream_rows(const IndexState<D, T>& s, const NeighborOptions& options, void* context,
                                 detail::LoopSink<D, T>* sink) {
    check(s, options);
    const Search<D, T> search(s, options);
    const std::size_t n = search.homes().size(), chunks = base::chunk_count(n, detail::loop_chunk);
    base::TaskProgress progress(options.watch, chunks);
    base::run_tasks(s.options.executor, chunks, [&](std::size_t c) {
        LoopRows<D, T> rows(context, sink, c);
        search.run(c * detail::loop_chunk, std::min(n, (c + 1) * detail::loop_chunk), rows);
        progress.done_one();
    });
    progress.finish();
}

template struct Searches<2, float>;
template struct Searches<3, float>;
template struct Searches<2, double>;
template struct Searches<3, double>;

}  // namespace quadrat::neighbors
