// How the state of a CellIndex changes: what its radii ask for, how points become records, images and cells.
#include "neighbors/state.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/predicate.hpp"
#include "cells/validate.hpp"
#include "neighbors/grid/keys.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::neighbors {
namespace {

constexpr std::uint32_t no_place = 0xffffffffu;

}  // namespace

template <int D, class T>
Bounds<D, T> Bounds<D, T>::nothing() {
    Bounds b;
    std::fill_n(b.lo, D, std::numeric_limits<T>::max());
    std::fill_n(b.hi, D, std::numeric_limits<T>::lowest());
    return b;
}

template <int D, class T>
Bounds<D, T> Bounds<D, T>::of(std::span<const Vec<D, T>> points, Executor* executor) {
    return base::parallel_reduce(
        executor, points.size(), std::size_t{1} << 16, nothing(),
        [&](std::size_t begin, std::size_t end) {
            Bounds part;
            part.finite = key_kernels().get<D, T>().bounds(points[begin].v, end - begin, part.lo, part.hi);
            return part;
        },
        [](Bounds a, const Bounds& b) {
            for (int k = 0; k < D; ++k) {
                a.lo[k] = std::min(a.lo[k], b.lo[k]);
                a.hi[k] = std::max(a.hi[k], b.hi[k]);
            }
            a.finite = a.finite && b.finite;
            return a;
        });
}

template <int D, class T>
Bounds<D, T> Bounds<D, T>::of(std::span<const Record<D, T>> records) {
    Bounds b = nothing();
    for (const Record<D, T>& r : records)
        for (int k = 0; k < D; ++k) {
            b.lo[k] = std::min(b.lo[k], r.v[k]);
            b.hi[k] = std::max(b.hi[k], r.v[k]);
        }
    return b;
}

template <int D, class T>
Bounds<D, T> Bounds<D, T>::checked(std::span<const Vec<D, T>> points, std::span<const std::uint8_t> erased,
                                   Executor* executor) {
    QUADRAT_ASSERT(erased.empty() || erased.size() == points.size());
    cells::check_count(points.size());
    const Bounds bounds = of(points, executor);
    if (bounds.finite) return bounds;
    if (erased.empty()) cells::check_points(points, executor);
    for (std::size_t i = 0; i < erased.size(); ++i)
        for (int k = 0; k < D && !erased[i]; ++k)
            if (!std::isfinite(points[i][k]))
                throw Error(ErrorKind::bad_value, "the point is not finite",
                            Where{.index = i, .column = static_cast<std::size_t>(k)});
    return bounds;
}

template <int D, class T>
auto IndexState<D, T>::make_support(std::span<const T> given, std::size_t points_count) const -> Support {
    Support next;
    next.smallest = next.largest = options.radius;
    next.typical = static_cast<double>(options.radius);
    if (given.empty() && points_count > 0) {
        cells::check_radius(options.radius);
    } else {
        cells::check_radii(given, points_count);
        next.radii.assign(given.begin(), given.end());
    }
    if (!given.empty()) {
        next.smallest = *std::min_element(given.begin(), given.end());
        next.largest = *std::max_element(given.begin(), given.end());
        double mean = 0;
        for (const T r : given) mean += static_cast<double>(r) / static_cast<double>(given.size());
        next.typical = pair_radius(options.rule, mean, static_cast<double>(next.largest));
    }
    next.typical += static_cast<double>(options.skin);
    const T least = given.empty() ? next.smallest : pair_radius(options.rule, next.smallest, next.smallest);
    const T most = longest(next);
    if (!std::isfinite(most))
        throw Error(ErrorKind::bad_value, "the largest radii and the skin together are not finite",
                    Where{.field = "radii"});
    next.plain = cells::plain_radius(least + options.skin) && cells::plain_radius(2 * most);
    return next;
}

template <int D, class T>
T IndexState<D, T>::longest(const Support& of) const {
    return (of.radii.empty() ? of.largest : pair_radius(options.rule, of.largest, of.largest)) + options.skin;
}

template <int D, class T>
Reach<T> IndexState<D, T>::reach() const {
    Reach<T> r{.radius = longest(support), .plain = support.plain};
    // Rules never fall, so all homes reach equally far if the one with the smallest radius reaches as far as any.
    const auto farthest = [&](T own) { return pair_radius(options.rule, own, support.largest); };
    if (!support.radii.empty() && farthest(support.smallest) != farthest(support.largest)) {
        r.radius = options.skin;
        r.radii = support.radii.data();
        r.rule = options.rule;
        r.largest = support.largest;
    }
    // The exact test of an image is made on other numbers than its place in storage.
    if (periodic())
        r.radius +=
            points.geometry().slack + 128 * std::numeric_limits<T>::epsilon() * (support.largest + options.skin);
    return r;
}

