// Queries against a HashGridHierarchy: what holds a point, what overlaps a box or sphere, what a segment or ray meets,
// what it meets first, and what is nearest.
#include "broad_phase/hash_grid_impl.hpp"

#include "broad_phase/query_tests.hpp"
#include "cells/segment_test.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <algorithm>

namespace quadrat {
namespace {

constexpr int max_pieces = 256;

template <int D, class T>
void check_ray(const Ray<D, T>& ray) {
    cells::check_point(ray.origin);
    cells::check_point(ray.direction);
    if (!(ray.length >= 0)) throw Error(ErrorKind::bad_value, "must not be negative", {.field = "length"});
}

// How many pieces a path of that extent per axis is asked for in, so that the box of a piece stays narrow: about four
// cells of the finest grid each.
template <int D, class State>
int piece_count(const State& s, const double (&extent)[D]) {
    double pieces = 1;
    for (const auto& grid : s.grids) {
        const auto& shape = grid.shape;
        for (int k = 0; k < D; ++k)
            pieces = std::max(pieces, shape.axis[k].cells_along(extent[k]) * (0.25 / shape.axis[k].reach));
    }
    return pieces < max_pieces ? static_cast<int>(std::ceil(pieces)) : max_pieces;
}

template <int D, class T, class State>
int piece_count(const State& s, const Ray<D, T>& ray) {
    double extent[D];
    for (int k = 0; k < D; ++k) extent[k] = std::abs(double(ray.direction[k])) * double(ray.length);
    return piece_count(s, extent);
}

void make_unique(std::vector<std::uint32_t>& slots) {
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
}

}  // namespace

template <int D, class T>
void HashGridHierarchy<D, T>::find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const {
    cells::check_box(box, 0);
    out.clear();
    thread_local broad_phase::Found found;
    const Impl& s = *impl_;
    if (s.stale != 0) {
        s.for_each_overlap(box, found, [&](std::uint32_t slot, const Box<D, T>&) { out.push_back(slot); });
        return;
    }
    found.count = 0;
    for (std::size_t g = 0; g < s.grids.size(); ++g)
        broad_phase::overlapping(s.view(g), box, broad_phase::Entry::id, found);
    out.assign(found.entries.data(), found.entries.data() + found.count);
    s.loose.for_each_overlap(box, [&](std::uint32_t slot) { out.push_back(slot); });
    for (const auto& u : s.unbounded)
        if (Impl::reaches(u, box)) out.push_back(u.slot);
}

template <int D, class T>
void HashGridHierarchy<D, T>::find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const {
    cells::check_point(point);
    find(Box<D, T>{point, point}, out);
}

template <int D, class T>
void HashGridHierarchy<D, T>::find(const Sphere<D, T>& sphere, std::vector<std::uint32_t>& out) const {
    cells::check_point(sphere.center);
    if (!(sphere.radius >= 0)) throw Error(ErrorKind::bad_value, "must not be negative", {.field = "radius"});
    out.clear();
    const Box<D, T> box = broad_phase::search_box(sphere);
    thread_local broad_phase::Found found;
    const Impl& s = *impl_;
    const auto test = [&](std::uint32_t slot, const Box<D, T>& b) {
        if (broad_phase::meets(sphere, b)) out.push_back(slot);
    };
    s.for_each_sorted_overlap(box, found, test);
    s.loose.for_each_overlap(box, [&](std::uint32_t slot) { test(slot, s.loose.box(slot)); });
    for (const auto& u : s.unbounded) {
        if (!u.half_space)
            test(u.slot, u.box);
        else if (broad_phase::distance(sphere.center, *u.half_space) <= double(sphere.radius))
            out.push_back(u.slot);
    }
}

// The predicate is that of the other structures: the end points count as they were given, never as a + (b - a).
template <int D, class T>
void HashGridHierarchy<D, T>::find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const {
    cells::check_point(segment.a);
    cells::check_point(segment.b);
    const Impl& s = *impl_;
    out.clear();
    double extent[D];
    for (int k = 0; k < D; ++k) extent[k] = std::abs(double(segment.b[k]) - double(segment.a[k]));
    const int pieces = piece_count(s, extent);
    const auto add_sorted = [&](std::uint32_t slot) {
        if (s.stale == 0 || s.is_sorted(slot)) out.push_back(slot);
    };
    thread_local broad_phase::Found sure, open;
    sure.count = 0;
    for (int p = 0; p < pieces; ++p) {
        const Box<D, T> box = pieces == 1 ? cells::bounds(segment) : broad_phase::piece_box(segment, p, pieces);
        for (std::size_t g = 0; g < s.grids.size(); ++g) {
            const auto view = s.view(g);
            open.count = 0;
            broad_phase::overlapping(view, box, segment, sure, open);
            for (std::size_t i = 0; i < open.count; ++i)
                if (cells::meets(segment, Impl::box_at(view, open.entries[i])))
                    add_sorted(static_cast<std::uint32_t>(view.id[open.entries[i]]));
        }
        s.loose.for_each_overlap(box, [&](std::uint32_t slot) {
            if (cells::meets(segment, s.loose.box(slot))) out.push_back(slot);
        });
    }
    for (std::size_t i = 0; i < sure.count; ++i) add_sorted(sure.entries[i]);
    for (const auto& u : s.unbounded)
        if (u.half_space ? broad_phase::meets(*u.half_space, segment) : cells::meets(segment, u.box))
            out.push_back(u.slot);
    if (pieces > 1) make_unique(out);
}

template <int D, class T>
void HashGridHierarchy<D, T>::find(const Ray<D, T>& ray, std::vector<std::uint32_t>& out) const {
    check_ray(ray);
    const Impl& s = *impl_;
    out.clear();
    const int pieces = piece_count(s, ray);
    const auto test = [&](std::uint32_t slot, const Box<D, T>& box) {
        if (broad_phase::entry(ray, box)) out.push_back(slot);
    };
    thread_local broad_phase::Found found;
    for (int p = 0; p < pieces; ++p) {
        const Box<D, T> box = broad_phase::piece_box(ray, p, pieces);
        s.for_each_sorted_overlap(box, found, test);
        s.loose.for_each_overlap(box, [&](std::uint32_t slot) { test(slot, s.loose.box(slot)); });
    }
    for (const auto& u : s.unbounded)
        if (u.half_space ? broad_phase::entry(ray, *u.half_space).has_value()
                         : broad_phase::entry(ray, u.box).has_value())
            out.push_back(u.slot);
    if (pieces > 1) make_unique(out);
}

template <int D, class T>
std::optional<typename HashGridHierarchy<D, T>::Hit> HashGridHierarchy<D, T>::closest_hit(const Ray<D, T>& ray) const {
    check_ray(ray);
    const Impl& s = *impl_;
    std::optional<std::uint32_t> best;
    double best_at = std::numeric_limits<double>::infinity();
    const auto offer = [&](std::uint32_t slot, std::optional<double> at) {
        if (at && (!best || *at < best_at || (*at == best_at && slot < *best))) {
            best = slot;
            best_at = *at;
        }
    };
    for (const auto& u : s.unbounded)
        offer(u.slot, u.half_space ? broad_phase::entry(ray, *u.half_space) : broad_phase::entry(ray, u.box));
    // Pieces end once a hit lies before them.
    const bool endless = !(ray.length < std::numeric_limits<T>::infinity());
    const int pieces = endless ? 1 : piece_count(s, ray);
    thread_local broad_phase::Found found;
    for (int p = 0; p < pieces; ++p) {
        if (best && best_at < broad_phase::piece_begin(ray, p, pieces)) break;
        const Box<D, T> box = broad_phase::piece_box(ray, p, pieces);
        const auto test = [&](std::uint32_t slot, const Box<D, T>& b) { offer(slot, broad_phase::entry(ray, b)); };
        s.for_each_sorted_overlap(box, found, test);
        s.loose.for_each_overlap(box, [&](std::uint32_t slot) { test(slot, s.loose.box(slot)); });
    }
    if (!best) return {};
    return Hit{*best, static_cast<T>(best_at)};
}

template <int D, class T>
std::optional<typename HashGridHierarchy<D, T>::Hit> HashGridHierarchy<D, T>::nearest(const Vec<D, T>& point) const {
    cells::check_point(point);
    const Impl& s = *impl_;
    std::optional<std::uint32_t> best;
    broad_phase::Away least;
    const auto offer = [&](std::uint32_t slot, const broad_phase::Away& away) {
        if (!best || away < least || (away == least && slot < *best)) {
            best = slot;
            least = away;
        }
    };
    for (const auto& u : s.unbounded) {
        offer(u.slot, u.half_space ? broad_phase::away(broad_phase::distance(point, *u.half_space))
                                   : broad_phase::away(point, u.box));
    }
    // Boxes around the point, doubling, until nothing outside can be nearer.
    double reach = 0;
    for (const auto& grid : s.grids)
        if (reach == 0 && grid.size != 0) reach = grid.shape.axis[D - 1].edge();
    if (!(reach > 0)) reach = 1;
    broad_phase::Found found;
    for (;; reach *= 2) {
        Box<D, T> box;
        bool everything = true;
        for (int k = 0; k < D; ++k) {
            box.lo[k] = broad_phase::below<T>(double(point[k]) - reach);
            box.hi[k] = broad_phase::above<T>(double(point[k]) + reach);
            everything = everything && !(box.hi[k] < std::numeric_limits<T>::max() / 2);
        }
        if (everything)
            for (int k = 0; k < D; ++k) {
                box.lo[k] = -std::numeric_limits<T>::infinity();
                box.hi[k] = std::numeric_limits<T>::infinity();
            }
        const auto test = [&](std::uint32_t slot, const Box<D, T>& b) { offer(slot, broad_phase::away(point, b)); };
        s.for_each_sorted_overlap(box, found, test);
        s.loose.for_each_overlap(box, [&](std::uint32_t slot) { test(slot, s.loose.box(slot)); });
        if (everything || (best && least.length <= reach)) break;
    }
    if (!best) return {};
    return Hit{*best, static_cast<T>(least.length)};
}

#define QUADRAT_INSTANTIATE(D, T)                                                                                      \
    template void HashGridHierarchy<D, T>::find(const Vec<D, T>&, std::vector<std::uint32_t>&) const;                  \
    template void HashGridHierarchy<D, T>::find(const Box<D, T>&, std::vector<std::uint32_t>&) const;                  \
    template void HashGridHierarchy<D, T>::find(const Sphere<D, T>&, std::vector<std::uint32_t>&) const;               \
    template void HashGridHierarchy<D, T>::find(const Segment<D, T>&, std::vector<std::uint32_t>&) const;              \
    template void HashGridHierarchy<D, T>::find(const Ray<D, T>&, std::vector<std::uint32_t>&) const;                  \
    template std::optional<HashGridHierarchy<D, T>::Hit> HashGridHierarchy<D, T>::closest_hit(const Ray<D, T>&) const; \
    template std::optional<HashGridHierarchy<D, T>::Hit> HashGridHierarchy<D, T>::nearest(const Vec<D, T>&) const;
QUADRAT_INSTANTIATE(2, float)
QUADRAT_INSTANTIATE(3, float)
QUADRAT_INSTANTIATE(2, double)
QUADRAT_INSTANTIATE(3, double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat
