#include "broad_phase/queries.hpp"

#include "broad_phase/cast_tests.hpp"
#include "broad_phase/query_tests.hpp"
#include "cells/segment_test.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

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
    h_.for_each_set([&](const GridSet<D, T>& set, const auto&) {
        for (const auto& grid : set.grids())
            for (int k = 0; k < D; ++k) {
                const Axis<T>& axis = grid.shape.axis[k];
                pieces = std::max(pieces, axis.cells_along(extent[k]) * (0.25 / axis.reach));
            }
    });
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
    h_.for_each_near(
        1, [&](int) { return std::optional(box); },
        [&](const Box<D, T>&) {
            h_.for_each_set([&](const GridSet<D, T>& set, const auto& counts) {
                found.count = 0;
                for (std::size_t g = 0; g < set.grids().size(); ++g) overlapping(set.view(g), box, Entry::id, found);
                const std::uint32_t* const slots = found.entries.data();
                if (h_.stale + h_.stale_resting == 0)
                    out.insert(out.end(), slots, slots + found.count);
                else
                    std::copy_if(slots, slots + found.count, std::back_inserter(out), counts);
            });
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
    thread_local Found sure, open;
    h_.for_each_near(
        pieces,
        [&](int p) { return std::optional(pieces == 1 ? cells::bounds(segment) : piece_box(segment, p, pieces)); },
        [&](const Box<D, T>& box) {
            h_.for_each_set([&](const GridSet<D, T>& set, const auto& counts) {
                sure.count = 0;
                for (std::size_t g = 0; g < set.grids().size(); ++g) {
                    const GridView<D, T> view = set.view(g);
                    open.count = 0;
                    overlapping(view, box, segment, sure, open);
                    for (std::size_t i = 0; i < open.count; ++i) {
                        const auto slot = static_cast<std::uint32_t>(view.id[open.entries[i]]);
                        if (cells::meets(segment, set.box_at(view, open.entries[i])) && counts(slot))
                            out.push_back(slot);
                    }
                }
                std::copy_if(sure.entries.data(), sure.entries.data() + sure.count, std::back_inserter(out), counts);
            });
        },
        Overloaded{[&](std::uint32_t slot, const Box<D, T>& box) {
                       if (cells::meets(segment, box)) out.push_back(slot);
                   },
                   [&](std::uint32_t slot, const ScaledHalfSpace<D>& h) {
                       if (meets(h, segment)) out.push_back(slot);
                   }});
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
            if (!allows(slot)) return;
            if (const std::optional<double> at = entry(ray, object)) best.offer(slot, *at);
        });
    if (!best.found()) return {};
    return Nearest{best.slot(), best.at()};
}

