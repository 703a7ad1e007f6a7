// The move of the particles, and how long it may be.
#pragma once

#include "base/assert.hpp"
#include "simulation/step/run.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::simulation {

/// v is that of half a step (dt_old / 2) ago and becomes that of half a step (dt / 2) from now; x moves by dt. Second
/// order also when the steps differ. dt_old = 0 starts from a velocity of the same time as x.
template <class T>
inline void leap_frog(T& x, T& v, T a, T dt_old, T dt) {
    v += T(0.5) * (dt_old + dt) * a;
    x += dt * v;
}

/// A step that ends at the rest or leaves room for one of at least half of its length.
[[nodiscard]] inline double cut(double dt, double rest) {
    QUADRAT_ASSERT(dt >= 0 && rest > 0);
    if (dt >= rest) return rest;
    return 2 * dt > rest ? 0.5 * rest : dt;
}

/// The largest step that eq. 12 and the forces allow particle i.
[[nodiscard]] float courant_limit(const World& world, const Fluid& fluid, const Clock& clock, std::size_t i);
/// The largest that they allow all.
[[nodiscard]] double courant_step(const World& world, const Fluid& fluid, const Clock& clock);
/// The largest step that viscosity as a force and tension (Brackbill et al. 1992) allow.
[[nodiscard]] double force_limit(const World& world, const Fluid& fluid);
/// The step while there is no fluid: until there is some.
[[nodiscard]] double empty_step(const World& world, const Fluid& fluid, const Clock& clock);
/// What a move did.
struct Moved {
    std::uint64_t met = 0;  ///< particles that met a wall
    double kinetic = 0;     ///< J, before walls took anything
    double work = 0;        ///< J, by gravity and attraction
    float fastest_sq = -1;
    std::size_t fastest = 0;  ///< the particle
};
/// Moves all particles by dt.
Moved advance(const World& world, Fluid& fluid, double dt, Kick kick);
/// Puts particles [begin, end) back in front of the walls; returns how many were behind.
std::uint64_t meet_walls(const World& world, Fluid& fluid, std::size_t begin, std::size_t end, double dt);
}  // namespace quadrat::simulation
