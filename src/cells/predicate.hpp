// The predicates of the library, each written once. Overlap is quadrat::overlap (geometry.hpp). Two points are near
// when
//
//     dx*dx + dy*dy + dz*dz <= r*r
//
// in the input's type T, each operation rounded, in this order, never fused. Where r*r would leave the range of float,
// the rule of NearTest applies: when r is outside [2^-60, 2^60], differences and r are multiplied by the power of two
// that brings r into [1, 2). The factor is exact, so this is the same inequality with a wider exponent. Coordinates
// need no rule: a difference or square that overflows is infinite, which is rightly more than any r*r. Vector code uses
// the members.
#pragma once

#include <quadrat/geometry.hpp>

#include "base/assert.hpp"

#include <cmath>
#include <limits>

namespace quadrat::cells {

/// True if r*r can be formed as it is, for either type.
template <class T>
[[nodiscard]] inline bool plain_radius(T radius) {
    return radius >= T(0x1p-60) && radius <= T(0x1p60);
}

/// How far apart two points can be in the real numbers and still be near by the rounded predicate: at least
/// radius (1 + 2^-20) in float, (1 + 2^-49) in double. A cell edge of at least this makes a stencil of +-1 cells exact.
/// Infinite for the largest doubles; a Quantiser with an infinite edge puts everything into cell 0.
template <class T>
[[nodiscard]] inline double reach(T radius) {
    QUADRAT_ASSERT(radius > 0);
    const double margin = std::numeric_limits<T>::digits <= 24 ? 0x1p-20 : 0x1p-49;
    return std::nextafter(static_cast<double>(radius) * (1 + margin), std::numeric_limits<double>::infinity());
}

/// The neighbour predicate for one radius. scale() is to be applied to each difference when scaled() holds; it comes in
/// two factors because one power of two cannot always be represented.
template <class T>
class NearTest {
  public:
    /// radius is positive and finite.
    explicit NearTest(T radius) {
        QUADRAT_ASSERT(radius > 0 && std::isfinite(radius));
        if (!plain_radius(radius)) {
            const int exponent = -std::ilogb(radius);
            scaled_ = true;
            scale_[0] = std::ldexp(T(1), exponent / 2);
            scale_[1] = std::ldexp(T(1), exponent - exponent / 2);
        }
        const T r = radius * scale_[0] * scale_[1];
        radius_sq_ = r * r;
    }

    [[nodiscard]] bool scaled() const { return scaled_; }
    [[nodiscard]] T scale(int factor) const { return scale_[factor]; }
    [[nodiscard]] T radius_sq() const { return radius_sq_; }

    /// The left side of the inequality; compare it with radius_sq().
    template <int D>
    [[nodiscard]] T distance_sq(const Vec<D, T>& a, const Vec<D, T>& b) const {
        T sum = 0;
        for (int k = 0; k < D; ++k) {
            T d = a[k] - b[k];
            if (scaled_) d = d * scale_[0] * scale_[1];
            sum = k == 0 ? d * d : sum + d * d;
        }
        return sum;
    }
    template <int D>
    [[nodiscard]] bool operator()(const Vec<D, T>& a, const Vec<D, T>& b) const {
        return distance_sq(a, b) <= radius_sq_;
    }

  private:
    bool scaled_ = false;
    T scale_[2] = {1, 1};
    T radius_sq_;
};

/// dx*dx + dy*dy + dz*dz as the predicate has it, without scaling.
template <int D, class T>
[[nodiscard]] inline T length_sq(const Vec<D, T>& d) {
    T sum = d[0] * d[0];
    for (int k = 1; k < D; ++k) sum = sum + d[k] * d[k];
    return sum;
}

/// The root of length_sq; where that leaves the range of T, the length by way of the power of two that brings the
/// longest component into [1, 2).
template <int D, class T>
[[nodiscard]] inline T length(const Vec<D, T>& d) {
    const T sum = length_sq(d);
    if (sum >= std::numeric_limits<T>::min() && sum <= std::numeric_limits<T>::max()) return std::sqrt(sum);
    T longest = 0;
    for (int k = 0; k < D; ++k) longest = std::abs(d[k]) > longest ? std::abs(d[k]) : longest;
    if (!(longest > T(0)) || !std::isfinite(longest)) return longest;
    const int exponent = std::ilogb(longest);
    Vec<D, T> scaled;
    for (int k = 0; k < D; ++k) scaled[k] = std::ldexp(d[k], -exponent);
    return std::ldexp(std::sqrt(length_sq(scaled)), exponent);
}

}  // namespace quadrat::cells