template <int D, class T>
void IndexState<D, T>::gather_records(std::span<const Vec<D, T>> source, const std::vector<std::uint8_t>& gone) {
    QUADRAT_ASSERT(gone.empty() || gone.size() == source.size());
    records.clear();
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (!gone.empty() && gone[i]) continue;
        Record<D, T> record;
        for (int k = 0; k < D; ++k) record.v[k] = source[i][k];
        record.id = static_cast<std::uint32_t>(i);
        records.push_back(record);
    }
}

template <int D, class T>
bool IndexState<D, T>::cells_serve(const Bounds<D, T>& bounds) const {
    // Outer cells hold what lies beyond, so points may spread or shrink a little: two hundredths of the extent, or a
    // reach.
    for (int k = 0; k < D; ++k) {
        const T extent = bounds_hi[k] - bounds_lo[k];
        const T band = std::max(extent * T(0.02), static_cast<T>(support.typical));
        if (!(std::abs(bounds.lo[k] - bounds_lo[k]) <= band && std::abs(bounds.hi[k] - bounds_hi[k]) <= band))
            return false;
    }
    return true;
}

template <int D, class T>
void IndexState<D, T>::sort(std::span<const Vec<D, T>> given, Bounds<D, T> bounds, bool keep, Change change) {
    // First what may refuse the points, into places of its own.
    const Support& next = change.support ? *change.support : support;
    const std::vector<std::uint8_t>& gone = change.erased ? *change.erased : erased;
    const bool plain_build = !periodic() && gone.empty();
    Images<D, T> around;
    if (periodic()) around.wrap(lattice, given, gone);
    records.clear();
    if (!plain_build) gather_records(periodic() ? std::span<const Vec<D, T>>(around.wrapped) : given, gone);
    const std::size_t real_count = records.size();
    if (periodic()) {
        around.make(lattice, static_cast<double>(longest(next)) * (1 + 1e-5), gone, options.max_bytes, records);
        keep = false;
    }
    if (options.skin > T(0)) reference.assign(given.begin(), given.end());
    // Nothing below refuses anything.
    if (change.support) support = std::move(*change.support);
    if (change.erased) erased = std::move(*change.erased);
    images = std::move(around);
    slots = given.size();
    places_.clear();
    nearest.drop();
    QUADRAT_ASSERT(support.radii.empty() || support.radii.size() == slots);
    QUADRAT_ASSERT(erased.empty() || erased.size() == slots);
    if (!plain_build) bounds = Bounds<D, T>::of(std::span<const Record<D, T>>(records));
    const std::size_t count = plain_build ? given.size() : records.size();
    if (count == 0) bounds = {};
    keep = keep && cells_serve(bounds);
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
    QUADRAT_ASSERT(points.size() == count);
}

template <int D, class T>
std::vector<Vec<D, T>> IndexState<D, T>::unsorted() const {
    std::vector<Vec<D, T>> all(slots, Vec<D, T>{});
    for (std::uint32_t p = 0; p < homes().size(); ++p) all[homes().ids()[p]] = homes().point(p);
    return all;
}

template <int D, class T>
void IndexState<D, T>::sort_wrapped(std::span<const Vec<D, T>> given, Change change) {
    const std::vector<Shift> before = images.turns;
    sort(given, Bounds<D, T>::of(given, options.executor), false, std::move(change));
    for (std::size_t i = 0; i < before.size(); ++i)
        for (int k = 0; k < D; ++k) images.turns[i][k] += before[i][k];
    reference.clear();  // lists of before do not know what has changed: the next update builds
}

template <int D, class T>
bool IndexState<D, T>::lists_hold(std::span<const Vec<D, T>> given) const {
    if (!(options.skin > T(0)) || reference.size() != given.size()) return false;
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
std::uint32_t IndexState<D, T>::place_of(std::uint32_t i) const {
    const std::lock_guard lock(places_mutex_);
    if (places_.size() != slots) {
        places_.assign(slots, no_place);
        for (std::uint32_t p = 0; p < homes().size(); ++p) places_[homes().ids()[p]] = p;
    }
    if (i >= slots || places_[i] == no_place)
        throw Error(ErrorKind::stale_id, "there is no point " + std::to_string(i), Where{.index = i});
    return places_[i];
}

template <int D, class T>
std::uint64_t IndexState<D, T>::bytes() const {
    const std::lock_guard lock(places_mutex_);
    return points.bytes() + reals.bytes() + nearest.bytes() + records.capacity() * sizeof(Record<D, T>) +
           (reference.capacity() + images.wrapped.capacity()) * sizeof(Vec<D, T>) +
           (images.turns.capacity() + images.shift.capacity()) * sizeof(Shift) +
           (images.source.capacity() + places_.capacity()) * sizeof(std::uint32_t) +
           support.radii.capacity() * sizeof(T) + erased.capacity();
}

template struct Bounds<2, float>;
template struct Bounds<3, float>;
template struct Bounds<2, double>;
template struct Bounds<3, double>;
template class IndexState<2, float>;
template class IndexState<3, float>;
template class IndexState<2, double>;
template class IndexState<3, double>;

}  // namespace quadrat::neighbors
