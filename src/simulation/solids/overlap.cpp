// Whether two bodies overlap. Exact for spheres, boxes and planes. For a box or mesh and a mesh a few points of either
// are tried in the other's distance: corners, middles of triangles, the middle of each piece into which the other's
// surface cuts an edge, and points between two sides, for bodies whose surfaces are the same.
#include "base/assert.hpp"
#include "simulation/solids/box_contacts.hpp"
#include "simulation/solids/meetings.hpp"
#include "simulation/solids/mesh_shape.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace quadrat::simulation {
namespace {

// The shape itself if it is a mesh; else its surface as one, kept in `room`.
const MeshShape& as_mesh(const Shape& shape, std::optional<MeshShape>& room) {
    if (const MeshShape* mesh = shape.as_mesh()) return *mesh;
    return room.emplace(shape.surface({}));
}

// A point of mesh a is deeper than `tolerance` in mesh b.
bool reaches_into(const MeshShape& a, const BodyPose& pa, const MeshShape& b, const BodyPose& pb, double tolerance) {
    const auto to_b = [&](const Vector& x) { return in_frame(pb, in_world(pa, x)); };
    const auto deep = [&](const Vector& x) { return b.deep_distance(to_b(x), tolerance).value < -tolerance; };
    for (const Vector& v : a.vertices())
        if (deep(v)) return true;
    const double size = (vector(a.bounds().hi) - vector(a.bounds().lo)).norm();
    for (const Triangle& t : a.triangles()) {
        const Vector corner[3] = {a.vertices()[t.a], a.vertices()[t.b], a.vertices()[t.c]};
        const Vector middle = (corner[0] + corner[1] + corner[2]) / 3;
        if (deep(middle)) return true;
        const Vector in = -(corner[1] - corner[0]).cross(corner[2] - corner[0]).stableNormalized();
        for (const double time : a.crossings(middle, middle + size * in)) {
            if (time < 1e-9) continue;  // the triangle itself
            if (deep(middle + 0.5 * time * size * in)) return true;
            break;
        }
        const std::uint32_t v[3] = {t.a, t.b, t.c};
        for (std::size_t k = 0; k < 3; ++k) {
            if (v[k] > v[(k + 1) % 3]) continue;  // the other triangle has it
            const Vector &from = corner[k], &to = corner[(k + 1) % 3];
            std::vector<double> cuts = b.crossings(to_b(from), to_b(to));
            cuts.push_back(1);
            double last = 0;
            for (const double time : cuts) {
                if (deep(from + 0.5 * (last + time) * (to - from))) return true;
                last = time;
            }
        }
    }
    return false;
}

bool surfaces_overlap(const Shape& a, const BodyPose& pa, const Shape& b, const BodyPose& pb, double tolerance) {
    std::optional<MeshShape> room_a, room_b;
    const MeshShape &ma = as_mesh(a, room_a), &mb = as_mesh(b, room_b);
    return reaches_into(ma, pa, mb, pb, tolerance) || reaches_into(mb, pb, ma, pa, tolerance);
}

// `ball` is a sphere.
bool ball_in(const Body& ball, const BodyPose& pa, const Body& b, const BodyPose& pb, double tolerance) {
    QUADRAT_ASSERT(ball.shape->kind() == BodyShape::sphere);
    const double r = ball.shape->radius();
    return b.shape->deep_distance(in_frame(pb, vector(pa.position)), r).value < r - tolerance;
}

bool corners_in(const Body& a, const BodyPose& pa, const Body& b, const BodyPose& pb, double tolerance) {
    return std::any_of(a.corners().begin(), a.corners().end(), [&](const Vector& p) {
        return b.shape->distance(in_frame(pb, in_world(pa, p)), 0).value < -tolerance;
    });
}

}  // namespace

PlacedBox placed_box(const Body& b, const BodyPose& p) {
    QUADRAT_ASSERT(b.shape->kind() == BodyShape::box);
    return {vector(p.position), vector(b.shape->bounds().hi), turn(p).toRotationMatrix()};
}

bool overlap(const Body& a, const BodyPose& pa, const Body& b, const BodyPose& pb, double tolerance, int dimension) {
    QUADRAT_ASSERT(tolerance >= 0 && (dimension == 2 || dimension == 3));
    switch (meeting(a.shape->kind(), b.shape->kind()).overlap) {
        case OverlapRule::ball_in_second:
            return ball_in(a, pa, b, pb, tolerance);
        case OverlapRule::ball_in_first:
            return ball_in(b, pb, a, pa, tolerance);
        case OverlapRule::corners_in_second:
            return corners_in(a, pa, b, pb, tolerance);
        case OverlapRule::corners_in_first:
            return corners_in(b, pb, a, pa, tolerance);
        case OverlapRule::boxes:
            return box_gap(placed_box(a, pa), placed_box(b, pb), dimension) < -tolerance;
        case OverlapRule::surfaces:
            return surfaces_overlap(*a.shape, pa, *b.shape, pb, tolerance);
        case OverlapRule::never:
        case OverlapRule::missing:
            break;
    }
    return false;
}

}  // namespace quadrat::simulation
