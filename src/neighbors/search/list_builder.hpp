// Homes are taken in chunks whose number depends on the data alone; a chunk writes its rows one after the other into
// its own segment of the list. What is scattered, the record or the count of a row, is first written in cell order and
// brought into the order of the input at the end: one pass that does nothing but wait for memory waits less than the
// search would at every row.
#pragma once

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "neighbors/search/search.hpp"
#include "neighbors/search/sinks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quadrat::neighbors {

inline constexpr std::size_t smallest_chunk = 8192;
inline constexpr std::size_t most_chunks = 8192;    // half of the segments that a record can name
inline constexpr std::uint32_t scatter_ahead = 24;  // rows

[[nodiscard]] inline std::size_t grain_for(std::size_t homes) {
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
std::uint64_t count_all(const Search<D, T>& search, const Watch& watch) {
    const std::size_t homes = search.homes().size(), grain = grain_for(homes);
    base::TaskProgress progress(watch, base::chunk_count(homes, grain));
    const std::uint64_t all = base::parallel_reduce(
        search.state().options.executor, homes, grain, std::uint64_t{0},
        [&](std::size_t begin, std::size_t end) {
            std::uint64_t sum = 0;
            CountRows rows([&](std::uint32_t, std::uint32_t n) { sum += n; });
            search.run(begin, end, rows);
            progress.done_one();
            return sum;
        },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
    progress.finish();
    return all;
}

/// The whole list of a search.
template <int D, class T>
class ListBuilder {
    using NeighborListWriter = detail::NeighborListWriter;

  public:
    /// `rows` may be more than there are homes: the others are empty.
    ListBuilder(const Search<D, T>& search, std::size_t rows, NeighborList& out)
        : search_(search),
          options_(search.options()),
          out_(out),
          homes_(search.homes().size()),
          grain_(grain_for(homes_)),
          fixed_(rows * sizeof(std::uint64_t)),
          writer_(out, rows, std::max<std::size_t>(base::chunk_count(homes_, grain_), 1),
                  {.distances = options_.distances,
                   .scalar_bytes = sizeof(T),
                   .vector_bytes = static_cast<std::uint8_t>(options_.vectors ? sizeof(Vec<D, T>) : 0),
                   .shifts = options_.shifts}),
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
            const std::uint64_t count = count_all(search_, {.stop = options_.watch.stop, .report = {}});
            if (bytes_for(count) > allowed()) {
                out_ = NeighborList();
                refuse(count);
            }
            fill(false);
        }
        scatter(search_.state().options.executor, search_.homes().data(), homes_, placed_.data(), writer_.records());
        std::uint64_t total = 0, tests = 0;
        for (const Chunk& chunk : chunks_) {
            for (const Wide& w : chunk.wide) writer_.set_wide(w.row, w.place);
            total += chunk.entries;
            tests += chunk.tests;
        }
        writer_.finish(total);
        search_.state().tests = tests;
        if (bytes_for(total) > allowed()) refuse(total);
        if (options_.order == RowOrder::input) out_.compact(search_.state().options.executor);
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

    [[nodiscard]] std::uint64_t allowed() const { return search_.state().options.max_bytes; }
    [[nodiscard]] std::uint64_t bytes_for(std::uint64_t entries) const {
        return entries * entry_bytes<D, T>(options_) + fixed_;
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
        base::TaskProgress progress(options_.watch, chunks_.size());
        base::parallel_for(search_.state().options.executor, homes_, grain_, [&](std::size_t begin, std::size_t end) {
            const std::size_t c = begin / grain_;
            Chunk& chunk = chunks_[c];
            chunk.wide.clear();
            StoreRows rows(
                writer_.segment(c), entry_bytes<D, T>(options_), &budget,
                [&](std::uint32_t place, std::uint64_t first, std::uint32_t count) {
                    placed_[place] = NeighborListWriter::record(c, first, count);
                    if (!NeighborListWriter::fits(first, count)) [[unlikely]]
                        chunk.wide.push_back({search_.homes()[place], {first, count, static_cast<std::uint32_t>(c)}});
                });
            search_.run(begin, end, rows);
            rows.charge();
            chunk.entries = rows.used();
            chunk.tests = rows.tests();
            progress.done_one();
        });
        progress.finish();
    }

    const Search<D, T>& search_;
    const NeighborOptions& options_;
    NeighborList& out_;
    std::size_t homes_, grain_;
    std::uint64_t fixed_;  // bytes of the records
    NeighborListWriter writer_;
    std::vector<Chunk> chunks_;
    base::Array<std::uint64_t> placed_;  // records in cell order
};

}  // namespace quadrat::neighbors
