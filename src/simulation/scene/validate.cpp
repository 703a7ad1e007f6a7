// What a scene must be before anything is computed. Each error names its place by a path such as "/bodies/2/radius" and
// says what was expected and what was found.
#include <quadrat/error.hpp>

#include "simulation/scene/leaving.hpp"
#include "simulation/step/state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <string>

namespace quadrat::simulation {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& message) {
    throw Error(ErrorKind::bad_value, message, {.field = path});
}

std::string text(double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.6g", value);
    return buffer;
}

std::string at(const char* list, std::size_t i, const char* member) {
    return std::string("/") + list + "/" + std::to_string(i) + "/" + member;
}

void positive(const std::string& path, double value) {
    if (!(value > 0 && std::isfinite(value))) fail(path, "expected a positive number, found " + text(value));
}
void not_negative(const std::string& path, double value) {
    if (!(value >= 0 && std::isfinite(value))) fail(path, "expected a number of at least 0, found " + text(value));
}
void finite(const std::string& path, const Vec3d& v) {
    for (int k = 0; k < 3; ++k)
        if (!std::isfinite(v[k])) fail(path + "/" + std::to_string(k), "expected a finite number, found " + text(v[k]));
}
// Along the axes that the scene has.
void in_plane(const std::string& path, const Vec3d& v, const Scene& s) {
    finite(path, v);
    if (s.dimension == 2 && v[2] != 0) fail(path + "/2", "expected 0 in two dimensions, found " + text(v[2]));
}
void direction(const std::string& path, const Vec3d& v, const Scene& s) {
    in_plane(path, v, s);
    if (v[0] == 0 && v[1] == 0 && v[2] == 0) fail(path, "expected a direction, found 0, 0, 0");
}
void response(const std::string& path, const SurfaceResponse& r) {
    if (!(r.restitution >= 0 && r.restitution <= 1))
        fail(path + "/restitution", "expected a number from 0 to 1, found " + text(r.restitution));
    not_negative(path + "/friction", r.friction);
}
void phase_number(const std::string& path, std::uint32_t phase, const Scene& s) {
    if (phase >= s.phases.size())
        fail(path, "expected the number of a phase below " + std::to_string(s.phases.size()) + ", found " +
                       std::to_string(phase));
}

void mesh(const std::string& path, const std::vector<Triangle>& triangles, const std::vector<Vec3d>& vertices,
          const char* vertex_name) {
    if (triangles.empty()) fail(path + "/triangles", "expected at least one triangle, found none");
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (const std::uint32_t v : {triangles[t].a, triangles[t].b, triangles[t].c})
            if (v >= vertices.size())
                fail(path + "/triangles/" + std::to_string(t),
                     "expected vertices below " + std::to_string(vertices.size()) + ", found " + std::to_string(v));
    for (std::size_t v = 0; v < vertices.size(); ++v)
        finite(path + "/" + vertex_name + "/" + std::to_string(v), vertices[v]);
}

// Of what a run may take; more is a mistake in the units, or would not end.
constexpr double most_steps = 1e9;
constexpr double most_samples = 1e8;  // of a body
void step_length(const std::string& path, double step, const Scene& s) {
    positive(path, step);
    if (s.end_time / step > most_steps)
        fail(path, "expected at least " + text(s.end_time / most_steps) + " (a billion steps until end_time), found " +
                       text(step));
}

// In terms of the distance of particles. Below one a particle has no neighbour, and what cannot be compressed needs
// some that push; 8 is more than 2000 neighbours, and what the kernels are used with here is 2 to 5 (docs/scenes.md).
constexpr double most_support = 8;
double least_support(const Scene& s) {
    return s.solver == SolverKind::incompressible ? 1.2 : 1;
}
void support_range(const Scene& s, const std::string& path, double support, double apart) {
    const double rounding = 1e-9 * apart, least = least_support(s);
    if (!(support >= least * apart - rounding && support <= most_support * apart + rounding))
        fail(path, "expected a support of " + text(least) + " to 8 times the distance of particles, " +
                       text(least * apart) + " to " + text(most_support * apart) + ", found " + text(support));
}

// How far apart the particles of a phase are at rest.
double distance_at_rest(const Scene& s, const Phase& p) {
    return p.particle_mass > 0 ? std::pow(p.particle_mass / p.rest_density, 1.0 / s.dimension) : s.spacing;
}

