// How the state of a CellIndex changes: what its radii ask for, how points become records, images and cells.
#include "neighbors/state.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/predicate.hpp"
#include "cells/validate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::neighbors {
namespace {

constexpr std::uint32_t no_place = 0xffffffffu;

}  // namespace

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
Reach<T> IndexState<D, T>::reach(std::size_t level) const {
    if (support.uniform()) return {.radius = longest(support), .plain = support.plain};
    return {.radius = options.skin,
            .radii = levels[level].radii.data(),
            .rule = options.rule,
            .largest = levels[level].largest,
            .plain = support.plain};
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
void IndexState<D, T>::check_images(const Lattice<D, T>& box, const Bounds<D, T>& bounds, T reach) const {
    std::int32_t from[3] = {0, 0, 0}, to[3] = {0, 0, 0};
    box.images_near(bounds.lo, bounds.hi, static_cast<double>(reach) * (1 + 1e-5), from, to);
    double count = 1;
    for (int k = 0; k < 3; ++k) count *= static_cast<double>(to[k]) - static_cast<double>(from[k]) + 1;
    const double most = std::min(0x1p22, static_cast<double>(options.max_bytes) / sizeof(Part<T>));
    if (count > 1 && count > most)
        throw Error(ErrorKind::too_large,
                    "the radius covers so many periodic images that they need more than " +
                        std::to_string(std::min<std::uint64_t>(options.max_bytes, sizeof(Part<T>) << 22)) + " bytes",
                    Where{.field = "periodic"});
}

template <int D, class T>
void IndexState<D, T>::sort(std::span<const Vec<D, T>> given, Bounds<D, T> bounds, bool keep, Change change) {
    // First what may refuse the points, into places of its own.
    const Support& next = change.support ? *change.support : support;
    const std::vector<std::uint8_t>& gone = change.erased ? *change.erased : erased;
    const bool several = !next.uniform() && next.smallest <= next.largest / 2;
    const bool plain_build = gone.empty() && !several;
    Lattice<D, T> box = lattice;
    Wrapped<D, T> around;
    if (periodic()) {
        around = Wrapped<D, T>::of(lattice, given, gone, options.executor);
        if (!around.points.empty() && gone.empty()) bounds = Bounds<D, T>::of(around.points, options.executor);
        box.contain(around.lo, around.hi);
    }
    const std::span<const Vec<D, T>> placed = around.or_as(given);
    records.clear();
    if (!plain_build) gather_records(placed, gone);
    if (!gone.empty()) bounds = Bounds<D, T>::of(std::span<const Record<D, T>>(records));
    const std::size_t count = gone.empty() ? given.size() : records.size();
    if (count == 0) bounds = {};
    if (periodic() && count > 0) check_images(box, bounds, longest(next));
    if (options.skin > T(0)) reference.assign(given.begin(), given.end());
    // Nothing below refuses anything.
    lattice = box;
    if (change.support) support = std::move(*change.support);
    if (change.erased) erased = std::move(*change.erased);
    turns = std::move(around.turns);
    slots = given.size();
    places_.clear();
    nearest.drop();
    nearest_tree.drop();
    nearest_images.drop();
    QUADRAT_ASSERT(support.radii.empty() || support.radii.size() == slots);
    QUADRAT_ASSERT(erased.empty() || erased.size() == slots);
    keep = keep && plain_build && levels.size() == 1 && cells_serve(bounds);
    if (!keep) {
        std::copy_n(bounds.lo, D, bounds_lo);
        std::copy_n(bounds.hi, D, bounds_hi);
    }
    if (several && count > 0) return build_levels();
    levels.resize(1);
    Level<D, T>& only = levels[0];
    if (!(keep && only.grid.update(placed, options.executor))) {
        const double radius = support.typical > 0 ? support.typical : 1;
        const Geometry<D, T> geometry =
            keep ? only.grid.geometry()
                 : Geometry<D, T>(bounds_lo, bounds_hi, std::max<std::size_t>(count, 1), radius, subdivision);
        if (plain_build)
            only.grid.build(geometry, placed, options.executor);
        else
            only.grid.build(geometry, std::span<const Record<D, T>>(records), options.executor);
    }
    only.largest = support.largest;
    gather_radii(only);
    QUADRAT_ASSERT(only.grid.size() == count);
}

template <int D, class T>
void IndexState<D, T>::gather_radii(Level<D, T>& level) const {
    if (support.uniform()) return level.radii.release();
    const std::size_t n = level.grid.size();
    level.radii.resize_discard(n + GridStore<D, T>::pad);
    base::parallel_for(options.executor, n, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) level.radii[p] = support.radii[level.grid.ids()[p]];
    });
    std::fill_n(level.radii.data() + n, GridStore<D, T>::pad, T(0));
}

