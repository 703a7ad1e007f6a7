// See guard.hpp. The budget is generous, since none of its parts is a bound that fluid reaches: what blows up grows by
// factors and passes it within a few steps, what flows stays far below.
#include "simulation/step/guard.hpp"

#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "simulation/scene/complain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::simulation {
namespace {

// Of the rest density. Weak solvers stay within a few per cent, the incompressible one within some tens where a jet
// meets a corner.
constexpr float most_dense = 5;
// Of eq. 12: speeds to be expected are estimates.
constexpr double beyond_step = 2;
// Of a tension, per particle and J / m^2 of its face: what holds particles together presses them, too.
constexpr double tension_share = 8;

[[noreturn]] void blew_up(const Run& run, std::size_t particle, const std::string& reason) {
    const std::uint32_t id = run.fluid.p.id[particle];
    throw Error(ErrorKind::bad_value,
                "the simulation blew up: particle " + std::to_string(id) + " at " + text(run.clock.time) + " s, " +
                    reason + "; try a smaller step, a lower stiffness or a larger spacing",
                {.index = id});
}

double kinetic(const World& world, const Fluid& fluid) {
    return base::parallel_reduce(
        world.executor, fluid.p.size(), grain, 0.0,
        [&](std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t i = begin; i < end; ++i) {
                const Vec3f& v = fluid.p.v[i];
                const float v_sq = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
                sum += 0.5 * double{fluid.phase_of(i).mass} * double{v_sq};
            }
            return sum;
        },
        [](double a, double b) { return a + b; });
}

// By the densities that were last computed; none for what cannot be compressed.
double compression(const World& world, const Fluid& fluid) {
    if (world.scene.solver == SolverKind::incompressible) return 0;
    return base::parallel_reduce(
        world.executor, fluid.p.size(), grain, 0.0,
        [&](std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t i = begin; i < end; ++i)
                sum += double{fluid.phase_of(i).mass} * std::max(0.0, internal_energy(world, fluid, i));
            return sum;
        },
        [](double a, double b) { return a + b; });
}

// The largest speed of a surface, and the largest energy, that bodies and sheets had so far.
void look_at_solids(Run& run) {
    Budget& b = run.budget;
    double energy = 0;
    for (std::size_t i = 0; i < run.solids.bodies().size(); ++i) {
        const Body& body = run.solids.bodies()[i];
        if (body.motion == BodyMotion::fixed) continue;
        const Vector v = vector(run.solids.poses[i].velocity), w = vector(run.solids.poses[i].angular_velocity);
        b.solid_speed = std::max(b.solid_speed, v.norm() + body.shape->arm() * w.norm());
        if (body.inverse_mass > 0) energy += 0.5 / body.inverse_mass * v.squaredNorm();
    }
    b.solid_energy = std::max(b.solid_energy, energy);
    b.solid_speed = std::max(b.solid_speed, run.cloths.fastest());
}

double mass_of(const Fluid& fluid) {
    std::vector<std::size_t> count(fluid.phases.size());
    for (const std::uint8_t phase : fluid.p.phase) ++count[phase];
    double mass = 0;
    for (std::size_t k = 0; k < count.size(); ++k) mass += static_cast<double>(count[k]) * double{fluid.phases[k].mass};
    return mass;
}

double explained(const Run& run) {
    const World& world = run.world;
    const Budget& b = run.budget;
    const double mass = mass_of(run.fluid), expected = world.expected_speed;
    double thickest = 0;
    for (const PhaseData& f : run.fluid.phases) thickest = std::max(thickest, double{f.tension});
    const double face = std::pow(world.scene.spacing, world.scene.dimension - 1);
    const double held = tension_share * thickest * face * static_cast<double>(run.fluid.p.size());
    // Twice all of it: an emitter that presses its particles between others adds what no part has.
    return 2 * (b.given + std::max(b.work, 0.0) +
                mass * (0.5 * expected * expected + 2 * b.solid_speed * b.solid_speed) + b.solid_energy + held);
}

void guard_density(const Run& run) {
    const Fluid& fluid = run.fluid;
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const std::size_t bad = base::parallel_reduce(
        run.world.executor, fluid.p.size(), 8 * grain, none,
        [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                if (!(fluid.p.rho[i] <= most_dense * fluid.phase_of(i).rest_density)) return i;
            return none;
        },
        [](std::size_t a, std::size_t b) { return std::min(a, b); });
    if (bad == none) return;
    blew_up(run, bad, text(double{fluid.p.rho[bad] / fluid.phase_of(bad).rest_density}) + " times its rest density");
}

