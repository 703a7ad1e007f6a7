// Many queries of a HashGridHierarchy in one call: taken in the order of their cells, each finds in the cache what the
// one before it has read (docs/decisions/0065-queries-in-batches.md).
#include "broad_phase/hash_grid_impl.hpp"

#include "base/radix_sort.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace quadrat {
namespace {

constexpr std::size_t ahead = 12;  // queries that are fetched early

// The queries in rows along x, as the boxes are stored. corner(i) is any point of query i; where it is infinite it
// counts as the end of the range.
template <int D, class T, class Corner>
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
    constexpr int bits = 30 / D;
    const double cells = std::ldexp(1.0, bits);
    for (int k = 0; k < D; ++k) scale[k] = hi[k] > lo[k] ? cells / (hi[k] - lo[k]) : 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t rank = 0;
        for (int k = D - 1; k >= 0; --k) {
            const double q = (double(corner(i)[k]) - lo[k]) * scale[k];
            rank = rank << bits | static_cast<std::uint32_t>(q > 0 ? std::min(q, cells - 1) : 0);
        }
        key[i] = rank;
    }
    base::RadixSorter().sort(std::span(key), std::span(order));
    return order;
}

template <class Query, class Visit>
void in_order(const std::vector<std::uint32_t>& order, std::span<const Query> queries, Visit&& visit) {
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k + ahead < order.size()) __builtin_prefetch(&queries[order[k + ahead]]);
        visit(order[k]);
    }
}

}  // namespace

template <int D, class T>
void HashGridHierarchy<D, T>::visit_hits(std::span<const Box<D, T>> boxes, HitVisitor visit, void* context) const {
    cells::check_boxes(boxes);
    std::vector<std::uint32_t> found;
    in_order(cell_order<D, T>(boxes.size(), [&](std::size_t q) { return boxes[q].lo; }), boxes, [&](std::uint32_t i) {
        find(boxes[i], found);
        visit(context, i, found);
    });
}

template <int D, class T>
void HashGridHierarchy<D, T>::visit_hits(std::span<const Segment<D, T>> segments, HitVisitor visit,
                                         void* context) const {
    for (std::size_t i = 0; i < segments.size(); ++i)
        for (int k = 0; k < D; ++k)
            if (!std::isfinite(segments[i].a[k]) || !std::isfinite(segments[i].b[k]))
                throw Error(ErrorKind::bad_value, "not finite", {.index = i});
    std::vector<std::uint32_t> found;
    in_order(cell_order<D, T>(segments.size(), [&](std::size_t q) { return segments[q].a; }), segments,
             [&](std::uint32_t i) {
                 find(segments[i], found);
                 visit(context, i, found);
             });
}

#define QUADRAT_INSTANTIATE(D, T)                                                                           \
    template void HashGridHierarchy<D, T>::visit_hits(std::span<const Box<D, T>>, HitVisitor, void*) const; \
    template void HashGridHierarchy<D, T>::visit_hits(std::span<const Segment<D, T>>, HitVisitor, void*) const;
QUADRAT_INSTANTIATE(2, float)
QUADRAT_INSTANTIATE(3, float)
QUADRAT_INSTANTIATE(2, double)
QUADRAT_INSTANTIATE(3, double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat
