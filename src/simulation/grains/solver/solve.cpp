#include "simulation/grains/solver/solve.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "simulation/grains/solver/balls_simd.hpp"

namespace quadrat::simulation::grains {
namespace {

// Cuts `next` to the radius and says how much that is more than before.
inline V3f more_within(V3f& before, V3f next, float radius) {
    const float size_sq = dot(next, next);
    if (size_sq > radius * radius) next = (radius / std::sqrt(size_sq)) * next;
    const V3f more = next - before;
    before = next;
    return more;
}

inline void roll(RollRow& r, float push, Motion& a, Motion& b) {
    const V3f more = more_within(r.torque, r.torque - r.mass * (b.w - a.w), r.limit * push);
    a.w -= a.turn * more;
    if (b.turn > 0) b.w += b.turn * more;
}

inline void solve(WallRow& r, RollRow* rolling, Motion* velocity, const Motion* moved, const SubStep& step, float since,
                  Pass pass) {
    Motion a = velocity[r.a];
    if (pass == Pass::soft) r.now = r.gap + dot(r.n, since * r.wall - moved[r.a].v);
    const Target t = target(r.now, r.ra, step.wall, step, pass);
    const float push = more_push(r.push, r.mass_n, dot(r.n, r.wall - a.v), t);
    a.v -= (a.mass * push) * r.n;
    const V3f slip = r.wall - a.v - cross(r.ra * a.w, r.n);
    const V3f along = slip - dot(slip, r.n) * r.n;
    const V3f drag = more_within(r.drag, r.drag - r.mass_t * along, r.friction * r.push);
    a.v -= a.mass * drag;
    a.w -= (r.ra * a.turn) * cross(r.n, drag);
    if (rolling) {
        Motion wall = {};
        roll(*rolling, r.push, a, wall);
    }
    velocity[r.a] = a;
}

}  // namespace

Softness softness(double sub_step, double periods, double damping) {
    const double omega = 2 * std::numbers::pi / (periods * sub_step), h = sub_step;
    const double a1 = 2 * damping + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
    return {static_cast<float>(omega / a1), static_cast<float>(a2 * a3), static_cast<float>(a3)};
}

void warm_start(const BallRows* rows, const RollRows* rolls, std::size_t count, Motion* velocity) {
    for (std::size_t k = 0; k < count; ++k) {
        const BallRow r = rows[k / 8].row(k % 8);
        Motion &a = velocity[r.a], &b = velocity[r.b];
        const V3f impulse = r.push * r.n + r.drag, torque = cross(r.n, r.drag);
        a.v -= a.mass * impulse;
        b.v += b.mass * impulse;
        a.w -= (r.ra * a.turn) * torque;
        b.w -= (r.rb * b.turn) * torque;
        if (!rolls) continue;
        const V3f turned = rolls[k / 8].row(k % 8).torque;
        a.w -= a.turn * turned;
        b.w += b.turn * turned;
    }
}

void warm_start(std::span<const WallRow> rows, std::span<const RollRow> rolls, Motion* velocity) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const WallRow& r = rows[k];
        Motion& a = velocity[r.a];
        a.v -= a.mass * (r.push * r.n + r.drag);
        a.w -= (r.ra * a.turn) * cross(r.n, r.drag);
        if (!rolls.empty()) a.w -= a.turn * rolls[k].torque;
    }
}

void solve(BallRows* rows, RollRows* rolls, std::size_t count, Motion* velocity, const Motion* moved,
           const SubStep& step, Pass pass) {
    const BallLoops& loops = ball_loops();
    (pass == Pass::soft ? loops.soft : loops.relax)(rows, rolls, count, &velocity->v.x, &moved->v.x, step);
}

void solve(std::span<WallRow> rows, std::span<RollRow> rolls, Motion* velocity, const Motion* moved,
           const SubStep& step, double since, Pass pass) {
    for (std::size_t k = 0; k < rows.size(); ++k)
        solve(rows[k], rolls.empty() ? nullptr : &rolls[k], velocity, moved, step, static_cast<float>(since), pass);
}

bool collide(const BallRows* rows, std::size_t count, Motion* velocity, const Motion* moved, Motion* met,
             const SubStep& step) {
    bool any = false;
    for (std::size_t k = 0; k < count; ++k) {
        const BallRow r = rows[k / 8].row(k % 8);
        if (r.bounce == 0) continue;
        Motion &a = velocity[r.a], &b = velocity[r.b];
        const float speed = dot(r.n, b.v - a.v);
        if (!(speed < -step.bounce_speed)) continue;
        if (r.gap + dot(r.n, moved[r.b].v - moved[r.a].v) > step.fall - speed * step.dt) continue;
        const float push = -(1 + r.bounce) * r.mass_n * speed;
        const V3f slip = b.v - a.v - cross(r.ra * a.w + r.rb * b.w, r.n);
        V3f drag = {0, 0, 0};
        (void)more_within(drag, -r.mass_t * (slip - dot(slip, r.n) * r.n), r.friction * push);
        const V3f impulse = push * r.n + drag, torque = cross(r.n, drag);
        a.v -= a.mass * impulse;
        b.v += b.mass * impulse;
        a.w -= (r.ra * a.turn) * torque;
        b.w -= (r.rb * b.turn) * torque;
        met[r.a].mass = met[r.b].mass = 1;
        any = true;
    }
    return any;
}

bool collide(std::span<const WallRow> rows, std::span<const float> bounce, Motion* velocity, const Motion* moved,
             Motion* met, const SubStep& step, double since) {
    bool any = false;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const WallRow& r = rows[k];
        if (bounce[k] == 0) continue;
        Motion& a = velocity[r.a];
        const float speed = dot(r.n, r.wall - a.v);
        if (!(speed < -step.bounce_speed)) continue;
        if (r.gap + dot(r.n, static_cast<float>(since) * r.wall - moved[r.a].v) > step.fall - speed * step.dt) continue;
        const float push = -(1 + bounce[k]) * r.mass_n * speed;
        const V3f slip = r.wall - a.v - cross(r.ra * a.w, r.n);
        V3f drag = {0, 0, 0};
        (void)more_within(drag, -r.mass_t * (slip - dot(slip, r.n) * r.n), r.friction * push);
        a.v -= a.mass * (push * r.n + drag);
        a.w -= (r.ra * a.turn) * cross(r.n, drag);
        met[r.a].mass = 1;
        any = true;
    }
    return any;
}

}  // namespace quadrat::simulation::grains
