// Building and changing a CellIndex; the searches are in search.cpp and nearest.cpp.
#include <quadrat/neighbors/cell_index.hpp>

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/predicate.hpp"
#include "cells/validate.hpp"
#include "neighbors/state.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat {
namespace {

using neighbors::Bounds;

template <int D, class T>
Bounds<D, T> nothing() {
    Bounds<D, T> b;
    std::fill_n(b.lo, D, std::numeric_limits<T>::max());
    std::fill_n(b.hi, D, std::numeric_limits<T>::lowest());
    return b;
}

template <int D, class T>
Bounds<D, T> bounds_of(std::span<const Vec<D, T>> points, Executor* executor) {
    Bounds<D, T> all = nothing<D, T>();
    return base::parallel_reduce(
        executor, points.size(), std::size_t{1} << 16, all,
        [&](std::size_t begin, std::size_t end) {
            Bounds<D, T> part;
            part.finite = neighbors::find_bounds<D, T>(points[begin].v, end - begin, part.lo, part.hi);
            return part;
        },
        [](Bounds<D, T> a, const Bounds<D, T>& b) {
            for (int k = 0; k < D; ++k) {
                a.lo[k] = std::min(a.lo[k], b.lo[k]);
                a.hi[k] = std::max(a.hi[k], b.hi[k]);
            }
            a.finite = a.finite && b.finite;
            return a;
        });
}

/// Bounds of points that must be finite, but for erased ones.
template <int D, class T>
Bounds<D, T> checked_bounds(std::span<const Vec<D, T>> points, std::span<const std::uint8_t> erased,
                            Executor* executor) {
    cells::check_count(points.size());
    const Bounds<D, T> bounds = bounds_of(points, executor);
    if (bounds.finite) return bounds;
    if (erased.empty()) cells::check_points(points, executor);
    for (std::size_t i = 0; i < erased.size(); ++i)
        for (int k = 0; k < D && !erased[i]; ++k)
            if (!std::isfinite(points[i][k]))
                throw Error(ErrorKind::bad_value, "the point is not finite",
                            Where{.index = i, .column = static_cast<std::size_t>(k)});
    return bounds;
}

}  // namespace

template <int D, class T>
CellIndex<D, T>::CellIndex(const Options& options) {
    if (options.radius != T(0)) cells::check_radius(options.radius);
    if (options.skin != T(0)) cells::check_radius(options.skin, "skin");
    if (!std::isfinite(options.radius + options.skin))
        throw Error(ErrorKind::bad_value, "radius and skin together are not finite", Where{.field = "skin"});
    state_ = std::make_unique<State>(options);
    build({});
}
template <int D, class T>
CellIndex<D, T>::CellIndex(CellIndex&&) noexcept = default;
template <int D, class T>
CellIndex<D, T>& CellIndex<D, T>::operator=(CellIndex&&) noexcept = default;
template <int D, class T>
CellIndex<D, T>::~CellIndex() = default;

template <int D, class T>
std::uint64_t CellIndex<D, T>::State::max_bytes() const {
    if (options.max_bytes) return options.max_bytes;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return std::uint64_t{1} << 31;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 2;
}

template <int D, class T>
typename CellIndex<D, T>::State::Support CellIndex<D, T>::State::make_support(std::span<const T> given,
                                                                              std::size_t points_count) const {
    Support next;
    if (given.empty() && points_count > 0) {
        cells::check_radius(options.radius);
    } else {
        cells::check_radii(given, points_count);
        next.radii.assign(given.begin(), given.end());
    }
    T smallest = next.largest = options.radius;
    double mean = 0;
    if (!given.empty()) {
        smallest = *std::min_element(given.begin(), given.end());
        next.largest = *std::max_element(given.begin(), given.end());
        for (const T r : given) mean += static_cast<double>(r) / static_cast<double>(given.size());
    }
    if (!std::isfinite(longest(next)))
        throw Error(ErrorKind::bad_value, "the largest radii and the skin together are not finite",
                    Where{.field = "radii"});
    next.plain = cells::plain_radius(smallest + options.skin) && cells::plain_radius(2 * next.largest + options.skin);
    next.typical = static_cast<double>(options.radius);
    if (!given.empty()) {
        const double most = static_cast<double>(next.largest);
        next.typical = options.rule == RadiusRule::max ? most : options.rule == RadiusRule::sum ? mean + most : mean;
    }
    next.typical += static_cast<double>(options.skin);
    return next;
}

