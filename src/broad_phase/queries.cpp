#include "broad_phase/queries.hpp"

#include "broad_phase/query_tests.hpp"
#include "cells/segment_test.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::broad_phase {
namespace {

constexpr int max_pieces = 256;  // of a path; more would cost more than wide boxes do

template <int D, class T>
void check_ray(const Ray<D, T>& ray) {
    cells::check_point(ray.origin);
    cells::check_point(ray.direction);
    if (!(ray.length >= 0)) throw Error(ErrorKind::bad_value, "must not be negative", {.field = "length"});
}

void make_unique(std::vector<std::uint32_t>& slots) {
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
}

template <class... Calls>
struct Overloaded : Calls... {
    using Calls::operator()...;
};
// clang++ before 17 does not find it by itself.
template <class... Calls>
Overloaded(Calls...) -> Overloaded<Calls...>;

/// The nearest of what is offered; ties go to the smaller slot.
template <class Distance>
class Best {
  public:
    void offer(std::uint32_t slot, const Distance& at) {
        if (found_ && !(at < at_ || (at == at_ && slot < slot_))) return;
        found_ = true;
        slot_ = slot;
        at_ = at;
    }
    [[nodiscard]] bool found() const { return found_; }
    [[nodiscard]] std::uint32_t slot() const { return slot_; }
    [[nodiscard]] const Distance& at() const { return at_; }

  private:
    bool found_ = false;
    std::uint32_t slot_ = 0;
    Distance at_{};
};

}  // namespace

// How many pieces a path of that extent per axis is asked for in, so that the box of a piece stays narrow: about four
// cells of the finest grid each.
template <int D, class T>
int Queries<D, T>::piece_count(const double (&extent)[D]) const {
    double pieces = 1;
    for (const auto& grid : h_.sorted.grids())
        for (int k = 0; k < D; ++k) {
            const Axis<T>& axis = grid.shape.axis[k];
            pieces = std::max(pieces, axis.cells_along(extent[k]) * (0.25 / axis.reach));
        }
    return pieces < max_pieces ? static_cast<int>(std::ceil(pieces)) : max_pieces;
}

template <int D, class T>
int Queries<D, T>::piece_count(const Ray<D, T>& ray) const {
    double extent[D];
    for (int k = 0; k < D; ++k) extent[k] = std::abs(double(ray.direction[k])) * double(ray.length);
    return piece_count(extent);
}

template <int D, class T>
void Queries<D, T>::find(const Box<D, T>& box, Slots& out) const {
    cells::check_box(box, 0);
    out.clear();
    thread_local Found found;
    found.count = 0;
    h_.for_each_near(
        1, [&](int) { return std::optional(box); },
        [&](const Box<D, T>&) {
            for (std::size_t g = 0; g < h_.sorted.grids().size(); ++g)
                overlapping(h_.sorted.view(g), box, Entry::id, found);
            const std::uint32_t* const slots = found.entries.data();
            if (h_.stale == 0)
                out.insert(out.end(), slots, slots + found.count);
            else
                std::copy_if(slots, slots + found.count, std::back_inserter(out),
                             [&](std::uint32_t slot) { return h_.counts(slot); });
        },
        Overloaded{[&](std::uint32_t slot, const Box<D, T>& b) {
                       if (overlap(b, box)) out.push_back(slot);
                   },
                   [&](std::uint32_t slot, const ScaledHalfSpace<D>& h) {
                       if (meets(h, box)) out.push_back(slot);
                   }});
}

template <int D, class T>
void Queries<D, T>::find(const Sphere<D, T>& sphere, Slots& out) const {
    cells::check_point(sphere.center);
    if (!(sphere.radius >= 0)) throw Error(ErrorKind::bad_value, "must not be negative", {.field = "radius"});
    out.clear();
    h_.for_each_near(
        1, [&](int) { return std::optional(search_box(sphere)); },
        Overloaded{[&](std::uint32_t slot, const Box<D, T>& box) {
                       if (meets(sphere, box)) out.push_back(slot);
                   },
                   [&](std::uint32_t slot, const ScaledHalfSpace<D>& h) {
                       if (distance(sphere.center, h) <= double(sphere.radius)) out.push_back(slot);
                   }});
}

