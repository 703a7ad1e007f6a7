// Fluid, solids and cloth in one scene, advanced in time. See docs/reference/simulation.md for the equations. Units are
// SI: metres, kilograms, seconds. Particles are single precision, bodies and cloth double.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/simulation/scene.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

/// Where a body is and how it moves.
struct BodyPose {
    /// Of the body's frame, metres: the centre of a sphere or box, the origin of a mesh's vertices.
    Vec3d position = {};
    /// Of the frame: unit quaternion w, x, y, z. The corner p of a body is at position + orientation p.
    std::array<double, 4> orientation = {1, 0, 0, 0};
    /// Of the centre of mass, m / s.
    Vec3d velocity = {};
    /// rad / s, in the world's axes; in two dimensions about z.
    Vec3d angular_velocity = {};
};

/// A sheet as it is now: views that are valid until the next step.
struct ClothSurface {
    /// Those of the scene.
    std::span<const Triangle> triangles;
    /// One per vertex, metres.
    std::span<const Vec3d> positions;
};

/// Wall-clock time spent since the start or since load(), in seconds. The only thing here that a clock decides.
struct StepSeconds {
    double search = 0;     ///< neighbours
    double density = 0;    ///< densities and equation of state
    double forces = 0;     ///< pressure, viscosity, tension
    double solve = 0;      ///< the incompressible solver
    double integrate = 0;  ///< moving particles and sorting them
    double collide = 0;    ///< paths against solids, contacts of bodies
    double cloth = 0;      ///< steps of sheets, and what they do to particles
    /// All of them; what lies between them is not counted.
    [[nodiscard]] double total() const { return search + density + forces + solve + integrate + collide + cloth; }
};

/// What the last step left, of the fluid alone: bodies and cloth are not in the sums. Energies in joules (per metre of
/// depth in 2D, as masses are), from velocities at the time of the positions.
struct SimulationStats {
    /// Of the run, seconds.
    double time = 0;
    /// Of the last step, seconds; 0 before the first. With per-particle steps that of the last who ended one.
    double time_step = 0;
    /// Made since the scene began, also before a checkpoint. Per-particle steps count each time that some end.
    std::uint64_t steps = 0;
    /// That are there now.
    std::uint64_t particles = 0;
    /// kg.
    double mass = 0;
    /// J.
    double kinetic = 0;
    /// J, from the lower corner of the domain; with Scene::attraction, that of the pull too.
    double potential = 0;
    /// Of compression, J; 0 with the incompressible solver.
    double internal = 0;
    /// kg m / s, from velocities half a step before the positions.
    Vec3d momentum = {};
    /// Mean of max(rho / rho0 - 1, 0).
    double average_density_error = 0;
    /// Largest of the same.
    double max_density_error = 0;
    /// Fluid particles near a fluid particle, on average.
    double neighbors = 0;
    /// Directed entries of the neighbour lists, fluid with fluid only.
    std::uint64_t pairs = 0;
    /// Of particles with surfaces and of bodies with each other, in the last step.
    std::uint64_t contacts = 0;
    /// m / s.
    double max_speed = 0;
    /// Of the incompressible solver in the last step, both of its solves together.
    std::uint32_t iterations = 0;
    /// How often implicit viscosity computed its forces.
    std::uint32_t friction_rounds = 0;
    /// Particles that left by an open side and were taken out, since the start.
    std::uint64_t left = 0;
    /// Where the time went.
    StepSeconds seconds = {};
};

