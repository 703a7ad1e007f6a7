// The pass over rows of two spheres, eight at a time: the most of the work in a bed of spheres.
#pragma once

#include <cstddef>

#include "simulation/grains/solver/solve.hpp"

namespace quadrat::simulation {

/// count: of rows; the lanes of the last block beyond it are not used. rolls: null, or one block per block of rows.
struct BallLoops {
    void (*soft)(grains::BallRows* rows, grains::RollRows* rolls, std::size_t count, float* velocity,
                 const float* moved, const grains::SubStep& step);
    void (*relax)(grains::BallRows* rows, grains::RollRows* rolls, std::size_t count, float* velocity,
                  const float* moved, const grains::SubStep& step);
};
[[nodiscard]] const BallLoops& ball_loops();

}  // namespace quadrat::simulation
