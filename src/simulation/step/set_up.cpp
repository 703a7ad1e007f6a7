// How a run starts: the rooms are set up one after the other, each from the scene and what is there before it, and what
// the scene asks of steps and places is checked as soon as it is known. The step follows from eq. 12 of Onderik &
// Durikovic 2008.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "simulation/scene/complain.hpp"
#include "simulation/step/guard.hpp"
#include "simulation/step/run.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace quadrat::simulation {
namespace {

// Radians per step of a body that turns whatever it meets, beside bodies that it may meet.
constexpr double longest_turn = 0.1;

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

// Throws if friction is so much stronger than inertia that single precision no longer sees the latter. A block of
// particles then moves as one solid anyway.
void check_stiff(const World& world, const Fluid& fluid, std::size_t phase, double courant) {
    const PhaseData& f = fluid.phases[phase];
    constexpr double most = 1e6;
    const double dt = courant * 0.5 * fluid.support / world.expected_speed;
    const double ratio = dt * fluid.friction_rates[phase] * double{f.viscosity} / double{f.rest_density};
    if (fluid.implicit_viscosity && ratio > most)
        fail(at("phases", phase, "viscosity"), "expected at most " + text(double{f.viscosity} * most / ratio) +
                                                   " Pa s at this spacing, found " + text(double{f.viscosity}));
}

// Throws if the constants of a scene ask for steps that never come to an end.
void check_steps(const World& world, const Fluid& fluid, double courant) {
    const Scene& c = world.scene;
    QUADRAT_ASSERT(fluid.support > 0 && world.expected_speed > 0 && fluid.phases.size() == c.phases.size());
    if (c.stepping.kind == StepKind::fixed) return;
    const auto check = [&](const std::string& path, double step) {
        if (!(c.end_time / step <= most_steps))
            fail(path, "needs steps of " + text(step) + " s, more than a billion until end_time");
    };
    const double half = 0.5 * fluid.support;
    if (c.stepping.courant > 0 && c.stepping.courant < 1e-3)
        check("/stepping/courant", courant * half / (fluid.sound_speed + world.expected_speed));
    check(c.expected_speed > 0 ? "/expected_speed" : fastest_part(c), courant * half / world.expected_speed);
    for (std::size_t i = 0; i < fluid.phases.size(); ++i) {
        const PhaseData& f = fluid.phases[i];
        const double rate = explicit_friction(world, fluid, f, fluid.support);
        if (f.viscosity > 0 && !fluid.implicit_viscosity) check(at("phases", i, "viscosity"), 1 / rate);
        check_stiff(world, fluid, i, courant);
        if (c.solver != SolverKind::incompressible)
            check(at("phases", i, c.phases[i].stiffness > 0 ? "stiffness" : "sound_speed"),
                  courant * half / double{f.sound_speed});
    }
}

// Throws if a body that can move, or a sheet, is not inside the domain, or if there is nothing at all.
void check_places(const World& world, const Fluid& fluid, const Solids& solids) {
    const Scene& c = world.scene;
    for (std::size_t i = 0; i < c.bodies.size(); ++i) {
        if (c.bodies[i].motion != BodyMotion::dynamic) continue;
        const Body& b = solids.bodies()[i];
        const std::string path = at("bodies", i, "position");
        check_place(world, plain(b.world_centre(solids.poses[i])), path);
        std::vector<Vec3d> corners;
        for (const Vector& p : b.corners()) corners.push_back(plain(in_world(solids.poses[i], p)));
        check_extent(world, corners, b.shape->radius(), path);
    }
    for (std::size_t i = 0; i < c.cloths.size(); ++i)
        for (std::size_t k = 0; k < c.cloths[i].positions.size(); ++k)
            check_place(world, c.cloths[i].positions[k], at("cloths", i, "positions/") + std::to_string(k));
    if (fluid.p.size() == 0 && c.emitters.empty() && c.bodies.empty() && c.cloths.empty())
        fail("/blocks", "expected some fluid, a body or a cloth, found none");
    for (std::size_t i = 0; i < c.particles.size(); ++i)
        if (c.particles[i].positions.empty())
            fail(at("particles", i, "positions"), "expected at least one particle, found none");
}

// Bodies that fall and meet need steps of some milliseconds whatever the fluid allows.
double longest_step(const Scene& scene, const Solids& solids) {
    double longest = scene.stepping.largest > 0 ? scene.stepping.largest : scene.frame_interval;
    if (solids.dynamic_count() == 0) return longest;
    longest = std::min(longest, 1.0 / 240);
    for (const RigidBody& b : scene.bodies)
        if (const double spin = norm(b.angular_velocity); b.motion == BodyMotion::moving && spin > 0)
            longest = std::min(longest, longest_turn / spin);
    return longest;
}

}  // namespace

void set_up(Run& run) {
    World& world = run.world;
    Fluid& fluid = run.fluid;
    Solids& solids = run.solids;
    Cloths& cloths = run.cloths;
    Clock& clock = run.clock;
    const Scene& c = world.scene;
    QUADRAT_ASSERT(fluid.p.size() == 0 && solids.empty() && cloths.empty());
    derive(world);
    derive(world, fluid);
    run.behind = Behind(fluid, c.dimension);
    const bool weak = c.solver != SolverKind::incompressible;
    clock.courant = c.stepping.courant > 0 ? c.stepping.courant : weak ? 0.25 : 0.7;
    check_steps(world, fluid, clock.courant);
    for (const float period : world.period)
        if (period > 0 && period < 2 * fluid.largest_support)
            fail("/domain", "a periodic axis must be longer than twice the support");
    solids.set_up(c, Kernel(density_function(c.kernel), c.dimension, fluid.support), fluid.reach(), fluid.calibration,
                  world.executor);
    clock.largest_step = longest_step(c, solids);
    std::vector<std::size_t> block_ends = place_particles(world, fluid);
    check_places(world, fluid, solids);
    remove_inside_bodies(world, fluid, solids, block_ends);
    search(world, fluid, solids);
    refuse_coincident(world, fluid, block_ends);
    // Between its steps a sheet stands still for the fluid. It must not go far in one, or the fluid runs into it as
    // into a wall: a tenth of a spacing at the expected speed.
    const bool wet = fluid.p.size() > 0 || !c.emitters.empty();
    const double longest = wet ? 0.1 * c.spacing / world.expected_speed : c.frame_interval;
    cloths.set_up(c, solids, c.spacing, longest, world.executor);
    set_up_emitters(world, fluid, solids);
    check_fixed_step(world, fluid, clock);
}

}  // namespace quadrat::simulation
