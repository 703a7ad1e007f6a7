// What a world is made of: checks, masses, tables of what grains share.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <quadrat/error.hpp>

#include "simulation/grains/shapes/hulls.hpp"
#include "simulation/grains/world.hpp"

namespace quadrat::simulation::grains {
namespace {

using Index = std::optional<std::uint64_t>;

[[noreturn]] void bad(const std::string& field, const std::string& message, Index index = {}) {
    throw Error(ErrorKind::bad_value, message, {.index = index, .field = field});
}
void need_positive(double x, const char* field, Index index = {}) {
    if (!(x > 0) || !std::isfinite(x)) bad(field, "expected a finite number above 0", index);
}
void need_not_negative(double x, const char* field, Index index = {}) {
    if (!(x >= 0) || !std::isfinite(x)) bad(field, "expected a finite number, 0 or more", index);
}
void need_finite(const Vec3d& v, const char* field, Index index = {}) {
    if (!finite(vector(v))) bad(field, "expected finite numbers", index);
}
void check_turn(const Quaternion& q, Index index = {}) {
    const double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(std::abs(size - 1) < 1e-6)) bad("orientation", "expected a quaternion of unit length", index);
}
void check_surface(const GrainSurface& s, Index index = {}) {
    need_not_negative(s.friction, "friction", index);
    need_not_negative(s.rolling, "rolling", index);
    if (!(s.restitution >= 0 && s.restitution <= 1)) bad("restitution", "expected 0 to 1", index);
}
void check_flat(const Vec3d& v, int dimension, const char* field, Index index = {}) {
    need_finite(v, field, index);
    if (dimension == 2 && v[2] != 0) bad(field, "expected z to be 0 in two dimensions", index);
}

void check_grain(const World& world, const Grain& g, Index index) {
    const int dimension = world.options.dimension;
    if (g.shape > GrainShape::convex) bad("shape", "expected a shape", index);
    if (g.shape != GrainShape::sphere && (dimension == 2 || world.options.contacts != GrainContacts::hard))
        throw Error(ErrorKind::unsupported,
                    dimension == 2 ? "in two dimensions grains are spheres" : "with springs grains are spheres",
                    {.index = index, .field = "shape"});
    if (g.shape == GrainShape::sphere || g.shape == GrainShape::capsule) need_positive(g.radius, "radius", index);
    if (g.shape == GrainShape::capsule) need_positive(g.length, "length", index);
    if (g.shape == GrainShape::box)
        for (int k = 0; k < 3; ++k) need_positive(g.size[k], "size", index);
    if (g.shape == GrainShape::convex && g.hull >= world.hulls.size())
        bad("hull", "expected a number that add_hull() gave", index);
    need_positive(g.density, "density", index);
    check_flat(g.position, dimension, "position", index);
    check_flat(g.velocity, dimension, "velocity", index);
    need_finite(g.angular_velocity, "angular_velocity", index);
    if (dimension == 2 && (g.angular_velocity[0] != 0 || g.angular_velocity[1] != 0))
        bad("angular_velocity", "expected x and y to be 0 in two dimensions", index);
    check_turn(g.orientation, index);
    check_surface(g.surface, index);
}

Form form_of(const World& world, const Grain& g) {
    constexpr double pi = std::numbers::pi;
    Form f;
    if (g.shape == GrainShape::convex) {
        f = world.hulls[g.hull].form;
        f.hull = g.hull;
        return f;
    }
    f.shape = g.shape;
    if (g.shape == GrainShape::box) {
        const auto [a, b, c] = g.size.v;
        f.size = g.size;
        f.volume = a * b * c;
        f.inertia = f.volume / 12 * V3d{b * b + c * c, a * a + c * c, a * a + b * b};
        f.body = box_hull(g.size);
        f.reach = 0.5 * length(vector(g.size));
        return f;
    }
    const double r = f.radius = f.reach = g.radius;
    if (g.shape == GrainShape::sphere) {
        const bool disc = world.options.dimension == 2;
        f.volume = disc ? pi * r * r : 4 * pi / 3 * r * r * r;
        const double i = (disc ? 0.5 : 0.4) * f.volume * r * r;
        f.inertia = {i, i, i};
        f.body = sphere_hull(r);
        return f;
    }
    // A cylinder and two half balls, whose centres of mass lie 3/8 r outside of its ends.
    const double l = f.length = g.length, cylinder = pi * r * r * l, balls = 4 * pi / 3 * r * r * r;
    const double across = cylinder * (l * l / 12 + r * r / 4) + balls * (0.4 * r * r + l * l / 4 + 0.375 * l * r);
    f.volume = cylinder + balls;
    f.inertia = {across, across, cylinder * r * r / 2 + balls * 0.4 * r * r};
    f.reach = r + 0.5 * l;
    f.body = capsule_hull(r, l);
    return f;
}

std::uint32_t form_number(World& world, const Grain& g) {
    const std::size_t n = world.forms.size();
    for (std::size_t k = n; k > 0 && n - k < 64; --k) {  // those that come in a row are alike
        const Form& f = world.forms[k - 1];
        if (f.shape != g.shape) continue;
        const bool same = g.shape == GrainShape::sphere    ? f.radius == g.radius
                          : g.shape == GrainShape::box     ? f.size == g.size
                          : g.shape == GrainShape::capsule ? f.radius == g.radius && f.length == g.length
                                                           : f.hull == g.hull;
        if (same) return static_cast<std::uint32_t>(k - 1);
    }
    world.forms.push_back(form_of(world, g));
    return static_cast<std::uint32_t>(n);
}

void note(World& world, const GrainSurface& s) {
    world.bounces = world.bounces || s.restitution > 0;
    world.rolls = world.rolls || s.rolling > 0;
}

}  // namespace

