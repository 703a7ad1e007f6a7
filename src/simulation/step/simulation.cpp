// The public class: a step is emission, search, densities, forces, the length of the step, and the move.
#include <quadrat/simulation/simulation.hpp>

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "simulation/step/integrate.hpp"
#include "simulation/step/state.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace quadrat {

struct Simulation::Impl : simulation::State {};

namespace simulation {
namespace {

// Steps between sorting the particles again.
constexpr std::uint64_t sort_every = 32;

void step(State& s, double end) {
    // A frame of steps of their own is many steps, and may step over the multiples for ever.
    if (s.scene.stepping.kind == StepKind::per_particle || s.steps % sort_every == 0) {
        const Timer timer(s.seconds.integrate);
        take_out_gone(s);
        sort_particles(s);
    }
    emit(s, s.time);
    s.contacts = 0;
    s.iterations = 0;
    double dt = 0;
    if (s.scene.solver == SolverKind::incompressible) {
        incompressible_step(s, end);
        return;
    }
    if (s.scene.stepping.kind == StepKind::per_particle) {
        per_particle_frame(s, end);
        return;
    }
    search(s);
    densities(s);
    forces(s, true);
    dt = s.scene.stepping.kind == StepKind::fixed ? s.scene.stepping.fixed : courant_step(s);
    dt = cut(dt, end - s.time);
    // By the same leap-frog as the particles, so that what they lose bodies gain.
    s.solids.accelerate(0.5 * (s.last_step + dt), vector(s.scene.gravity));
    move(s, dt);
}

}  // namespace

void move(State& s, double dt) {
    move_particles(s, dt);
    collide(s, dt);
    s.time += dt;
    s.last_step = dt;
    ++s.steps;
    guard(s);
}

}  // namespace simulation

Simulation::Simulation() : impl_(std::make_unique<Impl>()) {}
Simulation::Simulation(const Scene& scene, Executor* executor) : Simulation() {
    simulation::validate(scene);
    impl_->scene = scene;
    impl_->executor = executor;
    simulation::set_up(*impl_);
    simulation::densities(*impl_);  // so that what is measured of a step is there from the beginning
}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::step() {
    simulation::step(*impl_, impl_->time + 2 * impl_->largest_step);
}

void Simulation::advance_to(double time, const StopToken& stop) {
    while (impl_->time < time) {
        if (stop.stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
        const double before = impl_->time;
        simulation::step(*impl_, time);
        if (!(impl_->time > before))
            throw Error(ErrorKind::bad_value, "a step of " + std::to_string(impl_->last_step) + " s at " +
                                                  std::to_string(before) + " s is too short to go on");
        // A rest that rounding left is not a step.
        if (time - impl_->time < 1e-9 * impl_->last_step) impl_->time = time;
    }
}

const Scene& Simulation::scene() const noexcept {
    return impl_->scene;
}
double Simulation::time() const noexcept {
    return impl_->time;
}
std::span<const Vec3f> Simulation::positions() const noexcept {
    return impl_->p.x;
}
std::span<const Vec3f> Simulation::velocities() const noexcept {
    return impl_->p.v;
}
std::span<const float> Simulation::densities() const noexcept {
    return impl_->p.rho;
}
std::span<const float> Simulation::pressures() const noexcept {
    return impl_->p.p;
}
std::span<const std::uint8_t> Simulation::phases() const noexcept {
    return impl_->p.phase;
}
std::span<const std::uint32_t> Simulation::ids() const noexcept {
    return impl_->p.id;
}
std::span<const BodyPose> Simulation::bodies() const noexcept {
    return impl_->solids.poses;
}
ClothSurface Simulation::cloth(std::size_t number) const {
    return impl_->cloths.surface(number);
}

Simulation::Preset Simulation::preset() const noexcept {
    const simulation::State& s = *impl_;
    return {s.support, s.spacing, s.expected_speed, s.sound_speed,
            s.courant * 0.5 * s.support /
                ((s.scene.solver == SolverKind::incompressible ? 0 : s.sound_speed) + s.expected_speed)};
}

Statistics Simulation::statistics() const {
    const simulation::State& s = *impl_;
    Statistics out;
    out.time = s.time;
    out.time_step = s.last_step;
    out.steps = s.steps;
    out.particles = s.p.size();
    double error = 0;
    for (std::size_t i = 0; i < s.p.size(); ++i) {
        const simulation::PhaseData& f = s.phases[s.p.phase[i]];
        const double m = f.mass;
        double v_sq = 0, height = 0;  // the latter: joules per kilogram
        for (int k = 0; k < 3; ++k) {
            // The velocity is half a step behind the position.
            const double v = double{s.p.v[i][k]} + 0.5 * double{s.p.dt[i]} * double{s.p.a[i][k]};
            v_sq += v * v;
            out.momentum[k] += m * double{s.p.v[i][k]};
            const double x = s.p.x[i][k];
            height += 0.5 * s.scene.attraction * s.scene.attraction * x * x -
                      s.scene.gravity[k] * (x - s.scene.domain.box.lo[k]);
        }
        out.mass += m;
        out.kinetic += 0.5 * m * v_sq;
        out.potential += m * height;
        if (s.scene.solver != SolverKind::incompressible) out.internal += m * simulation::internal_energy(s, i);
        out.max_speed = std::max(out.max_speed, std::sqrt(v_sq));
        const double e = std::max(double{s.p.rho[i]} / double{f.rest_density} - 1, 0.0);
        error += e;
        out.max_density_error = std::max(out.max_density_error, e);
    }
    const double n = std::max<double>(1, static_cast<double>(s.p.size()));
    out.average_density_error = error / n;
    out.pairs = s.pairs;
    out.neighbors = static_cast<double>(s.pairs) / n;
    out.contacts = s.contacts;
    out.left = s.next_id - s.p.size();
    out.iterations = s.iterations;
    out.seconds = s.seconds;
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
    made.impl_->executor = executor;
    simulation::load(*made.impl_, bytes);
    return made;
}

}  // namespace quadrat
