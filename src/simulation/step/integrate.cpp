// Time: leap-frog (Onderik & Durikovic 2008, eq. 11) in the form that stays second order when the step changes,
// v(t + dt_new / 2) = v(t - dt_old / 2) + (dt_old + dt_new) / 2 a(t) (the paper's eq. 13 does not fit its eq. 11), the
// Courant step (eq. 12), and what walls do to particles that reach them.
#include "simulation/step/integrate.hpp"

#include "base/assert.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::simulation {
namespace {

// In spacings. On the wall itself a particle would pass beside a body that ends there.
constexpr float off_the_wall = 1e-4f;

// Inelastic response with wet friction: a particle behind a wall is put back onto it and loses its speed into it; one
// that is nearer than half a spacing slows down along it. Returns whether it was behind.
bool meet_wall(const Wall& w, float spacing, float dt, Vec3f& x, Vec3f& v) {
    const float d = w.normal[0] * x[0] + w.normal[1] * x[1] + w.normal[2] * x[2] - w.offset;
    if (!(d < 0.5f * spacing)) return false;
    const float into = w.normal[0] * v[0] + w.normal[1] * v[1] + w.normal[2] * v[2];
    const float keep = std::exp(-w.friction * dt);
    const bool behind = d < 0;
    const float out = behind && into < 0 ? -w.restitution * into : into;
    for (int k = 0; k < 3; ++k) {
        const float n = w.normal[static_cast<std::size_t>(k)];
        v[k] = keep * (v[k] - into * n) + out * n;
        if (behind) x[k] -= ((into < 0 ? 1 + w.restitution : 1) * d - off_the_wall * spacing) * n;
    }
    return behind;
}

// Of the step that is just stable: what is denser than at rest decays faster.
constexpr double of_stable = 0.75;

// By viscosity as a force, as of a pair with the thickest phase, and by tension.
double force_limit(const World& world, const Fluid& fluid, const PhaseData& f, double half) {
    const double tension = double{f.tension}, density = double{f.rest_density};
    double dt = std::numeric_limits<double>::infinity();
    if (const double rate = explicit_friction(world, fluid, f, 2 * half); rate > 0) dt = of_stable * 2 / rate;
    if (tension > 0) dt = std::min(dt, 0.25 * std::sqrt(half * half * half * density / (6.28 * tension)));
    return dt;
}

}  // namespace

double force_limit(const World& world, const Fluid& fluid) {
    double dt = std::numeric_limits<double>::infinity();
    for (const PhaseData& f : fluid.phases) dt = std::min(dt, force_limit(world, fluid, f, 0.5 * fluid.support));
    return dt;
}

float courant_limit(const World& world, const Fluid& fluid, const Clock& clock, std::size_t i) {
    QUADRAT_ASSERT(i < fluid.p.size() && clock.courant > 0);
    const PhaseData& f = fluid.phase_of(i);
    const float half = 0.5f * fluid.support_of(i);
    const Vec3f& v = fluid.p.v[i];
    const Vec3f& a = fluid.p.a[i];
    const float speed = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const float acceleration = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    const auto alpha = static_cast<float>(clock.courant);
    float dt = alpha * half / (f.sound_speed + speed);
    // Others that every explicit scheme has: by force, viscosity and tension (Monaghan 1992; Morris et al. 1997).
    if (acceleration > 0) dt = std::min(dt, 0.25f * std::sqrt(half / acceleration));
    return std::min(dt, static_cast<float>(std::min(clock.largest_step, force_limit(world, fluid, f, double{half}))));
}

