// Closest points and distances of vertices, faces, edges and triangles at rest (GSH 3.4, "static collision detection"),
// and an exact intersection test of triangles. Degenerate triangles and edges are legal everywhere.
#pragma once

#include <quadrat/ccd/impact.hpp>
#include <quadrat/geometry.hpp>

#include <array>
#include <limits>
#include <optional>

namespace quadrat {

/// The closest points of two features.
struct Closest {
    double distance = std::numeric_limits<double>::infinity();
    Vec3d first = {};   ///< on the vertex or the first edge
    Vec3d second = {};  ///< on the face or the second edge
    /// Weights of the four points, as in Impact.
    std::array<double, 4> barycentric = {};
};

/// The closest points of a vertex and a face, or of two edges. In floating point: `first` and `second` are points of
/// the features up to rounding, so the distance is never too small; it exceeds the true one by rounding, and
/// for edges that are nearly parallel by up to 1e-8 of their length. Finite points are the caller's care.
[[nodiscard]] Closest closest_points(ImpactKind kind, const FourPoints& points);

/// The closest points, or nothing if they are farther apart than max_distance.
[[nodiscard]] std::optional<Closest> closest_points(ImpactKind kind, const FourPoints& points, double max_distance);

/// The closest points of two triangles; distance 0 if they intersect (then the points are those of one piercing edge).
struct ClosestTriangles {
    double distance = std::numeric_limits<double>::infinity();
    Vec3d first = {};
    Vec3d second = {};
    std::array<double, 3> barycentric_first = {};
    std::array<double, 3> barycentric_second = {};
};
[[nodiscard]] std::optional<ClosestTriangles> closest_triangles(
    const std::array<Vec3d, 3>& a, const std::array<Vec3d, 3>& b,
    double max_distance = std::numeric_limits<double>::infinity());

/// True if the closed triangles share a point. Exact for finite coordinates.
[[nodiscard]] bool triangles_intersect(const std::array<Vec3d, 3>& a, const std::array<Vec3d, 3>& b);

}  // namespace quadrat
