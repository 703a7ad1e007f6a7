// What follows from a scene before anything is placed: its walls and periods, and the largest speed to be expected.
// That is the speed of a free fall over the height of what may fall, or of what the scene sends in.
#include "simulation/scene/world.hpp"

#include "base/assert.hpp"
#include "simulation/solids/shape.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// How high the highest fluid stands above the lowest place of the domain or of the fluid itself, along gravity.
double fall_height(const Scene& s) {
    const double g = norm(s.gravity);
    if (g == 0) return 0;
    double highest = -1e300, lowest = 1e300;
    const auto take = [&](const Vec3d& p, bool top) {
        const double height = -(p[0] * s.gravity[0] + p[1] * s.gravity[1] + p[2] * s.gravity[2]) / g;
        if (top) highest = std::max(highest, height);
        lowest = std::min(lowest, height);
    };
    for (const FluidBlock& b : s.blocks) take(b.box.lo, true), take(b.box.hi, true);
    for (const FluidParticles& f : s.particles)
        for (const Vec3d& p : f.positions) take(p, true);
    for (const Emitter& e : s.emitters) take(e.position, true);
    if (highest < lowest) return 0;
    Vec3d bottom = s.domain.box.lo;  // the corner that lies deepest, where a wall holds the fluid
    bool walled = true;
    for (std::size_t k = 0; k < 3; ++k) {
        const double down = s.gravity[static_cast<int>(k)];
        if (down > 0) bottom[static_cast<int>(k)] = s.domain.box.hi[static_cast<int>(k)];
        if (down != 0 && (s.domain.periodic[k] || s.domain.open[2 * k + (down > 0)])) walled = false;
    }
    if (walled) take(bottom, false);
    return highest - lowest;
}

double given_speed(const Scene& s) {
    double speed = 0;
    for (const FluidBlock& b : s.blocks) speed = std::max(speed, norm(b.velocity));
    for (const FluidParticles& f : s.particles)
        for (const Vec3d& v : f.velocities) speed = std::max(speed, norm(v));
    for (const Emitter& e : s.emitters) speed = std::max(speed, e.speed);
    for (const RigidBody& b : s.bodies)
        if (b.motion != BodyMotion::fixed)
            speed = std::max(speed, norm(b.velocity) + turning_arm(b, s.dimension) * norm(b.angular_velocity));
    return speed;
}

void add_walls(World& world) {
    const Domain& d = world.scene.domain;
    const auto add = [&](const Vec3d& n, double offset, const SurfaceResponse& r) {
        const double length = norm(n);
        QUADRAT_ASSERT(length > 0);
        world.walls.push_back(
            {{static_cast<float>(n[0] / length), static_cast<float>(n[1] / length), static_cast<float>(n[2] / length)},
             static_cast<float>(offset),
             static_cast<float>(r.restitution),
             static_cast<float>(r.friction)});
    };
    for (std::size_t k = 0; k < static_cast<std::size_t>(world.scene.dimension); ++k) {
        const int axis = static_cast<int>(k);
        if (d.periodic[k]) {
            world.period[k] = static_cast<float>(d.box.hi[axis] - d.box.lo[axis]);
            continue;
        }
        Vec3d n = {};
        n[axis] = 1;
        if (!d.open[2 * k]) add(n, d.box.lo[axis], d.response);
        n[axis] = -1;
        if (!d.open[2 * k + 1]) add(n, -d.box.hi[axis], d.response);
    }
    for (const WallPlane& w : d.planes) add(w.normal, w.offset, w.response);
}

}  // namespace

void World::wrap(Vec3f& x) const {
    for (int k = 0; k < 3; ++k) {
        const float l = period[static_cast<std::size_t>(k)];
        if (!(l > 0)) continue;
        const auto lo = static_cast<float>(scene.domain.box.lo[k]);
        if (x[k] >= lo && x[k] < lo + l) continue;
        x[k] -= l * std::floor((x[k] - lo) / l);
        if (x[k] >= lo + l || x[k] < lo) x[k] = lo;  // rounding: both ends are one place
    }
}

void derive(World& world) {
    const Scene& c = world.scene;
    QUADRAT_ASSERT(c.spacing > 0 && world.walls.empty());
    double& speed = world.expected_speed;
    speed = c.expected_speed;
    if (speed == 0) speed = std::sqrt(2 * norm(c.gravity) * fall_height(c)) + given_speed(c);
    if (speed == 0) speed = 1;
    // Tension presses a phase together with some 8 sigma / h (measured).
    if (c.expected_speed == 0)
        for (const Phase& p : c.phases)
            speed = std::max(speed, std::sqrt(16 * p.tension / (p.rest_density * common_support(c))));
    add_walls(world);
}

}  // namespace quadrat::simulation
