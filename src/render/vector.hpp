// Vector arithmetic of the pictures, in float.
#pragma once

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace quadrat::render {

[[nodiscard]] inline Vec3f add(const Vec3f& a, const Vec3f& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
[[nodiscard]] inline Vec3f sub(const Vec3f& a, const Vec3f& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
[[nodiscard]] inline Vec3f scaled(const Vec3f& a, float s) {
    return {a[0] * s, a[1] * s, a[2] * s};
}
/// a + s b
[[nodiscard]] inline Vec3f along(const Vec3f& a, const Vec3f& b, float s) {
    return {a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]};
}
[[nodiscard]] inline float dot(const Vec3f& a, const Vec3f& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
[[nodiscard]] inline Vec3f cross(const Vec3f& a, const Vec3f& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// The zero vector stays zero.
[[nodiscard]] inline Vec3f normalized(const Vec3f& a) {
    const float length = std::sqrt(dot(a, a));
    return length > 0 ? Vec3f{a[0] / length, a[1] / length, a[2] / length} : a;
}

/// The unit vector to the right of who looks along `forward`; where `up` is the same direction, another one stands in.
[[nodiscard]] inline Vec3f right_of(const Vec3f& forward, const Vec3f& up) {
    const Vec3f right = cross(forward, up);
    if (dot(right, right) > 1e-10f * dot(up, up)) return normalized(right);
    const bool along_y = std::abs(forward[1]) > 0.9f;
    return normalized(cross(forward, along_y ? Vec3f{1, 0, 0} : Vec3f{0, 1, 0}));
}

/// Linear light to the 8 bits of sRGB.
[[nodiscard]] inline std::uint8_t encode(float v) {
    v = std::clamp(v, 0.0f, 1.0f);
    const float s = v <= 0.0031308f ? 12.92f * v : 1.055f * std::pow(v, 1 / 2.4f) - 0.055f;
    return static_cast<std::uint8_t>(std::lround(255 * s));
}

}  // namespace quadrat::render
