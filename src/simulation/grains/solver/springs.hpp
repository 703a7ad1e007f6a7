// Soft contacts: a spring with a dashpot along the normal, one along the surface that slips at Coulomb's limit (Cundall
// & Strack 1979). The linear one has the restitution of the surface at every speed; that of Hertz is stiffer the deeper
// it is pressed, with a dashpot that follows it (Tsuji, Tanaka & Ishida 1992).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "simulation/grains/solver/rows.hpp"
#include "simulation/grains/world.hpp"

namespace quadrat::simulation::grains {

struct Springs {
    Springs(const World& world, double dt);
    /// Share of critical damping for a restitution of 0 to 1.
    [[nodiscard]] float damping(float restitution) const {
        const float at = restitution * (entries - 1);
        const int k = std::min(static_cast<int>(at), entries - 2);
        const float t = at - static_cast<float>(k);
        return (1 - t) * table[k] + t * table[k + 1];
    }

    static constexpr int entries = 65;
    float table[entries];
    bool hertz;
    float stiffness;  ///< GrainOptions::stiffness
    float dt;         ///< of the sub-step
    V3f fall;         ///< what gravity adds to velocities in it
};

/// Sub-steps that a step of dt needs: a fiftieth of the time that the lightest two grains are in contact.
[[nodiscard]] std::uint32_t spring_parts(const World& world, double dt);

/// Forces of the rows of a chunk for one sub-step; normals follow the grains. `push` and `drag` become impulses.
/// before: velocities without any of these forces, with the fall.
void spring(BallRows* rows, RollRows* rolls, std::size_t count, Motion* velocity, const Motion* before,
            const Motion* moved, const Springs& springs);
/// since: seconds from the begin of the step.
void spring(std::span<WallRow> rows, std::span<RollRow> rolls, std::span<const float> bounce, Motion* velocity,
            const Motion* before, const Motion* moved, const Springs& springs, double since);

}  // namespace quadrat::simulation::grains
