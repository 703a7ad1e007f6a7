// Everything that a run consists of: the particles in their present order, constants derived from the scene, scratch
// that is kept between steps. The files beside this one are the phases of a step, each a few functions on a State.
//
// Positions and velocities are single precision: the search, the memory traffic and the vector code are twice as fast,
// and a spacing is some 10^5 times the rounding error of a coordinate in a domain of a hundred spacings
// (docs/decisions/0070-particle-state.md). Bodies and cloth are double.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/neighbors/cell_index.hpp>
#include <quadrat/simulation/scene.hpp>
#include <quadrat/simulation/simulation.hpp>

#include "base/array.hpp"
#include "simulation/cloth/cloths.hpp"
#include "simulation/fluid/tables.hpp"
#include "simulation/solids/solids.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadrat::simulation {

/// Particles per task; sums are formed per task and combined in order.
inline constexpr std::size_t grain = 2048;

struct PhaseData {
    float mass, rest_density, volume, stiffness, gamma, sound_speed, viscosity, artificial, tension, support;
    bool negative_pressure;
};

/// dot(normal, x) >= offset holds the fluid.
struct Wall {
    std::array<float, 3> normal;
    float offset;
    float restitution, friction;
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

    [[nodiscard]] std::size_t size() const { return x.size(); }
    void resize(std::size_t n);
    /// Calls fn(array) for each array that is in use.
    template <class Fn>
    void each(Fn&& fn) {
        fn(x), fn(v), fn(a), fn(rho), fn(p), fn(phase), fn(id), fn(kappa), fn(kappa_v), fn(level), fn(dt);
        if (!h.empty()) fn(h);
    }
};

struct EmitterState {
    std::uint64_t layers = 0;  ///< sent out so far
    std::uint64_t particles = 0;
    std::vector<Vec3d> disc;  ///< offsets of one layer
};

struct State {
    Scene scene;
    Executor* executor = nullptr;

    // Derived from the scene.
    int dimension = 3;
    double spacing = 0, support = 0, expected_speed = 0, sound_speed = 0, courant = 0, largest_step = 0;
    std::vector<PhaseData> phases;
    std::vector<Wall> walls;
    Box3f inner = {};                         ///< farther than the largest support from every side with a wall
    std::array<float, 3> period = {0, 0, 0};  ///< 0: not periodic
    bool same_support = true;
    bool number_density = true;  ///< densities count neighbours (all volumes are the same); else they sum masses, eq. 7
    bool tension = false;
    float largest_support = 0;
    double calibration = 1;  ///< factor of the kernel that gives a lattice at rest its rest density
    KernelTable density_kernel, force_kernel, viscosity_kernel, colour_kernel;
    WallTable density_wall, force_wall;

    // The run.
    Particles p;
    double time = 0;
    double last_step = 0;  ///< 0 before the first
    std::uint64_t steps = 0;
    std::uint32_t next_id = 0;
    std::vector<EmitterState> emitters;
    Solids solids;
    Cloths cloths;

    // Scratch and counters.
    std::optional<CellIndex<3, float>> index;
    NeighborList near;
    base::Array<float> records, places, block_gradient;  ///< for the vector loops
    base::Array<std::uint32_t> block_index;
    std::vector<Vec3f> before;  ///< positions at the start of the move
    std::uint64_t pairs = 0, contacts = 0;
    std::uint32_t iterations = 0;
    PhaseSeconds seconds;

    [[nodiscard]] bool periodic() const { return period[0] > 0 || period[1] > 0 || period[2] > 0; }
    /// x_i - x_j, by way of the nearest image.
    [[nodiscard]] Vec3f apart(const Vec3f& a, const Vec3f& b) const {
        Vec3f d = {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}};
        for (int k = 0; k < 3; ++k) {
            const float l = period[static_cast<std::size_t>(k)];
            if (l > 0) {
                if (d[k] > 0.5f * l) d[k] -= l;
                if (d[k] < -0.5f * l) d[k] += l;
            }
        }
        return d;
    }
    /// How far the largest support reaches.
    [[nodiscard]] double reach() const { return same_support ? support : double{largest_support}; }
    [[nodiscard]] float support_of(std::size_t i) const { return p.h.empty() ? static_cast<float>(support) : p.h[i]; }
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

// validate.cpp
/// Throws Error for what a scene must not hold.
void validate(const Scene& scene);
/// Throws if the constants of a scene ask for steps that never come to an end.
void check_steps(const State& s);
/// Throws if a point is behind a wall or outside of a periodic axis.
void check_place(const State& s, const Vec3d& x, const std::string& path);
/// Throws if a part of a body is behind a wall.
void check_body(const State& s, std::size_t body);
[[nodiscard]] inline double default_support(const Scene& scene) {
    return (scene.dimension == 2 ? 2.4 : 2.0) * scene.spacing;
}

// setup.cpp
/// A state at time 0; the scene is valid.
void set_up(State& s);
/// What follows from the scene alone.
void derive_constants(State& s);
/// Adds a particle.
void add_particle(State& s, const Vec3d& x, const Vec3d& v, std::uint32_t phase, double support);

// emitters.cpp
void set_up_emitters(State& s);
/// The step while there is no fluid: until there is some.
[[nodiscard]] double empty_step(const State& s);
/// Sends out what is due until `time`.
void emit(State& s, double time);

// order.cpp
/// Takes out particles that have left for good (leaving.hpp).
void take_out_gone(State& s);
/// Sorts all particles along a Z curve.
void sort_particles(State& s);
/// Finds the neighbours of all particles, and what boundaries are near.
void search(State& s);

// fluid.cpp
/// Densities and pressures at the present positions.
void densities(State& s);
/// Accelerations from pressure, viscosity, tension, boundaries and gravity, for every particle (or those whose flag is
/// set). Forces on bodies go to the solids.
void forces(State& s, bool pressure, const std::uint8_t* active = nullptr);
/// Joules per kilogram of compression.
[[nodiscard]] double internal_energy(const State& s, std::size_t i);

// fast.cpp: the same for fluids with one support and one viscosity, by vector loops.
[[nodiscard]] bool fast_path(const State& s);
void fast_densities(State& s);
void fast_forces(State& s, bool pressure, std::vector<std::vector<Wrench>>& reaction);

// integrate.cpp
/// The largest step that eq. 12 allows.
[[nodiscard]] double courant_step(const State& s);
/// Moves particles, bodies and cloth by dt; accelerations are those of the present positions.
void move(State& s, double dt);
/// One frame of steps of its own for each particle.
void per_particle_frame(State& s, double end);
/// Throws if a particle is not finite or out of all bounds.
void guard(const State& s);

// incompressible.cpp
void incompressible_step(State& s, double largest);

// collide.cpp
/// Keeps particles on the right side of walls, bodies and cloth; paths are from State::before to the positions.
void collide(State& s, double dt);

// checkpoint.cpp
void save(const State& s, std::span<const std::byte> note, std::vector<std::byte>& out);
[[nodiscard]] std::span<const std::byte> note_of(std::span<const std::byte> bytes);
void load(State& s, std::span<const std::byte> bytes);

}  // namespace quadrat::simulation
