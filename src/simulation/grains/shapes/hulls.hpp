// Corners, faces and edges of grains that are no spheres.
#pragma once

#include <span>

#include "simulation/grains/world.hpp"

namespace quadrat::simulation::grains {

inline constexpr std::size_t most_corners = 64;

[[nodiscard]] Hull box_hull(const Vec3d& size);
/// Two corners along z, rounded.
[[nodiscard]] Hull capsule_hull(double radius, double length);
/// One corner, rounded.
[[nodiscard]] Hull sphere_hull(double radius);
/// Two faces, so that both sides count.
[[nodiscard]] Hull triangle_hull(const V3d (&corners)[3]);
/// The smallest convex body that holds the points. Throws bad_value: not finite (with index), flat, too many corners.
[[nodiscard]] Hull convex_hull(std::span<const Vec3d> points);

/// Volume, centre of mass and the matrix of second moments about it (density 1) of what the faces hold.
struct Solid {
    double volume;
    V3d centre;
    double inertia[3][3];
};
[[nodiscard]] Solid solid_of(const Hull& hull);

}  // namespace quadrat::simulation::grains
