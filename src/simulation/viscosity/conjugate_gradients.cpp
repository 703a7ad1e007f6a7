// The solve of viscosity.hpp: conjugate gradients (Hestenes & Stiefel 1952) on all velocities at once. Directions see
// walls and given bodies as at rest; what those add is in the load alone.
#include "base/assert.hpp"
#include "simulation/viscosity/viscosity.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// One round of explicit friction is good enough where it takes less than this part of a velocity.
constexpr double little = 0.02;
// Of friction itself, in the norm of the system. Not of velocities: what decays slowly would stay as it is, since the
// last step's friction as a guess is good enough for those.
constexpr double tolerance = 1e-3;
// Of the velocities: what single precision sees.
constexpr double least = 1e-6;
constexpr std::uint32_t most_rounds = 1000;
// Of the step, of each of its two solves: second order, and what decays fast is gone (Alexander 1977, "Diagonally
// implicit Runge-Kutta methods for stiff ODEs"). One solve of the whole step takes 4 % too little from what decays by 8
// %.
constexpr double stage = 0.29289321881345247;  // 1 - sqrt(1/2)
// A part of the step takes about so much of the velocities: two stages are then 0.7 % off the rate of what decays alone
// (2.9 % if it decays by twice as much).
constexpr double part_decay = 0.4;
constexpr std::uint32_t most_parts = 4;

}  // namespace

double Viscosity::largest_rate() const {
    double bodies = 0;
    for (std::size_t b = 0; b < bodies_.size(); ++b)
        bodies = std::max({bodies, along_[b] / mass_[b], about_[b] * inertia_[b].inverse().norm()});
    return base::parallel_reduce(
        world_.executor, n_, grain, bodies,
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

// From u, whose residual is r, until the residual's square is `enough`: makes both good.
std::uint32_t Viscosity::solve(State& u, State& r, double enough, double dt) {
    QUADRAT_ASSERT(dt > 0 && enough >= 0);
    State z = r, p, a = r;
    ease(r, dt, z);
    p = z;
    double now = dot(r, z);
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
    const double momentum = dot(load, eased);
    find_friction(u, Given::yes, friction);
    ease(friction, dt, eased);
    const double drag = dt * dt * dot(friction, eased);
    add_mass(u, dt, friction);
    combine(load, -1, friction, load);
    return 1 + solve(u, load, std::max(tolerance * tolerance * drag, least * least * momentum), dt);
}

// Two implicit stages of a part of the step; u is where it leads, drag what friction did. Other accelerations act
// within the stages: what they and friction hold steady stays, however long the step.
std::uint32_t Viscosity::advance(State& u, const State& others, State& drag, double dt) {
    const State start = u;
    State load = u;
    combine(start, stage * dt, others, load);
    combine(load, stage * dt, drag, u);
    std::uint32_t rounds = implicit(load, u, stage * dt);
    // The second solve goes on from where the first one leads after (1 - stage) of the time.
    combine(u, -1, start, load);
    combine(start, (1 - stage) / stage, load, load);
    combine(load, stage * dt, others, load);
    combine(u, (1 - stage) * dt, others, u);
    combine(u, (1 - stage) * dt, drag, u);
    rounds += implicit(load, u, stage * dt);
    combine(u, -1, start, drag);
    scale(1 / dt, drag);
    combine(drag, -1, others, drag);
    return rounds;
}

double Viscosity::size(const State& u) const {
    State momentum = u;
    add_mass(u, 0, momentum);
    return std::sqrt(dot(u, momentum));
}

// How many parts resolve what friction takes from the velocities in the step. What others hold against it does not
// decay, and what is at rest has nothing to lose.
std::uint32_t Viscosity::parts(const State& start, const State& others, const State& friction, double dt) const {
    State slowed = friction;
    ease(friction, 0, slowed);
    const double lost = size(slowed), all = size(start);
    combine(others, -1, slowed, slowed);
    const double decay = dt * std::min(lost, size(slowed));
    if (!(decay > part_decay * all)) return 1;
    return decay < most_parts * part_decay * all ? static_cast<std::uint32_t>(std::ceil(decay / (part_decay * all)))
                                                 : most_parts;
}

std::uint32_t Viscosity::act(std::span<Vec3f> v, std::span<const Vec3f> a, std::span<const BodyPose> before,
                             double dt) {
    QUADRAT_ASSERT(v.size() == n_ && a.size() == n_ && before.size() == solids_.poses.size() && dt > 0);
    set_scales();
    std::vector<Vec3f>& drag = fluid_.p.drag;
    State u{std::vector<Vec3f>(v.begin(), v.end()), {}}, others{std::vector<Vec3f>(a.begin(), a.end()), {}};
    for (const std::size_t b : bodies_) {
        const BodyPose& now = solids_.poses[b];
        u.bodies.push_back({vector(before[b].velocity), vector(before[b].angular_velocity)});
        others.bodies.push_back({(vector(now.velocity) - u.bodies.back().along) / dt,
                                 (vector(now.angular_velocity) - u.bodies.back().about) / dt});
    }
    State friction = u;
    find_friction(u, Given::yes, friction);
    std::uint32_t rounds = 1;
    if (dt * largest_rate() <= little) {
        ease(friction, 0, friction);
        combine(u, dt, others, u);
        combine(u, -dt, friction, u);
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                for (int k = 0; k < 3; ++k) drag[i][k] = -friction.fluid[i][k];
        });
    } else {
        const std::uint32_t count = parts(u, others, friction, dt);
        State last{drag, std::vector<Motion>(bodies_.size())};
        for (std::uint32_t k = 0; k < count; ++k) rounds += advance(u, others, last, dt / count);
        drag = last.fluid;
    }
    std::copy(u.fluid.begin(), u.fluid.end(), v.begin());
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
        BodyPose& pose = solids_.poses[bodies_[b]];
        pose.velocity = plain(u.bodies[b].along);
        pose.angular_velocity = plain(u.bodies[b].about);
    }
    return rounds;
}

}  // namespace quadrat::simulation
