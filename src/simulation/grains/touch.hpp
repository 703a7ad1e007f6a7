// From pairs to rows: where grains touch, or may within the step, and what the solver has to know about it.
#pragma once

#include <vector>

#include "simulation/grains/pairs.hpp"
#include "simulation/grains/solver/rows.hpp"
#include "simulation/grains/world.hpp"

namespace quadrat::simulation::grains {

/// Grains as the solver has them, at the begin of a step of dt.
void gather(const World& world, const Pairs& pairs, double dt, Bodies& bodies);

/// Fills the rows of all pairs that are near enough, and says in the chunks how many there are. Memories of pairs that
/// are not are emptied; those of two that sleep stay. scale: of the impulses that are remembered, the sub-step in terms
/// of the last. Refills `wakes` with grains (by number) that sleep and are hit.
void touch(const World& world, Pairs& pairs, const Bodies& bodies, double dt, float scale, Rows& rows,
           std::vector<std::uint32_t>& wakes);

/// Impulses back from rows to pairs.
void remember(Pairs& pairs, const Rows& rows, const World& world);

/// Where the triangle, placed in the world, is nearest to the point; false if that is an edge or corner for which
/// another triangle speaks, or where another one is nearer. normal: of the triangle where the point lies on it.
struct Nearest {
    V3d point, normal;
};
[[nodiscard]] bool nearest(const WallTriangle& triangle, const V3d& point, Nearest& out);

}  // namespace quadrat::simulation::grains
