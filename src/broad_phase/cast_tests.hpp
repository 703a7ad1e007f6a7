// When a box or a sphere that moves first meets what stands still. In double, as the other queries; a move of length 0
// is legal. Times are shares of the motion, 0 where they meet at the start: there the answer is that of the shape
// alone.
#pragma once

#include "broad_phase/loose/unbounded_list.hpp"
#include "broad_phase/query_tests.hpp"

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace quadrat::broad_phase {

/// A box: it meets the other where its lower corner lies in the other one, widened by its size.
template <int D, class T>
[[nodiscard]] std::optional<double> impact(const Box<D, T>& box, const Vec<D, T>& motion, const Box<D, T>& other) {
    if (overlap(box, other)) return 0.0;
    Vec<D, double> origin{}, direction;
    Box<D, double> wide;
    for (int k = 0; k < D; ++k) {
        direction[k] = motion[k];
        wide.lo[k] = double(other.lo[k]) - double(box.hi[k]);
        wide.hi[k] = double(other.hi[k]) - double(box.lo[k]);
    }
    return entry<D, double>(origin, direction, 1, wide);
}

/// The corner that is deepest in it decides.
template <int D, class T>
[[nodiscard]] std::optional<double> impact(const Box<D, T>& box, const Vec<D, T>& motion,
                                           const ScaledHalfSpace<D>& half_space) {
    Ray<D, T> ray{{}, motion, 1};
    for (int k = 0; k < D; ++k) ray.origin[k] = half_space.normal[k] > 0 ? box.lo[k] : box.hi[k];
    return entry(ray, half_space);
}

/// The least t in [0, 1] with distance(center + t motion, box) <= radius. The squared distance is made of parabolas
/// between the times at which the centre passes a side of the box, and convex: the first root is what is asked for.
template <int D, class T>
[[nodiscard]] std::optional<double> impact(const Sphere<D, T>& sphere, const Vec<D, T>& motion, const Box<D, T>& box) {
    if (meets(sphere, box)) return 0.0;
    double cuts[2 * D + 2] = {0, 1};
    int count = 2;
    for (int k = 0; k < D; ++k)
        for (const double side : {double(box.lo[k]), double(box.hi[k])}) {
            const double t = (side - double(sphere.center[k])) / double(motion[k]);
            if (t > 0 && t < 1) cuts[count++] = t;
        }
    std::sort(cuts, cuts + count);
    const double r = sphere.radius;
    for (int c = 0; c + 1 < count; ++c) {
        const double middle = (cuts[c] + cuts[c + 1]) / 2;
        double a = 0, b = 0, rest = -r * r;  // a t^2 + 2 b t + rest
        for (int k = 0; k < D; ++k) {
            const double x = sphere.center[k], v = motion[k], at = x + middle * v;
            const double side = at < double(box.lo[k]) ? double(box.lo[k]) : double(box.hi[k]);
            if (at >= double(box.lo[k]) && at <= double(box.hi[k])) continue;
            a += v * v;
            b += v * (x - side);
            rest += (x - side) * (x - side);
        }
        if (!(a > 0)) {
            if (rest <= 0) return cuts[c];
            continue;
        }
        const double root = b * b - a * rest;
        if (!(root >= 0)) continue;
        // The smaller root, without the difference of like numbers where the sphere comes nearer (b < 0).
        const double t = b < 0 ? rest / (-b + std::sqrt(root)) : (-b - std::sqrt(root)) / a;
        const double end = (-b + std::sqrt(root)) / a;
        if (t <= cuts[c + 1] && end >= cuts[c]) return std::max(t, cuts[c]);
    }
    return {};
}

template <int D, class T>
[[nodiscard]] std::optional<double> impact(const Sphere<D, T>& sphere, const Vec<D, T>& motion,
                                           const ScaledHalfSpace<D>& half_space) {
    if (distance(sphere.center, half_space) <= double(sphere.radius)) return 0.0;
    ScaledHalfSpace<D> wide = half_space;
    double norm_sq = 0;
    for (const double part : wide.normal) norm_sq += part * part;
    wide.offset += double(sphere.radius) * std::sqrt(norm_sq);
    return entry(Ray<D, T>{sphere.center, motion, 1}, wide);
}

/// The box that a shape with bounds `box` covers on its way between two shares of the motion, with room for what the
/// tests above round.
template <int D, class T>
[[nodiscard]] Box<D, T> swept_box(const Box<D, T>& box, const Vec<D, T>& motion, double from, double to) {
    Box<D, T> swept;
    for (int k = 0; k < D; ++k) {
        const double v = motion[k], lo = box.lo[k], hi = box.hi[k];
        const double margin = 0x1p-48 * (std::abs(lo) + std::abs(hi) + std::abs(v));
        swept.lo[k] = below<T>(lo + std::min(from * v, to * v) - (margin < infinite ? margin : 0));
        swept.hi[k] = above<T>(hi + std::max(from * v, to * v) + (margin < infinite ? margin : 0));
    }
    return swept;
}

}  // namespace quadrat::broad_phase
