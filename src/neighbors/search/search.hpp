// One search: what it needs is chosen once, when it is made (whose radii and groups decide, vector or plain kernel),
// and run() takes any stretch of homes through it. What happens to the rows of a group is the policy of the sink
// (sinks.hpp):
//
//     take(search, first, group)      homes first, first + 1, ... of the search, and their candidates
//
// Groups of a single part that are asked for indices alone are plain() and have kernels of their own; all others go
// through cull() and rows().
#pragma once

#include "base/array.hpp"
#include "base/parallel.hpp"
#include "cells/predicate.hpp"
#include "neighbors/search/kernel.hpp"
#include "neighbors/search/walk.hpp"
#include "neighbors/state.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadrat::neighbors {

template <int D, class T>
class Search {
  public:
    /// The rows of the points of the index.
    Search(const IndexState<D, T>& state, const NeighborOptions& options)
        : Search(state, options, nullptr, &state.turns, state.support.plain) {}

    /// The rows of queries, sorted in the cells of the first level; `turns`: how they were wrapped, empty for not at
    /// all.
    Search(const IndexState<D, T>& state, const NeighborOptions& options, const Grid<D, T>& queries,
           const std::vector<Shift>& turns)
        : Search(state, options, &queries, &turns, cells::plain_radius(state.options.radius + state.options.skin)) {}

    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    [[nodiscard]] const IndexState<D, T>& state() const { return state_; }
    [[nodiscard]] const NeighborOptions& options() const { return options_; }
    /// Homes are the points of the index.
    [[nodiscard]] bool own() const { return !queries_; }
    /// The indices of the homes, in the order in which they are searched.
    [[nodiscard]] std::span<const std::uint32_t> homes() const {
        return queries_ ? std::span(queries_->ids(), queries_->size()) : state_.order();
    }
    [[nodiscard]] const Kernel<D, T>& kernel() const { return kernel_; }
    [[nodiscard]] const RowsKernels<D, T>& rows() const { return rows_; }
    [[nodiscard]] const RowsKernel<T>& row_kernel() const { return by_pair_ ? rows_.by_pair : rows_.by_home; }
    [[nodiscard]] bool plain(const Group<T>& group) const { return !special_ && group.part_count == 1; }

    /// Brings the candidates of all parts into scratch; returns how many there are.
    std::size_t cull(Group<T>& group) const {
        std::size_t at = 0, total = 0;
        for (std::size_t k = 0; k < group.part_count; ++k) {
            Part<T>& p = group.parts[k];
            const std::size_t n = (by_pair_ ? rows_.cull_pairs : kernel_.cull)(group, p, at);
            p.begin = at, p.end = at + n;
            at += n + max_lanes;
            total += n;
        }
        return total;
    }

    /// In terms of the coordinates that were given, what image n of point j is for home i.
    [[nodiscard]] Shift shift(const std::int32_t* n, std::uint32_t i, std::uint32_t j) const {
        Shift s{{n[0], n[1], n[2]}};
        const Shift home = home_turns_.empty() ? Shift{} : home_turns_[i], other = state_.turns_of(j);
        for (int k = 0; k < D; ++k) s[k] += home[k] - other[k];
        return s;
    }
    /// True if that is n for everyone.
    [[nodiscard]] bool unturned() const { return home_turns_.empty() && state_.turns.empty(); }

    /// Gives the rows of the homes at [begin, end) to the sink, group by group.
    template <class Sink>
    void run(std::size_t begin, std::size_t end, Sink& sink) const {
        QUADRAT_ASSERT(begin <= end && end <= homes().size());
        if (queries_) return run_in(*queries_, 0, begin, end, sink);
        for (std::size_t level = 0; level < state_.levels.size(); ++level) {
            const Level<D, T>& l = state_.levels[level];
            const std::size_t from = std::max<std::size_t>(begin, l.begin);
            const std::size_t to = std::min<std::size_t>(end, l.begin + l.grid.size());
            if (from < to) run_in(l.grid, level, from, to, sink);
        }
    }

