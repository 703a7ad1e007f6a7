// Time: leap-frog (Onderik & Durikovic 2008, eq. 11) in the form that stays second order when the step changes,
// v(t + dt_new / 2) = v(t - dt_old / 2) + (dt_old + dt_new) / 2 a(t) (the paper's eq. 13 does not fit its eq. 11), the
// Courant step (eq. 12), and what walls do to particles that reach them.
#include "simulation/step/integrate.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "simulation/step/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

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

// By viscosity, as of a pair with the thickest phase, and by tension.
double force_limit(const State& s, const PhaseData& f, double half) {
    double thickest = 0, dt = s.largest_step;
    for (const PhaseData& other : s.phases) thickest = std::max(thickest, double{other.viscosity});
    const double viscosity = 0.5 * (double{f.viscosity} + thickest), tension = double{f.tension};
    const double density = double{f.rest_density};
    if (viscosity > 0) dt = std::min(dt, 0.125 * half * half * density / viscosity);
    if (tension > 0) dt = std::min(dt, 0.25 * std::sqrt(half * half * half * density / (6.28 * tension)));
    return dt;
}

}  // namespace

double force_limit(const State& s) {
    double dt = s.largest_step;
    for (const PhaseData& f : s.phases) dt = std::min(dt, force_limit(s, f, 0.5 * s.support));
    return dt;
}

float courant_limit(const State& s, std::size_t i) {
    const PhaseData& f = s.phases[s.p.phase[i]];
    const float half = 0.5f * s.support_of(i);
    const Vec3f& v = s.p.v[i];
    const Vec3f& a = s.p.a[i];
    const float speed = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const float acceleration = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    const auto alpha = static_cast<float>(s.courant);
    float dt = alpha * half / (f.sound_speed + speed);
    // Others that every explicit scheme has: by force, viscosity and tension (Monaghan 1992; Morris et al. 1997).
    if (acceleration > 0) dt = std::min(dt, 0.25f * std::sqrt(half / acceleration));
    return std::min(dt, static_cast<float>(force_limit(s, f, double{half})));
}

double courant_step(const State& s) {
    if (s.p.size() == 0) return empty_step(s);
    if (!s.same_support)
        return base::parallel_reduce(
            s.executor, s.p.size(), 8 * grain, s.largest_step,
            [&](std::size_t begin, std::size_t end) {
                double least = s.largest_step;
                for (std::size_t i = begin; i < end; ++i) least = std::min(least, double{courant_limit(s, i)});
                return least;
            },
            [](double l, double r) { return std::min(l, r); });
    // With one support the fastest particle and the largest acceleration decide.
    struct Most {
        float v_sq = 0, a_sq = 0;
    };
    const Most most = base::parallel_reduce(
        s.executor, s.p.size(), 8 * grain, Most{},
        [&](std::size_t begin, std::size_t end) {
            Most m;
            for (std::size_t i = begin; i < end; ++i) {
                const Vec3f &v = s.p.v[i], &a = s.p.a[i];
                m.v_sq = std::max(m.v_sq, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
                m.a_sq = std::max(m.a_sq, a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            }
            return m;
        },
        [](Most l, Most r) {
            return Most{std::max(l.v_sq, r.v_sq), std::max(l.a_sq, r.a_sq)};
        });
    const double half = 0.5 * s.support, acceleration = std::sqrt(double{most.a_sq});
    double dt = std::min(s.largest_step, s.courant * half / (s.sound_speed + std::sqrt(double{most.v_sq})));
    if (acceleration > 0) dt = std::min(dt, 0.25 * std::sqrt(half / acceleration));
    return std::min(dt, force_limit(s));
}

void wrap(const State& s, Vec3f& x) {
    for (int k = 0; k < 3; ++k) {
        const float l = s.period[static_cast<std::size_t>(k)];
        if (!(l > 0)) continue;
        const auto lo = static_cast<float>(s.scene.domain.box.lo[k]);
        if (x[k] >= lo && x[k] < lo + l) continue;
        x[k] -= l * std::floor((x[k] - lo) / l);
        if (x[k] >= lo + l || x[k] < lo) x[k] = lo;  // rounding: both ends are one place
    }
}

std::uint64_t meet_walls(State& s, std::size_t begin, std::size_t end, double dt) {
    std::uint64_t met = 0;
    const auto spacing = static_cast<float>(s.spacing);
    const bool planes = !s.scene.domain.planes.empty();
    for (std::size_t i = begin; i < end; ++i) {
        const Vec3f& x = s.p.x[i];
        bool inside = !planes;
        for (int k = 0; k < 3; ++k) inside = inside && x[k] >= s.inner.lo[k] && x[k] <= s.inner.hi[k];
        if (inside) continue;  // the inner box is more than half a spacing from every wall
        for (const Wall& w : s.walls) met += meet_wall(w, spacing, static_cast<float>(dt), s.p.x[i], s.p.v[i]);
    }
    return met;
}

namespace {

template <bool kKick>
void move_all(State& s, double dt) {
    const Timer timer(s.seconds.integrate);
    const std::size_t n = s.p.size();
    const bool keep = !s.solids.empty() || !s.cloths.empty();
    s.before.resize(keep ? n : 0);
    const auto step = static_cast<float>(dt);
    s.contacts += base::parallel_reduce(
        s.executor, n, grain, std::uint64_t{0},
        [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                if (keep) s.before[i] = s.p.x[i];
                if constexpr (kKick) {
                    for (int k = 0; k < 3; ++k) leap_frog(s.p.x[i][k], s.p.v[i][k], s.p.a[i][k], s.p.dt[i], step);
                    s.p.dt[i] = step;
                } else {
                    for (int k = 0; k < 3; ++k) s.p.x[i][k] += step * s.p.v[i][k];
                }
            }
            const std::uint64_t met = meet_walls(s, begin, end, dt);
            if (s.periodic())
                for (std::size_t i = begin; i < end; ++i) wrap(s, s.p.x[i]);
            return met;
        },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

}  // namespace

void move_particles(State& s, double dt) {
    move_all<true>(s, dt);
}
void drift_particles(State& s, double dt) {
    move_all<false>(s, dt);
}

void guard(const State& s) {
    double extent = 0;
    for (int k = 0; k < s.dimension; ++k)
        extent = std::max({extent, std::abs(s.scene.domain.box.lo[k]), std::abs(s.scene.domain.box.hi[k])});
    const auto far = static_cast<float>(1e4 * extent);
    const auto fast = static_cast<float>(100 * std::max(s.expected_speed, s.sound_speed));
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const std::size_t bad = base::parallel_reduce(
        s.executor, s.p.size(), 8 * grain, none,
        [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                for (int k = 0; k < 3; ++k)
                    if (!(std::abs(s.p.x[i][k]) <= far && std::abs(s.p.v[i][k]) <= fast)) return i;
            return none;
        },
        [](std::size_t a, std::size_t b) { return std::min(a, b); });
    if (bad == none) return;
    const Vec3f& v = s.p.v[bad];
    const float speed = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    throw Error(ErrorKind::bad_value,
                std::string(std::isfinite(speed) ? "the simulation blew up: particle " : "not a number: particle ") +
                    std::to_string(s.p.id[bad]) + " at " + std::to_string(s.time) + " s, speed " +
                    std::to_string(speed) + " m/s; try a smaller step or a lower stiffness",
                {.index = s.p.id[bad]});
}

}  // namespace quadrat::simulation
