// Particles against solids, exactly: the path of a particle during a step, seen from each body that its swept box may
// meet (Pouchol et al. 2009, 3.2 and 4.2), is a segment against the shape. A particle that would enter stops at the
// surface and slides. The response is inelastic with wet friction: impulses are exchanged one after the other, in the
// order of the particles, with the reduced mass of the two, so that no meeting adds energy however many particles meet
// a body that is lighter than they are together. No particle ends a step inside a body or beyond a wall.
#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "simulation/step/integrate.hpp"
#include "simulation/step/run.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// Spacings. A particle stops so far in front of a surface: some thousand times the rounding error of a coordinate
// (fluid.hpp), so that it is in front in single precision, too, and too little for the fluid to notice.
constexpr double skin_width = 0.02;
// Skins. How far a mesh looks for its surface around the place where a particle stopped: one that lies deeper inside is
// not found to be inside.
constexpr double look_around_skins = 4;

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
    const Shape::Distance d = shape.distance(b, look_around_skins * skin);
    if (d.value < skin) {
        n = d.normal;
        b += (skin - d.value) * n;
        met = true;
    }
    if (!met) return false;
    if (!shape.convex() && (shape.entry(a, b) || shape.distance(b, look_around_skins * skin).value < 0)) b = a;
    to = after.out(b);
    normal = after.turn * n;
    return true;
}

// A particle that met a body.
struct Meeting {
    std::uint32_t particle, body;
    Vector point, normal;  ///< on the body itself, not on an image; out of the body
};

void collide_range(const World& world, const Solids& solids, std::span<const Vec3f> before, std::span<Vec3f> x,
                   std::size_t begin, std::size_t end, std::vector<Meeting>& meetings) {
    QUADRAT_ASSERT(before.size() == x.size() && begin <= end && end <= x.size());
    std::vector<std::uint32_t> near;
    const double skin = skin_width * world.scene.spacing;
    for (std::size_t i = begin; i < end; ++i) {
        const Vector from = vector(before[i]);
        Vector to = from + vector(world.apart(x[i], before[i]));
        solids.candidates(from, to, near);
        if (near.empty()) continue;
        bool moved = false;
        for (int round = 0; round < 3; ++round) {
            bool again = false;
            for (const std::uint32_t number : near) {
                const auto& [b, shift] = solids.path_image(number);
                const Body& body = solids.bodies()[b];
                Vector n, goal = to - shift;
                if (!stop(body, frame(body.before), frame(solids.poses[b]), skin, from - shift, goal, n)) continue;
                again = moved = true;
                if (round == 0) meetings.push_back({static_cast<std::uint32_t>(i), b, goal, n});
                to = goal + shift;
            }
            if (!again) break;
        }
        if (moved) x[i] = plain_float(to);
    }
}

void respond(Fluid& fluid, Solids& solids, double dt, const std::vector<Meeting>& meetings) {
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round)
        for (const Meeting& m : meetings) {
            const Body& body = solids.bodies()[m.body];
            const double inverse = 1 / double{fluid.phase_of(m.particle).mass};
            const Vector v = vector(fluid.p.v[m.particle]);
            const Vector relative = v - solids.velocity_at(m.body, m.point);
            const double into = relative.dot(m.normal);
            Vector impulse = Vector::Zero();
            if (into < 0)
                impulse = (round == 0 ? 1 + body.restitution : 1) * -into /
                          (inverse + solids.ease(m.body, m.point, m.normal)) * m.normal;
            const Vector slide = relative - into * m.normal;
            const double sliding = slide.norm();
            if (round == 0 && sliding > 0)
                impulse += (std::exp(-body.friction * dt) - 1) /
                           (inverse + solids.ease(m.body, m.point, slide / sliding)) * slide;
            fluid.p.v[m.particle] = plain_float(v + inverse * impulse);
            solids.push(m.body, m.point, -impulse);
        }
}

// The path as it was walked, not from one end of a periodic axis to the other; where it crosses the seam, its image at
// the other end too, which is where it goes on.
void stop_at_cloth(const World& world, const Cloths& cloths, std::span<const Vec3f> before, std::span<Vec3f> x,
                   std::size_t i, std::vector<ClothTouch>& touches, std::vector<std::uint32_t>& scratch) {
    const auto id = static_cast<std::uint32_t>(i);
    if (!world.periodic()) {
        cloths.stop(id, before[i], x[i], touches, scratch);
        return;
    }
    Vec3f from = before[i];
    const Vec3f step = world.apart(x[i], from);
    Vec3f to = {{from[0] + step[0], from[1] + step[1], from[2] + step[2]}};
    const auto stop = [&] {
        const Vec3f wanted = to;
        cloths.stop(id, from, to, touches, scratch);
        return to != wanted;
    };
    bool moved = stop();
    Vec3f there = to;
    world.wrap(there);
    if (there != to) {
        for (int k = 0; k < 3; ++k) from[k] += there[k] - to[k];
        to = there;
        moved = stop() || moved;
    }
    if (moved) x[i] = to;
}

}  // namespace

void collide(Run& run, double dt) {
    const World& world = run.world;
    Fluid& fluid = run.fluid;
    Solids& solids = run.solids;
    Cloths& cloths = run.cloths;
    const Clock& clock = run.clock;
    Tally& tally = run.tally;
    std::vector<Vec3f>& before = run.before;
    if (solids.empty() && cloths.empty()) return;
    QUADRAT_ASSERT(before.size() == fluid.p.size());  // move_particles() was before
    const std::size_t n = fluid.p.size();
    std::vector<ClothTouch> touches;
    {
        const Timer timer(tally.seconds.collide);
        std::vector<Solids::Ground> walls;
        for (const Wall& w : world.walls)
            walls.push_back({Vector(double{w.normal[0]}, double{w.normal[1]}, double{w.normal[2]}), double{w.offset},
                             double{w.restitution}, double{w.friction}});
        tally.contacts += solids.move(dt, clock.time, walls);
        const std::size_t chunks = base::chunk_count(n, grain);
        std::vector<std::vector<Meeting>> met(chunks);
        std::vector<std::vector<ClothTouch>> touched(chunks);
        base::run_tasks(world.executor, chunks, [&](std::size_t c) {
            const std::size_t begin = c * grain, end = std::min(n, (c + 1) * grain);
            if (!solids.empty()) collide_range(world, solids, before, fluid.p.x, begin, end, met[c]);
            if (!met[c].empty()) meet_walls(world, fluid, begin, end, 0);
            if (!cloths.empty()) {
                std::vector<std::uint32_t> scratch;
                for (std::size_t i = begin; i < end; ++i)
                    stop_at_cloth(world, cloths, before, fluid.p.x, i, touched[c], scratch);
            }
            if (world.periodic())
                for (std::size_t i = begin; i < end; ++i) world.wrap(fluid.p.x[i]);
        });
        for (std::size_t c = 0; c < chunks; ++c) {
            tally.contacts += met[c].size() + touched[c].size();
            respond(fluid, solids, dt, met[c]);
            touches.insert(touches.end(), touched[c].begin(), touched[c].end());
        }
    }
    if (cloths.empty()) return;
    const Timer timer(tally.seconds.cloth);
    std::vector<float> mass(n);
    for (std::size_t i = 0; i < n; ++i) mass[i] = fluid.phase_of(i).mass;
    cloths.respond(touches, fluid.p.v, mass, dt);
    tally.contacts += cloths.advance(clock.time + dt, solids, touches, fluid.p.x, fluid.p.v, mass);
}

}  // namespace quadrat::simulation
