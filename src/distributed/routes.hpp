// Which item goes to which rank: collected in the order of the items, in chunks on the executor, then brought into the
// order of the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/counting_sort.hpp"

namespace quadrat::distributed {

struct Route {
    std::uint32_t rank;
    std::uint32_t item;
};

/// Items by destination: those of rank r are counts[r] in a row.
struct Routes {
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> items;
};

/// find(i, emit) calls emit(rank) for each rank that item i goes to. The result does not depend on the threads.
template <class Find>
[[nodiscard]] std::vector<Route> collect_routes(Executor* executor, std::size_t items, Find&& find) {
    constexpr std::size_t grain = 1 << 15;
    std::vector<std::vector<Route>> parts(base::chunk_count(items, grain));
    base::run_tasks(executor, parts.size(), [&](std::size_t c) {
        const std::size_t end = std::min(items, (c + 1) * grain);
        for (std::size_t i = c * grain; i < end; ++i)
            find(i, [&](int rank) {
                parts[c].push_back({static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(i)});
            });
    });
    std::vector<Route> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

/// Keeps the order inside a rank.
[[nodiscard]] inline Routes by_rank(const std::vector<Route>& routes, int ranks) {
    Routes result;
    result.counts.assign(static_cast<std::size_t>(ranks), 0);
    for (const Route& r : routes) ++result.counts[r.rank];
    std::vector<std::size_t> next(result.counts.begin(), result.counts.end());
    cells::places_from_counts(next, 0);
    result.items.resize(routes.size());
    for (const Route& r : routes) result.items[next[r.rank]++] = r.item;
    return result;
}

/// The same with nothing twice in a rank, items ascending.
[[nodiscard]] inline Routes by_rank_once(std::vector<Route> routes, int ranks) {
    const auto less = [](const Route& a, const Route& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.item < b.item;
    };
    const auto same = [](const Route& a, const Route& b) { return a.rank == b.rank && a.item == b.item; };
    std::sort(routes.begin(), routes.end(), less);
    routes.erase(std::unique(routes.begin(), routes.end(), same), routes.end());
    return by_rank(routes, ranks);
}

}  // namespace quadrat::distributed
