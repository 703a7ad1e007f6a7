// Particles against solids, exactly: the path of a particle during a step, seen from each body that its swept box may
// meet (Pouchol et al. 2009, 3.2 and 4.2), is a segment against the shape. A particle that would enter stops at the
// surface and slides; the response is inelastic with wet friction, and dynamic bodies take the impulse. No particle
// ends a step inside a body or beyond a wall.
#include "base/parallel.hpp"
#include "simulation/integrate.hpp"
#include "simulation/state.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

struct Frame {
    Quaterniond turn;
    Vector at;
    [[nodiscard]] Vector in(const Vector& x) const { return turn.conjugate() * (x - at); }
    [[nodiscard]] Vector out(const Vector& x) const { return turn * x + at; }
};

Frame frame(const BodyPose& p) {
    return {turn(p), vector(p.position)};
}

// Where the particle may go instead of `to`, and the normal, if it would enter the body.
bool stop(const Body& body, const Frame& before, const Frame& after, double skin, const Vector& from, Vector& to,
          Vector& normal) {
    const Vector a = before.in(from);
    Vector b = after.in(to);
    const Shape& shape = body.shape;
    bool met = false;
    Vector n = Vector::Zero();
    if (const auto hit = shape.entry(a, b)) {
        n = hit->normal;
        const Vector p = a + hit->time * (b - a);
        const Vector rest = b - p;
        b = p + skin * n;
        // Sliding on stays outside of a convex shape; on a mesh the particle waits for the next step.
        if (shape.kind() != BodyShape::mesh) b += rest - rest.dot(n) * n;
        met = true;
    }
    const Shape::Distance d = shape.distance(b, 4 * skin);
    if (d.value < skin) {
        n = d.normal;
        b += (skin - d.value) * n;
        met = true;
    }
    if (!met) return false;
    if (shape.kind() == BodyShape::mesh && (shape.entry(a, b) || shape.distance(b, 4 * skin).value < 0)) b = a;
    to = after.out(b);
    normal = after.turn * n;
    return true;
}

std::uint64_t collide_range(State& s, double dt, std::size_t begin, std::size_t end, std::vector<Wrench>& impulses) {
    std::uint64_t met = 0;
    std::vector<std::uint32_t> near;
    const double skin = 0.02 * s.spacing;
    for (std::size_t i = begin; i < end; ++i) {
        const Vector from = vector(s.before[i]);
        Vector to = from + vector(s.apart(s.p.x[i], s.before[i]));
        s.solids.candidates(from, to, near);
        if (near.empty()) continue;
        bool moved = false;
        for (int round = 0; round < 3; ++round) {
            bool again = false;
            for (const std::uint32_t b : near) {
                const Body& body = s.solids.bodies()[b];
                Vector n;
                if (!stop(body, frame(body.before), frame(s.solids.poses[b]), skin, from, to, n)) continue;
                again = moved = true;
                if (round > 0) continue;
                ++met;
                const Vector v = vector(s.p.v[i]);
                const Vector relative = v - s.solids.velocity_at(b, to);
                const double into = relative.dot(n);
                const double keep = std::exp(-body.friction * dt);
                const Vector next = keep * (relative - into * n) + (into < 0 ? -body.restitution * into : into) * n;
                const Vector change = next - relative;
                s.p.v[i] = plain_float(v + change);
                if (body.dynamic >= 0)
                    impulses[static_cast<std::size_t>(body.dynamic)].add(to,
                                                                         -double{s.phases[s.p.phase[i]].mass} * change);
            }
            if (!again) break;
        }
        if (moved) s.p.x[i] = plain_float(to);
    }
    return met;
}

}  // namespace

void collide(State& s, double dt) {
    if (s.solids.empty() && s.cloths.empty()) return;
    const std::size_t n = s.p.size();
    std::vector<ClothTouch> touches;
    {
        const Timer timer(s.seconds.collide);
        std::vector<Solids::Ground> walls;
        for (const Wall& w : s.walls)
            walls.push_back({Vector(double{w.normal[0]}, double{w.normal[1]}, double{w.normal[2]}), double{w.offset},
                             double{w.restitution}, double{w.friction}});
        s.contacts += s.solids.move(dt, vector(s.scene.gravity), walls);
        const std::size_t chunks = base::chunk_count(n, grain);
        std::vector<std::vector<Wrench>> impulses(chunks);
        std::vector<std::uint64_t> met(chunks);
        std::vector<std::vector<ClothTouch>> touched(chunks);
        base::run_tasks(s.executor, chunks, [&](std::size_t c) {
            impulses[c].resize(s.solids.dynamic_count());
            const std::size_t begin = c * grain, end = std::min(n, (c + 1) * grain);
            met[c] = s.solids.empty() ? 0 : collide_range(s, dt, begin, end, impulses[c]);
            if (met[c] > 0) meet_walls(s, begin, end, 0);
            if (!s.cloths.empty()) {
                std::vector<std::uint32_t> scratch;
                for (std::size_t i = begin; i < end; ++i)
                    s.cloths.stop(static_cast<std::uint32_t>(i), s.before[i], s.p.x[i], touched[c], scratch);
                met[c] += touched[c].size();
            }
            if (s.periodic())
                for (std::size_t i = begin; i < end; ++i) wrap(s, s.p.x[i]);
        });
        for (std::size_t c = 0; c < chunks; ++c) {
            s.contacts += met[c];
            s.solids.add_impulses(impulses[c]);
            touches.insert(touches.end(), touched[c].begin(), touched[c].end());
        }
    }
    if (s.cloths.empty()) return;
    const Timer timer(s.seconds.cloth);
    std::vector<float> mass(n);
    for (std::size_t i = 0; i < n; ++i) mass[i] = s.phases[s.p.phase[i]].mass;
    s.cloths.respond(touches, s.p.v, mass, dt);
    s.contacts += s.cloths.advance(s.time + dt, s.solids, touches, s.p.x, s.p.v, mass);
}

}  // namespace quadrat::simulation
