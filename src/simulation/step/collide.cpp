// Particles against solids, exactly: the path of a particle during a step, seen from each body that its swept box may
// meet (Pouchol et al. 2009, 3.2 and 4.2), is a segment against the shape. A particle that would enter stops at the
// surface and slides. The response is inelastic with wet friction: impulses are exchanged one after the other, in the
// order of the particles, with the reduced mass of the two, so that no meeting adds energy however many particles meet
// a body that is lighter than they are together. No particle ends a step inside a body or beyond a wall.
#include "base/parallel.hpp"
#include "simulation/step/integrate.hpp"
#include "simulation/step/state.hpp"

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
    const Shape& shape = *body.shape;
    bool met = false;
    Vector n = Vector::Zero();
    if (const auto hit = shape.entry(a, b)) {
        n = hit->normal;
        const Vector p = a + hit->time * (b - a);
        const Vector rest = b - p;
        b = p + skin * n;
        // Sliding on stays outside of a convex shape; on a mesh the particle waits for the next step.
        if (shape.convex()) b += rest - rest.dot(n) * n;
        met = true;
    }
    const Shape::Distance d = shape.distance(b, 4 * skin);
    if (d.value < skin) {
        n = d.normal;
        b += (skin - d.value) * n;
        met = true;
    }
    if (!met) return false;
    if (!shape.convex() && (shape.entry(a, b) || shape.distance(b, 4 * skin).value < 0)) b = a;
    to = after.out(b);
    normal = after.turn * n;
    return true;
}

// A particle that met a body.
struct Meeting {
    std::uint32_t particle, body;
    Vector point, normal;  ///< on the body itself, not on an image; out of the body
};

void collide_range(State& s, std::size_t begin, std::size_t end, std::vector<Meeting>& meetings) {
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
            for (const std::uint32_t number : near) {
                const auto& [b, shift] = s.solids.path_image(number);
                const Body& body = s.solids.bodies()[b];
                Vector n, goal = to - shift;
                if (!stop(body, frame(body.before), frame(s.solids.poses[b]), skin, from - shift, goal, n)) continue;
                again = moved = true;
                if (round == 0) meetings.push_back({static_cast<std::uint32_t>(i), b, goal, n});
                to = goal + shift;
            }
            if (!again) break;
        }
        if (moved) s.p.x[i] = plain_float(to);
    }
}

void respond(State& s, double dt, const std::vector<Meeting>& meetings) {
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round)
        for (const Meeting& m : meetings) {
            const Body& body = s.solids.bodies()[m.body];
            const double inverse = 1 / double{s.phases[s.p.phase[m.particle]].mass};
            const Vector v = vector(s.p.v[m.particle]);
            const Vector relative = v - s.solids.velocity_at(m.body, m.point);
            const double into = relative.dot(m.normal);
            Vector impulse = Vector::Zero();
            if (into < 0)
                impulse = (round == 0 ? 1 + body.restitution : 1) * -into /
                          (inverse + s.solids.ease(m.body, m.point, m.normal)) * m.normal;
            const Vector slide = relative - into * m.normal;
            const double sliding = slide.norm();
            if (round == 0 && sliding > 0)
                impulse += (std::exp(-body.friction * dt) - 1) /
                           (inverse + s.solids.ease(m.body, m.point, slide / sliding)) * slide;
            s.p.v[m.particle] = plain_float(v + inverse * impulse);
            s.solids.push(m.body, m.point, -impulse);
        }
}

// The path as it was walked, not from one end of a periodic axis to the other; where it crosses the seam, its image at
// the other end too, which is where it goes on.
void stop_at_cloth(State& s, std::size_t i, std::vector<ClothTouch>& touches, std::vector<std::uint32_t>& scratch) {
    const auto id = static_cast<std::uint32_t>(i);
    if (!s.periodic()) {
        s.cloths.stop(id, s.before[i], s.p.x[i], touches, scratch);
        return;
    }
    Vec3f from = s.before[i];
    const Vec3f step = s.apart(s.p.x[i], from);
    Vec3f to = {{from[0] + step[0], from[1] + step[1], from[2] + step[2]}};
    const auto stop = [&] {
        const Vec3f wanted = to;
        s.cloths.stop(id, from, to, touches, scratch);
        return to != wanted;
    };
    bool moved = stop();
    Vec3f there = to;
    wrap(s, there);
    if (there != to) {
        for (int k = 0; k < 3; ++k) from[k] += there[k] - to[k];
        to = there;
        moved = stop() || moved;
    }
    if (moved) s.p.x[i] = to;
}

}  // namespace

void collide(State& s, double dt) {
    if (s.solids.empty() && s.cloths.empty()) return;
    guard(s);  // a search for paths refuses what is not finite, and does not know which particle it is
    const std::size_t n = s.p.size();
    std::vector<ClothTouch> touches;
    {
        const Timer timer(s.seconds.collide);
        std::vector<Solids::Ground> walls;
        for (const Wall& w : s.walls)
            walls.push_back({Vector(double{w.normal[0]}, double{w.normal[1]}, double{w.normal[2]}), double{w.offset},
                             double{w.restitution}, double{w.friction}});
        s.contacts += s.solids.move(dt, s.time, walls);
        const std::size_t chunks = base::chunk_count(n, grain);
        std::vector<std::vector<Meeting>> met(chunks);
        std::vector<std::vector<ClothTouch>> touched(chunks);
        base::run_tasks(s.executor, chunks, [&](std::size_t c) {
            const std::size_t begin = c * grain, end = std::min(n, (c + 1) * grain);
            if (!s.solids.empty()) collide_range(s, begin, end, met[c]);
            if (!met[c].empty()) meet_walls(s, begin, end, 0);
            if (!s.cloths.empty()) {
                std::vector<std::uint32_t> scratch;
                for (std::size_t i = begin; i < end; ++i) stop_at_cloth(s, i, touched[c], scratch);
            }
            if (s.periodic())
                for (std::size_t i = begin; i < end; ++i) wrap(s, s.p.x[i]);
        });
        for (std::size_t c = 0; c < chunks; ++c) {
            s.contacts += met[c].size() + touched[c].size();
            respond(s, dt, met[c]);
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
