// Fluid, solids and cloth in one scene, advanced in time. See docs/reference/simulation.md for the equations.
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

/// Where a body is.
struct BodyPose {
    Vec3d position = {};
    std::array<double, 4> orientation = {1, 0, 0, 0};  ///< unit quaternion w, x, y, z
    Vec3d velocity = {};
    Vec3d angular_velocity = {};
};

struct ClothSurface {
    std::span<const Triangle> triangles;
    std::span<const Vec3d> positions;
};

/// Wall-clock time spent since the start or since load(), in seconds. The only thing here that a clock decides.
struct PhaseSeconds {
    double search = 0;     ///< neighbours
    double density = 0;    ///< densities and equation of state
    double forces = 0;     ///< pressure, viscosity, tension
    double solve = 0;      ///< the incompressible solver
    double integrate = 0;  ///< moving particles and sorting them
    double collide = 0;    ///< paths against solids, contacts of bodies
    double cloth = 0;
    [[nodiscard]] double total() const { return search + density + forces + solve + integrate + collide + cloth; }
};

/// What the last step left. Energies in joules (per metre of depth in 2D), velocities at the time of the positions.
struct Statistics {
    double time = 0;       ///< seconds
    double time_step = 0;  ///< seconds
    std::uint64_t steps = 0;
    std::uint64_t particles = 0;
    double mass = 0;  ///< of the fluid, kg
    double kinetic = 0;
    double potential = 0;
    double internal = 0;               ///< of compression
    Vec3d momentum = {};               ///< of the fluid, kg m / s
    double average_density_error = 0;  ///< mean of max(rho / rho0 - 1, 0)
    double max_density_error = 0;
    double neighbors = 0;          ///< fluid particles per fluid particle
    std::uint64_t pairs = 0;       ///< directed entries of the neighbour lists, fluid with fluid only
    std::uint64_t contacts = 0;    ///< of particles with surfaces and of bodies with each other
    double max_speed = 0;          ///< m / s
    std::uint32_t iterations = 0;  ///< of the incompressible solver
    std::uint64_t left = 0;        ///< particles that left by an open side and were taken out, since the start
    PhaseSeconds seconds = {};
};

/// One run of a scene. The same bytes for any number of threads. Not for use from several threads at once.
class Simulation {
  public:
    /// Checks the scene and places the particles. Throws Error whose field is the path of what is wrong, such as
    /// "/bodies/2/radius". `executor` outlives the simulation; null is the calling thread.
    explicit Simulation(const Scene& scene, Executor* executor = nullptr);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    /// One time step (with per-particle steps: one frame of them). Throws Error{bad_value} with the particle's id as
    /// index when a velocity or position is no longer finite, or leaves every bound; the message names the time. The
    /// state is then that of the failure.
    void step();
    /// Steps until time() >= `time`; the last step is cut so that it ends there. A frame always ends on time, so a run
    /// does not depend on where it is stopped, as long as the same times are given. Throws Error{stopped} after the
    /// step in which `stop` asks to end; calling again goes on as if nothing had happened.
    void advance_to(double time, const StopToken& stop = {});

    [[nodiscard]] const Scene& scene() const noexcept;
    [[nodiscard]] double time() const noexcept;

    // Particles, in an order along a Z curve that changes with the steps; ids stay. Spans are valid until the next
    // step.
    [[nodiscard]] std::span<const Vec3f> positions() const noexcept;
    [[nodiscard]] std::span<const Vec3f> velocities() const noexcept;
    [[nodiscard]] std::span<const float> densities() const noexcept;
    [[nodiscard]] std::span<const float> pressures() const noexcept;
    [[nodiscard]] std::span<const std::uint8_t> phases() const noexcept;
    [[nodiscard]] std::span<const std::uint32_t> ids() const noexcept;

    /// One per body of the scene.
    [[nodiscard]] std::span<const BodyPose> bodies() const noexcept;
    /// One per cloth of the scene.
    [[nodiscard]] ClothSurface cloth(std::size_t number) const;
    /// The sound speed, step and stiffness in use, for people who want to know.
    struct Preset {
        double support, spacing, expected_speed, sound_speed, first_step;
    };
    [[nodiscard]] Preset preset() const noexcept;

    /// Energies and errors are computed on request.
    [[nodiscard]] Statistics statistics() const;

    /// Appends everything that a run depends on, the scene included; load() continues bit for bit. `note` is whatever
    /// the caller wants to find again with the run, such as the number of a frame; note_of() gives it back.
    void save(std::vector<std::byte>& out, std::span<const std::byte> note = {}) const;
    /// What save() was given as note: a view into `checkpoint`. Throws as load(). Reads all bytes once, for the
    /// checksum, but sets nothing up.
    [[nodiscard]] static std::span<const std::byte> note_of(std::span<const std::byte> checkpoint);
    /// Throws Error{bad_format} for bytes that save() of this version did not write; a checksum of all of them decides.
    [[nodiscard]] static Simulation load(std::span<const std::byte> bytes, Executor* executor = nullptr);

  private:
    Simulation();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
