// What is checked once the run is set up, when steps, walls and bodies are known: that steps are not too short, and
// that everything lies inside the domain.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "simulation/scene/complain.hpp"
#include "simulation/scene/leaving.hpp"
#include "simulation/step/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::simulation {
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
    QUADRAT_ASSERT(s.support > 0 && s.expected_speed > 0 && s.phases.size() == s.scene.phases.size());
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
    QUADRAT_ASSERT(body < s.solids.bodies().size() && body < s.solids.poses.size());
    const Body& b = s.solids.bodies()[body];
    const BodyPose& pose = s.solids.poses[body];
    const std::string path = "/bodies/" + std::to_string(body) + "/position";
    check_place(s, plain(b.world_centre(pose)), path);
    const double radius = b.shape->radius();
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
