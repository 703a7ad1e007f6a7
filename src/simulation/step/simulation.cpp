// The public class: a step is emission, search, densities, forces, the length of the step, and the move.
#include <quadrat/simulation/simulation.hpp>

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "simulation/step/guard.hpp"
#include "simulation/step/integrate.hpp"
#include "simulation/step/run.hpp"
#include "simulation/viscosity/viscosity.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace quadrat {

struct Simulation::Impl : simulation::Run {};

namespace simulation {
namespace {

// Steps between sorting the particles again.
constexpr std::uint64_t sort_every = 32;

}  // namespace

Timer::Timer(double& to)
    : to_(to), start_(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()) {}
Timer::~Timer() {
    to_ += std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() - start_;
}

void move_particles(Run& run, double dt, Kick kick) {
    const Timer timer(run.tally.seconds.integrate);
    if (!run.solids.empty() || !run.cloths.empty()) run.before = run.fluid.p.x;
    const Moved moved = advance(run.world, run.fluid, dt, kick);
    run.tally.contacts += moved.met;
    guard_move(run, moved, dt);
}

void look_around(Run& run) {
    {
        const Timer timer(run.tally.seconds.search);
        search(run.world, run.fluid, run.solids);
    }
    const Timer timer(run.tally.seconds.density);
    densities(run.world, run.fluid, run.solids);
}

void find_forces(Run& run, bool pressure, const std::uint8_t* active) {
    const Timer timer(run.tally.seconds.forces);
    forces(run.world, run.fluid, run.solids, pressure, active);
}

namespace {

// Implicit viscosity as part of the accelerations that the leap-frog is about to use.
void add_friction(Run& run, std::span<const BodyPose> before, double dt) {
    const Timer timer(run.tally.seconds.forces);
    Particles& p = run.fluid.p;
    const double acts = 0.5 * (run.clock.last_step + dt);
    std::vector<Vec3f> v = p.v, others(p.size());
    const auto for_all = [&](auto&& fn) {
        base::parallel_for(run.world.executor, p.size(), grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) fn(i, 0.5f * (p.dt[i] + static_cast<float>(dt)));
        });
    };
    for_all([&](std::size_t i, float kick) {
        for (int k = 0; k < 3; ++k) others[i][k] = kick / static_cast<float>(acts) * p.a[i][k];
    });
    run.tally.friction_rounds = Viscosity(run.world, run.fluid, run.solids, run.behind).act(v, others, before, acts);
    for_all([&](std::size_t i, float kick) {
        for (int k = 0; k < 3; ++k) p.a[i][k] = (v[i][k] - p.v[i][k]) / kick;
    });
}

}  // namespace

void step(Run& run, double end) {
    const World& world = run.world;
    Fluid& fluid = run.fluid;
    Solids& solids = run.solids;
    Clock& clock = run.clock;
    Tally& tally = run.tally;
    const Stepping& stepping = world.scene.stepping;
    // A frame of steps of their own is many steps, and may step over the multiples for ever.
    if (stepping.kind == StepKind::per_particle || clock.steps % sort_every == 0) {
        const Timer timer(tally.seconds.integrate);
        take_out_gone(world, fluid);
        sort_particles(world, fluid);
    }
    emit_counted(run);
    tally.contacts = 0;
    tally.iterations = 0;
    tally.friction_rounds = 0;
    if (world.scene.solver == SolverKind::incompressible) return incompressible_step(run, end);
    if (stepping.kind == StepKind::per_particle) return per_particle_frame(run, end);
    look_around(run);
    find_forces(run, true);
    const bool fixed = stepping.kind == StepKind::fixed;
    const double dt = cut(fixed ? stepping.fixed : courant_step(world, fluid, clock), end - clock.time);
    const bool viscous = fluid.implicit_viscosity && fluid.p.size() > 0;
    const std::vector<BodyPose> before = viscous ? solids.poses : std::vector<BodyPose>();
    // By the same leap-frog as the particles, so that what they lose bodies gain.
    solids.accelerate(0.5 * (clock.last_step + dt), vector(world.scene.gravity));
    if (viscous) add_friction(run, before, dt);
    move(run, dt);
}

void move(Run& run, double dt) {
    move_particles(run, dt, Kick::yes);
    collide(run, dt);
    run.clock.time += dt;
    run.clock.last_step = dt;
    ++run.clock.steps;
}

}  // namespace simulation

Simulation::Simulation() : impl_(std::make_unique<Impl>()) {}
Simulation::Simulation(const Scene& scene, Executor* executor) : Simulation() {
    simulation::validate(scene);
    impl_->world.scene = scene;
    impl_->world.executor = executor;
    simulation::set_up(*impl_);
    // So that what is measured of a step is there from the beginning.
    simulation::densities(impl_->world, impl_->fluid, impl_->solids);
    simulation::start_budget(*impl_);
}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::step() {
    simulation::step(*impl_, impl_->clock.time + 2 * impl_->clock.largest_step);
}

