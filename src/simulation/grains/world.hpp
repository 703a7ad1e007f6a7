// What a world of grains is made of. grain_fields.hpp is what the other rooms may touch. In this room:
//   world         the state, by number; add: what is refused, and masses
//   pairs         which are near each other: HashGridHierarchy, an order along a curve, blocks and colours
//   touch         from pairs to rows of numbers
//   step          the sub-steps; sleep: islands
//   grain_fields  the tables of the public structs, for readers
//   solver/       rows, and passes over them: impulses, springs
//   shapes/       corners and faces of boxes, capsules, convex grains and walls, and where two of them touch
#pragma once

#include <quadrat/simulation/grains.hpp>

#include <cstdint>
#include <vector>

#include "simulation/grains/vectors.hpp"

namespace quadrat::simulation::grains {

/// A face of a hull: its corners counter-clockwise from outside, and its plane.
struct Face {
    V3d normal;
    double offset;
    std::vector<std::uint32_t> corners;
};

/// Corners, faces and the directions of edges; a rounded one (a capsule, a sphere) has `radius` around its corners.
struct Hull {
    std::vector<V3d> corners = {};
    std::vector<Face> faces = {};
    std::vector<V3d> edges = {};  ///< unit length, none parallel to another
    double radius = 0;
};

/// What grains of one shape and size share, in the frame of a grain.
struct Form {
    GrainShape shape = GrainShape::sphere;
    double radius = 0, length = 0;
    Vec3d size = {};
    std::uint32_t hull = 0;
    double volume = 0;               ///< in two dimensions area
    V3d inertia = {0, 0, 0};         ///< of density 1, about the axes of the frame
    Quaternion axes = {1, 0, 0, 0};  ///< of the principal axes in the frame
    double reach = 0;                ///< largest distance of a point from the centre
    Hull body = {};
};

/// What add_hull() was given, made ready.
struct KnownHull {
    Form form;
    Vec3d origin;  ///< of the points, in the frame of the grain
};

/// A triangle of a wall in the wall's frame, and where its neighbours lie: what is nearest to a point may be an edge or
/// corner that belongs to several triangles, and must be found once, and only if it is nearest among all of them.
struct WallTriangle {
    std::uint32_t wall = 0;
    V3d corners[3] = {};
    V3d normal = {};                         ///< unit length
    bool owns_edge[3] = {true, true, true};  ///< corner k to k + 1: no triangle before this one has it
    bool owns_corner[3] = {true, true, true};
    std::vector<V3d> across_edge[3] = {};  ///< from the edge into each of the other triangles there, unit length
    std::vector<V3d> from_corner[3] = {};  ///< along all edges that leave it, unit length
};

/// Everything that a run depends on, by number.
struct World {
    GrainOptions options;
    double time = 0, last_dt = 0;
    std::uint64_t steps = 0;

    std::vector<Vec3d> position, velocity, spin;
    std::vector<Quaternion> orientation;
    std::vector<double> mass;
    std::vector<std::uint32_t> form, surface;  ///< of the tables below
    std::vector<std::uint8_t> asleep;
    std::vector<double> still;               ///< seconds that it has been slow
    std::vector<std::uint32_t> next_asleep;  ///< the next of its island, in a ring; itself while awake

    std::vector<Form> forms;
    std::vector<GrainSurface> surfaces;
    std::vector<KnownHull> hulls;
    std::vector<GrainPlane> planes;  ///< normals at unit length
    std::vector<GrainWall> walls;
    std::vector<WallTriangle> triangles;

    bool bounces = false, rolls = false;  ///< whether any surface has restitution, rolling friction
    bool all_spheres = true;

    [[nodiscard]] std::size_t size() const { return position.size(); }
    [[nodiscard]] double reach(std::size_t i) const { return forms[form[i]].reach; }
    [[nodiscard]] bool is_sphere(std::size_t i) const { return forms[form[i]].shape == GrainShape::sphere; }
    /// Moments of inertia about the principal axes, kg m^2.
    [[nodiscard]] V3d inertia(std::size_t i) const {
        const Form& f = forms[form[i]];
        return mass[i] / f.volume * f.inertia;
    }
    /// From the principal axes to the world.
    [[nodiscard]] Turn axes(std::size_t i) const;
    /// The speed below which meetings do not bounce, and that below which grains fall asleep.
    [[nodiscard]] double bounce_speed(double sub_step) const;
    [[nodiscard]] double sleep_speed(double dt) const;
};

/// Throw what Grains says.
void check(const GrainOptions& options);
std::uint32_t add_grains(World& world, std::span<const Grain> grains, bool one);
std::uint32_t add_plane(World& world, const GrainPlane& plane);
std::uint32_t add_wall(World& world, const GrainWall& wall);
std::uint32_t add_hull(World& world, std::span<const Vec3d> points);
void check_velocities(const Vec3d& velocity, const Vec3d& angular, int dimension);

/// Fills what WallTriangle knows of its neighbours.
void join_triangles(const GrainWall& wall, std::span<WallTriangle> triangles);
/// The number of a surface in the table.
std::uint32_t surface_number(World& world, const GrainSurface& surface);

/// Wakes the grain and its island.
void wake(World& world, std::uint32_t grain);

}  // namespace quadrat::simulation::grains
