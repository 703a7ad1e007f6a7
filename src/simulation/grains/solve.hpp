// Passes over rows: what a sub-step does to velocities. Projected Gauss-Seidel with warm start in sub-steps, each with
// one pass in which overlaps and gaps count ("soft": an overlap is pulled back as by a damped spring that is much
// faster than the sub-step) and one that takes out what the first added beyond rest ("relax"); after E. Catto, "Solver2D"
// (2024), and Macklin et al., "Small Steps in Physics Simulation" (2019). Departures: Coulomb's cone is round (one
// impulse along the surface, not two); the impulses of the last sub-step come back per grain, not per contact; and
// restitution is a pass of collisions before the contacts (Guendelman et al. 2003), so that chains pass on what they
// get and no energy is made.
#pragma once

#include <cstdint>
#include <span>

#include "simulation/grains/rows.hpp"

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

/// Each takes the rows of one chunk; `rolls` is empty or has one per row.
void warm_start(std::span<const BallRow> rows, std::span<const RollRow> rolls, Motion* velocity);
void warm_start(std::span<const WallRow> rows, std::span<const RollRow> rolls, Motion* velocity);
void solve(std::span<BallRow> rows, std::span<RollRow> rolls, Motion* velocity, const Motion* moved,
           const SubStep& step, Pass pass);
void solve(std::span<WallRow> rows, std::span<RollRow> rolls, Motion* velocity, const Motion* moved,
           const SubStep& step, double since, Pass pass);

/// Collisions of those that meet within the sub-step, faster than bounce_speed; whether there were any. met: mass of
/// those that collided becomes 1.
bool collide(std::span<const BallRow> rows, Motion* velocity, const Motion* moved, Motion* met, const SubStep& step);
/// since: seconds from the begin of the step, for walls that move.
bool collide(std::span<const WallRow> rows, std::span<const float> bounce, Motion* velocity, const Motion* moved,
             Motion* met, const SubStep& step, double since);

}  // namespace quadrat::simulation::grains
