// Vectors of the public API as Eigen's, and points between the world and the frame of a body.
#pragma once

#include <quadrat/geometry.hpp>
#include <quadrat/simulation/simulation.hpp>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace quadrat::simulation {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Vector = Eigen::Vector3d;

[[nodiscard]] inline Vector vector(const Vec3d& v) {
    return {v[0], v[1], v[2]};
}
[[nodiscard]] inline Vector vector(const Vec3f& v) {
    return {double{v[0]}, double{v[1]}, double{v[2]}};
}
[[nodiscard]] inline Vec3d plain(const Vector& v) {
    return {{v[0], v[1], v[2]}};
}
[[nodiscard]] inline Vec3f plain_float(const Vector& v) {
    return {{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])}};
}
[[nodiscard]] inline Box3d plain_box(const Vector& lo, const Vector& hi) {
    return {plain(lo), plain(hi)};
}

[[nodiscard]] inline Quaterniond turn(const BodyPose& p) {
    return {p.orientation[0], p.orientation[1], p.orientation[2], p.orientation[3]};
}
[[nodiscard]] inline Vector in_frame(const BodyPose& p, const Vector& x) {
    return turn(p).conjugate() * (x - vector(p.position));
}
[[nodiscard]] inline Vector in_world(const BodyPose& p, const Vector& x) {
    return vector(p.position) + turn(p) * x;
}

}  // namespace quadrat::simulation