// The predicate is that of the other structures: the end points count as they were given, never as a + (b - a).
template <int D, class T>
void Queries<D, T>::find(const Segment<D, T>& segment, Slots& out) const {
    cells::check_point(segment.a);
    cells::check_point(segment.b);
    out.clear();
    double extent[D];
    for (int k = 0; k < D; ++k) extent[k] = std::abs(double(segment.b[k]) - double(segment.a[k]));
    const int pieces = piece_count(extent);
    const auto add_sorted = [&](std::uint32_t slot) {
        if (h_.counts(slot)) out.push_back(slot);
    };
    thread_local Found sure, open;
    sure.count = 0;
    h_.for_each_near(
        pieces,
        [&](int p) { return std::optional(pieces == 1 ? cells::bounds(segment) : piece_box(segment, p, pieces)); },
        [&](const Box<D, T>& box) {
            for (std::size_t g = 0; g < h_.sorted.grids().size(); ++g) {
                const GridView<D, T> view = h_.sorted.view(g);
                open.count = 0;
                overlapping(view, box, segment, sure, open);
                for (std::size_t i = 0; i < open.count; ++i)
                    if (cells::meets(segment, h_.sorted.box_at(view, open.entries[i])))
                        add_sorted(static_cast<std::uint32_t>(view.id[open.entries[i]]));
            }
        },
        Overloaded{[&](std::uint32_t slot, const Box<D, T>& box) {
                       if (cells::meets(segment, box)) out.push_back(slot);
                   },
                   [&](std::uint32_t slot, const ScaledHalfSpace<D>& h) {
                       if (meets(h, segment)) out.push_back(slot);
                   }});
    for (std::size_t i = 0; i < sure.count; ++i) add_sorted(sure.entries[i]);
    if (pieces > 1) make_unique(out);
}

template <int D, class T>
void Queries<D, T>::find(const Ray<D, T>& ray, Slots& out) const {
    check_ray(ray);
    out.clear();
    const int pieces = piece_count(ray);
    h_.for_each_near(
        pieces, [&](int p) { return std::optional(piece_box(ray, p, pieces)); },
        [&](std::uint32_t slot, const auto& object) {
            if (entry(ray, object)) out.push_back(slot);
        });
    if (pieces > 1) make_unique(out);
}

template <int D, class T>
auto Queries<D, T>::closest_hit(const Ray<D, T>& ray) const -> std::optional<Nearest> {
    check_ray(ray);
    Best<double> best;
    const bool endless = !(ray.length < std::numeric_limits<T>::infinity());
    const int pieces = endless ? 1 : piece_count(ray);
    h_.for_each_near(
        pieces,
        [&](int p) -> std::optional<Box<D, T>> {
            // Pieces end once a hit lies before them.
            if (best.found() && best.at() < piece_begin(ray, p, pieces)) return {};
            return piece_box(ray, p, pieces);
        },
        [&](std::uint32_t slot, const auto& object) {
            if (const std::optional<double> at = entry(ray, object)) best.offer(slot, *at);
        });
    if (!best.found()) return {};
    return Nearest{best.slot(), best.at()};
}

// Boxes around the point, doubling, until nothing outside can be nearer.
template <int D, class T>
auto Queries<D, T>::nearest(const Vec<D, T>& point) const -> std::optional<Nearest> {
    cells::check_point(point);
    Best<Away> best;
    double reach = 0;
    for (const auto& grid : h_.sorted.grids())
        if (reach == 0 && grid.size != 0) reach = grid.shape.axis[D - 1].edge();
    if (!(reach > 0)) reach = 1;
    bool everything = false;
    h_.for_each_near(
        std::numeric_limits<int>::max(),
        [&](int turn) -> std::optional<Box<D, T>> {
            if (turn != 0) {
                if (everything || (best.found() && best.at().length <= reach)) return {};
                reach *= 2;
            }
            Box<D, T> box;
            everything = true;
            for (int k = 0; k < D; ++k) {
                box.lo[k] = below<T>(double(point[k]) - reach);
                box.hi[k] = above<T>(double(point[k]) + reach);
                everything = everything && !(box.hi[k] < std::numeric_limits<T>::max() / 2);
            }
            return everything ? GridShape<D, T>::everywhere() : box;
        },
        Overloaded{
            [&](std::uint32_t slot, const Box<D, T>& box) { best.offer(slot, away(point, box)); },
            [&](std::uint32_t slot, const ScaledHalfSpace<D>& h) { best.offer(slot, away(distance(point, h))); }});
    if (!best.found()) return {};
    return Nearest{best.slot(), best.at().length};
}

template class Queries<2, float>;
template class Queries<3, float>;
template class Queries<2, double>;
template class Queries<3, double>;

}  // namespace quadrat::broad_phase
