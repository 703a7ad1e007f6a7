// Three-component arithmetic for ccd, unfused and in a fixed order.
#pragma once

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>

namespace quadrat::ccd {

[[nodiscard]] inline Vec3d operator+(const Vec3d& a, const Vec3d& b) {
    return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}};
}
[[nodiscard]] inline Vec3d operator-(const Vec3d& a, const Vec3d& b) {
    return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}};
}
[[nodiscard]] inline Vec3d operator*(double s, const Vec3d& a) {
    return {{s * a[0], s * a[1], s * a[2]}};
}
[[nodiscard]] inline double dot(const Vec3d& a, const Vec3d& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
[[nodiscard]] inline Vec3d cross(const Vec3d& a, const Vec3d& b) {
    return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}
[[nodiscard]] inline double norm(const Vec3d& a) {
    return std::sqrt(dot(a, a));
}
[[nodiscard]] inline double largest(const Vec3d& a) {
    return std::max({std::fabs(a[0]), std::fabs(a[1]), std::fabs(a[2])});
}
[[nodiscard]] inline Vec3d lerp(const Vec3d& a, const Vec3d& b, double t) {
    return (1 - t) * a + t * b;
}

}  // namespace quadrat::ccd
