// The queries of the public face of the hierarchy: hash_grid_hierarchy.cpp includes it before it compiles the class for
// all kinds, and nobody else does.
#pragma once

#include "base/parallel.hpp"
#include "broad_phase/queries.hpp"
#include "broad_phase/query_order.hpp"
#include "cells/validate.hpp"

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace quadrat {
namespace {

constexpr std::size_t queries_at_once = 512;  // of a task

[[nodiscard]] const Filter* filter_of(const QueryOptions& options) {
    return options.filter ? &*options.filter : nullptr;
}

/// A point of each query, for the order in which they are asked.
template <int D, class T>
[[nodiscard]] const Vec<D, T>& corner_of(const Vec<D, T>& point) {
    return point;
}
template <int D, class T>
[[nodiscard]] const Vec<D, T>& corner_of(const Box<D, T>& box) {
    return box.lo;
}
template <int D, class T>
[[nodiscard]] const Vec<D, T>& corner_of(const Sphere<D, T>& sphere) {
    return sphere.center;
}
template <int D, class T>
[[nodiscard]] const Vec<D, T>& corner_of(const Segment<D, T>& segment) {
    return segment.a;
}
template <int D, class T>
[[nodiscard]] const Vec<D, T>& corner_of(const Ray<D, T>& ray) {
    return ray.origin;
}

template <int D, class Query>
[[nodiscard]] std::vector<std::uint32_t> order_of(std::span<const Query> queries) {
    return broad_phase::cell_order<D>(queries.size(), [&](std::size_t q) { return corner_of(queries[q]); });
}

/// Calls ask(i) for every query, in the order of their cells, on the threads of the executor.
template <int D, class Query, class Ask>
void ask_all(const HashGridOptions& options, std::span<const Query> queries, Ask&& ask) {
    const auto order = order_of<D>(queries);
    base::parallel_for(options.executor, queries.size(), queries_at_once, [&](std::size_t first, std::size_t last) {
        base::check_stop(options.watch);
        for (std::size_t k = first; k < last; ++k) ask(order[k]);
    });
}

/// Every share finds its rows by itself; then each row has its place. Rows that are too many are counted and dropped.
template <int D, class Query, class Find>
void rows_of(const HashGridOptions& options, std::span<const Query> queries, QueryRows& out, Find&& find) {
    out.offsets.clear();
    out.slots.clear();
    const std::size_t offset_bytes = (queries.size() + 1) * sizeof(out.offsets[0]);
    const auto bytes = [&](std::size_t slots) { return offset_bytes + slots * sizeof(out.slots[0]); };
    const auto fits = [&](std::size_t slots) { return bytes(slots) <= options.max_bytes; };
    const auto order = order_of<D>(queries);
    std::atomic<std::size_t> total{0};
    std::vector<std::vector<std::uint32_t>> found(base::chunk_count(queries.size(), queries_at_once));
    std::vector<std::uint64_t> offsets(queries.size() + 1, 0);
    base::parallel_for(options.executor, queries.size(), queries_at_once, [&](std::size_t first, std::size_t last) {
        base::check_stop(options.watch);
        std::vector<std::uint32_t>& own = found[first / queries_at_once];
        std::vector<std::uint32_t> row;
        std::size_t count = 0;
        for (std::size_t k = first; k < last; ++k) {
            find(queries[order[k]], row);
            offsets[order[k] + 1] = row.size();
            count += row.size();
            if (fits(count))
                own.insert(own.end(), row.begin(), row.end());
            else
                own.clear();
        }
        if (!fits(total += count)) std::vector<std::uint32_t>().swap(own);
    });
    if (!fits(total)) cells::throw_too_large(total, bytes(total), "slots", options.max_bytes);
    for (std::size_t i = 0; i < queries.size(); ++i) offsets[i + 1] += offsets[i];
    out.slots.resize(offsets.back());
    base::parallel_for(options.executor, queries.size(), queries_at_once, [&](std::size_t first, std::size_t last) {
        const std::uint32_t* from = found[first / queries_at_once].data();
        for (std::size_t k = first; k < last; ++k) {
            const std::uint64_t begin = offsets[order[k]], count = offsets[order[k] + 1] - begin;
            std::copy_n(from, count, out.slots.data() + begin);
            from += count;
        }
    });
    out.offsets.swap(offsets);
}

}  // namespace

template <int D, class T>
void HashGridHierarchy<D, T>::find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const {
    cells::check_point(point);
    broad_phase::Queries<D, T>(*impl_).find(Box<D, T>{point, point}, out);
}
template <int D, class T>
void HashGridHierarchy<D, T>::find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const {
    broad_phase::Queries<D, T>(*impl_).find(box, out);
}
template <int D, class T>
void HashGridHierarchy<D, T>::find(const Sphere<D, T>& sphere, std::vector<std::uint32_t>& out) const {
    broad_phase::Queries<D, T>(*impl_).find(sphere, out);
}
template <int D, class T>
void HashGridHierarchy<D, T>::find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const {
    broad_phase::Queries<D, T>(*impl_).find(segment, out);
}
template <int D, class T>
void HashGridHierarchy<D, T>::find(const Ray<D, T>& ray, std::vector<std::uint32_t>& out) const {
    broad_phase::Queries<D, T>(*impl_).find(ray, out);
}

template <int D, class T>
void HashGridHierarchy<D, T>::visit_hits(std::span<const Box<D, T>> boxes, HitVisitor visit, void* context) const {
    cells::check_boxes(boxes);
    const auto order = broad_phase::cell_order<D>(boxes.size(), [&](std::size_t q) { return boxes[q].lo; });
    std::vector<std::uint32_t> found;
    broad_phase::in_order(order, boxes, [&](std::uint32_t i) {
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
    const auto order = broad_phase::cell_order<D>(segments.size(), [&](std::size_t q) { return segments[q].a; });
    std::vector<std::uint32_t> found;
    broad_phase::in_order(order, segments, [&](std::uint32_t i) {
        find(segments[i], found);
        visit(context, i, found);
    });
}

template <int D, class T>
void HashGridHierarchy<D, T>::keep_allowed(std::vector<std::uint32_t>& slots, const QueryOptions& options) const {
    if (options.filter) broad_phase::Queries<D, T>(*impl_, filter_of(options)).keep_allowed(slots);
}

template <int D, class T>
void HashGridHierarchy<D, T>::find_all(std::span<const Vec<D, T>> points, QueryRows& out,
                                       const QueryOptions& options) const {
    rows_of<D>(impl_->options, points, out, [&](const auto& query, auto& row) { find(query, row, options); });
}
template <int D, class T>
void HashGridHierarchy<D, T>::find_all(std::span<const Box<D, T>> boxes, QueryRows& out,
                                       const QueryOptions& options) const {
    rows_of<D>(impl_->options, boxes, out, [&](const auto& query, auto& row) { find(query, row, options); });
}
template <int D, class T>
void HashGridHierarchy<D, T>::find_all(std::span<const Sphere<D, T>> spheres, QueryRows& out,
                                       const QueryOptions& options) const {
    rows_of<D>(impl_->options, spheres, out, [&](const auto& query, auto& row) { find(query, row, options); });
}
template <int D, class T>
void HashGridHierarchy<D, T>::find_all(std::span<const Segment<D, T>> segments, QueryRows& out,
                                       const QueryOptions& options) const {
    rows_of<D>(impl_->options, segments, out, [&](const auto& query, auto& row) { find(query, row, options); });
}
template <int D, class T>
void HashGridHierarchy<D, T>::find_all(std::span<const Ray<D, T>> rays, QueryRows& out,
                                       const QueryOptions& options) const {
    rows_of<D>(impl_->options, rays, out, [&](const auto& query, auto& row) { find(query, row, options); });
}

template <int D, class T>
std::optional<std::uint32_t> HashGridHierarchy<D, T>::find_any(const Box<D, T>& box,
                                                               const QueryOptions& options) const {
    return broad_phase::Queries<D, T>(*impl_, filter_of(options)).any(box);
}

template <int D, class T>
auto HashGridHierarchy<D, T>::closest_hit(const Ray<D, T>& ray, const QueryOptions& options) const
    -> std::optional<Hit> {
    const auto hit = broad_phase::Queries<D, T>(*impl_, filter_of(options)).closest_hit(ray);
    return hit ? std::optional(Hit{hit->slot, static_cast<T>(hit->distance)}) : std::nullopt;
}

template <int D, class T>
void HashGridHierarchy<D, T>::closest_hits(std::span<const Ray<D, T>> rays, std::vector<std::optional<Hit>>& out,
                                           const QueryOptions& options) const {
    out.assign(rays.size(), {});
    ask_all<D>(impl_->options, rays, [&](std::uint32_t i) { out[i] = closest_hit(rays[i], options); });
}

template <int D, class T>
auto HashGridHierarchy<D, T>::nearest(const Vec<D, T>& point, const QueryOptions& options) const -> std::optional<Hit> {
    const auto hit = broad_phase::Queries<D, T>(*impl_, filter_of(options)).nearest(point);
    return hit ? std::optional(Hit{hit->slot, static_cast<T>(hit->distance)}) : std::nullopt;
}

template <int D, class T>
void HashGridHierarchy<D, T>::nearest(const Vec<D, T>& point, std::size_t count, std::vector<Hit>& out,
                                      const QueryOptions& options) const {
    std::vector<typename broad_phase::Queries<D, T>::Nearest> found;
    broad_phase::Queries<D, T>(*impl_, filter_of(options)).nearest(point, count, found);
    out.clear();
    for (const auto& hit : found) out.push_back({hit.slot, static_cast<T>(hit.distance)});
}

template <int D, class T>
void HashGridHierarchy<D, T>::nearest(std::span<const Vec<D, T>> points, std::vector<std::optional<Hit>>& out,
                                      const QueryOptions& options) const {
    out.assign(points.size(), {});
    ask_all<D>(impl_->options, points, [&](std::uint32_t i) { out[i] = nearest(points[i], options); });
}

template <int D, class T>
auto HashGridHierarchy<D, T>::cast(const Box<D, T>& box, const Vec<D, T>& motion, const QueryOptions& options) const
    -> std::optional<Hit> {
    cells::check_box(box, 0);
    cells::check_point(box.lo);
    cells::check_point(box.hi);
    const auto hit = broad_phase::Queries<D, T>(*impl_, filter_of(options)).cast(box, box, motion);
    return hit ? std::optional(Hit{hit->slot, static_cast<T>(hit->distance)}) : std::nullopt;
}

template <int D, class T>
auto HashGridHierarchy<D, T>::cast(const Sphere<D, T>& sphere, const Vec<D, T>& motion,
                                   const QueryOptions& options) const -> std::optional<Hit> {
    cells::check_point(sphere.center);
    if (!(sphere.radius >= 0)) throw Error(ErrorKind::bad_value, "must not be negative", {.field = "radius"});
    const auto hit =
        broad_phase::Queries<D, T>(*impl_, filter_of(options)).cast(sphere, broad_phase::search_box(sphere), motion);
    return hit ? std::optional(Hit{hit->slot, static_cast<T>(hit->distance)}) : std::nullopt;
}

}  // namespace quadrat