template <int D, class T>
void IndexState<D, T>::build_levels() {
    const std::vector<std::vector<Record<D, T>>> classes =
        by_size<D, T>(records, support.radii, support.smallest, support.largest);
    levels.resize(classes.size());
    order_.clear();
    for (std::size_t c = 0; c < classes.size(); ++c) {
        Level<D, T>& level = levels[c];
        const std::span<const Record<D, T>> members = classes[c];
        double mean = 0;
        level.largest = 0;
        for (const Record<D, T>& r : members) {
            level.largest = std::max(level.largest, support.radii[r.id]);
            mean += static_cast<double>(support.radii[r.id]) / static_cast<double>(members.size());
        }
        const double radius =
            pair_radius(options.rule, mean, static_cast<double>(level.largest)) + static_cast<double>(options.skin);
        const Bounds<D, T> bounds = Bounds<D, T>::of(members);
        const Geometry<D, T> geometry(bounds.lo, bounds.hi, members.size(), radius, subdivision);
        level.grid.build(geometry, members, options.executor);
        gather_radii(level);
        level.begin = static_cast<std::uint32_t>(order_.size());
        order_.insert(order_.end(), level.grid.ids(), level.grid.ids() + members.size());
    }
}

template <int D, class T>
std::vector<Record<D, T>> IndexState<D, T>::all_records() const {
    std::vector<Record<D, T>> all;
    all.reserve(count());
    for (const Level<D, T>& level : levels)
        for (std::uint32_t p = 0; p < level.grid.size(); ++p) {
            Record<D, T> r;
            for (int k = 0; k < D; ++k) r.v[k] = level.grid.axis(k)[p];
            r.id = level.grid.ids()[p];
            all.push_back(r);
        }
    return all;
}

template <int D, class T>
std::vector<Vec<D, T>> IndexState<D, T>::unsorted() const {
    std::vector<Vec<D, T>> all(slots, Vec<D, T>{});
    for (const Record<D, T>& r : all_records()) std::copy_n(r.v, D, all[r.id].v);
    return all;
}

template <int D, class T>
void IndexState<D, T>::sort_wrapped(std::span<const Vec<D, T>> given, Change change) {
    const std::vector<Shift> before = turns;
    sort(given, Bounds<D, T>::of(given, options.executor), false, std::move(change));
    if (!before.empty()) turns.resize(slots, Shift{});
    for (std::size_t i = 0; i < before.size(); ++i)
        for (int k = 0; k < D; ++k) turns[i][k] += before[i][k];
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
        const std::span<const std::uint32_t> ids = order();
        for (std::uint32_t p = 0; p < ids.size(); ++p) places_[ids[p]] = p;
    }
    if (i >= slots || places_[i] == no_place)
        throw Error(ErrorKind::stale_id, "there is no point " + std::to_string(i), Where{.index = i});
    return places_[i];
}

template <int D, class T>
std::uint64_t IndexState<D, T>::bytes() const {
    const std::lock_guard lock(places_mutex_);
    std::uint64_t sum = nearest.bytes() + nearest_tree.bytes() + nearest_images.bytes() +
                        records.capacity() * sizeof(Record<D, T>) + reference.capacity() * sizeof(Vec<D, T>) +
                        turns.capacity() * sizeof(Shift) +
                        (order_.capacity() + places_.capacity()) * sizeof(std::uint32_t) +
                        support.radii.capacity() * sizeof(T) + erased.capacity();
    for (const Level<D, T>& level : levels) sum += level.grid.bytes() + level.radii.bytes();
    return sum;
}

template class IndexState<2, float>;
template class IndexState<3, float>;
template class IndexState<2, double>;
template class IndexState<3, double>;

}  // namespace quadrat::neighbors
