// The predicates of queries other than box against box, computed in double so that they mean the same for float and
// double. Each includes the box test of its own bounding box: that is what makes the grid search exact in spite of
// rounding.
#pragma once

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace quadrat::broad_phase {

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

/// The box of the points of the ray with parameters from..to.
template <int D, class T>
[[nodiscard]] Box<D, T> path_box(const Ray<D, T>& ray, double from, double to) {
    Box<D, T> box;
    for (int k = 0; k < D; ++k) {
        const double o = ray.origin[k], d = ray.direction[k];
        const double a = d == 0 ? o : o + from * d, b = d == 0 ? o : o + to * d;
        box.lo[k] = below<T>(std::min(a, b));
        box.hi[k] = above<T>(std::max(a, b));
    }
    return box;
}

/// The parameter at which the ray enters the closed box, 0 if it starts inside; nothing if it misses within its length.
template <int D, class T>
[[nodiscard]] std::optional<double> entry(const Ray<D, T>& ray, const Box<D, T>& box) {
    double first = 0, last = ray.length;
    for (int k = 0; k < D; ++k) {
        const double o = ray.origin[k], d = ray.direction[k], lo = box.lo[k], hi = box.hi[k];
        if (d == 0) {
            if (o < lo || o > hi) return {};
            continue;
        }
        const double a = (lo - o) / d, b = (hi - o) / d;
        first = std::max(first, std::min(a, b));
        last = std::min(last, std::max(a, b));
    }
    if (!(first <= last)) return {};
    return first;
}

/// Squared distance from the point to the closed box.
template <int D, class T>
[[nodiscard]] double distance_sq(const Vec<D, T>& p, const Box<D, T>& box) {
    double sum = 0;
    for (int k = 0; k < D; ++k) {
        const double d = std::max({double(box.lo[k]) - double(p[k]), 0.0, double(p[k]) - double(box.hi[k])});
        sum += d * d;
    }
    return sum;
}

}  // namespace quadrat::broad_phase