double longest(const World& world, const Fluid& fluid, const Clock& clock, double speed) {
    QUADRAT_ASSERT(clock.courant > 0 && speed >= 0);
    const double sound = world.scene.solver == SolverKind::incompressible ? 0 : fluid.sound_speed;
    return clock.courant * 0.5 * fluid.support / (sound + speed);
}

}  // namespace

void check_fixed_step(const World& world, const Fluid& fluid, const Clock& clock) {
    const Stepping& stepping = world.scene.stepping;
    if (stepping.kind != StepKind::fixed || (fluid.p.size() == 0 && world.scene.emitters.empty())) return;
    const double step = longest(world, fluid, clock, world.expected_speed), forces = force_limit(world, fluid);
    if (stepping.fixed > forces)
        fail("/stepping/fixed",
             "expected at most " + text(forces) + " s (viscosity and tension), found " + text(stepping.fixed));
    if (stepping.fixed > step)
        fail("/stepping/fixed", "expected at most " + text(step) + " s (eq. 12 with courant " + text(clock.courant) +
                                    "; a larger courant allows more), found " + text(stepping.fixed));
}

void start_budget(Run& run) {
    run.budget = {};
    run.budget.given = kinetic(run.world, run.fluid) + compression(run.world, run.fluid);
}

void emit_counted(Run& run) {
    if (!emission_due(run.world, run.fluid, run.clock.time)) return;
    const bool weak = run.world.scene.solver != SolverKind::incompressible;
    const auto energy = [&] {
        // What comes in between others presses them, which is work too.
        if (weak) look_around(run);
        return kinetic(run.world, run.fluid) + compression(run.world, run.fluid);
    };
    const double before = energy();
    emit(run.world, run.fluid, run.solids, run.clock.time);
    run.budget.given += std::max(0.0, energy() - before);
}

void guard_move(Run& run, const Moved& moved, double dt) {
    if (run.fluid.p.size() == 0) return;
    guard(run.world, run.fluid, run.clock.time);
    look_at_solids(run);
    run.budget.work += moved.work;
    const double speed = std::sqrt(double{moved.fastest_sq}), most = explained(run);
    if (!(moved.kinetic <= most))
        blew_up(run, moved.fastest,
                text(speed) + " m/s: the fluid has " + text(moved.kinetic) +
                    " J of kinetic energy where no more than " + text(most) + " J can be explained");
    if (run.world.scene.stepping.kind == StepKind::fixed &&
        dt > beyond_step * longest(run.world, run.fluid, run.clock, speed))
        blew_up(run, moved.fastest, text(speed) + " m/s: the fixed step of " + text(dt) + " s breaks eq. 12");
    guard_density(run);
}

void guard(const World& world, const Fluid& fluid, double time) {
    double extent = 0;
    for (int k = 0; k < world.scene.dimension; ++k)
        extent = std::max({extent, std::abs(world.scene.domain.box.lo[k]), std::abs(world.scene.domain.box.hi[k])});
    const auto far = static_cast<float>(1e4 * extent);
    const auto fast = static_cast<float>(100 * std::max(world.expected_speed, fluid.sound_speed));
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const std::size_t bad = base::parallel_reduce(
        world.executor, fluid.p.size(), 8 * grain, none,
        [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                for (int k = 0; k < 3; ++k)
                    if (!(std::abs(fluid.p.x[i][k]) <= far && std::abs(fluid.p.v[i][k]) <= fast)) return i;
            return none;
        },
        [](std::size_t a, std::size_t b) { return std::min(a, b); });
    if (bad == none) return;
    const Vec3f& v = fluid.p.v[bad];
    const float speed = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    throw Error(ErrorKind::bad_value,
                std::string(std::isfinite(speed) ? "the simulation blew up: particle " : "not a number: particle ") +
                    std::to_string(fluid.p.id[bad]) + " at " + std::to_string(time) + " s, speed " +
                    std::to_string(speed) + " m/s; try a smaller step or a lower stiffness",
                {.index = fluid.p.id[bad]});
}

}  // namespace quadrat::simulation
