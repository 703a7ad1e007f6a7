// Rows of pairs that are not two spheres, or a sphere and a wall.
#pragma once

#include "simulation/grains/pairs.hpp"
#include "simulation/grains/solver/rows.hpp"
#include "simulation/grains/world.hpp"

namespace quadrat::simulation::grains {

/// Friction and the like of two that meet.
struct Mixed {
    float friction, bounce, rolling;
};
[[nodiscard]] Mixed mixed(const GrainSurface& a, const GrainSurface& b);

/// Fills the row where the pair has points nearer than it may come within dt. ids: grains by place. scale: as touch().
/// speed: of the wall there, m / s; 0 for a grain.
[[nodiscard]] bool touch_hulls(const World& world, const Pairs::Near& pair, std::span<const std::uint32_t> ids,
                               const Bodies& bodies, double dt, float scale, const HullMemory& memory, HullRow& row,
                               double& speed);
/// What the pair remembers of the row.
[[nodiscard]] HullMemory memory_of(const HullRow& row, const Quaternion& orientation_a);

}  // namespace quadrat::simulation::grains
