// What stops a run that has blown up, with the particle, the time and the reason. Walls hide a blow-up: they stop each
// particle, and the next step throws it again. So energies are those before walls act.
#pragma once

#include "simulation/step/integrate.hpp"
#include "simulation/step/run.hpp"

namespace quadrat::simulation {

/// Throws if a fixed step breaks eq. 12 at the speed to be expected, or what forces allow.
void check_fixed_step(const World& world, const Fluid& fluid, const Clock& clock);

/// Notes what the fluid has at the start.
void start_budget(Run& run);
/// Emits, and notes the energy of what came in.
void emit_counted(Run& run);
/// After a move by dt: throws if the fluid has more kinetic energy than gravity, what came in, bodies, sheets, tension
/// and a fall at the expected speed explain together, if a particle is not finite, beyond all bounds, or several times
/// as dense as at rest, or if a fixed step broke eq. 12.
void guard_move(Run& run, const Moved& moved, double dt);
/// Throws if a particle is not finite or beyond all bounds.
void guard(const World& world, const Fluid& fluid, double time);

}  // namespace quadrat::simulation
