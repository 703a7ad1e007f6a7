// Many queries in one call: taken in the order of their cells, each finds in the cache what the one before it has read
// (docs/decisions/0065-queries-in-batches.md).
#pragma once

#include "base/assert.hpp"
#include "base/radix_sort.hpp"
#include "cells/clamped_axis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace quadrat::broad_phase {

/// The queries in rows along x, as the boxes are stored. corner(i) is any point of query i; where it is infinite it
/// counts as the end of the range.
template <int D, class Corner>
std::vector<std::uint32_t> cell_order(std::size_t n, Corner&& corner) {
    std::vector<std::uint32_t> order(n), key(n);
    std::iota(order.begin(), order.end(), 0u);
    double lo[D], hi[D], scale[D];
    std::fill_n(lo, D, std::numeric_limits<double>::infinity());
    std::fill_n(hi, D, -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < n; ++i)
        for (int k = 0; k < D; ++k) {
            const double x = double(corner(i)[k]);
            if (!std::isfinite(x)) continue;
            lo[k] = std::min(lo[k], x);
            hi[k] = std::max(hi[k], x);
        }
    constexpr int bits = 30 / D;                    // per axis of a 32-bit key: zzzzzzzzzz|yyyyyyyyyy|xxxxxxxxxx
    const double per_axis = std::ldexp(1.0, bits);  // cells
    for (int k = 0; k < D; ++k) scale[k] = hi[k] > lo[k] ? per_axis / (hi[k] - lo[k]) : 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t rank = 0;
        for (int k = D - 1; k >= 0; --k) {
            const double q = (double(corner(i)[k]) - lo[k]) * scale[k];
            rank = rank << bits | cells::clamped_cell<std::uint32_t>(q, per_axis - 1);
        }
        key[i] = rank;
    }
    base::RadixSorter().sort(std::span(key), std::span(order));
    return order;
}

/// Calls visit(i) for the queries in that order, and asks for those that follow.
template <class Query, class Visit>
void in_order(const std::vector<std::uint32_t>& order, std::span<const Query> queries, Visit&& visit) {
    constexpr std::size_t ahead = 12;  // queries that are fetched early, as many as were measured to be best
    QUADRAT_ASSERT(order.size() == queries.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k + ahead < order.size()) __builtin_prefetch(&queries[order[k + ahead]]);
        visit(order[k]);
    }
}

}  // namespace quadrat::broad_phase