/// One run of a scene. The same bytes for any number of threads and any processor. Not for use from several threads at
/// once; const members may be called at the same time between steps.
///
///     Scene scene;
///     scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.3, 0.5, 0.6}}}});
///     Simulation run(scene);
///     for (int frame = 1; frame <= 50; ++frame) run.advance_to(0.02 * frame);
///
/// One that was moved from can be assigned to or destroyed.
class Simulation {
  public:
    /// Checks the scene and places the particles; the densities of the start are computed, so that everything below
    /// can be asked before the first step. O(what the scene holds), and one neighbour search.
    ///
    /// scene: copied. Error{bad_value} has as field the path of what is wrong, such as "/bodies/2/radius"; two things
    ///     in one place are OverlapError; what is legal but not handled together is Error{unsupported}; more than
    ///     4e9 particles are Error{too_large}.
    /// executor: where to run; outlives the simulation. Default: null, the calling thread.
    explicit Simulation(const Scene& scene, Executor* executor = nullptr);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    /// One time step, as long as Stepping allows (with per-particle steps: one round of them, after which all particles
    /// are at the same time). O(particles and their neighbours), solids and cloth on top. Invalidates all spans.
    ///
    /// Throws Error{bad_value} with the particle's id as index when a velocity or position is no longer finite, or
    /// leaves every bound, or names the body to which that happened; the message names the time. The state is then that
    /// of the failure: look at it, but do not go on.
    void step();
    /// Steps until time() >= `time`; the last step is cut so that it ends there. A frame always ends on time, so a run
    /// does not depend on where it is stopped, as long as the same times are given. A time that is past does nothing.
    ///
    /// Throws what step() throws, Error{bad_value} if steps become too short to add to the time, and Error{stopped}.
    ///
    /// time: seconds. There is no limit: Scene::end_time is for those who call.
    /// stop: looked at before each step. After Error{stopped} the run is between two steps, and calling again goes on
    ///     as if nothing had happened. Default: never asks.
    void advance_to(double time, const StopToken& stop = {});

    /// What the run started from, as it was given.
    [[nodiscard]] const Scene& scene() const noexcept;
    /// Seconds since the scene began.
    [[nodiscard]] double time() const noexcept;

    // Particles, in an order along a Z curve that changes with the steps; ids stay. Entry k of each span is the same
    // particle. Spans are valid until the next step. All O(1).

    /// Metres, inside the domain along periodic axes.
    [[nodiscard]] std::span<const Vec3f> positions() const noexcept;
    /// m / s. Half a step behind the positions, as leap-frog has it; with the incompressible solver those that the last
    /// move was made with.
    [[nodiscard]] std::span<const Vec3f> velocities() const noexcept;
    /// kg / m^3, of the positions from which the last step began.
    [[nodiscard]] std::span<const float> densities() const noexcept;
    /// Pa, that the last step was computed with.
    [[nodiscard]] std::span<const float> pressures() const noexcept;
    /// Which of Scene::phases.
    [[nodiscard]] std::span<const std::uint8_t> phases() const noexcept;
    /// Given from 0 in the order of blocks, lists and then emission; no id is given twice.
    [[nodiscard]] std::span<const std::uint32_t> ids() const noexcept;

    /// One per body of the scene, in its order. Valid until the next step.
    [[nodiscard]] std::span<const BodyPose> bodies() const noexcept;
    /// The surface of a cloth of the scene. Throws std::out_of_range for a number that is not there.
    [[nodiscard]] ClothSurface cloth(std::size_t number) const;
    /// What was chosen where the scene left it open, for people who want to know: the support and spacing (metres), the
    /// expected speed and the largest sound speed of all phases (m / s), and the step (seconds) that these allow.
    struct Preset {
        double support, spacing, expected_speed, sound_speed, first_step;
    };
    /// See Preset; fixed for the whole run.
    [[nodiscard]] Preset preset() const noexcept;

    /// Energies and errors are computed on request: O(particles), on the calling thread.
    [[nodiscard]] SimulationStats stats() const;

    /// Appends everything that a run depends on, the scene included; load() continues bit for bit. The bytes are for
    /// this version of the library on a little-endian machine:
    ///
    ///     | magic and version 16 | length of note 8 | note | scene | run | checksum of all before 8 |
    ///
    /// out: what it holds already stays in front.
    /// note: whatever the caller wants to find again with the run, such as the number of a frame; note_of() gives it
    ///     back. Default: nothing.
    void save(std::vector<std::byte>& out, std::span<const std::byte> note = {}) const;
    /// What save() was given as note: a view into `checkpoint`. Throws as load() for bytes that are damaged or of
    /// another version. Reads all bytes once, for the checksum, but sets nothing up.
    [[nodiscard]] static std::span<const std::byte> note_of(std::span<const std::byte> checkpoint);
    /// The run that save() was called on, with its time and ids; only StepSeconds begin at 0. Costs what the
    /// constructor costs and a pass over the bytes. Throws Error{bad_format} for bytes that save() of this version did
    /// not write; a checksum of all of them decides.
    ///
    /// bytes: those of one save(), no more and no fewer.
    /// executor: as for the constructor; it need not be what the saved run had.
    [[nodiscard]] static Simulation load(std::span<const std::byte> bytes, Executor* executor = nullptr);

  private:
    Simulation();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