// Boxes around the point, doubling, until reached(reach) says that nothing outside can count. offer(slot, how far
// away).
template <int D, class T>
template <class Reached, class Offer>
void Queries<D, T>::search_around(const Vec<D, T>& point, Reached&& reached, Offer&& offer) const {
    cells::check_point(point);
    double reach = 0;
    h_.for_each_set([&](const GridSet<D, T>& set, const auto&) {
        for (const auto& grid : set.grids())
            if (reach == 0 && grid.size != 0) reach = grid.shape.axis[D - 1].edge();
    });
    if (!(reach > 0)) reach = 1;
    bool everything = false;
    h_.for_each_near(
        std::numeric_limits<int>::max(),
        [&](int turn) -> std::optional<Box<D, T>> {
            if (turn != 0) {
                if (everything || reached(reach)) return {};
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
        Overloaded{[&](std::uint32_t slot, const Box<D, T>& box) {
                       if (allows(slot)) offer(slot, away(point, box));
                   },
                   [&](std::uint32_t slot, const ScaledHalfSpace<D>& h) {
                       if (allows(slot)) offer(slot, away(distance(point, h)));
                   }});
}

template <int D, class T>
auto Queries<D, T>::nearest(const Vec<D, T>& point) const -> std::optional<Nearest> {
    Best<Away> best;
    search_around(
        point, [&](double reach) { return best.found() && best.at().length <= reach; },
        [&](std::uint32_t slot, const Away& at) { best.offer(slot, at); });
    if (!best.found()) return {};
    return Nearest{best.slot(), best.at().length};
}

// The best so far, in order; an object may be offered again in a larger box.
template <int D, class T>
void Queries<D, T>::nearest(const Vec<D, T>& point, std::size_t k, std::vector<Nearest>& out) const {
    using Offer = std::pair<Away, std::uint32_t>;
    std::vector<Offer> best;
    search_around(
        point, [&](double reach) { return best.size() >= k && (k == 0 || best.back().first.length <= reach); },
        [&](std::uint32_t slot, const Away& at) {
            const Offer offer{at, slot};
            if (best.size() >= k && (k == 0 || !(offer < best.back()))) return;
            const auto place = std::lower_bound(best.begin(), best.end(), offer);
            if (place != best.end() && *place == offer) return;
            best.insert(place, offer);
            if (best.size() > k) best.pop_back();
        });
    out.clear();
    for (const auto& [at, slot] : best) out.push_back({slot, at.length});
}

// Pieces of the way as a ray has them; the later ones are not looked at once a hit lies before them.
template <int D, class T>
template <class Shape>
auto Queries<D, T>::cast(const Shape& shape, const Box<D, T>& bounds, const Vec<D, T>& motion) const
    -> std::optional<Nearest> {
    cells::check_point(motion);
    double extent[D];
    for (int k = 0; k < D; ++k) extent[k] = std::abs(double(motion[k]));
    const int pieces = piece_count(extent);
    Best<double> best;
    h_.for_each_near(
        pieces,
        [&](int p) -> std::optional<Box<D, T>> {
            const double from = double(p) / pieces, to = double(p + 1) / pieces;
            if (best.found() && best.at() < from) return {};
            return swept_box(bounds, motion, from, to);
        },
        [&](std::uint32_t slot, const auto& object) {
            if (!allows(slot)) return;
            if (const std::optional<double> at = impact(shape, motion, object)) best.offer(slot, *at);
        });
    if (!best.found()) return {};
    return Nearest{best.slot(), best.at()};
}

// Slices along the longest side, each twice as thick as the one before, so that a box that is full of objects costs
// little more than its first slice.
template <int D, class T>
std::optional<std::uint32_t> Queries<D, T>::any(const Box<D, T>& box) const {
    cells::check_box(box, 0);
    constexpr int most_slices = 8;
    int axis = 0;
    double side = 0;
    bool finite = true;
    for (int k = 0; k < D; ++k) {
        const double length = double(box.hi[k]) - double(box.lo[k]);
        finite = finite && length < double(std::numeric_limits<T>::max());
        if (length > side) {
            side = length;
            axis = k;
        }
    }
    const int slices = finite && side > 0 ? most_slices : 1;
    std::optional<std::uint32_t> found;
    h_.for_each_near(
        slices,
        [&](int p) -> std::optional<Box<D, T>> {
            if (found) return {};
            Box<D, T> slice = box;
            const auto cut = [&](int at) { return below<T>(double(box.lo[axis]) + std::ldexp(side, at - slices)); };
            if (p != 0) slice.lo[axis] = std::max(slice.lo[axis], cut(p));
            if (p + 1 != slices) slice.hi[axis] = std::max(slice.lo[axis], std::min(slice.hi[axis], cut(p + 1)));
            return slice;
        },
        Overloaded{[&](std::uint32_t slot, const Box<D, T>& other) {
                       if (!found && allows(slot) && overlap(other, box)) found = slot;
                   },
                   [&](std::uint32_t slot, const ScaledHalfSpace<D>& h) {
                       if (!found && allows(slot) && meets(h, box)) found = slot;
                   }});
    return found;
}

template <int D, class T>
void Queries<D, T>::keep_allowed(Slots& slots) const {
    std::erase_if(slots, [&](std::uint32_t slot) { return !allows(slot); });
}

template class Queries<2, float>;
template class Queries<3, float>;
template class Queries<2, double>;
template class Queries<3, double>;
template std::optional<Queries<2, float>::Nearest> Queries<2, float>::cast(const Box<2, float>&, const Box<2, float>&,
                                                                           const Vec<2, float>&) const;
template std::optional<Queries<2, float>::Nearest> Queries<2, float>::cast(const Sphere<2, float>&,
                                                                           const Box<2, float>&,
                                                                           const Vec<2, float>&) const;
template std::optional<Queries<2, double>::Nearest> Queries<2, double>::cast(const Box<2, double>&,
                                                                             const Box<2, double>&,
                                                                             const Vec<2, double>&) const;
template std::optional<Queries<2, double>::Nearest> Queries<2, double>::cast(const Sphere<2, double>&,
                                                                             const Box<2, double>&,
                                                                             const Vec<2, double>&) const;
template std::optional<Queries<3, float>::Nearest> Queries<3, float>::cast(const Box<3, float>&, const Box<3, float>&,
                                                                           const Vec<3, float>&) const;
template std::optional<Queries<3, float>::Nearest> Queries<3, float>::cast(const Sphere<3, float>&,
                                                                           const Box<3, float>&,
                                                                           const Vec<3, float>&) const;
template std::optional<Queries<3, double>::Nearest> Queries<3, double>::cast(const Box<3, double>&,
                                                                             const Box<3, double>&,
                                                                             const Vec<3, double>&) const;
template std::optional<Queries<3, double>::Nearest> Queries<3, double>::cast(const Sphere<3, double>&,
                                                                             const Box<3, double>&,
                                                                             const Vec<3, double>&) const;

}  // namespace quadrat::broad_phase