void check_supports(const Scene& s) {
    const double common = s.support > 0 ? s.support : default_support(s);
    if (s.support > 0) support_range(s, "/support", s.support, s.spacing);
    for (std::size_t i = 0; i < s.phases.size(); ++i) {
        const Phase& p = s.phases[i];
        const double apart = distance_at_rest(s, p);
        if (p.particle_mass > 0 && !(common >= least_support(s) * apart && common <= most_support * apart))
            fail(at("phases", i, "particle_mass"), "expected a particle that the support of " + text(common) + " is " +
                                                       text(least_support(s)) + " to 8 times as wide as, found one " +
                                                       text(apart) + " wide");
        if (p.support > 0) support_range(s, at("phases", i, "support"), p.support, std::min(apart, s.spacing));
    }
    for (std::size_t i = 0; i < s.particles.size(); ++i)
        for (std::size_t k = 0; k < s.particles[i].supports.size(); ++k)
            support_range(s, at("particles", i, "supports/") + std::to_string(k), s.particles[i].supports[k],
                          std::min(distance_at_rest(s, s.phases[s.particles[i].phase]), s.spacing));
}

void check_phase(const Scene& s, std::size_t i) {
    const Phase& p = s.phases[i];
    positive(at("phases", i, "rest_density"), p.rest_density);
    not_negative(at("phases", i, "viscosity"), p.viscosity);
    not_negative(at("phases", i, "artificial_viscosity"), p.artificial_viscosity);
    not_negative(at("phases", i, "sound_speed"), p.sound_speed);
    not_negative(at("phases", i, "stiffness"), p.stiffness);
    positive(at("phases", i, "gamma"), p.gamma);
    not_negative(at("phases", i, "tension"), p.tension);
    not_negative(at("phases", i, "particle_mass"), p.particle_mass);
    not_negative(at("phases", i, "support"), p.support);
}

double surface(const RigidBody& b, int dimension) {
    switch (b.shape) {
        case BodyShape::sphere:
            return dimension == 2 ? 2 * std::numbers::pi * b.radius : 4 * std::numbers::pi * b.radius * b.radius;
        case BodyShape::box:
            return dimension == 2 ? 2 * (b.size[0] + b.size[1])
                                  : 2 * (b.size[0] * b.size[1] + b.size[1] * b.size[2] + b.size[2] * b.size[0]);
        case BodyShape::plane:
            return 0;  // as far as the domain goes
        case BodyShape::mesh:
            break;
    }
    double sum = 0;
    for (const Triangle& t : b.triangles) {
        Vec3d u, v;
        for (int k = 0; k < 3; ++k) {
            u[k] = b.vertices[t.b][k] - b.vertices[t.a][k];
            v[k] = b.vertices[t.c][k] - b.vertices[t.a][k];
        }
        sum += 0.5 * std::hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
    }
    return sum;
}

void check_body(const Scene& s, std::size_t i) {
    const RigidBody& b = s.bodies[i];
    switch (b.shape) {
        case BodyShape::sphere:
            positive(at("bodies", i, "radius"), b.radius);
            break;
        case BodyShape::box:
            for (int k = 0; k < s.dimension; ++k) positive(at("bodies", i, "size/") + std::to_string(k), b.size[k]);
            break;
        case BodyShape::plane:
            direction(at("bodies", i, "normal"), b.normal, s);
            if (b.motion == BodyMotion::dynamic) fail(at("bodies", i, "motion"), "a plane cannot be dynamic");
            break;
        case BodyShape::mesh:
            if (s.dimension == 2) fail(at("bodies", i, "shape"), "a mesh needs three dimensions");
            mesh("/bodies/" + std::to_string(i), b.triangles, b.vertices, "vertices");
            check_closed(b, "/bodies/" + std::to_string(i));
            break;
    }
    if (b.motion == BodyMotion::dynamic) positive(at("bodies", i, "density"), b.density);
    in_plane(at("bodies", i, "position"), b.position, s);
    in_plane(at("bodies", i, "velocity"), b.velocity, s);
    finite(at("bodies", i, "angular_velocity"), b.angular_velocity);
    double norm = 0;
    for (const double q : b.orientation) norm += q * q;
    if (!(std::abs(norm - 1) < 1e-6)) fail(at("bodies", i, "orientation"), "expected a unit quaternion");
    if (s.dimension == 2 && (b.angular_velocity[0] != 0 || b.angular_velocity[1] != 0))
        fail(at("bodies", i, "angular_velocity"), "expected a turn about z in two dimensions");
    if (s.dimension == 2 && std::hypot(b.orientation[1], b.orientation[2]) > 1e-12)
        fail(at("bodies", i, "orientation"), "expected a turn about z in two dimensions");
    response(at("bodies", i, "response"), b.response);
    if (const double samples = surface(b, s.dimension) / std::pow(s.spacing, s.dimension - 1); samples > most_samples)
        fail("/bodies/" + std::to_string(i),
             "expected a smaller body or a larger spacing: its surface would need " + text(samples) + " samples");
}

