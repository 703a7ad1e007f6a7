// The room of time: a Run is all rooms together, and only what is declared here may see it whole: how a run starts,
// steps, and becomes bytes. The parts of a step take the rooms that they need.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include "simulation/cloth/cloths.hpp"
#include "simulation/fluid/fluid.hpp"
#include "simulation/scene/world.hpp"
#include "simulation/solids/solids.hpp"
#include "simulation/viscosity/holds.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::simulation {

/// Whether accelerations act.
enum class Kick : bool { no, yes };

struct Clock {
    double courant = 0, largest_step = 0;  ///< from the scene
    double time = 0;
    double last_step = 0;  ///< 0 before the first
    std::uint64_t steps = 0;
};

/// What is measured of a step.
struct Tally {
    std::uint64_t contacts = 0;
    std::uint32_t iterations = 0;
    std::uint32_t friction_rounds = 0;  ///< of implicit viscosity
    StepSeconds seconds;
};

/// What explains the fluid's kinetic energy, in J (guard.hpp).
struct Budget {
    double given = 0;         ///< at the start, and with what came in
    double work = 0;          ///< by gravity and attraction since
    double solid_speed = 0;   ///< largest of bodies and sheets so far, m / s
    double solid_energy = 0;  ///< largest of dynamic bodies so far
};

struct Run {
    World world;
    Fluid fluid;
    Solids solids;
    Cloths cloths;
    Clock clock;
    Tally tally;
    Budget budget;
    Behind behind;
    std::vector<Vec3f> before;  ///< positions at the start of the move
};

/// Adds the seconds until it ends.
class Timer {
  public:
    explicit Timer(double& to);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

  private:
    double& to_;
    double start_;
};

// set_up.cpp
/// A run at time 0; run.world.scene is valid.
void set_up(Run& run);

// simulation.cpp
/// One step (or one frame of steps of their own) that does not pass `end`.
void step(Run& run, double end);
/// Neighbours and densities at the present positions.
void look_around(Run& run);
/// Accelerations of the fluid, and forces on bodies.
void find_forces(Run& run, bool pressure, const std::uint8_t* active = nullptr);
/// Moves particles alone, and keeps where they were if they can meet something on their way. Throws if they blew up.
void move_particles(Run& run, double dt, Kick kick);
/// Moves particles, bodies and cloth by dt; accelerations are those of the present positions.
void move(Run& run, double dt);

// per_particle.cpp
/// One frame of steps of its own for each particle.
void per_particle_frame(Run& run, double end);

// incompressible_step.cpp
void incompressible_step(Run& run, double end);

// particle_collisions.cpp
/// Keeps particles on the right side of walls, bodies and cloth; paths are from Run::before to the positions.
void collide(Run& run, double dt);

// checkpoint.cpp
void save(const Run& run, std::span<const std::byte> note, std::vector<std::byte>& out);
[[nodiscard]] std::span<const std::byte> note_of(std::span<const std::byte> bytes);
void load(Run& run, std::span<const std::byte> bytes);

}  // namespace quadrat::simulation