template <int D, class T>
T CellIndex<D, T>::State::longest(const Support& of) const {
    const bool twice = options.rule == RadiusRule::sum && !of.radii.empty();
    return (twice ? of.largest + of.largest : of.largest) + options.skin;
}

template <int D, class T>
neighbors::Reach<T> CellIndex<D, T>::State::reach() const {
    neighbors::Reach<T> r{.radius = options.radius + options.skin, .radii = nullptr, .plain = support.plain};
    if (!support.radii.empty()) {
        switch (options.rule) {
            case RadiusRule::own:
            case RadiusRule::min:
                r = {options.skin, support.radii.data(), support.plain};
                break;
            case RadiusRule::max:
                r = {support.largest + options.skin, nullptr, support.plain};
                break;
            case RadiusRule::sum:
                r = {support.largest + options.skin, support.radii.data(), support.plain};
                break;
        }
    }
    // The exact test of an image is made on other numbers than its place in storage.
    if (periodic())
        r.radius +=
            points.geometry().slack + 128 * std::numeric_limits<T>::epsilon() * (support.largest + options.skin);
    return r;
}

template <int D, class T>
void CellIndex<D, T>::State::sort(std::span<const Vec<D, T>> given, Bounds<D, T> bounds, bool keep, Change change) {
    using neighbors::Geometry;
    using neighbors::Record;
    // First what may refuse the points, into places of its own.
    const Support& next = change.support ? *change.support : support;
    const std::vector<std::uint8_t>& gone = change.erased ? *change.erased : erased;
    const bool plain_build = !periodic() && gone.empty();
    neighbors::Images<D, T> around;
    std::span<const Vec<D, T>> source = given;
    if (periodic()) {
        around.wrap(lattice, given, gone);
        source = around.wrapped;
    }
    records.clear();
    if (!plain_build) {
        for (std::size_t i = 0; i < source.size(); ++i) {
            if (!gone.empty() && gone[i]) continue;
            Record<D, T> record;
            for (int k = 0; k < D; ++k) record.v[k] = source[i][k];
            record.id = static_cast<std::uint32_t>(i);
            records.push_back(record);
        }
    }
    const std::size_t real_count = records.size();
    if (periodic()) {
        around.make(lattice, static_cast<double>(longest(next)) * (1 + 1e-5), gone, max_bytes(), records);
        keep = false;
    }
    if (options.skin > T(0)) reference.assign(given.begin(), given.end());
    // Nothing below refuses anything.
    if (change.support) support = std::move(*change.support);
    if (change.erased) erased = std::move(*change.erased);
    images = std::move(around);
    slots = given.size();
    places.clear();
    if (!plain_build) {
        bounds = nothing<D, T>();
        for (const Record<D, T>& r : records)
            for (int k = 0; k < D; ++k) {
                bounds.lo[k] = std::min(bounds.lo[k], r.v[k]);
                bounds.hi[k] = std::max(bounds.hi[k], r.v[k]);
            }
    }
    const std::size_t count = plain_build ? given.size() : records.size();
    if (count == 0) bounds = {};
    // Cells of last time serve as long as the points have not spread or shrunk much: outer cells hold what lies beyond.
    for (int k = 0; keep && k < D; ++k) {
        const T extent = bounds_hi[k] - bounds_lo[k];
        const T band = std::max(extent * T(0.02), static_cast<T>(support.typical));
        keep = std::abs(bounds.lo[k] - bounds_lo[k]) <= band && std::abs(bounds.hi[k] - bounds_hi[k]) <= band;
    }
    Geometry<D, T> geometry = points.geometry();
    if (!keep) {
        std::copy_n(bounds.lo, D, bounds_lo);
        std::copy_n(bounds.hi, D, bounds_hi);
        const double radius = support.typical > 0 ? support.typical : 1;
        geometry = Geometry<D, T>(bounds_lo, bounds_hi, std::max<std::size_t>(count, 1), radius, options.subdivision);
    }
    if (plain_build) {
        if (!(keep && points.update(given, options.executor))) points.build(geometry, given, options.executor);
    } else {
        const std::span<const Record<D, T>> all = records;
        points.build(geometry, all, options.executor);
        if (periodic()) reals.build(geometry, all.first(real_count), options.executor);
    }
}