void check_fluid(const Scene& s) {
    for (std::size_t i = 0; i < s.blocks.size(); ++i) {
        const FluidBlock& b = s.blocks[i];
        finite(at("blocks", i, "box/lo"), b.box.lo);
        finite(at("blocks", i, "box/hi"), b.box.hi);
        for (int k = 0; k < s.dimension; ++k)
            if (!(b.box.lo[k] < b.box.hi[k]))
                fail(at("blocks", i, "box"), "expected lo below hi on axis " + std::to_string(k));
        in_plane(at("blocks", i, "velocity"), b.velocity, s);
        phase_number(at("blocks", i, "phase"), b.phase, s);
    }
    for (std::size_t i = 0; i < s.particles.size(); ++i) {
        const FluidParticles& f = s.particles[i];
        phase_number(at("particles", i, "phase"), f.phase, s);
        if (!f.velocities.empty() && f.velocities.size() != f.positions.size())
            fail(at("particles", i, "velocities"), "expected one per position");
        if (!f.supports.empty() && f.supports.size() != f.positions.size())
            fail(at("particles", i, "supports"), "expected one per position");
        for (std::size_t k = 0; k < f.positions.size(); ++k)
            in_plane(at("particles", i, "positions/") + std::to_string(k), f.positions[k], s);
        for (std::size_t k = 0; k < f.velocities.size(); ++k)
            in_plane(at("particles", i, "velocities/") + std::to_string(k), f.velocities[k], s);
        for (std::size_t k = 0; k < f.supports.size(); ++k)
            positive(at("particles", i, "supports/") + std::to_string(k), f.supports[k]);
    }
    for (std::size_t i = 0; i < s.emitters.size(); ++i) {
        const Emitter& e = s.emitters[i];
        phase_number(at("emitters", i, "phase"), e.phase, s);
        in_plane(at("emitters", i, "position"), e.position, s);
        direction(at("emitters", i, "direction"), e.direction, s);
        positive(at("emitters", i, "radius"), e.radius);
        positive(at("emitters", i, "speed"), e.speed);
        not_negative(at("emitters", i, "start"), e.start);
        if (!(e.end > e.start)) fail(at("emitters", i, "end"), "expected a time after start, found " + text(e.end));
    }
}

}  // namespace

