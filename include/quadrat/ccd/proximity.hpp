// Closest points and distances of vertices, faces, edges and triangles at rest (GSH 3.4, "static collision detection"),
// and an exact intersection test of triangles. Degenerate triangles and edges are legal everywhere.
//
// Functions of their arguments: any number of threads may call them at a time, and each takes constant time. The same
// bytes on every machine. In a loop over many pairs find the near ones
// first, by find_candidates() or a broad phase.
#pragma once

#include <quadrat/ccd/impact.hpp>
#include <quadrat/geometry.hpp>

#include <array>
#include <limits>
#include <optional>

namespace quadrat {

/// The closest points of two features. Where several pairs are as close, one of them.
struct Closest {
    /// Between the two points, in the unit of the coordinates.
    double distance = std::numeric_limits<double>::infinity();
    /// On the vertex or the first edge.
    Vec3d first = {};
    /// On the face or the second edge.
    Vec3d second = {};
    /// Unit vector from `second` to `first`, right where their difference is lost in the rounding of the two points;
    /// zero where they coincide.
    Vec3d direction = {};
    /// Weights of the four points, as in Impact: `first` and `second` are the weighted sums of their features' points.
    std::array<double, 4> barycentric = {};
};

/// The closest points of a vertex and a face, or of two edges. Right for all finite coordinates, from the smallest
/// double to the largest, and however degenerate the features: with L the largest difference of a coordinate between
/// points[0] and the others, `distance` is within 2^-46 L and within 2^-30 of itself of the true distance (up to the
/// smallest double; infinity beyond the largest one), and 0 if the features touch. The points that the weights name are
/// that far apart, each weight rounded. Contact is decided by triangles_intersect() and impact_time() all the same.
///
///     const Closest c = closest_points(ImpactKind::vertex_face, {vertex, a, b, c0});
///     if (c.distance < 0.01) push_along(c.direction, c.barycentric);
///
/// points: as FourPoints says; that they are finite is the caller's care. Some tens of nanoseconds; microseconds where
///     features touch or are nearer than some 1e-30 L, which whole numbers decide.
[[nodiscard]] Closest closest_points(ImpactKind kind, const FourPoints& points);

/// The closest points, or nothing if they are farther apart than max_distance; exactly as far is near. Costs as much as
/// without the limit.
[[nodiscard]] std::optional<Closest> closest_points(ImpactKind kind, const FourPoints& points, double max_distance);

/// The closest points of two triangles.
struct ClosestTriangles {
    /// Between the two points, in the unit of the coordinates; 0 if the triangles intersect.
    double distance = std::numeric_limits<double>::infinity();
    /// On the first triangle.
    Vec3d first = {};
    /// On the second triangle.
    Vec3d second = {};
    /// Weights of the first triangle's corners; each in [0, 1], their sum 1 up to rounding.
    std::array<double, 3> barycentric_first = {};
    /// Weights of the second triangle's corners.
    std::array<double, 3> barycentric_second = {};
};
/// The closest points of two triangles, or nothing if they are farther apart than max_distance: the best of six
/// vertex-face and nine edge-edge pairs, with the roundings of closest_points(). Whether they intersect is decided
/// exactly; then the distance is 0 and both points are where an edge of one enters the other, to 1e-9 of that edge.
///
/// a, b: finite, which is the caller's care; what is not may throw Error{bad_value}.
/// max_distance: in the unit of the coordinates. Default: no limit. Smaller is not faster.
[[nodiscard]] std::optional<ClosestTriangles> closest_triangles(
    const std::array<Vec3d, 3>& a, const std::array<Vec3d, 3>& b,
    double max_distance = std::numeric_limits<double>::infinity());

/// True if the closed triangles share a point: touching in a corner, along an edge or within a plane counts, also that
/// of triangles with a common corner. Exact for finite coordinates, whatever the degeneracy; others may throw
/// Error{bad_value}. Boxes that are apart are seen at once; otherwise up to six queries of impact_time(), some
/// microseconds where all of them must be decided exactly.
[[nodiscard]] bool triangles_intersect(const std::array<Vec3d, 3>& a, const std::array<Vec3d, 3>& b);

}  // namespace quadrat
