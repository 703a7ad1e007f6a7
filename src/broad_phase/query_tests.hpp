// The predicates of queries other than box against box, computed in double so that they mean the same for float and
// double, and for each shape the box that is searched: it holds whatever the predicate accepts, which is what makes the
// grid search exact in spite of rounding.
#pragma once

#include "cells/predicate.hpp"

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <optional>

namespace quadrat::broad_phase {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

template <class T>
[[nodiscard]] T below(double x) {
    const T t = static_cast<T>(x);
    return static_cast<double>(t) > x ? std::nextafter(t, -std::numeric_limits<T>::infinity()) : t;
}
template <class T>
[[nodiscard]] T above(double x) {
    const T t = static_cast<T>(x);
    return static_cast<double>(t) < x ? std::nextafter(t, std::numeric_limits<T>::infinity()) : t;
}

/// A box that holds every box which meets the sphere: distances round by a few parts in 2^53, and so may its own sides.
template <int D, class T>
[[nodiscard]] Box<D, T> search_box(const Sphere<D, T>& sphere) {
    Box<D, T> box;
    for (int k = 0; k < D; ++k) {
        const double c = sphere.center[k], r = sphere.radius, margin = 0x1p-50 * (std::abs(c) + r);
        box.lo[k] = below<T>(c - r - (margin < infinite ? margin : 0));
        box.hi[k] = above<T>(c + r + (margin < infinite ? margin : 0));
    }
    return box;
}

/// Of a path that is cut into pieces, the box of one: of the points between `from` and `to` per axis. Predicates round
/// by a few parts in 2^53 of the coordinates, and so may the cuts: the box has room for both.
template <int D, class T>
[[nodiscard]] Box<D, T> wide_box(const double (&from)[D], const double (&to)[D], const double (&start)[D]) {
    Box<D, T> box;
    for (int k = 0; k < D; ++k) {
        const double margin = 0x1p-49 * (std::abs(start[k]) + std::abs(from[k]) + std::abs(to[k]));
        box.lo[k] = below<T>(std::min(from[k], to[k]) - (margin < infinite ? margin : 0));
        box.hi[k] = above<T>(std::max(from[k], to[k]) + (margin < infinite ? margin : 0));
    }
    return box;
}

/// The parameter at which piece p of n begins.
template <int D, class T>
[[nodiscard]] double piece_begin(const Ray<D, T>& ray, int p, int n) {
    // An endless ray ends in infinity: 0 * infinity is no number.
    return p == 0 ? 0 : p == n ? double(ray.length) : double(ray.length) * p / n;
}

template <int D, class T>
[[nodiscard]] Box<D, T> piece_box(const Ray<D, T>& ray, int p, int n) {
    double start[D], from[D], to[D];
    const double first = piece_begin(ray, p, n), last = piece_begin(ray, p + 1, n);
    for (int k = 0; k < D; ++k) {
        const double d = ray.direction[k];
        start[k] = ray.origin[k];
        from[k] = d == 0 ? start[k] : start[k] + first * d;
        to[k] = d == 0 ? start[k] : start[k] + last * d;
    }
    return wide_box<D, T>(from, to, start);
}

template <int D, class T>
[[nodiscard]] Box<D, T> piece_box(const Segment<D, T>& s, int p, int n) {
    double start[D], from[D], to[D];
    const auto at = [&](int k, int cut) {
        return cut == n ? double(s.b[k]) : double(s.a[k]) * (double(n - cut) / n) + double(s.b[k]) * (double(cut) / n);
    };
    for (int k = 0; k < D; ++k) {
        start[k] = s.a[k];
        from[k] = at(k, p);
        to[k] = at(k, p + 1);
    }
    return wide_box<D, T>(from, to, start);
}

/// (x - o) / d, also where the difference leaves the range of double.
[[nodiscard]] inline double quotient(double x, double o, double d) {
    const double difference = x - o;
    return std::isinf(difference) ? (x / 4 - o / 4) / (d / 4) : difference / d;
}

/// The parameter at which a ray enters the closed box, 0 if it starts inside; nothing if it misses within its length.
template <int D, class T>
[[nodiscard]] std::optional<double> entry(const Vec<D, double>& origin, const Vec<D, double>& direction, double length,
                                          const Box<D, T>& box) {
    double first = 0, last = length;
    for (int k = 0; k < D; ++k) {
        const double o = origin[k], d = direction[k], lo = box.lo[k], hi = box.hi[k];
        if (d == 0) {
            if (o < lo || o > hi) return {};
            continue;
        }
        const double a = quotient(lo, o, d), b = quotient(hi, o, d);
        first = std::max(first, std::min(a, b));
        last = std::min(last, std::max(a, b));
    }
    if (!(first <= last)) return {};
    return first;
}

template <int D, class T>
[[nodiscard]] std::optional<double> entry(const Ray<D, T>& ray, const Box<D, T>& box) {
    Vec<D, double> origin, direction;
    for (int k = 0; k < D; ++k) {
        origin[k] = ray.origin[k];
        direction[k] = ray.direction[k];
    }
    const std::optional<double> first = entry<D, T>(origin, direction, double(ray.length), box);
    if (!first || *first < infinite) return first;
    // Where and whether were decided beyond the range of double: the same along a direction of about 1.
    double longest = 0;
    for (int k = 0; k < D; ++k) longest = std::max(longest, std::abs(direction[k]));
    const int exponent = std::ilogb(longest);
    for (int k = 0; k < D; ++k) direction[k] = std::ldexp(direction[k], -exponent);
    const auto scaled = entry<D, T>(origin, direction, std::ldexp(double(ray.length), exponent), box);
    return scaled ? std::optional(std::ldexp(*scaled, -exponent)) : scaled;
}

/// From the point to the closed box.
template <int D, class T>
[[nodiscard]] Vec<D, double> difference(const Vec<D, T>& p, const Box<D, T>& box) {
    Vec<D, double> d;
    for (int k = 0; k < D; ++k)
        d[k] = std::max({double(box.lo[k]) - double(p[k]), 0.0, double(p[k]) - double(box.hi[k])});
    return d;
}

/// Squared distance from the point to the closed box.
template <int D, class T>
[[nodiscard]] double distance_sq(const Vec<D, T>& p, const Box<D, T>& box) {
    return cells::length_sq(difference(p, box));
}

/// Distances in their order: by length and square, and where these leave the range of double by a quarter of the
/// length.
struct Away {
    double length = infinite;
    double sq = infinite;
    double quarter = infinite;

    friend auto operator<=>(const Away&, const Away&) = default;
};

[[nodiscard]] inline Away away(double length) {
    return {length, length * length, length / 4};
}

template <int D, class T>
[[nodiscard]] Away away(const Vec<D, T>& p, const Box<D, T>& box) {
    const Vec<D, double> d = difference(p, box);
    const double length = cells::length(d);
    if (length < infinite) return {length, cells::length_sq(d), length / 4};
    Vec<D, double> point;
    Box<D, double> small;
    for (int k = 0; k < D; ++k) {
        point[k] = double(p[k]) / 4;
        small.lo[k] = double(box.lo[k]) / 4;
        small.hi[k] = double(box.hi[k]) / 4;
    }
    return {infinite, infinite, cells::length(difference(point, small))};
}

/// The closed ball and the closed box share a point.
template <int D, class T>
[[nodiscard]] bool meets(const Sphere<D, T>& sphere, const Box<D, T>& box) {
    const double r = sphere.radius;
    if (sizeof(T) == 4 || (r > 0x1p-500 && r < 0x1p500)) return distance_sq(sphere.center, box) <= r * r;
    return cells::length(difference(sphere.center, box)) <= r;
}

}  // namespace quadrat::broad_phase
