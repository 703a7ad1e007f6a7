// What meets a half-space. Sums are made in double, axis by axis, with normal and offset in a power of two of which the
// largest part of the normal is an eighth to a quarter: no finite coordinate then leaves the range of double, whatever
// the length of the normal. An offset that leaves it on the way is a plane beyond every coordinate.
#pragma once

#include "broad_phase/query_tests.hpp"

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace quadrat::broad_phase {

template <int D>
struct ScaledHalfSpace {
    double normal[D];
    double offset;

    template <class T>
    explicit ScaledHalfSpace(const HalfSpace<D, T>& given) : offset(given.offset) {
        double largest = 0;
        for (int k = 0; k < D; ++k) largest = std::max(largest, std::abs(normal[k] = given.normal[k]));
        const int scale = -3 - std::ilogb(largest);
        for (double& part : normal) part = std::scalbn(part, scale);
        offset = std::scalbn(offset, scale);
    }

    /// The axis of the largest part of the normal.
    [[nodiscard]] int steepest() const {
        int axis = 0;
        for (int k = 1; k < D; ++k)
            if (std::abs(normal[k]) > std::abs(normal[axis])) axis = k;
        return axis;
    }
};

template <int D, class T>
[[nodiscard]] double dot(const ScaledHalfSpace<D>& h, const Vec<D, T>& x) {
    double sum = 0;
    for (int k = 0; k < D; ++k) sum += h.normal[k] * double(x[k]);
    return sum;
}

/// The smallest dot(normal, x) over the box, against the offset; axes without a share are left out (0 * infinity).
template <int D, class T>
[[nodiscard]] bool meets(const ScaledHalfSpace<D>& h, const Box<D, T>& box) {
    double least = 0;
    for (int k = 0; k < D; ++k)
        if (h.normal[k] != 0) least += h.normal[k] * double(h.normal[k] > 0 ? box.lo[k] : box.hi[k]);
    return !(least > h.offset);
}

/// The sign of a b - c d: the products are compared with what they lost by rounding.
[[nodiscard]] inline int compare_products(double a, double b, double c, double d) {
    const double ab = a * b, cd = c * d;
    if (ab != cd) return ab < cd ? -1 : 1;
    const double ab_rest = std::fma(a, b, -ab), cd_rest = std::fma(c, d, -cd);
    return ab_rest < cd_rest ? -1 : ab_rest > cd_rest ? 1 : 0;
}

/// Two half-spaces are apart only if their normals are opposite.
template <int D>
[[nodiscard]] bool meets(const ScaledHalfSpace<D>& p, const ScaledHalfSpace<D>& q) {
    const int axis = p.steepest();
    const double down = p.normal[axis], up = q.normal[axis];
    if (!(down > 0 ? up < 0 : up > 0)) return true;
    for (int k = 0; k < D; ++k)
        if (compare_products(q.normal[k], down, p.normal[k], up) != 0) return true;
    return compare_products(q.offset, std::abs(down), -p.offset, std::abs(up)) >= 0;
}

/// One of its ends lies in the half-space.
template <int D, class T>
[[nodiscard]] bool meets(const ScaledHalfSpace<D>& h, const Segment<D, T>& s) {
    return dot(h, s.a) <= h.offset || dot(h, s.b) <= h.offset;
}

/// Distance from the point to the half-space, 0 inside.
template <int D, class T>
[[nodiscard]] double distance(const Vec<D, T>& p, const ScaledHalfSpace<D>& h) {
    double norm_sq = 0;
    for (const double part : h.normal) norm_sq += part * part;
    return std::max(0.0, dot(h, p) - h.offset) / std::sqrt(norm_sq);
}

/// The parameter at which the ray enters the half-space, 0 if it starts inside; nothing if it misses within its length.
template <int D, class T>
[[nodiscard]] std::optional<double> entry(const Ray<D, T>& ray, const ScaledHalfSpace<D>& h) {
    const double at_origin = dot(h, ray.origin), slope = dot(h, ray.direction);
    if (at_origin <= h.offset) return 0.0;
    if (!(slope < 0)) return {};
    const double t = quotient(h.offset, at_origin, slope);
    return t <= double(ray.length) ? std::optional(t) : std::nullopt;
}

}  // namespace quadrat::broad_phase
