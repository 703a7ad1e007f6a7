// The solve of viscosity.hpp: conjugate gradients (Hestenes & Stiefel 1952) on all velocities at once. Directions see
// walls and given bodies as at rest; what those add is in the load alone.
#include "simulation/viscosity/viscosity.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// One round of explicit friction is good enough where it takes less than this part of a velocity.
constexpr double little = 0.02;
// Of what the velocities before make, in the norm of the system.
constexpr double tolerance = 1e-4;
constexpr std::uint32_t most_rounds = 1000;
// Of the step, of each of its two solves: second order, and what decays fast is gone (Alexander 1977, "Diagonally
// implicit Runge-Kutta methods for stiff ODEs"). One solve of the whole step takes 4 % too little from what decays by 8
// %.
constexpr double stage = 0.29289321881345247;  // 1 - sqrt(1/2)

}  // namespace

double Viscosity::largest_rate() const {
    return base::parallel_reduce(
        world_.executor, n_, grain, 0.0,
        [&](std::size_t begin, std::size_t end) {
            double most = 0;
            for (std::size_t i = begin; i < end; ++i) {
                const PhaseData& f = fluid_.phase_of(i);
                most = std::max(most, double{scale_[i] * f.volume / f.mass});
            }
            return most;
        },
        [](double a, double b) { return std::max(a, b); });
}

void Viscosity::ease(const State& from, double dt, State& to) const {
    const auto step = static_cast<float>(dt);
    base::parallel_for(world_.executor, n_, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const PhaseData& f = fluid_.phase_of(i);
            const float inverse = 1 / (f.mass / f.volume + step * scale_[i]);
            for (int k = 0; k < 3; ++k) to.fluid[i][k] = inverse * from.fluid[i][k];
        }
    });
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
        to.bodies[b].along = from.bodies[b].along / (mass_[b] + dt * along_[b]);
        to.bodies[b].about = (inertia_[b] + dt * about_[b] * Matrix3d::Identity()).inverse() * from.bodies[b].about;
    }
}

// From u, whose residual is r: makes both good.
std::uint32_t Viscosity::solve(State& u, State& r, double reference, double dt) {
    State z = r, p, a = r;
    ease(r, dt, z);
    p = z;
    double now = dot(r, z);
    const double enough = tolerance * tolerance * std::max(reference, now);
    std::uint32_t rounds = 0;
    for (; now > enough && rounds < most_rounds; ++rounds) {
        find_friction(p, Given::no, a);
        add_mass(p, dt, a);
        const double steep = dot(p, a);
        if (!(steep > 0)) break;
        combine(u, now / steep, p, u);
        combine(r, -now / steep, a, r);
        ease(r, dt, z);
        const double next = dot(r, z);
        combine(z, next / now, p, p);
        now = next;
    }
    return rounds;
}

// One implicit step of Euler from v, and from u as a guess.
std::uint32_t Viscosity::implicit(const State& v, State& u, double dt) {
    State load = v, friction = v, eased = v;
    for (Vec3f& f : load.fluid) f = {};
    for (Motion& m : load.bodies) m = {};
    add_mass(v, dt, load);
    ease(load, dt, eased);
    const double reference = dot(load, eased);
    find_friction(u, Given::yes, friction);
    add_mass(u, dt, friction);
    combine(load, -1, friction, load);
    return 1 + solve(u, load, reference, dt);
}

std::uint32_t Viscosity::act(std::span<Vec3f> v, double dt) {
    set_scales();
    std::vector<Vec3f>& drag = fluid_.p.drag;
    const auto step = static_cast<float>(dt);
    State start{std::vector<Vec3f>(v.begin(), v.end()), {}};
    for (const std::size_t b : bodies_) {
        const BodyPose& pose = solids_.poses[b];
        start.bodies.push_back({vector(pose.velocity), vector(pose.angular_velocity)});
    }
    State u = start;
    std::uint32_t rounds = 1;
    if (bodies_.empty() && dt * largest_rate() <= little) {
        State friction = start;
        find_friction(u, Given::yes, friction);
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const PhaseData& f = fluid_.phase_of(i);
                for (int k = 0; k < 3; ++k) u.fluid[i][k] -= step * f.volume / f.mass * friction.fluid[i][k];
            }
        });
    } else {
        State last = start;  // what friction did in the last step
        last.fluid = drag;
        for (Motion& m : last.bodies) m = {};
        combine(u, stage * dt, last, u);
        rounds = implicit(start, u, stage * dt);
        // The second solve goes on from where the first one leads after (1 - stage) of the step.
        State middle = u, change = u;
        combine(u, -1, start, change);
        combine(u, (1 - 2 * stage) / stage, change, middle);
        combine(u, (1 - stage) * dt, last, u);
        rounds += implicit(middle, u, stage * dt);
    }
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (int k = 0; k < 3; ++k) {
                drag[i][k] = (u.fluid[i][k] - v[i][k]) / step;
                v[i][k] = u.fluid[i][k];
            }
    });
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
        BodyPose& pose = solids_.poses[bodies_[b]];
        pose.velocity = plain(u.bodies[b].along);
        pose.angular_velocity = plain(u.bodies[b].about);
    }
    return rounds;
}

}  // namespace quadrat::simulation
