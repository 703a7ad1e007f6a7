// Contacts as the solver has them: one row of numbers each, in single precision, beside the velocities of the grains in
// the order of their places. Rows of one colour have no grain in common, so they can be solved in any order, on any
// number of threads, with the same result.
#pragma once

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "simulation/grains/vectors.hpp"

namespace quadrat::simulation::grains {

/// Velocities, or how far a grain has come since the begin of the step; 32 bytes, so that no grain lies on two lines of
/// the cache.
struct alignas(32) Motion {
    V3f v;       ///< m / s, or metres
    float mass;  ///< of velocities: one over the mass, 0 for what nothing moves
    V3f w;       ///< rad / s, or radians
    float turn;  ///< of velocities: one over the moment of inertia of a sphere
};

/// Two spheres. The normal points from a to b.
struct BallRow {
    std::uint32_t a, b;  ///< places
    V3f n;
    float gap;             ///< between the surfaces at the begin of the step, metres
    float ra, rb;          ///< radii
    float mass_n, mass_t;  ///< what an impulse along the normal, or along the surface, has to move, kg
    float friction;
    float push;    ///< sum of normal impulses of the sub-step, N s
    V3f drag;      ///< the same along the surface, on b
    float bounce;  ///< restitution
};

/// Eight of them side by side; `now` is the gap at the begin of the sub-step.
struct alignas(32) BallRows {
    std::uint32_t a[8], b[8];
    float nx[8], ny[8], nz[8], gap[8], now[8], ra[8], rb[8], mass_n[8], mass_t[8], friction[8], push[8], dx[8], dy[8],
        dz[8], bounce[8];

    [[nodiscard]] BallRow row(std::size_t k) const {
        return {a[k],        b[k],    {nx[k], ny[k], nz[k]}, gap[k],   ra[k], rb[k], mass_n[k], mass_t[k],
                friction[k], push[k], {dx[k], dy[k], dz[k]}, bounce[k]};
    }
    void set(std::size_t k, const BallRow& r) {
        a[k] = r.a, b[k] = r.b;
        nx[k] = r.n.x, ny[k] = r.n.y, nz[k] = r.n.z;
        gap[k] = r.gap, ra[k] = r.ra, rb[k] = r.rb;
        mass_n[k] = r.mass_n, mass_t[k] = r.mass_t;
        friction[k] = r.friction, push[k] = r.push;
        dx[k] = r.drag.x, dy[k] = r.drag.y, dz[k] = r.drag.z;
        bounce[k] = r.bounce;
    }
};

/// A sphere and a wall, whose place moves with the velocity `wall`. The normal points into the wall.
struct WallRow {
    std::uint32_t a;
    V3f n;
    float gap;
    float ra;
    float mass_n, mass_t;
    float friction;
    float push;
    V3f drag;
    V3f wall;
    float now;  ///< the gap at the begin of the sub-step
};

/// Two grains of any shape, or one and a wall (b is nothing then): up to four points with one normal.
struct HullRow {
    static constexpr std::uint32_t nothing = 0xffffffff;
    struct Point {
        V3f ra, rb;      ///< from the centres of mass; rb of a wall is not used
        float gap, now;  ///< at the begin of the step, and of the sub-step
        float mass_n, mass_1, mass_2;
        float push, drag_1, drag_2;
        V3f wall;  ///< velocity of the wall there
    };
    std::uint32_t a, b;
    V3f n, t1, t2;
    float friction, bounce;
    float size;  ///< the smaller reach, metres
    std::uint32_t count;
    Point points[4];
};

/// What rolling friction needs beside a row of spheres.
struct RollRow {
    float limit;  ///< largest angular impulse per normal impulse, metres
    float mass;   ///< kg m^2
    V3f torque;   ///< sum of the sub-step, on b
};

/// Eight of them side by side.
struct alignas(32) RollRows {
    float limit[8], mass[8], tx[8], ty[8], tz[8];

    [[nodiscard]] RollRow row(std::size_t k) const { return {limit[k], mass[k], {tx[k], ty[k], tz[k]}}; }
    void set(std::size_t k, const RollRow& r) {
        limit[k] = r.limit, mass[k] = r.mass;
        tx[k] = r.torque.x, ty[k] = r.torque.y, tz[k] = r.torque.z;
    }
};

/// The order in which pairs are solved, and what is remembered of each pair between steps.
enum class PairKind : std::uint8_t { balls, ball_wall, hulls };

/// What a pair of spheres, or a sphere and a wall, remembers.
struct Memory {
    float push = 0;
    V3f drag = {0, 0, 0}, torque = {0, 0, 0};
};

/// What other pairs remember of their points.
struct HullMemory {
    struct Point {
        V3f at;  ///< in the frame of a, metres
        float push;
        V3f drag;  ///< in the world
    };
    std::uint32_t count = 0;
    Point points[4];
};

/// All rows of a step; those of a chunk begin at its `first`, a multiple of eight.
struct Rows {
    base::Array<BallRows> balls;
    base::Array<WallRow> walls;
    base::Array<HullRow> hulls;
    base::Array<RollRows> ball_rolls;  ///< only where some surface has rolling friction
    base::Array<RollRow> wall_rolls;
    base::Array<float> wall_bounce;        ///< restitution, only where some surface has one
    base::Array<std::uint32_t> source[3];  ///< of each row of a kind, the pair in the list

    [[nodiscard]] BallRow ball(std::size_t r) const { return balls[r / 8].row(r % 8); }
};

/// The grains as the solver has them, by place.
struct Bodies {
    base::Array<V3d> position;
    base::Array<float> radius;  ///< of spheres
    base::Array<float> travel;  ///< how far it may come in this step, metres
    base::Array<std::uint8_t> asleep;
    base::Array<std::uint32_t> surface;
    base::Array<Motion> velocity, moved;
    base::Array<Motion> start;  ///< velocities before the impulses of the sub-step, then what impulses added
    base::Array<Symmetric> inverse_inertia;  ///< only where some grain is no sphere
};

}  // namespace quadrat::simulation::grains