  private:
    Search(const IndexState<D, T>& state, const NeighborOptions& options, const Grid<D, T>* queries,
           const std::vector<Shift>* turns, bool plain)
        : state_(state),
          options_(options),
          queries_(queries),
          home_turns_(*turns),
          by_pair_(!options.searches.empty() ||
                   (!queries && !state.support.uniform() && uses_other(state.options.rule))),
          special_(by_pair_ || options.distances != DistanceKind::none || options.vectors || options.shifts ||
                   (options.half && options.self)),
          kernel_(kernel_for<D, T>(plain)),
          rows_(rows_for<D, T>(plain)) {
        if (!options.searches.empty()) sort_groups();
    }

    [[nodiscard]] Reach<T> reach(std::size_t level) const {
        if (!queries_) return state_.reach(level);
        const T radius = state_.options.radius + state_.options.skin;
        return {.radius = radius, .plain = cells::plain_radius(radius)};
    }

    template <class Sink>
    void run_in(const Grid<D, T>& homes, std::size_t level, std::size_t begin, std::size_t end, Sink& sink) const {
        const Level<D, T>& l = state_.levels[level];
        const Around<D, T> around{.levels = state_.levels,
                                  .own = level,
                                  .lattice = state_.periodic() ? &state_.lattice : nullptr,
                                  .half = options_.half,
                                  .hot = hot_.empty() ? nullptr : hot_.data()};
        Walk<D, T> walk(homes, l.grid, reach(level), &around);
        std::array<std::uint64_t, max_group> sees;
        const auto take = [&](std::uint32_t h, Group<T>& group) {
            if (!own()) group.self = nobody.data();
            if (!hot_.empty()) {
                for (unsigned a = 0; a < group.size; ++a)
                    sees[a] = options_.searches[own() ? options_.groups[homes.ids()[h + a]] : 0];
                group.sees = sees.data();
                group.more_groups = more_groups_;
            }
            sink.take(*this, static_cast<std::uint32_t>(l.begin + h), group);
        };
        const auto first = static_cast<std::uint32_t>(begin - l.begin),
                   last = static_cast<std::uint32_t>(end - l.begin);
        if (options_.half)
            walk.template run<true>(first, last, take);
        else
            walk.template run<false>(first, last, take);
    }

    /// The bit of each point's group, in the order of the levels.
    void sort_groups() {
        QUADRAT_ASSERT(options_.groups.size() == state_.slots);
        more_groups_ = options_.searches.size() > 32;
        for (const Level<D, T>& level : state_.levels)
            for (const unsigned word : {0u, 1u}) {
                if (word == 1 && !more_groups_) {
                    hot_.push_back(nullptr);
                    continue;
                }
                const std::size_t n = level.grid.size();
                base::Array<std::uint32_t>& bits = hot_words_.emplace_back(n + GridStore<D, T>::pad);
                for (std::size_t p = 0; p < n; ++p) {
                    const unsigned group = options_.groups[level.grid.ids()[p]];
                    bits[p] = group / 32 == word ? std::uint32_t{1} << group % 32 : 0;
                }
                std::fill_n(bits.data() + n, GridStore<D, T>::pad, 0u);
                hot_.push_back(bits.data());
            }
    }

    const IndexState<D, T>& state_;
    const NeighborOptions& options_;
    const Grid<D, T>* queries_;
    const std::vector<Shift>& home_turns_;
    bool by_pair_;  // what is near whom hangs on both points
    bool special_;  // no group is plain
    Kernel<D, T> kernel_;
    RowsKernels<D, T> rows_;
    std::vector<base::Array<std::uint32_t>> hot_words_;
    std::vector<const std::uint32_t*> hot_;  // two per level
    bool more_groups_ = false;
};

}  // namespace quadrat::neighbors
