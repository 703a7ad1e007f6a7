// What a scene must be before anything is computed. Each error names its place by a path such as "/bodies/2/radius" and
// says what was expected and what was found.
#include <quadrat/error.hpp>

#include "simulation/state.hpp"

#include <cmath>
#include <cstdio>
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
void direction(const std::string& path, const Vec3d& v) {
    finite(path, v);
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
            direction(at("bodies", i, "normal"), b.normal);
            if (b.motion == BodyMotion::dynamic) fail(at("bodies", i, "motion"), "a plane cannot be dynamic");
            break;
        case BodyShape::mesh:
            if (s.dimension == 2) fail(at("bodies", i, "shape"), "a mesh needs three dimensions");
            mesh("/bodies/" + std::to_string(i), b.triangles, b.vertices, "vertices");
            check_closed(b, "/bodies/" + std::to_string(i));
            break;
    }
    if (b.motion == BodyMotion::dynamic) positive(at("bodies", i, "density"), b.density);
    finite(at("bodies", i, "position"), b.position);
    finite(at("bodies", i, "velocity"), b.velocity);
    finite(at("bodies", i, "angular_velocity"), b.angular_velocity);
    double norm = 0;
    for (const double q : b.orientation) norm += q * q;
    if (!(std::abs(norm - 1) < 1e-6)) fail(at("bodies", i, "orientation"), "expected a unit quaternion");
    if (s.dimension == 2 && b.position[2] != 0)
        fail(at("bodies", i, "position/2"), "expected 0 in two dimensions, found " + text(b.position[2]));
    response(at("bodies", i, "response"), b.response);
}

void check_fluid(const Scene& s) {
    for (std::size_t i = 0; i < s.blocks.size(); ++i) {
        const FluidBlock& b = s.blocks[i];
        finite(at("blocks", i, "box/lo"), b.box.lo);
        finite(at("blocks", i, "box/hi"), b.box.hi);
        for (int k = 0; k < s.dimension; ++k)
            if (!(b.box.lo[k] < b.box.hi[k]))
                fail(at("blocks", i, "box"), "expected lo below hi on axis " + std::to_string(k));
        finite(at("blocks", i, "velocity"), b.velocity);
        phase_number(at("blocks", i, "phase"), b.phase, s);
    }
    for (std::size_t i = 0; i < s.particles.size(); ++i) {
        const FluidParticles& f = s.particles[i];
        phase_number(at("particles", i, "phase"), f.phase, s);
        if (!f.velocities.empty() && f.velocities.size() != f.positions.size())
            fail(at("particles", i, "velocities"), "expected one per position");
        if (!f.supports.empty() && f.supports.size() != f.positions.size())
            fail(at("particles", i, "supports"), "expected one per position");
        for (std::size_t k = 0; k < f.positions.size(); ++k) {
            finite(at("particles", i, "positions/") + std::to_string(k), f.positions[k]);
            if (s.dimension == 2 && f.positions[k][2] != 0)
                fail(at("particles", i, "positions/") + std::to_string(k) + "/2", "expected 0 in two dimensions");
        }
        for (std::size_t k = 0; k < f.velocities.size(); ++k)
            finite(at("particles", i, "velocities/") + std::to_string(k), f.velocities[k]);
        for (std::size_t k = 0; k < f.supports.size(); ++k)
            positive(at("particles", i, "supports/") + std::to_string(k), f.supports[k]);
    }
    for (std::size_t i = 0; i < s.emitters.size(); ++i) {
        const Emitter& e = s.emitters[i];
        phase_number(at("emitters", i, "phase"), e.phase, s);
        finite(at("emitters", i, "position"), e.position);
        direction(at("emitters", i, "direction"), e.direction);
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
    not_negative("/jitter", s.jitter);
    finite("/gravity", s.gravity);
    not_negative("/attraction", s.attraction);
    if (s.dimension == 2 && s.gravity[2] != 0)
        fail("/gravity/2", "expected 0 in two dimensions, found " + text(s.gravity[2]));
    not_negative("/end_time", s.end_time);
    positive("/frame_interval", s.frame_interval);
    finite("/domain/box/lo", s.domain.box.lo);
    finite("/domain/box/hi", s.domain.box.hi);
    for (int k = 0; k < s.dimension; ++k)
        if (!(s.domain.box.lo[k] < s.domain.box.hi[k]))
            fail("/domain/box", "expected lo below hi on axis " + std::to_string(k));
    response("/domain/response", s.domain.response);
    for (std::size_t i = 0; i < s.domain.planes.size(); ++i) {
        direction(at("domain/planes", i, "normal"), s.domain.planes[i].normal);
        finite(at("domain/planes", i, "offset"), {{s.domain.planes[i].offset, 0, 0}});
        response(at("domain/planes", i, "response"), s.domain.planes[i].response);
    }
    if (s.stepping.kind == StepKind::fixed) positive("/stepping/fixed", s.stepping.fixed);
    not_negative("/stepping/courant", s.stepping.courant);
    not_negative("/stepping/largest", s.stepping.largest);
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
    for (std::size_t i = 0; i < s.bodies.size(); ++i) check_body(s, i);
    for (std::size_t i = 0; i < s.cloths.size(); ++i) {
        const SceneCloth& c = s.cloths[i];
        if (s.dimension == 2) fail("/cloths", "cloth needs three dimensions");
        mesh("/cloths/" + std::to_string(i), c.triangles, c.positions, "positions");
        positive(at("cloths", i, "density"), c.density);
        positive(at("cloths", i, "options/time_step"), c.options.time_step);
        positive(at("cloths", i, "options/thickness"), c.options.thickness);
        for (std::size_t k = 0; k < c.pins.size(); ++k)
            if (c.pins[k] >= c.positions.size())
                fail(at("cloths", i, "pins/") + std::to_string(k),
                     "expected a vertex below " + std::to_string(c.positions.size()));
        response(at("cloths", i, "response"), c.response);
    }
}

}  // namespace quadrat::simulation