Turn World::axes(std::size_t i) const {
    const Quaternion &q = orientation[i], &p = forms[form[i]].axes;
    if (p == Quaternion{1, 0, 0, 0}) return turn(q);
    const V3d u = {q[1], q[2], q[3]}, v = {p[1], p[2], p[3]};
    const V3d r = q[0] * v + p[0] * u + cross(u, v);
    return turn({q[0] * p[0] - dot(u, v), r.x, r.y, r.z});
}

std::uint32_t surface_number(World& world, const GrainSurface& s) {
    const std::size_t n = world.surfaces.size();
    for (std::size_t k = n; k > 0 && n - k < 64; --k) {
        const GrainSurface& other = world.surfaces[k - 1];
        if (other.friction == s.friction && other.restitution == s.restitution && other.rolling == s.rolling)
            return static_cast<std::uint32_t>(k - 1);
    }
    world.surfaces.push_back(s);
    return static_cast<std::uint32_t>(n);
}

void check(const GrainOptions& o) {
    if (o.dimension != 2 && o.dimension != 3) bad("dimension", "expected 2 or 3");
    check_flat(o.gravity, o.dimension, "gravity");
    if (o.substeps < 1 || o.substeps > 1000) bad("substeps", "expected 1 to 1000");
    if (o.contacts > GrainContacts::hertz) bad("contacts", "expected a kind of contacts");
    if (o.contacts != GrainContacts::hard) need_positive(o.stiffness, "stiffness");
    need_not_negative(o.bounce_speed, "bounce_speed");
    need_not_negative(o.sleep_speed, "sleep_speed");
    if (!(o.sleep_time >= 0)) bad("sleep_time", "expected 0 or more");
    if (!(o.margin >= 0 && o.margin <= 1)) bad("margin", "expected 0 to 1");
}

void check_velocities(const Vec3d& velocity, const Vec3d& angular, int dimension) {
    check_flat(velocity, dimension, "velocity");
    need_finite(angular, "angular_velocity");
    if (dimension == 2 && (angular[0] != 0 || angular[1] != 0))
        bad("angular_velocity", "expected x and y to be 0 in two dimensions");
}

std::uint32_t add_grains(World& world, std::span<const Grain> grains, bool one) {
    const std::size_t n = world.size();
    if (grains.size() > std::numeric_limits<std::int32_t>::max() - n)
        throw Error(ErrorKind::too_large, "expected at most 2^31 - 1 grains");
    for (std::size_t k = 0; k < grains.size(); ++k) check_grain(world, grains[k], one ? Index{} : Index{k});
    for (const Grain& g : grains) {
        const std::uint32_t form = form_number(world, g);
        world.position.push_back(g.position);
        world.velocity.push_back(g.velocity);
        world.spin.push_back(g.angular_velocity);
        world.orientation.push_back(g.orientation);
        world.mass.push_back(g.density * world.forms[form].volume);
        world.form.push_back(form);
        world.surface.push_back(surface_number(world, g.surface));
        world.asleep.push_back(0);
        world.still.push_back(0);
        world.next_asleep.push_back(static_cast<std::uint32_t>(world.next_asleep.size()));
        world.all_spheres = world.all_spheres && g.shape == GrainShape::sphere;
        note(world, g.surface);
    }
    return static_cast<std::uint32_t>(n);
}

std::uint32_t add_plane(World& world, const GrainPlane& plane) {
    check_flat(plane.normal, world.options.dimension, "normal");
    const double size = length(vector(plane.normal));
    if (!(size > 0) || !std::isfinite(size)) bad("normal", "expected a length above 0");
    if (!std::isfinite(plane.offset)) bad("offset", "expected a finite number");
    check_surface(plane.surface);
    world.planes.push_back({plain(1 / size * vector(plane.normal)), plane.offset, plane.surface});
    note(world, plane.surface);
    return static_cast<std::uint32_t>(world.planes.size() - 1);
}

std::uint32_t add_wall(World& world, const GrainWall& wall) {
    if (world.options.dimension == 2)
        throw Error(ErrorKind::unsupported, "in two dimensions walls are planes", {.field = "triangles"});
    if (wall.triangles.empty()) bad("triangles", "expected at least one");
    for (std::size_t k = 0; k < wall.vertices.size(); ++k) need_finite(wall.vertices[k], "vertices", k);
    need_finite(wall.position, "position");
    check_turn(wall.orientation);
    check_velocities(wall.velocity, wall.angular_velocity, 3);
    check_surface(wall.surface);
    const auto number = static_cast<std::uint32_t>(world.walls.size());
    std::vector<WallTriangle> made(wall.triangles.size());
    for (std::size_t k = 0; k < made.size(); ++k) {
        const Triangle& t = wall.triangles[k];
        const std::uint32_t v[3] = {t.a, t.b, t.c};
        for (int c = 0; c < 3; ++c) {
            if (v[c] >= wall.vertices.size()) bad("triangles", "expected numbers of vertices", k);
            made[k].corners[c] = vector(wall.vertices[v[c]]);
        }
        made[k].wall = number;
        const V3d n = cross(made[k].corners[1] - made[k].corners[0], made[k].corners[2] - made[k].corners[0]);
        if (!(length(n) > 0)) bad("triangles", "expected a triangle with an area", k);
        made[k].normal = 1 / length(n) * n;
    }
    join_triangles(wall, made);
    world.walls.push_back(wall);
    world.triangles.insert(world.triangles.end(), made.begin(), made.end());
    note(world, wall.surface);
    return number;
}

}  // namespace quadrat::simulation::grains
