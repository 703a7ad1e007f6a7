// The k nearest out of what a search has found near a home. Their places are counted, each against all, in vector code,
// which for a few dozen is faster than any sorting; many, equal distances at the border of the row, and squares below
// the range of the type are sorted one by one.
#pragma once

#include <quadrat/geometry.hpp>

#include "base/assert.hpp"
#include "cells/predicate.hpp"
#include "neighbors/search/kernel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace quadrat::neighbors {

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

/// The points that are searched, as arrays by position.
template <int D, class T>
struct Candidates {
    const T* axes[D];
    const std::uint32_t* ids;

    [[nodiscard]] Vec<D, T> point(std::uint32_t p) const {
        Vec<D, T> v;
        for (int k = 0; k < D; ++k) v[k] = axes[k][p];
        return v;
    }
};

template <int D, class T>
class Ranking {
  public:
    /// farthest: nothing beyond it counts; 0: no limit.
    Ranking(const Candidates<D, T>& points, T farthest)
        : points_(points), farthest_(farthest), kernel_(vector_kernels().template get<D, T>()) {
        found_.resize(most);
    }

    /// The `wanted` nearest of so many, sorted; nothing if that is better left to gather().
    [[nodiscard]] std::span<const Found<T>> rank(const T* distances_sq, const std::uint32_t* positions,
                                                 std::uint32_t count, std::uint32_t wanted) {
        if (count < wanted || wanted == 0) return {};
        if (count > most) return rank_smallest(distances_sq, positions, count, wanted);
        if (farthest_ > T(0) && farthest_ < T(0x1p-58)) return {};
        if (found_.size() < most) found_.resize(most);
        count_smaller(distances_sq, count);
        // Equals share a rank: they take the places after it.
        std::uint32_t within = 0;
        std::uint64_t taken[most / 64 + 1] = {};
        bool equal = false;
        for (std::uint32_t e = 0; e < count; ++e) {
            std::uint32_t place = ranks_[e];
            if (place >= wanted) continue;
            if (++within > wanted || values_[e] < std::numeric_limits<T>::min()) return {};
            while (taken[place / 64] >> (place % 64) & 1) ++place, equal = true;
            taken[place / 64] |= std::uint64_t{1} << (place % 64);
            found_[place] = {static_cast<typename Found<T>::Wide>(values_[e]), points_.ids[positions[e]]};
        }
        if (equal) std::sort(found_.begin(), found_.begin() + wanted);
        return {found_.data(), wanted};
    }

    /// The value number `place` of so many, in order of size.
    [[nodiscard]] T value_at(T* values, std::uint32_t count, std::uint32_t place) {
        QUADRAT_ASSERT(place < count);
        if (count > most) {
            std::nth_element(values, values + place, values + count);
            return values[place];
        }
        count_smaller(values, count);
        T value = 0;
        for (std::uint32_t e = 0; e < count; ++e)
            if (ranks_[e] <= place) value = std::max(value, values_[e]);
        return value;
    }

    /// All of these positions that are within the limit and not the home itself, in no order.
    void gather(const Vec<D, T>& home, std::uint32_t self, const std::uint32_t* positions, std::uint32_t count) {
        found_.clear();
        const cells::NearTest<T> near(farthest_ > T(0) ? farthest_ : T(1));
        for (std::uint32_t e = 0; e < count; ++e) {
            const std::uint32_t p = positions[e], j = points_.ids[p];
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
            found_.push_back({in_range ? static_cast<decltype(wide)>(sum) : wide, j});
        }
    }
    [[nodiscard]] std::size_t gathered() const { return found_.size(); }
    /// The `wanted` nearest of those gathered, or all if there are fewer.
    [[nodiscard]] std::span<const Found<T>> nearest(std::size_t wanted) {
        const std::size_t kept = std::min(wanted, found_.size());
        std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(kept), found_.end());
        return {found_.data(), kept};
    }

  private:
    static constexpr std::uint32_t most = 160;  // values that are ranked, not sorted

    // The same of more: those up to the value that is number `wanted`, equals included, are ranked.
    [[nodiscard]] std::span<const Found<T>> rank_smallest(const T* distances_sq, const std::uint32_t* positions,
                                                          std::uint32_t count, std::uint32_t wanted) {
        if (wanted > most) return {};
        order_.assign(distances_sq, distances_sq + count);
        std::nth_element(order_.begin(), order_.begin() + (wanted - 1), order_.end());
        const T limit = order_[wanted - 1];
        std::uint32_t kept = 0;
        for (std::uint32_t e = 0; e < count; ++e) {
            if (distances_sq[e] > limit) continue;
            if (kept == most) return {};
            near_[kept] = distances_sq[e];
            near_positions_[kept++] = positions[e];
        }
        return rank(near_, near_positions_, kept, wanted);
    }
    void count_smaller(const T* values, std::uint32_t count) {
        std::copy_n(values, count, values_);
        kernel_.rank(values_, count, ranks_);
    }

    Candidates<D, T> points_;
    T farthest_;
    Kernel<D, T> kernel_;
    std::vector<Found<T>> found_;
    T values_[most + max_lanes];
    std::uint32_t ranks_[most + max_lanes];
    std::vector<T> order_;  // of more than that many, in part
    T near_[most];
    std::uint32_t near_positions_[most];
};

}  // namespace quadrat::neighbors