template <int D, class T>
std::vector<Vec<D, T>> CellIndex<D, T>::State::unsorted() const {
    std::vector<Vec<D, T>> all(slots, Vec<D, T>{});
    for (std::uint32_t p = 0; p < homes().size(); ++p)
        for (int k = 0; k < D; ++k) all[homes().ids()[p]][k] = homes().axis(k)[p];
    return all;
}

template <int D, class T>
void CellIndex<D, T>::State::sort_wrapped(std::span<const Vec<D, T>> given, Change change) {
    const std::vector<Shift> before = images.turns;
    sort(given, bounds_of(given, options.executor), false, std::move(change));
    for (std::size_t i = 0; i < before.size(); ++i)
        for (int k = 0; k < D; ++k) images.turns[i][k] += before[i][k];
    reference.clear();  // lists of before do not know what has changed: the next update builds
}

template <int D, class T>
bool CellIndex<D, T>::State::lists_hold(std::span<const Vec<D, T>> given) const {
    if (!(options.skin > T(0)) || reference.size() != given.size()) return false;
    const auto is_erased = [&](std::size_t i) { return !erased.empty() && erased[i]; };
    // Two points that move half of the skin each come nearer by the skin. What the predicate rounds, at the time of the
    // list and now, is a few units in the last place of the reach; wrapping rounds in terms of the coordinates.
    double scale = static_cast<double>(longest(support));
    if (periodic()) {
        double farthest = 0;
        for (std::size_t i = 0; i < given.size(); ++i)
            for (int k = 0; k < D && !is_erased(i); ++k)
                farthest = std::max({farthest, std::abs(static_cast<double>(given[i][k])),
                                     std::abs(static_cast<double>(reference[i][k]))});
        scale += lattice.magnitude_at(farthest);
    }
    const double margin = 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * scale;
    const T half = std::nextafter(static_cast<T>(static_cast<double>(options.skin) * 0.5 - margin), T(0));
    if (!(half > T(0)) || !std::isfinite(half)) return false;
    const cells::NearTest<T> near(half);
    for (std::size_t i = 0; i < given.size(); ++i)
        if (!is_erased(i) && !near(given[i], reference[i])) return false;
    return true;
}

template <int D, class T>
void CellIndex<D, T>::build(std::span<const Vec<D, T>> points) {
    build(points, {});
}

template <int D, class T>
void CellIndex<D, T>::build(std::span<const Vec<D, T>> points, std::span<const T> radii) {
    const Bounds<D, T> bounds = checked_bounds<D, T>(points, {}, state_->options.executor);
    typename State::Change change{.support = state_->make_support(radii, points.size()),
                                  .erased = std::vector<std::uint8_t>()};
    state_->sort(points, bounds, false, std::move(change));
}

template <int D, class T>
bool CellIndex<D, T>::update(std::span<const Vec<D, T>> points) {
    State& s = *state_;
    if (points.size() != s.slots)
        throw Error(ErrorKind::bad_shape, "update takes as many points as the index has: " + std::to_string(s.slots) +
                                              ", not " + std::to_string(points.size()));
    if (s.lists_hold(points)) return false;
    s.sort(points, checked_bounds<D, T>(points, s.erased, s.options.executor), true, {});
    return true;
}

template <int D, class T>
std::uint32_t CellIndex<D, T>::insert(std::span<const Vec<D, T>> points) {
    return insert(points, {});
}

template <int D, class T>
std::uint32_t CellIndex<D, T>::insert(std::span<const Vec<D, T>> points, std::span<const T> radii) {
    State& s = *state_;
    const auto first = static_cast<std::uint32_t>(s.slots);
    if (points.empty()) return first;
    cells::check_count(s.slots + points.size());
    cells::check_points(points);
    if (s.slots > 0 && s.support.radii.empty() != radii.empty())
        throw Error(ErrorKind::bad_shape, "either all points have their own radius or none has",
                    Where{.field = "radii"});
    std::vector<T> all_radii = s.support.radii;
    if (!radii.empty()) {
        cells::check_radii(radii, points.size());
        all_radii.insert(all_radii.end(), radii.begin(), radii.end());
    }
    std::vector<Vec<D, T>> all = s.unsorted();
    all.insert(all.end(), points.begin(), points.end());
    typename State::Change change{.support = s.make_support(all_radii, all.size()), .erased = s.erased};
    if (!s.erased.empty()) change.erased->resize(all.size(), 0);
    s.sort_wrapped(all, std::move(change));
    return first;
}

