// Vectors, turns and small symmetric matrices of the grains, in float and double.
#pragma once

#include <quadrat/geometry.hpp>

#include <array>
#include <cmath>

namespace quadrat::simulation::grains {

template <class T>
struct V3 {
    T x, y, z;

    friend constexpr V3 operator+(const V3& a, const V3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend constexpr V3 operator-(const V3& a, const V3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend constexpr V3 operator-(const V3& a) { return {-a.x, -a.y, -a.z}; }
    friend constexpr V3 operator*(T s, const V3& a) { return {s * a.x, s * a.y, s * a.z}; }
    constexpr V3& operator+=(const V3& b) { return *this = *this + b; }
    constexpr V3& operator-=(const V3& b) { return *this = *this - b; }
    friend constexpr bool operator==(const V3&, const V3&) = default;
};
using V3f = V3<float>;
using V3d = V3<double>;

template <class T>
[[nodiscard]] constexpr T dot(const V3<T>& a, const V3<T>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
[[nodiscard]] constexpr V3<T> cross(const V3<T>& a, const V3<T>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
[[nodiscard]] T length(const V3<T>& a) {
    return std::sqrt(dot(a, a));
}
[[nodiscard]] inline V3d vector(const Vec3d& v) {
    return {v[0], v[1], v[2]};
}
[[nodiscard]] inline Vec3d plain(const V3d& v) {
    return {{v.x, v.y, v.z}};
}
[[nodiscard]] inline V3f single(const V3d& v) {
    return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}
[[nodiscard]] inline V3d twice(const V3f& v) {
    return {double{v.x}, double{v.y}, double{v.z}};
}
[[nodiscard]] inline bool finite(const V3d& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

/// A turn as a matrix of three rows, from the frame of a body to the world.
struct Turn {
    V3d rows[3];

    [[nodiscard]] V3d operator()(const V3d& v) const { return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}; }
    /// From the world to the frame.
    [[nodiscard]] V3d back(const V3d& v) const { return v.x * rows[0] + v.y * rows[1] + v.z * rows[2]; }
};

using Quaternion = std::array<double, 4>;

[[nodiscard]] inline Turn turn(const Quaternion& q) {
    const auto [w, x, y, z] = q;
    return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
             {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
             {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

/// q, turned further by the vector (axis times angle, in the world's axes), at unit length.
[[nodiscard]] inline Quaternion turned(const Quaternion& q, const V3d& by) {
    const double angle = length(by);
    if (angle == 0) return q;
    const double s = std::sin(0.5 * angle) / angle, c = std::cos(0.5 * angle);
    const V3d u = s * by, v = {q[1], q[2], q[3]};
    const V3d r = c * v + q[0] * u + cross(u, v);
    const double w = c * q[0] - dot(u, v);
    const double scale = 1 / std::sqrt(w * w + dot(r, r));
    return {scale * w, scale * r.x, scale * r.y, scale * r.z};
}

/// A symmetric matrix: xx, yy, zz, xy, xz, yz.
struct Symmetric {
    float m[6];

    [[nodiscard]] V3f operator*(const V3f& v) const {
        return {m[0] * v.x + m[3] * v.y + m[4] * v.z, m[3] * v.x + m[1] * v.y + m[5] * v.z,
                m[4] * v.x + m[5] * v.y + m[2] * v.z};
    }
};

/// turn diag(d) turn^T.
[[nodiscard]] inline Symmetric in_world(const Turn& turn, const V3d& d) {
    const auto entry = [&](int i, int k) {
        const V3d &a = turn.rows[i], &b = turn.rows[k];
        return static_cast<float>(a.x * d.x * b.x + a.y * d.y * b.y + a.z * d.z * b.z);
    };
    return {{entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)}};
}

}  // namespace quadrat::simulation::grains
