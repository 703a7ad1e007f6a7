#include "simulation/state.hpp"
namespace quadrat::simulation {
void per_particle_frame(State&, double) {}
void incompressible_step(State&, double) {}
}  // namespace quadrat::simulation
