// Whether two bodies overlap. Exact for spheres, boxes and planes. For a box or mesh and a mesh a few points of either
// are tried in the other's distance: corners, middles of triangles, the middle of each piece into which the other's
// surface cuts an edge, and points between two sides, for bodies whose surfaces are the same.
#include "simulation/solids/box_contacts.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

RigidBody box_mesh(const Vector& half) {
    RigidBody b;
    b.shape = BodyShape::mesh;
    for (int c = 0; c < 8; ++c)
        b.vertices.push_back({{c & 1 ? half[0] : -half[0], c & 2 ? half[1] : -half[1], c & 4 ? half[2] : -half[2]}});
    b.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                   {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    return b;
}

// A point of mesh a is deeper than `tolerance` in mesh b.
bool reaches_into(const Shape& a, const BodyPose& pa, const Shape& b, const BodyPose& pb, double tolerance) {
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

}  // namespace

PlacedBox placed_box(const Body& b, const BodyPose& p) {
    return {vector(p.position), b.shape.half(), turn(p).toRotationMatrix()};
}

bool overlap(const Body& a, const BodyPose& pa, const Body& b, const BodyPose& pb, double tolerance, int dimension) {
    const BodyShape ka = a.shape.kind(), kb = b.shape.kind();
    if (kb == BodyShape::sphere && ka != BodyShape::sphere) return overlap(b, pb, a, pa, tolerance, dimension);
    if (ka == BodyShape::sphere) {
        const double r = a.shape.radius();
        return b.shape.deep_distance(in_frame(pb, vector(pa.position)), r).value < r - tolerance;
    }
    if (ka == BodyShape::plane && kb == BodyShape::plane) return false;  // half-spaces do not collide
    if (ka == BodyShape::plane) return overlap(b, pb, a, pa, tolerance, dimension);
    if (kb == BodyShape::plane)
        return std::any_of(a.corners().begin(), a.corners().end(), [&](const Vector& p) {
            return b.shape.distance(in_frame(pb, in_world(pa, p)), 0).value < -tolerance;
        });
    if (ka == BodyShape::box && kb == BodyShape::box)
        return box_gap(placed_box(a, pa), placed_box(b, pb), dimension) < -tolerance;
    const Shape box(box_mesh(ka == BodyShape::box ? a.shape.half() : b.shape.half()), 3);
    const Shape &sa = ka == BodyShape::box ? box : a.shape, &sb = kb == BodyShape::box ? box : b.shape;
    return reaches_into(sa, pa, sb, pb, tolerance) || reaches_into(sb, pb, sa, pa, tolerance);
}

}  // namespace quadrat::simulation
