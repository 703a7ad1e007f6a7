// Where two convex bodies touch: the normal, and up to four points.
#pragma once

#include "simulation/grains/shapes/hulls.hpp"
#include "simulation/grains/vectors.hpp"

namespace quadrat::simulation::grains {

/// A hull put where it is. Positions are relative to a point near both, so that nothing is lost far from the origin.
struct Placed {
    Placed(const Hull& what, const V3d& where, const Turn& turn);

    const Hull& hull;
    V3d centre;
    std::vector<V3d> corners;  ///< in the world
    std::vector<V3d> normals;  ///< of faces
    std::vector<V3d> edges;

    /// The corner farthest along the direction.
    [[nodiscard]] std::uint32_t farthest(const V3d& direction) const;
    /// How far it reaches along a direction of unit length, without its radius.
    [[nodiscard]] double extent(const V3d& direction) const { return dot(direction, corners[farthest(direction)]); }
};

/// What two bodies without their radii have between them: nearest points, or none where they overlap.
struct Gap {
    V3d a, b;
    double distance;
};
/// Gilbert, Johnson & Keerthi 1988.
[[nodiscard]] Gap gap_between(const Placed& a, const Placed& b);

struct Meeting {
    struct Point {
        V3d at;      ///< between the surfaces
        double gap;  ///< negative where they overlap
    };
    V3d normal;  ///< from a to b
    int count = 0;
    Point points[4];
};

/// Points at which the gap is at most `most`; false if there is none. Faces that lie on each other give a patch: that
/// of one body, clipped by the other's sides.
[[nodiscard]] bool meet(const Placed& a, const Placed& b, double most, Meeting& out);
/// The same for the half-space behind dot(normal, x) = offset.
[[nodiscard]] bool meet_plane(const Placed& a, const V3d& normal, double offset, double most, Meeting& out);

}  // namespace quadrat::simulation::grains