template <int D, class T>
void CellIndex<D, T>::erase(std::span<const std::uint32_t> indices) {
    State& s = *state_;
    std::vector<std::uint8_t> erased = s.erased;
    erased.resize(s.slots, 0);
    for (std::size_t k = 0; k < indices.size(); ++k) {
        if (indices[k] >= s.slots || erased[indices[k]])
            throw Error(ErrorKind::stale_id, "there is no point " + std::to_string(indices[k]) + " to erase",
                        Where{.index = k});
        erased[indices[k]] = 1;
    }
    if (indices.empty()) return;
    s.sort_wrapped(s.unsorted(), {.support = {}, .erased = std::move(erased)});
}

template <int D, class T>
std::size_t CellIndex<D, T>::size() const noexcept {
    return state_->slots;
}

template <int D, class T>
std::span<const std::uint32_t> CellIndex<D, T>::order() const noexcept {
    return {state_->homes().ids(), state_->homes().size()};
}

template <int D, class T>
std::uint64_t CellIndex<D, T>::tests() const noexcept {
    return state_->tests;
}

template <int D, class T>
std::uint64_t CellIndex<D, T>::bytes() const noexcept {
    const State& s = *state_;
    return s.points.bytes() + s.reals.bytes() + s.records.capacity() * sizeof(neighbors::Record<D, T>) +
           (s.reference.capacity() + s.images.wrapped.capacity()) * sizeof(Vec<D, T>) +
           (s.images.turns.capacity() + s.images.shift.capacity()) * sizeof(Shift) +
           (s.images.source.capacity() + s.places.capacity()) * sizeof(std::uint32_t) +
           s.support.radii.capacity() * sizeof(T) + s.erased.capacity();
}

template <int D, class T>
void CellIndex<D, T>::State::find_places() const {
    const std::lock_guard lock(places_mutex);
    if (places.size() == slots) return;
    std::vector<std::uint32_t> made(slots, 0xffffffffu);
    for (std::uint32_t p = 0; p < homes().size(); ++p) made[homes().ids()[p]] = p;
    places.swap(made);
}

#define QUADRAT_CELL_INDEX(D, T)                                                                    \
    template CellIndex<D, T>::CellIndex(const Options&);                                            \
    template CellIndex<D, T>::CellIndex(CellIndex&&) noexcept;                                      \
    template CellIndex<D, T>& CellIndex<D, T>::operator=(CellIndex&&) noexcept;                     \
    template CellIndex<D, T>::~CellIndex();                                                         \
    template void CellIndex<D, T>::build(std::span<const Vec<D, T>>);                               \
    template void CellIndex<D, T>::build(std::span<const Vec<D, T>>, std::span<const T>);           \
    template bool CellIndex<D, T>::update(std::span<const Vec<D, T>>);                              \
    template std::uint32_t CellIndex<D, T>::insert(std::span<const Vec<D, T>>);                     \
    template std::uint32_t CellIndex<D, T>::insert(std::span<const Vec<D, T>>, std::span<const T>); \
    template void CellIndex<D, T>::erase(std::span<const std::uint32_t>);                           \
    template std::size_t CellIndex<D, T>::size() const noexcept;                                    \
    template std::span<const std::uint32_t> CellIndex<D, T>::order() const noexcept;                \
    template std::uint64_t CellIndex<D, T>::bytes() const noexcept;                                 \
    template std::uint64_t CellIndex<D, T>::tests() const noexcept;                                 \
    template struct CellIndex<D, T>::State;
QUADRAT_CELL_INDEX(2, float)
QUADRAT_CELL_INDEX(3, float)
QUADRAT_CELL_INDEX(2, double)
QUADRAT_CELL_INDEX(3, double)
#undef QUADRAT_CELL_INDEX

}  // namespace quadrat
