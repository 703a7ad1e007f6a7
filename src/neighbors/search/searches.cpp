// Homes are taken in chunks whose number depends on the data alone; a chunk writes its rows one after the other into
// its own segment of the list. What is scattered, the record or the count of a row, is first written in cell order and
// brought into the order of the input at the end: one pass that does nothing but wait for memory waits less than the
// search would at every row.
#include "neighbors/search/searches.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/validate.hpp"
#include "neighbors/search/search.hpp"
#include "neighbors/search/sinks.hpp"

#include <mutex>
#include <string>

namespace quadrat::neighbors {
namespace {

using detail::NeighborListWriter;

constexpr std::size_t smallest_chunk = 8192;
constexpr std::size_t most_chunks = 8192;  // half of the segments that a record can name
constexpr std::size_t stream_chunk = 2048;
constexpr std::uint64_t streamed_at_once = 1 << 20;  // pairs, roughly
constexpr std::uint32_t scatter_ahead = 24;          // rows

[[nodiscard]] std::size_t grain_for(std::size_t homes) {
    return std::max(smallest_chunk, homes / most_chunks + 1);
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

/// How many entries all rows have together.
template <int D, class T>
std::uint64_t count_all(const Search<D, T>& search) {
    const std::size_t homes = search.job().homes.size();
    return base::parallel_reduce(
        search.job().state.options.executor, homes, grain_for(homes), std::uint64_t{0},
        [&](std::size_t begin, std::size_t end) {
            std::uint64_t sum = 0;
            CountRows rows([&](std::uint32_t, std::uint32_t n) { sum += n; });
            search.run(begin, end, rows);
            return sum;
        },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

/// The whole list of a search.
template <int D, class T>
class ListBuilder {
  public:
    /// `rows` may be more than there are homes: the others are empty.
    ListBuilder(const Search<D, T>& search, std::size_t rows, NeighborList& out)
        : search_(search),
          job_(search.job()),
          out_(out),
          homes_(job_.homes.size()),
          grain_(grain_for(homes_)),
          fixed_(rows * sizeof(std::uint64_t)),
          writer_(out, rows, std::max<std::size_t>(base::chunk_count(homes_, grain_), 1),
                  {.distances = job_.options.distances,
                   .scalar_bytes = sizeof(T),
                   .vector_bytes = static_cast<std::uint8_t>(job_.options.vectors ? sizeof(Vec<D, T>) : 0),
                   .shifts = job_.options.shifts}),
          chunks_(base::chunk_count(homes_, grain_)),
          placed_(homes_) {
        QUADRAT_ASSERT(homes_ <= rows);
        if (homes_ < rows) std::fill_n(writer_.records(), rows, NeighborListWriter::record(0, 0, 0));
    }

    void build() {
        try {
            fill(true);
        } catch (const ListTooLong&) {
            for (std::size_t c = 0; c < chunks_.size(); ++c) writer_.segment(c) = {};
            const std::uint64_t count = count_all(search_);
            if (bytes_for(count) > allowed()) {
                out_ = NeighborList();
                refuse(count);
            }
            fill(false);
        }
        scatter(job_.state.options.executor, job_.homes.ids(), homes_, placed_.data(), writer_.records());
        std::uint64_t total = 0, tests = 0;
        for (const Chunk& chunk : chunks_) {
            for (const Wide& w : chunk.wide) writer_.set_wide(w.row, w.place);
            total += chunk.entries;
            tests += chunk.tests;
        }
        writer_.finish(total);
        job_.state.tests = tests;
        if (bytes_for(total) > allowed()) refuse(total);
        if (job_.options.order == RowOrder::input) out_.compact(job_.state.options.executor);
    }

  private:
    struct Wide {
        std::uint32_t row;
        NeighborListWriter::WideRow place;
    };
    struct Chunk {
        std::uint64_t entries = 0, tests = 0;
        std::vector<Wide> wide;
    };

    [[nodiscard]] std::uint64_t allowed() const { return job_.state.options.max_bytes; }
    [[nodiscard]] std::uint64_t bytes_for(std::uint64_t entries) const {
        return entries * entry_bytes<D, T>(job_.options) + fixed_;
    }
    [[noreturn]] void refuse(std::uint64_t entries) {
        out_.clear();
        throw Error(ErrorKind::too_large, "the neighbour list needs " + std::to_string(bytes_for(entries)) +
                                              " bytes for " + std::to_string(entries) +
                                              " entries, more than max_bytes (" + std::to_string(allowed()) +
                                              "): use counts or for_each_pair");
    }

    /// All rows; throws ListTooLong if they need too much, or with a forecast if they seem to.
    void fill(bool forecast) {
        Budget budget(allowed() > fixed_ ? allowed() - fixed_ : 0, homes_, forecast);
        const Watch& watch = job_.options.watch;
        std::mutex report;
        std::size_t finished = 0;
        base::parallel_for(job_.state.options.executor, homes_, grain_, [&](std::size_t begin, std::size_t end) {
            const std::size_t c = begin / grain_;
            Chunk& chunk = chunks_[c];
            chunk.wide.clear();
            StoreRows rows(
                writer_.segment(c), entry_bytes<D, T>(job_.options), &budget,
                [&](std::uint32_t place, std::uint64_t first, std::uint32_t count) {
                    placed_[place] = NeighborListWriter::record(c, first, count);
                    if (!NeighborListWriter::fits(first, count)) [[unlikely]]
                        chunk.wide.push_back({job_.homes.ids()[place], {first, count, static_cast<std::uint32_t>(c)}});
                });
            search_.run(begin, end, rows);
            rows.charge();
            chunk.entries = rows.used();
            chunk.tests = rows.tests();
            if (watch.report || watch.stop.stop_requested()) {
                const std::lock_guard lock(report);
                base::check_in(watch, ++finished, chunks_.size());
            }
        });
    }

    const Search<D, T>& search_;
    const Job<D, T>& job_;
    NeighborList& out_;
    std::size_t homes_, grain_;
    std::uint64_t fixed_;  // bytes of the records
    NeighborListWriter writer_;
    std::vector<Chunk> chunks_;
    base::Array<std::uint64_t> placed_;  // records in cell order
};

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

}  // namespace

template <int D, class T>
void Searches<D, T>::find(const IndexState<D, T>& s, const NeighborOptions& options, NeighborList& out) {
    out.clear();
    check_groups(options, s.slots);
    if (options.half) check_mutual(options.searches);
    if (options.half && s.directed())
        throw Error(ErrorKind::unsupported, "a half list needs a symmetric rule: own radii have none",
                    Where{.field = "half"});
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
    Images<D, T> images;
    if (s.periodic()) images.wrap(s.lattice, queries);
    Grid<D, T> homes;
    homes.build(s.points.geometry(), s.periodic() ? std::span<const Vec<D, T>>(images.wrapped) : queries,
                s.options.executor);
    build_list(Search<D, T>(s, options, homes, images), queries.size(), out);
}

template <int D, class T>
void Searches<D, T>::count_each(const IndexState<D, T>& s, std::vector<std::uint32_t>& out) {
    out.assign(s.slots, 0);
    const NeighborOptions options;
    const Search<D, T> search(s, options);
    const Grid<D, T>& homes = search.job().homes;
    base::Array<std::uint32_t> placed(homes.size());
    base::parallel_for(s.options.executor, homes.size(), grain_for(homes.size()),
                       [&](std::size_t begin, std::size_t end) {
                           CountRows rows([&](std::uint32_t place, std::uint32_t n) { placed[place] = n; });
                           search.run(begin, end, rows);
                       });
    scatter(s.options.executor, homes.ids(), homes.size(), placed.data(), out.data());
}

template <int D, class T>
std::uint64_t Searches<D, T>::count_pairs(const IndexState<D, T>& s) {
    const NeighborOptions options = pair_options(s);
    return count_all(Search<D, T>(s, options));
}

template <int D, class T>
void Searches<D, T>::stream(const IndexState<D, T>& s, Executor* executor, void* context, detail::RowSink* sink) {
    const NeighborOptions options = pair_options(s);
    const Search<D, T> search(s, options);
    const std::uint32_t* const ids = search.job().homes.ids();
    const std::size_t n = search.job().homes.size();
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
            counts.assign(e - b, 0);
            StoreRows rows(segment, 0, nullptr,
                           [&](std::uint32_t place, std::uint64_t, std::uint32_t k) { counts[place - b] = k; });
            search.run(b, e, rows);
            sink(context, {{ids + b, e - b}, counts, segment.indices.data(), s.directed()});
        }
    });
}

template <int D, class T>
void Searches<D, T>::find_row(const IndexState<D, T>& s, std::uint32_t i, std::vector<std::uint32_t>& row) {
    row.clear();
    const std::size_t p = s.place_of(i);
    const NeighborOptions options;
    NeighborListWriter::Segment segment;
    StoreRows rows(segment, 0, nullptr, [](std::uint32_t, std::uint64_t, std::uint32_t) {});
    Search<D, T>(s, options).run(p, p + 1, rows);
    row.assign(segment.indices.data(), segment.indices.data() + rows.used());
}

template struct Searches<2, float>;
template struct Searches<3, float>;
template struct Searches<2, double>;
template struct Searches<3, double>;

}  // namespace quadrat::neighbors
