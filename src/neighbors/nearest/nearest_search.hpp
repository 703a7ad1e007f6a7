// The k nearest of a stretch of homes in an open world. A group of homes is searched with a radius a little beyond what
// the group before it needed, and a home that finds fewer than k is asked again, alone, with more. Every point within
// the radius is seen, so k of them are the k nearest. The places of the found are counted, each against all, in vector
// code, which for a few dozen is faster than any sorting; many, equal distances at the border of the row, and squares
// below the range of the type are sorted one by one.
#pragma once

#include "base/array.hpp"
#include "cells/predicate.hpp"
#include "neighbors/search/walk.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace quadrat::neighbors {

/// What is asked of whom.
template <int D, class T>
struct NearestJob {
    const Grid<D, T>& homes;
    const Grid<D, T>& points;  ///< in the same cells; the same grid if `own`
    bool own;                  ///< homes are the points: a home is not its own neighbour
    std::uint32_t k;           ///< at least 1
    T first;                   ///< a radius that holds about k points
    T farthest;                ///< 0: no limit
    double diameter;           ///< nothing is farther from anything
};

/// Squares that leave the range of T are kept in a wider type, so that they still have an order.
template <class T>
struct Found {
    using Wide = std::conditional_t<sizeof(T) == sizeof(float), double, long double>;
    Wide distance_sq;
    std::uint32_t index;
    friend bool operator<(const Found& a, const Found& b) {
        return a.distance_sq != b.distance_sq ? a.distance_sq < b.distance_sq : a.index < b.index;
    }
};

template <int D, class T, bool kDense>
class NearestSearch {
  public:
    explicit NearestSearch(const NearestJob<D, T>& job)
        : homes_(job.homes),
          points_(job.points),
          own_(job.own),
          k_(job.k),
          first_(job.first),
          farthest_(job.farthest),
          diameter_(job.diameter),
          kernel_(vector_kernels().template get<D, T>()) {
        QUADRAT_ASSERT(k_ > 0 && first_ > T(0) && kDense == points_.geometry().dense);
    }

