#include "simulation/grains/shapes/touch_hulls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulation/grains/shapes/meet.hpp"

namespace quadrat::simulation::grains {
namespace {

constexpr double same_point = 0.1;  ///< of the smaller reach: points of two steps that are one

// Whether the direction in which a triangle pushes is one in which its wall can: over an edge that another triangle
// continues, the normal must lean to neither of the two.
bool can_push(const WallTriangle& t, const V3d& point, const V3d& away) {
    constexpr double slack = 0.02;
    const double size = length(t.corners[1] - t.corners[0]) + length(t.corners[2] - t.corners[0]);
    for (int k = 0; k < 3; ++k) {
        const V3d along = t.corners[(k + 1) % 3] - t.corners[k];
        const V3d out = 1 / length(along) * cross(along, t.normal);
        if (dot(out, point - t.corners[k]) < -1e-6 * size) continue;
        for (const V3d& into : t.across_edge[k])
            if (dot(away, into) > slack) return false;
    }
    return true;
}

struct Other {
    Meeting meeting;
    V3d centre = {0, 0, 0};  ///< of the second, from the first
    const GrainSurface* surface = nullptr;
    V3d wall_v = {0, 0, 0}, wall_w = {0, 0, 0}, wall_at = {0, 0, 0};  ///< the last from the first
};

bool meet_wall(const World& world, std::size_t number, const V3d& x, const Placed& a, double most, double dt,
               Other& out) {
    if (number < world.planes.size()) {
        const GrainPlane& plane = world.planes[number];
        const V3d n = vector(plane.normal);
        out.surface = &plane.surface;
        return meet_plane(a, n, plane.offset - dot(n, x), most, out.meeting);
    }
    const WallTriangle& t = world.triangles[number - world.planes.size()];
    const GrainWall& wall = world.walls[t.wall];
    const Turn turned = turn(wall.orientation);
    out.surface = &wall.surface;
    out.wall_v = vector(wall.velocity);
    out.wall_w = vector(wall.angular_velocity);
    out.wall_at = vector(wall.position) - x;
    const V3d middle = 1.0 / 3 * (t.corners[0] + t.corners[1] + t.corners[2]);
    const V3d corners[3] = {t.corners[0] - middle, t.corners[1] - middle, t.corners[2] - middle};
    const Hull hull = triangle_hull(corners);
    const V3d centre = out.wall_at + turned(middle);
    const double speed = length(out.wall_v + cross(out.wall_w, centre - out.wall_at));
    if (!meet(a, Placed(hull, centre, turned), most + speed * dt, out.meeting)) return false;
    const V3d at = turned.back(out.meeting.points[0].at - out.wall_at);
    return can_push(t, at, turned.back(-out.meeting.normal));
}

// The impulses of the nearest point of the step before.
void warm(const HullMemory& memory, const Turn& turned, double reach, float scale, HullRow& row) {
    for (std::uint32_t k = 0; k < row.count; ++k) {
        HullRow::Point& p = row.points[k];
        const V3d at = turned.back(twice(p.ra));
        double best = same_point * reach;
        for (std::uint32_t o = 0; o < memory.count; ++o) {
            const double far = length(at - twice(memory.points[o].at));
            if (far >= best) continue;
            best = far;
            p.push = scale * memory.points[o].push;
            p.drag_1 = scale * dot(row.t1, memory.points[o].drag);
            p.drag_2 = scale * dot(row.t2, memory.points[o].drag);
        }
    }
}

float moved_mass(float mass_a, const Symmetric& turn_a, const V3f& ra, float mass_b, const Symmetric& turn_b,
                 const V3f& rb, const V3f& along) {
    const V3f ta = cross(ra, along), tb = cross(rb, along);
    const float light = mass_a + mass_b + dot(ta, turn_a * ta) + dot(tb, turn_b * tb);
    return light > 0 ? 1 / light : 0;
}

}  // namespace

Mixed mixed(const GrainSurface& a, const GrainSurface& b) {
    if (&a == &b)  // most pairs; the root of a square is the number itself
        return {static_cast<float>(a.friction), static_cast<float>(a.restitution), static_cast<float>(a.rolling)};
    return {static_cast<float>(std::sqrt(a.friction * b.friction)),
            static_cast<float>(std::max(a.restitution, b.restitution)),
            static_cast<float>(std::sqrt(a.rolling * b.rolling))};
}

bool touch_hulls(const World& world, const Pairs::Near& pair, std::span<const std::uint32_t> ids, const Bodies& bodies,
                 double dt, float scale, const HullMemory& memory, HullRow& row, double& speed) {
    const std::uint32_t a = pair.a, b = pair.b, id = ids[a];
    const bool wall = b >= ids.size();
    const V3d x = bodies.position[a];
    const Turn turned = turn(world.orientation[id]);
    const double reach = wall ? world.reach(id) : std::min(world.reach(id), world.reach(ids[b]));
    double most = 0.01 * reach + double{bodies.travel[a]} + (wall ? 0 : double{bodies.travel[b]});
    Other other;
    const Placed first(world.forms[world.form[id]].body, {0, 0, 0}, turned);
    if (wall) {
        if (!meet_wall(world, b - ids.size(), x, first, most, dt, other)) return false;
        const V3d at = other.meeting.points[0].at;
        speed = length(other.wall_v + cross(other.wall_w, at - other.wall_at));
    } else {
        other.centre = bodies.position[b] - x;
        other.surface = &world.surfaces[bodies.surface[b]];
        const double reaches = world.reach(id) + world.reach(ids[b]) + most;
        if (dot(other.centre, other.centre) > reaches * reaches) return false;
        const Placed second(world.forms[world.form[ids[b]]].body, other.centre, turn(world.orientation[ids[b]]));
        if (!meet(first, second, most, other.meeting)) return false;
        speed = 0;
    }
    const Mixed mix = mixed(world.surfaces[bodies.surface[a]], *other.surface);
    const V3d n = other.meeting.normal;
    const V3d side = std::abs(n.x) < 0.6 ? V3d{1, 0, 0} : V3d{0, 1, 0};
    const V3d t1 = 1 / length(cross(n, side)) * cross(n, side);
    row = {};
    row.a = a;
    row.b = wall ? HullRow::nothing : b;
    row.n = single(n);
    row.t1 = single(t1);
    row.t2 = single(cross(n, t1));
    row.friction = mix.friction;
    row.bounce = mix.bounce;
    row.size = static_cast<float>(reach);
    row.count = static_cast<std::uint32_t>(other.meeting.count);
    const float mass_a = bodies.velocity[a].mass, mass_b = wall ? 0 : bodies.velocity[b].mass;
    const Symmetric &turn_a = bodies.inverse_inertia[a], turn_b = wall ? Symmetric{} : bodies.inverse_inertia[b];
    for (std::uint32_t k = 0; k < row.count; ++k) {
        HullRow::Point& p = row.points[k];
        const V3d at = other.meeting.points[k].at;
        p.ra = single(at);
        p.rb = single(at - other.centre);
        p.gap = static_cast<float>(other.meeting.points[k].gap);
        p.mass_n = moved_mass(mass_a, turn_a, p.ra, mass_b, turn_b, p.rb, row.n);
        p.mass_1 = moved_mass(mass_a, turn_a, p.ra, mass_b, turn_b, p.rb, row.t1);
        p.mass_2 = moved_mass(mass_a, turn_a, p.ra, mass_b, turn_b, p.rb, row.t2);
        if (wall) p.wall = single(other.wall_v + cross(other.wall_w, at - other.wall_at));
    }
    warm(memory, turned, reach, scale, row);
    return true;
}

HullMemory memory_of(const HullRow& row, const Quaternion& orientation_a) {
    const Turn turned = turn(orientation_a);
    HullMemory m;
    m.count = row.count;
    for (std::uint32_t k = 0; k < row.count; ++k) {
        const HullRow::Point& p = row.points[k];
        m.points[k] = {single(turned.back(twice(p.ra))), p.push, p.drag_1 * row.t1 + p.drag_2 * row.t2};
    }
    return m;
}

}  // namespace quadrat::simulation::grains