void validate(const Scene& s) {
    if (s.dimension != 2 && s.dimension != 3)
        fail("/dimension", "expected 2 or 3, found " + std::to_string(s.dimension));
    positive("/spacing", s.spacing);
    not_negative("/support", s.support);
    not_negative("/expected_speed", s.expected_speed);
    if (!(s.jitter >= 0 && s.jitter <= 1)) fail("/jitter", "expected a number from 0 to 1, found " + text(s.jitter));
    not_negative("/attraction", s.attraction);
    in_plane("/gravity", s.gravity, s);
    not_negative("/end_time", s.end_time);
    positive("/frame_interval", s.frame_interval);
    finite("/domain/box/lo", s.domain.box.lo);
    finite("/domain/box/hi", s.domain.box.hi);
    for (int k = 0; k < s.dimension; ++k)
        if (!(s.domain.box.lo[k] < s.domain.box.hi[k]))
            fail("/domain/box", "expected lo below hi on axis " + std::to_string(k));
    response("/domain/response", s.domain.response);
    for (std::size_t i = 0; i < s.domain.planes.size(); ++i) {
        direction(at("domain/planes", i, "normal"), s.domain.planes[i].normal, s);
        finite(at("domain/planes", i, "offset"), {{s.domain.planes[i].offset, 0, 0}});
        response(at("domain/planes", i, "response"), s.domain.planes[i].response);
    }
    if (s.stepping.kind == StepKind::fixed) step_length("/stepping/fixed", s.stepping.fixed, s);
    not_negative("/stepping/courant", s.stepping.courant);
    if (s.stepping.largest != 0) step_length("/stepping/largest", s.stepping.largest, s);
    if (s.solver == SolverKind::incompressible) {
        if (s.stepping.kind == StepKind::per_particle)
            fail("/stepping/kind", "the incompressible solver needs one step for all");
        positive("/incompressible/density_error", s.incompressible.density_error);
        positive("/incompressible/divergence_error", s.incompressible.divergence_error);
        if (s.incompressible.max_iterations == 0)
            fail("/incompressible/max_iterations", "expected at least 1, found 0");
    }
    if (s.phases.empty()) fail("/phases", "expected at least one phase, found none");
    if (s.phases.size() > 255) fail("/phases", "expected at most 255 phases");
    for (std::size_t i = 0; i < s.phases.size(); ++i) check_phase(s, i);
    check_fluid(s);
    check_supports(s);
    for (std::size_t i = 0; i < s.bodies.size(); ++i) check_body(s, i);
    // A sheet would meet a body that comes back on the other side on all its way there.
    for (std::size_t k = 0; k < 6; ++k)
        if (s.domain.open[k] && s.domain.periodic[k / 2])
            fail("/domain/open",
                 std::string("expected a side that is not periodic, found ") + (k % 2 ? '+' : '-') + "xyz"[k / 2]);
    const bool periodic = s.domain.periodic[0] || s.domain.periodic[1] || s.domain.periodic[2];
    for (std::size_t i = 0; i < s.bodies.size() && periodic && !s.cloths.empty(); ++i)
        if (s.bodies[i].motion != BodyMotion::fixed)
            throw Error(ErrorKind::unsupported, "beside cloth a body that moves needs a domain without periodic axes",
                        {.field = at("bodies", i, "motion")});
    for (std::size_t i = 0; i < s.cloths.size(); ++i) {
        const SceneCloth& c = s.cloths[i];
        if (s.dimension == 2) fail("/cloths", "cloth needs three dimensions");
        mesh("/cloths/" + std::to_string(i), c.triangles, c.positions, "positions");
        positive(at("cloths", i, "density"), c.density);
        step_length(at("cloths", i, "options/time_step"), c.options.time_step, s);
        positive(at("cloths", i, "options/thickness"), c.options.thickness);
        for (std::size_t k = 0; k < c.pins.size(); ++k)
            if (c.pins[k] >= c.positions.size())
                fail(at("cloths", i, "pins/") + std::to_string(k),
                     "expected a vertex below " + std::to_string(c.positions.size()));
        response(at("cloths", i, "response"), c.response);
    }
}

namespace {

// What the scene's expected speed comes from, when it is not given.
std::string fastest_part(const Scene& scene) {
    std::string path = scene.gravity == Vec3d{} ? "/expected_speed" : "/gravity";
    double most = 0;
    const auto offer = [&](const std::string& part, const Vec3d& v) {
        const double speed = std::hypot(v[0], v[1], v[2]);
        if (speed > most) most = speed, path = part;
    };
    // A fall over the whole domain, at most.
    double height = 0, pull = 0;
    for (int k = 0; k < 3; ++k) {
        height = std::max(height, scene.domain.box.hi[k] - scene.domain.box.lo[k]);
        pull = std::max(pull, std::abs(scene.gravity[k]));
    }
    most = std::sqrt(2 * pull * height);
    for (std::size_t i = 0; i < scene.blocks.size(); ++i) offer(at("blocks", i, "velocity"), scene.blocks[i].velocity);
    for (std::size_t i = 0; i < scene.particles.size(); ++i)
        for (const Vec3d& v : scene.particles[i].velocities) offer(at("particles", i, "velocities"), v);
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) offer(at("bodies", i, "velocity"), scene.bodies[i].velocity);
    for (std::size_t i = 0; i < scene.emitters.size(); ++i)
        offer(at("emitters", i, "speed"), {{scene.emitters[i].speed, 0, 0}});
    return path;
}

}  // namespace

