// Passes over rows: what a sub-step does to velocities. Projected Gauss-Seidel with warm start in sub-steps, each with
// one pass in which overlaps and gaps count ("soft": an overlap is pulled back as by a damped spring that is much
// faster than the sub-step) and one that takes out what the first added beyond rest ("relax"); after E. Catto,
// "Solver2D" (2024), and Macklin et al., "Small Steps in Physics Simulation" (2019). Departures: Coulomb's cone is
// round (one impulse along the surface, not two); the impulses of the last sub-step come back per grain, not per
// contact; and restitution is a pass of collisions before the contacts (Guendelman et al. 2003), so that chains pass on
// what they get and no energy is made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "simulation/grains/solver/rows.hpp"

namespace quadrat::simulation::grains {

/// How an overlap is pulled back: per second, and the shares of mass and impulse that this leaves.
struct Softness {
    float rate, mass, impulse;
};
/// Of a spring whose period is so many times the sub-step, damped by `damping` times what is critical.
[[nodiscard]] Softness softness(double sub_step, double periods, double damping);

/// What the passes of one sub-step share.
struct SubStep {
    float dt, per_dt;
    Softness pair, wall;
    float fastest_push;  ///< overlaps are pulled back at most so fast, in radii per second
    float bounce_speed;  ///< m / s
    float fall;          ///< how far gravity moves a grain that is at rest, twice: who may meet though too slow yet
};

enum class Pass : std::uint8_t { soft, relax };

/// Each takes the rows of one chunk; `rolls` is empty or null, or has one per row. count: of rows, in blocks of eight.
void warm_start(const BallRows* rows, const RollRows* rolls, std::size_t count, Motion* velocity);
void warm_start(std::span<const WallRow> rows, std::span<const RollRow> rolls, Motion* velocity);
void solve(BallRows* rows, RollRows* rolls, std::size_t count, Motion* velocity, const Motion* moved,
           const SubStep& step, Pass pass);
void solve(std::span<WallRow> rows, std::span<RollRow> rolls, Motion* velocity, const Motion* moved,
           const SubStep& step, double since, Pass pass);

void warm_start(std::span<const HullRow> rows, Motion* velocity, const Symmetric* inverse_inertia);
void solve(std::span<HullRow> rows, Motion* velocity, const Motion* moved, const Symmetric* inverse_inertia,
           const SubStep& step, double since, Pass pass);

/// Collisions of those that meet within the sub-step, faster than bounce_speed; whether there were any. met: mass of
/// those that collided becomes 1.
bool collide(const BallRows* rows, std::size_t count, Motion* velocity, const Motion* moved, Motion* met,
             const SubStep& step);
/// since: seconds from the begin of the step, for walls that move.
bool collide(std::span<const WallRow> rows, std::span<const float> bounce, Motion* velocity, const Motion* moved,
             Motion* met, const SubStep& step, double since);
/// Of bodies that meet with several points, one collision in their middle.
bool collide(std::span<const HullRow> rows, Motion* velocity, const Motion* moved, Motion* met,
             const Symmetric* inverse_inertia, const SubStep& step, double since);

/// What a normal impulse has to reach: the speed to be added to that of the gap, and the shares of the softness.
struct Target {
    float speed, mass, impulse;
};
/// gap: at the begin of the sub-step, in both passes. radius: a length of the smaller body, for the fastest push.
inline Target target(float gap, float radius, const Softness& soft, const SubStep& step, Pass pass) {
    if (gap > 0) return {gap * step.per_dt, 1, 0};  // it may close within the sub-step, no more
    if (pass == Pass::relax) return {0, 1, 0};
    return {std::max(soft.rate * gap, -step.fastest_push * radius), soft.mass, soft.impulse};
}
/// The normal impulse that is to be added, given the speed at which the gap opens.
inline float more_push(float& push, float mass, float speed, const Target& t) {
    const float now = std::max(push - mass * t.mass * (speed + t.speed) - t.impulse * push, 0.0f);
    return now - std::exchange(push, now);
}

}  // namespace quadrat::simulation::grains