double courant_step(const World& world, const Fluid& fluid, const Clock& clock) {
    if (fluid.p.size() == 0) return empty_step(world, fluid, clock);
    if (!fluid.same_support)
        return base::parallel_reduce(
            world.executor, fluid.p.size(), 8 * grain, clock.largest_step,
            [&](std::size_t begin, std::size_t end) {
                double least = clock.largest_step;
                for (std::size_t i = begin; i < end; ++i)
                    least = std::min(least, double{courant_limit(world, fluid, clock, i)});
                return least;
            },
            [](double l, double r) { return std::min(l, r); });
    // With one support the fastest particle and the largest acceleration decide.
    struct Most {
        float v_sq = 0, a_sq = 0;
    };
    const Most most = base::parallel_reduce(
        world.executor, fluid.p.size(), 8 * grain, Most{},
        [&](std::size_t begin, std::size_t end) {
            Most m;
            for (std::size_t i = begin; i < end; ++i) {
                const Vec3f &v = fluid.p.v[i], &a = fluid.p.a[i];
                m.v_sq = std::max(m.v_sq, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
                m.a_sq = std::max(m.a_sq, a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            }
            return m;
        },
        [](Most l, Most r) {
            return Most{std::max(l.v_sq, r.v_sq), std::max(l.a_sq, r.a_sq)};
        });
    const double half = 0.5 * fluid.support, acceleration = std::sqrt(double{most.a_sq});
    double dt = std::min(clock.largest_step, clock.courant * half / (fluid.sound_speed + std::sqrt(double{most.v_sq})));
    if (acceleration > 0) dt = std::min(dt, 0.25 * std::sqrt(half / acceleration));
    return std::min(dt, force_limit(world, fluid));
}

std::uint64_t meet_walls(const World& world, Fluid& fluid, std::size_t begin, std::size_t end, double dt) {
    QUADRAT_ASSERT(begin <= end && end <= fluid.p.size() && dt >= 0);
    std::uint64_t met = 0;
    const auto spacing = static_cast<float>(world.scene.spacing);
    const bool planes = !world.scene.domain.planes.empty();
    for (std::size_t i = begin; i < end; ++i) {
        const Vec3f& x = fluid.p.x[i];
        bool inside = !planes;
        for (int k = 0; k < 3; ++k) inside = inside && x[k] >= fluid.inner.lo[k] && x[k] <= fluid.inner.hi[k];
        if (inside) continue;  // the inner box is more than half a spacing from every wall
        for (const Wall& w : world.walls)
            met += meet_wall(w, spacing, static_cast<float>(dt), fluid.p.x[i], fluid.p.v[i]);
    }
    return met;
}

double empty_step(const World& world, const Fluid& fluid, const Clock& clock) {
    return std::min(clock.largest_step, next_emission(world, fluid, clock.time) - clock.time);
}

Moved advance(const World& world, Fluid& fluid, double dt, Kick kick) {
    QUADRAT_ASSERT(dt >= 0);
    const auto step = static_cast<float>(dt);
    Particles& p = fluid.p;
    const Vec3d& g = world.scene.gravity;
    const double pull = world.scene.attraction * world.scene.attraction;
    // Before walls stop it: a blow-up between walls is over when they have.
    const auto measure = [&](std::size_t i, Moved& to) {
        const Vec3f &x = p.x[i], &v = p.v[i];
        const float v_sq = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        const double m = double{fluid.phase_of(i).mass};
        double power = 0;
        for (int k = 0; k < 3; ++k) power += (g[k] - pull * double{x[k]}) * double{v[k]};
        to.kinetic += 0.5 * m * double{v_sq};
        to.work += m * power * dt;
        if (!(v_sq <= to.fastest_sq)) to.fastest_sq = v_sq, to.fastest = i;
    };
    return base::parallel_reduce(
        world.executor, p.size(), grain, Moved{},
        [&](std::size_t begin, std::size_t end) {
            Moved moved;
            if (kick == Kick::yes)
                for (std::size_t i = begin; i < end; ++i) {
                    for (int k = 0; k < 3; ++k) leap_frog(p.x[i][k], p.v[i][k], p.a[i][k], p.dt[i], step);
                    p.dt[i] = step;
                }
            else
                for (std::size_t i = begin; i < end; ++i)
                    for (int k = 0; k < 3; ++k) p.x[i][k] += step * p.v[i][k];
            for (std::size_t i = begin; i < end; ++i) measure(i, moved);
            moved.met = meet_walls(world, fluid, begin, end, dt);
            if (world.periodic())
                for (std::size_t i = begin; i < end; ++i) world.wrap(p.x[i]);
            return moved;
        },
        [](const Moved& a, const Moved& b) {
            const Moved& f = a.fastest_sq >= b.fastest_sq ? a : b;
            return Moved{a.met + b.met, a.kinetic + b.kinetic, a.work + b.work, f.fastest_sq, f.fastest};
        });
}

}  // namespace quadrat::simulation
