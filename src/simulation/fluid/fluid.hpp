// The room of the fluid, as the others see it: the particles in their present order, the constants of their phases, and
// the phases of a step, each a function of the rooms that it needs. Others may read everything; the step room moves
// particles (x, v, dt, level), and the solver of fluid/pressure_solver.hpp is the step's too. Scratch is nobody else's.
//
// Positions and velocities are single precision: the search, the memory traffic and the vector code are twice as fast,
// and a spacing is some 10^5 times the rounding error of a coordinate in a domain of a hundred spacings
// (docs/decisions/0070-particle-state.md). Bodies and cloth are double.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/neighbors/cell_index.hpp>

#include "base/array.hpp"
#include "simulation/fluid/tables.hpp"
#include "simulation/scene/world.hpp"
#include "simulation/solids/solids.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace quadrat::simulation {

struct PhaseData {
    float mass, rest_density, volume, stiffness, gamma, sound_speed, viscosity, artificial, tension, support;
    bool negative_pressure;
};

/// One entry per particle, all in the same order.
struct Particles {
    std::vector<Vec3f> x, v, a;  ///< v is that of half a step ago
    std::vector<float> rho, p;
    std::vector<float> h;  ///< own supports; empty when all are the same
    std::vector<std::uint8_t> phase;
    std::vector<std::uint32_t> id;
    std::vector<float> kappa, kappa_v;  ///< of the incompressible solver, where the next step starts
    std::vector<std::uint8_t> level;    ///< its step is the frame's / 2^level
    std::vector<float> dt;              ///< its last step
    std::vector<Vec3f> drag;            ///< acceleration by implicit viscosity in the last step

    [[nodiscard]] std::size_t size() const { return x.size(); }
    void resize(std::size_t n);
    /// Calls fn(array) for each array that is in use.
    template <class Fn>
    void each(Fn&& fn) {
        fn(x), fn(v), fn(a), fn(rho), fn(p), fn(phase), fn(id), fn(kappa), fn(kappa_v), fn(level), fn(dt), fn(drag);
        if (!h.empty()) fn(h);
    }
};

struct EmitterState {
    std::uint64_t layers = 0;  ///< sent out so far
    std::uint64_t particles = 0;
    std::vector<Vec3d> disc;  ///< offsets of one layer
};

struct Fluid {
    bool general_loops = false;  ///< never the vector loops; for tests that compare, not saved

    // Derived from the scene.
    double support = 0, sound_speed = 0;
    float largest_support = 0;
    std::vector<PhaseData> phases;
    Box3f inner = {};  ///< farther than the largest support from every side with a wall
    bool same_support = true;
    bool number_density = true;  ///< densities count neighbours (all volumes are the same); else they sum masses, eq. 7
    bool tension = false;
    /// Viscosity is the solver's of viscosity/: some phase has any, all have one support, one step for all, and not the
    /// paper's kernels. Otherwise it is a force between particles.
    bool implicit_viscosity = false;
    std::vector<double> friction_rates;  ///< of phases: explicit_friction() for a viscosity of 1 Pa s
    double calibration = 1;              ///< factor of the kernel that gives a lattice at rest its rest density
    KernelTable density_kernel, force_kernel, viscosity_kernel, colour_kernel;
    WallTable density_wall, force_wall;

    // The run.
    Particles p;
    std::uint32_t next_id = 0;
    std::vector<EmitterState> emitters;
    std::uint64_t pairs = 0;

    // Scratch.
    std::optional<CellIndex<3, float>> index;
    NeighborList near;
    base::Array<float> records, places, natures, block_gradient;  ///< for the vector loops
    base::Array<std::uint32_t> block_index;

    /// How far the largest support reaches.
    [[nodiscard]] double reach() const { return same_support ? support : double{largest_support}; }
    [[nodiscard]] float support_of(std::size_t i) const { return p.h.empty() ? static_cast<float>(support) : p.h[i]; }
    [[nodiscard]] const PhaseData& phase_of(std::size_t i) const { return phases[p.phase[i]]; }
};

// fill.cpp
/// Phases, supports and kernels. Throws Error if the solver cannot do with them.
void derive(const World& world, Fluid& fluid);
[[nodiscard]] KernelFunction density_function(KernelKind kind);
/// Adds the particles of blocks and lists. Returns where those of each block end.
[[nodiscard]] std::vector<std::size_t> place_particles(const World& world, Fluid& fluid);
/// Lattice points nearer than half a spacing to a body are not part of a block; a single particle inside one, and a
/// block of which nothing is left, is an error.
void remove_inside_bodies(const World& world, Fluid& fluid, const Solids& solids, std::vector<std::size_t>& block_ends);
/// Particles in one place have no direction in which to push each other apart: throws Error. search() comes first.
void refuse_coincident(const World& world, const Fluid& fluid, const std::vector<std::size_t>& block_ends);
/// Adds a particle.
void add_particle(Fluid& fluid, const Vec3d& x, const Vec3d& v, std::uint32_t phase, double support);

// explicit_friction.cpp
/// Fills Fluid::friction_rates.
void find_friction_rates(const World& world, Fluid& fluid);
/// The rate, 1 / s, that no motion decays faster at by viscosity and artificial viscosity as forces between particles
/// of a phase and a support, on a lattice at rest.
[[nodiscard]] double explicit_friction(const World& world, const Fluid& fluid, const PhaseData& phase, double support);

// emitters.cpp
void set_up_emitters(const World& world, Fluid& fluid, const Solids& solids);
/// When the next particles come after `time`; infinity: never.
[[nodiscard]] double next_emission(const World& world, const Fluid& fluid, double time);
/// Whether something is due until `time`.
[[nodiscard]] bool emission_due(const World& world, const Fluid& fluid, double time);
/// Sends out what is due until `time`.
void emit(const World& world, Fluid& fluid, const Solids& solids, double time);

// order.cpp
/// Takes out particles that have left for good (leaving.hpp).
void take_out_gone(const World& world, Fluid& fluid);
/// Sorts all particles along a Z curve.
void sort_particles(const World& world, Fluid& fluid);
/// Finds the neighbours of all particles, and what boundaries are near.
void search(const World& world, Fluid& fluid, Solids& solids);

// fluid.cpp
/// Densities and pressures at the present positions.
void densities(const World& world, Fluid& fluid, const Solids& solids);
/// Accelerations from pressure, viscosity, tension, boundaries and gravity, for every particle (or those whose flag is
/// set). Forces on bodies go to the solids.
void forces(const World& world, Fluid& fluid, Solids& solids, bool pressure, const std::uint8_t* active = nullptr);
/// Joules per kilogram of compression.
[[nodiscard]] double internal_energy(const World& world, const Fluid& fluid, std::size_t i);

// fast.cpp: the same for fluids with one support and no viscosity as a force, by vector loops.
[[nodiscard]] bool fast_path(const World& world, const Fluid& fluid);
void fast_densities(const World& world, Fluid& fluid, const Solids& solids);
void fast_forces(const World& world, Fluid& fluid, const Solids& solids, bool pressure,
                 std::vector<std::vector<Wrench>>& reaction);

}  // namespace quadrat::simulation
