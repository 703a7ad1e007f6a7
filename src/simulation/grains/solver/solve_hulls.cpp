// The passes over rows of several points, for bodies of any shape.
#include <cmath>

#include "simulation/grains/solver/solve.hpp"

namespace quadrat::simulation::grains {
namespace {

// The two bodies of a row; the second may be a wall, which no impulse moves.
struct Both {
    Both(const HullRow& row, Motion* velocity, const Symmetric* inverse_inertia)
        : r(row), a(velocity[r.a]), turn_a(inverse_inertia[r.a]), wall(r.b == HullRow::nothing) {
        if (wall) return;
        b = velocity[r.b];
        turn_b = inverse_inertia[r.b];
    }
    /// How fast b moves away from a at the point.
    [[nodiscard]] V3f speed(const HullRow::Point& p) const {
        const V3f there = wall ? p.wall : b.v + cross(b.w, p.rb);
        return there - a.v - cross(a.w, p.ra);
    }
    void push(const HullRow::Point& p, const V3f& impulse) {
        a.v -= a.mass * impulse;
        a.w -= turn_a * cross(p.ra, impulse);
        if (wall) return;
        b.v += b.mass * impulse;
        b.w += turn_b * cross(p.rb, impulse);
    }
    void store(Motion* velocity) const {
        velocity[r.a] = a;
        if (!wall) velocity[r.b] = b;
    }
    /// What an impulse along a unit vector has to move there.
    [[nodiscard]] float mass(const HullRow::Point& p, const V3f& along) const {
        const V3f ra = cross(p.ra, along), rb = cross(p.rb, along);
        float light = a.mass + dot(ra, turn_a * ra);
        if (!wall) light += b.mass + dot(rb, turn_b * rb);
        return light > 0 ? 1 / light : 0;
    }

    const HullRow& r;
    Motion a, b = {};
    Symmetric turn_a, turn_b = {};
    bool wall;
};

float gap_now(const HullRow& r, const HullRow::Point& p, const Motion* moved, float since) {
    const V3f a = moved[r.a].v + cross(moved[r.a].w, p.ra);
    const V3f b = r.b == HullRow::nothing ? since * p.wall : moved[r.b].v + cross(moved[r.b].w, p.rb);
    return p.gap + dot(r.n, b - a);
}

}  // namespace

void warm_start(std::span<const HullRow> rows, Motion* velocity, const Symmetric* inverse_inertia) {
    for (const HullRow& r : rows) {
        Both both(r, velocity, inverse_inertia);
        for (std::uint32_t k = 0; k < r.count; ++k) {
            const HullRow::Point& p = r.points[k];
            both.push(p, p.push * r.n + p.drag_1 * r.t1 + p.drag_2 * r.t2);
        }
        both.store(velocity);
    }
}

void solve(std::span<HullRow> rows, Motion* velocity, const Motion* moved, const Symmetric* inverse_inertia,
           const SubStep& step, double since, Pass pass) {
    for (HullRow& r : rows) {
        Both both(r, velocity, inverse_inertia);
        for (std::uint32_t k = 0; k < r.count; ++k) {
            HullRow::Point& p = r.points[k];
            if (pass == Pass::soft) p.now = gap_now(r, p, moved, static_cast<float>(since));
            const Target t = target(p.now, r.size, both.wall ? step.wall : step.pair, step, pass);
            both.push(p, more_push(p.push, p.mass_n, dot(r.n, both.speed(p)), t) * r.n);
        }
        for (std::uint32_t k = 0; k < r.count; ++k) {
            HullRow::Point& p = r.points[k];
            const V3f slip = both.speed(p);
            float d1 = p.drag_1 - p.mass_1 * dot(slip, r.t1), d2 = p.drag_2 - p.mass_2 * dot(slip, r.t2);
            const float most = r.friction * p.push, size_sq = d1 * d1 + d2 * d2;
            if (size_sq > most * most) {
                const float share = most / std::sqrt(size_sq);
                d1 *= share;
                d2 *= share;
            }
            both.push(p, (d1 - std::exchange(p.drag_1, d1)) * r.t1 + (d2 - std::exchange(p.drag_2, d2)) * r.t2);
        }
        both.store(velocity);
    }
}

bool collide(std::span<const HullRow> rows, Motion* velocity, const Motion* moved, Motion* met,
             const Symmetric* inverse_inertia, const SubStep& step, double since) {
    bool any = false;
    for (const HullRow& r : rows) {
        if (r.bounce == 0) continue;
        Both both(r, velocity, inverse_inertia);
        HullRow::Point middle = {};
        float meeting = 0;
        for (std::uint32_t k = 0; k < r.count; ++k) {
            const HullRow::Point& p = r.points[k];
            const float speed = dot(r.n, both.speed(p));
            if (!(speed < -step.bounce_speed)) continue;
            if (gap_now(r, p, moved, static_cast<float>(since)) > step.fall - speed * step.dt) continue;
            ++meeting;
            middle.ra += p.ra;
            middle.rb += p.rb;
            middle.wall += p.wall;
        }
        if (meeting == 0) continue;
        middle.ra = 1 / meeting * middle.ra;
        middle.rb = 1 / meeting * middle.rb;
        middle.wall = 1 / meeting * middle.wall;
        const float push = -(1 + r.bounce) * both.mass(middle, r.n) * dot(r.n, both.speed(middle));
        both.push(middle, push * r.n);
        // Friction against what still slides, within the cone.
        const V3f slip = both.speed(middle), along = slip - dot(slip, r.n) * r.n;
        const float size = length(along);
        if (size > 0) {
            const V3f way = 1 / size * along;
            both.push(middle, -std::min(r.friction * push, both.mass(middle, way) * size) * way);
        }
        both.store(velocity);
        met[r.a].mass = 1;
        if (!both.wall) met[r.b].mass = 1;
        any = true;
    }
    return any;
}

}  // namespace quadrat::simulation::grains