void Simulation::advance_to(double time, const StopToken& stop) {
    while (impl_->clock.time < time) {
        if (stop.stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
        const double before = impl_->clock.time;
        simulation::step(*impl_, time);
        if (!(impl_->clock.time > before))
            throw Error(ErrorKind::bad_value, "a step of " + std::to_string(impl_->clock.last_step) + " s at " +
                                                  std::to_string(before) + " s is too short to go on");
        // A rest that rounding left is not a step.
        if (time - impl_->clock.time < 1e-9 * impl_->clock.last_step) impl_->clock.time = time;
    }
}

const Scene& Simulation::scene() const noexcept {
    return impl_->world.scene;
}
double Simulation::time() const noexcept {
    return impl_->clock.time;
}
std::span<const Vec3f> Simulation::positions() const noexcept {
    return impl_->fluid.p.x;
}
std::span<const Vec3f> Simulation::velocities() const noexcept {
    return impl_->fluid.p.v;
}
std::span<const float> Simulation::densities() const noexcept {
    return impl_->fluid.p.rho;
}
std::span<const float> Simulation::pressures() const noexcept {
    return impl_->fluid.p.p;
}
std::span<const std::uint8_t> Simulation::phases() const noexcept {
    return impl_->fluid.p.phase;
}
std::span<const std::uint32_t> Simulation::ids() const noexcept {
    return impl_->fluid.p.id;
}
std::span<const BodyPose> Simulation::bodies() const noexcept {
    return impl_->solids.poses;
}
ClothSurface Simulation::cloth(std::size_t number) const {
    return impl_->cloths.surface(number);
}

Simulation::Preset Simulation::preset() const noexcept {
    const simulation::World& world = impl_->world;
    const simulation::Fluid& fluid = impl_->fluid;
    const simulation::Clock& clock = impl_->clock;
    return {fluid.support, world.scene.spacing, world.expected_speed, fluid.sound_speed,
            clock.courant * 0.5 * fluid.support /
                ((world.scene.solver == SolverKind::incompressible ? 0 : fluid.sound_speed) + world.expected_speed)};
}

SimulationStats Simulation::stats() const {
    const simulation::World& world = impl_->world;
    const simulation::Fluid& fluid = impl_->fluid;
    const simulation::Clock& clock = impl_->clock;
    const simulation::Tally& tally = impl_->tally;
    SimulationStats out;
    out.time = clock.time;
    out.time_step = clock.last_step;
    out.steps = clock.steps;
    out.particles = fluid.p.size();
    double error = 0;
    for (std::size_t i = 0; i < fluid.p.size(); ++i) {
        const simulation::PhaseData& f = fluid.phase_of(i);
        const double m = f.mass;
        double v_sq = 0, height = 0;  // the latter: joules per kilogram
        for (int k = 0; k < 3; ++k) {
            // The velocity is half a step behind the position.
            const double v = double{fluid.p.v[i][k]} + 0.5 * double{fluid.p.dt[i]} * double{fluid.p.a[i][k]};
            v_sq += v * v;
            out.momentum[k] += m * double{fluid.p.v[i][k]};
            const double x = fluid.p.x[i][k];
            height += 0.5 * world.scene.attraction * world.scene.attraction * x * x -
                      world.scene.gravity[k] * (x - world.scene.domain.box.lo[k]);
        }
        out.mass += m;
        out.kinetic += 0.5 * m * v_sq;
        out.potential += m * height;
        if (world.scene.solver != SolverKind::incompressible)
            out.internal += m * simulation::internal_energy(world, fluid, i);
        out.max_speed = std::max(out.max_speed, std::sqrt(v_sq));
        const double e = std::max(double{fluid.p.rho[i]} / double{f.rest_density} - 1, 0.0);
        error += e;
        out.max_density_error = std::max(out.max_density_error, e);
    }
    const double n = std::max<double>(1, static_cast<double>(fluid.p.size()));
    out.average_density_error = error / n;
    out.pairs = fluid.pairs;
    out.neighbors = static_cast<double>(fluid.pairs) / n;
    out.contacts = tally.contacts;
    out.left = fluid.next_id - fluid.p.size();
    out.iterations = tally.iterations;
    out.friction_rounds = tally.friction_rounds;
    out.seconds = tally.seconds;
    return out;
}

void Simulation::save(std::vector<std::byte>& out, std::span<const std::byte> note) const {
    simulation::save(*impl_, note, out);
}

std::span<const std::byte> Simulation::note_of(std::span<const std::byte> checkpoint) {
    return simulation::note_of(checkpoint);
}

Simulation Simulation::load(std::span<const std::byte> bytes, Executor* executor) {
    Simulation made;
    made.impl_->world.executor = executor;
    simulation::load(*made.impl_, bytes);
    return made;
}

}  // namespace quadrat