    /// Rows of the homes at [begin, end): up to k sorted entries each, row(place, found, count). Returns the number of
    /// distance tests.
    template <class Row>
    std::uint64_t run(std::uint32_t begin, std::uint32_t end, Row&& row) {
        T radius = first_;
        std::vector<Found<T>> found;
        Walk<D, T, kDense> walk(homes_, points_, Reach<T>{.radius = limited(radius)});
        walk.report_positions();
        Walk<D, T, kDense> wider(homes_, points_, Reach<T>{.radius = limited(radius)});
        wider.report_positions();
        const std::uint32_t wanted = std::min(k_, points_.size() - (own_ ? 1u : 0u));
        found.resize(ranked_at_most);
        for (std::uint32_t h = begin; h < end;) {
            T next = 0;
            // One group at a time: the radius follows the density.
            walk.set_radius(limited(radius));
            h += walk.run_group(h, end, [&](std::uint32_t first, Group<T>& group) {
                measure(first, group);
                std::size_t at = 0;
                for (unsigned a = 0; a < group.size; ++a) {
                    const std::uint32_t count = group.count[a];
                    std::size_t kept = rank(distances_.data() + at, positions_.data() + at, count, wanted, found);
                    if (kept == 0) {
                        gather(first + a, positions_.data() + at, count, found);
                        if (found.size() < wanted && limited(radius) < limit())
                            widen(wider, first + a, radius, wanted, found);
                        kept = std::min<std::size_t>(k_, found.size());
                        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept),
                                          found.end());
                    }
                    at += count;
                    row(first + a, found.data(), static_cast<std::uint32_t>(kept));
                    if (kept == wanted && kept > 0) next = std::max(next, static_cast<T>(found[kept - 1].distance_sq));
                    if (found.size() < ranked_at_most) found.resize(ranked_at_most);
                }
            });
            if (next > T(0)) radius = std::sqrt(next) * T(1.1);
        }
        return tests_;
    }

  private:
    static constexpr std::uint32_t ranked_at_most = 160;

    [[nodiscard]] T limit() const { return farthest_ > T(0) ? farthest_ : std::numeric_limits<T>::infinity(); }
    [[nodiscard]] T limited(T radius) const {
        const T most = static_cast<T>(std::min(2 * diameter_ + 1, 0x1p59));
        return std::max(std::min(std::min(radius, limit()), most), T(0x1p-58));
    }

    /// Squared distances and positions of all that a group has within its radius.
    void measure(std::uint32_t first, Group<T>& group) {
        std::uint32_t self[max_group];
        for (unsigned a = 0; a < group.size; ++a) self[a] = own_ ? first + a : no_self;
        group.self = self;
        const std::size_t candidates = kernel_.cull(group);
        const std::size_t room = group.size * (candidates + max_lanes);
        distances_.resize_discard(room);
        positions_.resize_discard(room);
        kernel_.measure(group, candidates, distances_.data(), positions_.data());
        tests_ += group.size * candidates;
    }

    /// The `wanted` nearest of so many, sorted; 0 if that is better left to gather().
    std::size_t rank(const T* distances_sq, const std::uint32_t* positions, std::uint32_t count, std::uint32_t wanted,
                     std::vector<Found<T>>& found) {
        if (count < wanted || count > ranked_at_most || wanted == 0 || limit() < T(0x1p-58)) return 0;
        QUADRAT_ASSERT(found.size() >= wanted);
        std::copy_n(distances_sq, count, values_);
        kernel_.rank(values_, count, ranks_);
        // Equals share a rank: they take the places after it.
        std::uint32_t within = 0;
        std::uint64_t taken[ranked_at_most / 64 + 1] = {};
        bool equal = false;
        for (std::uint32_t e = 0; e < count; ++e) {
            std::uint32_t place = ranks_[e];
            if (place >= wanted) continue;
            if (++within > wanted || values_[e] < std::numeric_limits<T>::min()) return 0;
            while (taken[place / 64] >> (place % 64) & 1) ++place, equal = true;
            taken[place / 64] |= std::uint64_t{1} << (place % 64);
            found[place] = {static_cast<typename Found<T>::Wide>(values_[e]), points_.ids()[positions[e]]};
        }
        if (equal) std::sort(found.begin(), found.begin() + wanted);
        return wanted;
    }

    void gather(std::uint32_t place, const std::uint32_t* positions, std::uint32_t count,
                std::vector<Found<T>>& found) const {
        found.clear();
        const std::uint32_t self = own_ ? homes_.ids()[place] : no_self;
        const cells::NearTest<T> near(farthest_ > T(0) ? farthest_ : T(1));
        const Vec<D, T> home = homes_.point(place);
        for (std::uint32_t e = 0; e < count; ++e) {
            const std::uint32_t p = positions[e], j = points_.ids()[p];
            if (j == self) continue;
            const Vec<D, T> other = points_.point(p);
            T sum = 0;
            typename Found<T>::Wide wide = 0;
            for (int k = 0; k < D; ++k) {
                const T d = other[k] - home[k];
                sum = k == 0 ? d * d : sum + d * d;
                wide += static_cast<decltype(wide)>(d) * static_cast<decltype(wide)>(d);
            }
            if (farthest_ > T(0) && !near(other, home)) continue;
            const bool in_range = sum >= std::numeric_limits<T>::min() && sum <= std::numeric_limits<T>::max();
            found.push_back({in_range ? static_cast<decltype(wide)>(sum) : wide, j});
        }
    }

    /// Asks again for one home with growing radii; in the end every point is looked at.
    void widen(Walk<D, T, kDense>& walk, std::uint32_t place, T radius, std::size_t wanted,
               std::vector<Found<T>>& found) {
        base::Array<std::uint32_t> positions;
        const Vec<D, T> home = homes_.point(place);
        for (double r = static_cast<double>(radius) * 1.25;; r *= 1.4) {
            if (r > diameter_ || r > 0x1p58) {
                if (farthest_ > T(0) && static_cast<double>(farthest_) < r)
                    r = static_cast<double>(farthest_);
                else {
                    positions.resize_discard(points_.size());
                    std::iota(positions.begin(), positions.end(), 0u);
                    gather(place, positions.data(), points_.size(), found);
                    tests_ += points_.size();
                    return;
                }
            }
            const T now = limited(static_cast<T>(r));
            walk.run_one(home, now, no_self, [&](std::uint32_t, Group<T>& group) {
                const std::size_t candidates = kernel_.cull(group);
                positions.resize_discard(candidates + max_lanes);
                kernel_.full(group, candidates, positions.data());
                tests_ += candidates;
                gather(place, positions.data(), group.count[0], found);
            });
            if (found.size() >= wanted || static_cast<T>(r) >= limit()) return;
        }
    }

    const Grid<D, T>& homes_;
    const Grid<D, T>& points_;
    bool own_;
    std::uint32_t k_;
    T first_, farthest_;
    double diameter_;
    Kernel<D, T> kernel_;
    std::uint64_t tests_ = 0;
    base::Array<T> distances_;
    base::Array<std::uint32_t> positions_;
    T values_[ranked_at_most + max_lanes];
    std::uint32_t ranks_[ranked_at_most + max_lanes];
};

}  // namespace quadrat::neighbors