void check_steps(const State& s) {
    if (s.scene.stepping.kind == StepKind::fixed) return;
    const auto check = [&](const std::string& path, double step) {
        if (!(s.scene.end_time / step <= most_steps))
            fail(path, "needs steps of " + text(step) + " s, more than a billion until end_time");
    };
    const double half = 0.5 * s.support;
    if (s.scene.stepping.courant > 0 && s.scene.stepping.courant < 1e-3)
        check("/stepping/courant", s.courant * half / (s.sound_speed + s.expected_speed));
    check(s.scene.expected_speed > 0 ? "/expected_speed" : fastest_part(s.scene), s.courant * half / s.expected_speed);
    for (std::size_t i = 0; i < s.phases.size(); ++i) {
        const PhaseData& f = s.phases[i];
        if (f.viscosity > 0)
            check(at("phases", i, "viscosity"), 0.125 * half * half * double{f.rest_density} / double{f.viscosity});
        if (s.scene.solver != SolverKind::incompressible)
            check(at("phases", i, s.scene.phases[i].stiffness > 0 ? "stiffness" : "sound_speed"),
                  s.courant * half / double{f.sound_speed});
    }
}

namespace {

// Walls are single precision.
double rounding(const State& s, const Wall& w) {
    return 1e-3 * s.spacing + 2 * double{std::numeric_limits<float>::epsilon()} * std::abs(double{w.offset});
}

// Distance from a wall into the domain.
double above(const Wall& w, const Vec3d& x) {
    double d = -double{w.offset};
    for (int a = 0; a < 3; ++a) d += double{w.normal[static_cast<std::size_t>(a)]} * x[a];
    return d;
}

// The wall k, as the scene calls it.
std::string wall_name(const State& s, std::size_t k) {
    const std::size_t sides = s.walls.size() - s.scene.domain.planes.size();
    if (k >= sides) return "/domain/planes/" + std::to_string(k - sides);
    for (std::size_t a = 0; a < 3; ++a)
        if (s.walls[k].normal[a] != 0)
            return std::string("the wall ") + (s.walls[k].normal[a] > 0 ? '-' : '+') + "xyz"[a];
    return "a wall";
}

}  // namespace

void check_place(const State& s, const Vec3d& x, const std::string& path) {
    std::string beyond;
    for (std::size_t k = 0; k < s.walls.size(); ++k)
        if (!(above(s.walls[k], x) >= -rounding(s, s.walls[k]))) beyond = wall_name(s, k);
    const Box3d& box = s.scene.domain.box;
    const double rounding_of_ends = 1e-3 * s.spacing;
    for (int k = 0; k < s.dimension; ++k)
        if (s.period[static_cast<std::size_t>(k)] > 0 &&
            !(x[k] >= box.lo[k] - rounding_of_ends && x[k] <= box.hi[k] + rounding_of_ends))
            beyond = "the end of a periodic axis";
    if (Leaving(s.scene).gone(x, Vec3d{})) beyond = "an open side by more than four of its longest edges";
    if (!beyond.empty())
        fail(path, "expected a place inside the domain, found " + text(x[0]) + ", " + text(x[1]) +
                       (s.dimension == 3 ? ", " + text(x[2]) : "") + " beyond " + beyond);
}

void check_body(const State& s, std::size_t body) {
    const Body& b = s.solids.bodies()[body];
    const BodyPose& pose = s.solids.poses[body];
    const std::string path = "/bodies/" + std::to_string(body) + "/position";
    check_place(s, plain(b.world_centre(pose)), path);
    const double radius = b.shape.kind() == BodyShape::sphere ? b.shape.radius() : 0;
    for (std::size_t k = 0; k < s.walls.size(); ++k) {
        double least = 0;
        for (const Vector& p : b.corners())
            least = std::min(least, above(s.walls[k], plain(in_world(pose, p))) - radius);
        if (least < -rounding(s, s.walls[k]))
            fail(path, "expected a body inside the domain, found one that reaches " + text(-least) + " m beyond " +
                           wall_name(s, k));
    }
}

}  // namespace quadrat::simulation
