#include "simulation/grains/solver/springs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <quadrat/error.hpp>

namespace quadrat::simulation::grains {
namespace {

constexpr double steps_per_contact = 50, most_parts = 1e6;
constexpr double deepest = 0.05;        ///< of the radius: the overlap at which Hertz's stiffness is taken for the step
constexpr float side_share = 2.0f / 7;  ///< stiffness along the surface: both ways then take the same time

// The restitution of a linear spring (mass and stiffness 1) with a dashpot of `share` times the critical one, whose
// force never pulls: the contact ends when the force does, a little before the gap opens.
double restitution_of(double share) {
    const double omega_sq = 1 - share * share, omega = std::sqrt(std::abs(omega_sq));
    if (omega < 1e-6) return std::exp(-2.0);
    const double y = 2 * share * omega, x = 2 * share * share - 1;
    const double t = omega_sq > 0 ? std::atan2(y, x) / omega : std::atanh(y / x) / omega;
    const double s = omega_sq > 0 ? std::sin(omega * t) : std::sinh(omega * t);
    const double c = omega_sq > 0 ? std::cos(omega * t) : std::cosh(omega * t);
    return -std::exp(-share * t) * (c - share * s / omega);
}
constexpr double most_damping = 3;  ///< restitution 0.02: more would need shorter sub-steps

struct Pushed {
    float push;       ///< impulse along the normal
    float stiffness;  ///< dF / d overlap there
};
// speed: at which the gap opens. radius, mass: what the two have together.
Pushed along_normal(float overlap, float speed, float radius, float mass, float restitution, const Springs& s) {
    float k = s.stiffness, force = k * overlap, dash = 2 * s.damping(restitution) * std::sqrt(k * mass);
    if (s.hertz) {
        k = s.stiffness * std::sqrt(radius * overlap);  // 2 E* sqrt(R d), E* being half of a body's own
        force = 2.0f / 3 * k * overlap;
        dash = 2 * std::sqrt(5.0f / 6) * s.damping(restitution) * std::sqrt(k * mass);
    }
    return {std::max(force - dash * speed, 0.0f) * s.dt, k};
}

V3f within(const V3f& v, float radius) {
    const float size_sq = dot(v, v);
    return size_sq > radius * radius ? (radius / std::sqrt(size_sq)) * v : v;
}

}  // namespace

Springs::Springs(const World& world, double sub_step)
    : hertz(world.options.contacts == GrainContacts::hertz),
      stiffness(static_cast<float>(world.options.stiffness)),
      dt(static_cast<float>(sub_step)),
      fall(single(sub_step * vector(world.options.gravity))) {
    for (int k = 0; k < entries; ++k) {
        const double wanted = static_cast<double>(k) / (entries - 1);
        double lo = 0, hi = most_damping;
        for (int round = 0; round < 40; ++round) {
            const double middle = 0.5 * (lo + hi);
            (restitution_of(middle) > wanted ? lo : hi) = middle;
        }
        table[k] = k + 1 == entries ? 0 : static_cast<float>(hi);
    }
}

std::uint32_t spring_parts(const World& world, double dt) {
    if (world.size() == 0) return world.options.substeps;
    double least = std::numeric_limits<double>::infinity();  // of mass over stiffness
    for (std::size_t i = 0; i < world.size(); ++i) {
        const double k = world.options.contacts == GrainContacts::hertz
                             ? world.options.stiffness * std::sqrt(deepest) * world.reach(i)
                             : world.options.stiffness;
        least = std::min(least, 0.5 * world.mass[i] / k);
    }
    const double parts = std::ceil(dt * steps_per_contact / (std::numbers::pi * std::sqrt(least)));
    if (!(parts <= most_parts))
        throw Error(ErrorKind::bad_value, "expected springs that a step of this length can follow",
                    {.field = "stiffness"});
    return std::max(world.options.substeps, static_cast<std::uint32_t>(parts));
}

void spring(BallRows* rows, RollRows* rolls, std::size_t count, Motion* velocity, const Motion* before,
            const Motion* moved, const Springs& s) {
    for (std::size_t i = 0; i < count; ++i) {
        BallRow r = rows[i / 8].row(i % 8);
        const float reach = r.ra + r.rb;
        const V3f way = (r.gap + reach) * r.n + (moved[r.b].v - moved[r.a].v);
        const float far = length(way), overlap = reach - far;
        if (overlap <= 0 || far <= 0) {
            r.push = 0;
            r.drag = {0, 0, 0};
            rows[i / 8].set(i % 8, r);
            continue;
        }
        Motion &a = velocity[r.a], &b = velocity[r.b];
        const V3f n = 1 / far * way;
        const Motion &was_a = before[r.a], &was_b = before[r.b];
        const V3f slip = was_b.v - was_a.v - cross(r.ra * was_a.w + r.rb * was_b.w, n);
        const Pushed p = along_normal(overlap, dot(slip, n), r.ra * r.rb / reach, r.mass_n, r.bounce, s);
        const V3f along = slip - dot(slip, n) * n, held = r.drag - dot(r.drag, n) * n;
        const V3f drag = within(held - (side_share * p.stiffness * s.dt * s.dt) * along, r.friction * p.push);
        const V3f impulse = p.push * n + drag, torque = cross(n, drag);
        a.v -= a.mass * impulse;
        b.v += b.mass * impulse;
        a.w -= (r.ra * a.turn) * torque;
        b.w -= (r.rb * b.turn) * torque;
        r.push = p.push;
        r.drag = drag;
        rows[i / 8].set(i % 8, r);
        if (!rolls) continue;
        RollRow roll = rolls[i / 8].row(i % 8);
        roll.torque = within(-roll.mass * (was_b.w - was_a.w), roll.limit * p.push);
        a.w -= a.turn * roll.torque;
        b.w += b.turn * roll.torque;
        rolls[i / 8].set(i % 8, roll);
    }
}

void spring(std::span<WallRow> rows, std::span<RollRow> rolls, std::span<const float> bounce, Motion* velocity,
            const Motion* before, const Motion* moved, const Springs& s, double since) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        WallRow& r = rows[i];
        Motion& a = velocity[r.a];
        const float overlap = -(r.gap + dot(r.n, static_cast<float>(since) * r.wall - moved[r.a].v));
        if (overlap <= 0) {
            r.push = 0;
            r.drag = {0, 0, 0};
            continue;
        }
        const Motion& was = before[r.a];
        const V3f slip = r.wall - (was.v - s.fall) - cross(r.ra * was.w, r.n);
        const Pushed p = along_normal(overlap, dot(slip, r.n), r.ra, r.mass_n, bounce.empty() ? 0 : bounce[i], s);
        const V3f along = slip - dot(slip, r.n) * r.n;
        r.drag = within(r.drag - (side_share * p.stiffness * s.dt * s.dt) * along, r.friction * p.push);
        r.push = p.push;
        a.v -= a.mass * (p.push * r.n + r.drag);
        a.w -= (r.ra * a.turn) * cross(r.n, r.drag);
        if (rolls.empty()) continue;
        RollRow& roll = rolls[i];
        roll.torque = within(roll.mass * before[r.a].w, roll.limit * p.push);
        a.w -= a.turn * roll.torque;
    }
}

}  // namespace quadrat::simulation::grains
