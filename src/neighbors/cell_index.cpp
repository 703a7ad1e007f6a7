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

/// Bounds of points that must be finite.
template <int D, class T>
Bounds<D, T> checked_bounds(std::span<const Vec<D, T>> points, Executor* executor) {
    cells::check_count(points.size());
    const Bounds<D, T> bounds = bounds_of(points, executor);
    if (!bounds.finite) cells::check_points(points, executor);
    return bounds;
}

}  // namespace

template <int D, class T>
CellIndex<D, T>::CellIndex(const Options& options) {
    if (options.radius != T(0)) cells::check_radius(options.radius);
    if (options.skin != T(0)) cells::check_radius(options.skin, "skin");
    state_ = std::make_unique<State>(options);
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
void CellIndex<D, T>::State::set_radii(std::span<const T> given, std::size_t points_count) {
    if (given.empty() && points_count > 0) {
        cells::check_radius(options.radius);
        radii.clear();
    } else {
        cells::check_radii(given, points_count);
        radii.assign(given.begin(), given.end());
    }
    T smallest = largest = options.radius;
    double sum = 0;
    if (!radii.empty()) {
        smallest = *std::min_element(radii.begin(), radii.end());
        largest = *std::max_element(radii.begin(), radii.end());
        for (const T r : radii) sum += static_cast<double>(r);
        sum /= static_cast<double>(radii.size());
    }
    plain = cells::plain_radius(smallest + options.skin) && cells::plain_radius(2 * largest + options.skin);
    typical = static_cast<double>(options.radius);
    if (!radii.empty()) {
        const double most = static_cast<double>(largest);
        typical = options.rule == RadiusRule::max ? most : options.rule == RadiusRule::sum ? sum + most : sum;
    }
    typical += static_cast<double>(options.skin);
}

template <int D, class T>
neighbors::Reach<T> CellIndex<D, T>::State::reach() const {
    neighbors::Reach<T> r{.radius = options.radius + options.skin, .radii = nullptr, .plain = plain};
    if (!radii.empty()) {
        switch (options.rule) {
            case RadiusRule::own:
            case RadiusRule::min:
                r = {options.skin, radii.data(), plain};
                break;
            case RadiusRule::max:
                r = {largest + options.skin, nullptr, plain};
                break;
            case RadiusRule::sum:
                r = {largest + options.skin, radii.data(), plain};
                break;
        }
    }
    // The exact test of an image is made on other numbers than its place in storage.
    if (periodic())
        r.radius += points.geometry().slack + 64 * std::numeric_limits<T>::epsilon() * (2 * largest + options.skin);
    return r;
}

template <int D, class T>
void CellIndex<D, T>::State::sort(std::span<const Vec<D, T>> given, Bounds<D, T> bounds, bool keep) {
    using neighbors::Geometry;
    using neighbors::Record;
    slots = given.size();
    places.clear();
    if (options.skin > T(0)) reference.assign(given.begin(), given.end());
    const bool plain_build = !periodic() && erased.empty();
    std::span<const Vec<D, T>> source = given;
    if (periodic()) {
        images.wrap(lattice, given);
        source = images.wrapped;
    }
    if (!plain_build) {
        records.clear();
        for (std::size_t i = 0; i < source.size(); ++i) {
            if (!erased.empty() && erased[i]) continue;
            Record<D, T> record;
            for (int k = 0; k < D; ++k) record.v[k] = source[i][k];
            record.id = static_cast<std::uint32_t>(i);
            records.push_back(record);
        }
    }
    const std::size_t real_count = records.size();
    if (periodic()) {
        double longest = static_cast<double>(largest) * (options.rule == RadiusRule::sum && !radii.empty() ? 2 : 1);
        longest = (longest + static_cast<double>(options.skin)) * (1 + 1e-5);
        images.make(lattice, longest, erased, max_bytes(), records);
        keep = false;
    }
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
        const T band = std::max(extent * T(0.02), static_cast<T>(typical));
        keep = std::abs(bounds.lo[k] - bounds_lo[k]) <= band && std::abs(bounds.hi[k] - bounds_hi[k]) <= band;
    }
    Geometry<D, T> geometry = points.geometry();
    if (!keep) {
        std::copy_n(bounds.lo, D, bounds_lo);
        std::copy_n(bounds.hi, D, bounds_hi);
        const double radius = typical > 0 ? typical : 1;
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
void CellIndex<D, T>::State::sort_wrapped(std::span<const Vec<D, T>> given) {
    const std::vector<Shift> before = images.turns;
    sort(given, bounds_of(given, options.executor), false);
    for (std::size_t i = 0; i < before.size(); ++i)
        for (int k = 0; k < D; ++k) images.turns[i][k] += before[i][k];
}

template <int D, class T>
void CellIndex<D, T>::build(std::span<const Vec<D, T>> points) {
    build(points, {});
}

template <int D, class T>
void CellIndex<D, T>::build(std::span<const Vec<D, T>> points, std::span<const T> radii) {
    const Bounds<D, T> bounds = checked_bounds(points, state_->options.executor);
    state_->set_radii(radii, points.size());
    state_->erased.clear();
    state_->sort(points, bounds, false);
}

template <int D, class T>
bool CellIndex<D, T>::update(std::span<const Vec<D, T>> points) {
    State& s = *state_;
    if (points.size() != s.slots)
        throw Error(ErrorKind::bad_shape, "update takes as many points as the index has: " + std::to_string(s.slots) +
                                              ", not " + std::to_string(points.size()));
    if (s.options.skin > T(0) && s.reference.size() == points.size()) {
        // Two points that move half of the skin each come nearer by the skin; the rounding of this test is on the safe
        // side.
        const T half = s.options.skin * T(0.5) * (1 - 16 * std::numeric_limits<T>::epsilon());
        bool far = false;
        for (std::size_t i = 0; i < points.size() && !far; ++i) {
            if (!s.erased.empty() && s.erased[i]) continue;
            T sum = 0;
            for (int k = 0; k < D; ++k) {
                const T d = points[i][k] - s.reference[i][k];
                sum += d * d;
            }
            far = !(sum <= half * half);
        }
        if (!far) return false;
    }
    s.sort(points, checked_bounds(points, s.options.executor), true);
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
    if ((s.slots > 0 || !radii.empty()) && s.radii.empty() != radii.empty() && s.slots > 0)
        throw Error(ErrorKind::bad_shape, "either all points have their own radius or none has",
                    Where{.field = "radii"});
    std::vector<T> all_radii = s.radii;
    if (!radii.empty()) {
        cells::check_radii(radii, points.size());
        all_radii.insert(all_radii.end(), radii.begin(), radii.end());
    }
    std::vector<Vec<D, T>> all = s.unsorted();
    all.insert(all.end(), points.begin(), points.end());
    if (!s.erased.empty()) s.erased.resize(all.size(), 0);
    s.set_radii(all_radii, all.size());
    s.sort_wrapped(all);
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
    const std::vector<Vec<D, T>> all = s.unsorted();
    s.erased = std::move(erased);
    s.sort_wrapped(all);
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
           (s.images.source.capacity() + s.places.capacity()) * sizeof(std::uint32_t) + s.radii.capacity() * sizeof(T) +
           s.erased.capacity();
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
