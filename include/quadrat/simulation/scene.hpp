// What a simulation starts from: plain aggregates with defaults, in SI units (metres, kilograms, seconds). A file
// reader fills a Scene; Simulation checks it and names what is wrong by a path such as "/bodies/2/radius".
//
// In two dimensions everything lies in the plane z = 0: the z of positions, velocities, directions and normals must be
// 0, masses and densities are per metre of depth, and bodies turn about z only. Fluid, emitters, cloth and the centres
// of dynamic bodies start inside the domain and in front of its planes.
#pragma once

#include <quadrat/geometry.hpp>
#include <quadrat/simulation/cloth.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace quadrat {

/// How pressure follows from density (Onderik & Durikovic 2008, section 3.2).
enum class SolverKind : std::uint8_t {
    weakly_compressible,  ///< Tait's equation, eq. 7: P = k ((rho / rho0)^gamma - 1)
    ideal_gas,            ///< P = k (rho - rho0)
    incompressible,       ///< DFSPH: pressure from constant density and from a divergence-free velocity
};

/// How long a step is.
enum class StepKind : std::uint8_t {
    courant,       ///< one step for all: the smallest that eq. 12 allows
    per_particle,  ///< frame_interval / 2^n for each particle by eq. 12, with the corrected eq. 13
    fixed,         ///< Stepping::fixed
};

/// Smoothing functions. All vanish at the support and beyond.
enum class KernelKind : std::uint8_t {
    paper,         ///< eq. 10: poly6 for density and colour, spiky for pressure, the viscosity kernel for viscosity
    wendland_c2,   ///< one function for all
    cubic_spline,  ///< one function for all
};

/// How solids fill the support of nearby fluid.
enum class BoundaryKind : std::uint8_t {
    particles,  ///< one layer just below the surface, with corrected volumes (Akinci et al. 2012)
    ghosts,     ///< layers inside the solid as deep as the support
    field,      ///< the ghosts' share as a function of the distance to the surface, computed beforehand
};

/// Particles on a lattice that fills a box.
struct FluidBlock {
    Box3d box = {};           ///< in 2D its z extent is ignored
    Vec3d velocity = {};      ///< m / s
    std::uint32_t phase = 0;  ///< which of Scene::phases
    std::array<std::uint32_t, 3> count = {0, 0,
                                          0};  ///< lattice points along the axes; 0: box edge / spacing, rounded down
};

/// One liquid or gas.
struct Phase {
    std::string name = {};
    double rest_density = 1000;          ///< kg / m^3
    double viscosity = 0;                ///< dynamic, Pa s (eq. 8b)
    double artificial_viscosity = 0.02;  ///< alpha of Monaghan's term, no unit: damps sound
    double sound_speed = 0;              ///< m / s; 0: ten times the largest speed to be expected
    double stiffness = 0;                ///< k: Pa for Tait, N m / kg for the ideal gas; 0: from the sound speed
    double gamma = 7;                    ///< Tait's exponent
    double tension = 0;                  ///< sigma against other phases and free surfaces, N / m
    bool negative_pressure = false;      ///< below the rest density too; free surfaces then pull particles into clumps
    double particle_mass = 0;            ///< kg; 0: rest_density spacing^D
    double support = 0;                  ///< metres; 0: the scene's. Phases may differ (support per particle)
                                         ///< 1 to 8 times the distance of particles, as the scene's
};

/// A cloud of single particles.
struct FluidParticles {
    std::uint32_t phase = 0;
    std::vector<Vec3d> positions = {};
    std::vector<Vec3d> velocities = {};  ///< empty: at rest
    std::vector<double> supports = {};   ///< empty: the phase's
};

/// A disc that sends out particles along its normal.
struct Emitter {
    std::uint32_t phase = 0;
    Vec3d position = {};
    Vec3d direction = {{0, 0, -1}};  ///< any length above 0; in 2D the default is refused
    double radius = 0.05;            ///< metres
    double speed = 1;                ///< m / s
    double start = 0;                ///< seconds
    double end = std::numeric_limits<double>::infinity();
    std::uint64_t max_particles = 1'000'000;  ///< whole discs only; at least one
};

/// What happens to a particle or body that meets a surface.
struct SurfaceResponse {
    double restitution = 0;  ///< share of the normal speed that comes back: 0 is inelastic
    /// Of particles, wet friction: the speed along the surface decays at this rate, 1 / s. Between two bodies, or a
    /// body and a wall, Coulomb friction: the coefficient is 0.5 min(1, product of the two values).
    double friction = 1;
};

/// The half-space dot(n, x) >= offset holds the fluid, where n is the normal at unit length.
struct WallPlane {
    Vec3d normal = {{0, 0, 1}};  ///< any length above 0
    double offset = 0;           ///< metres, for the unit normal
    SurfaceResponse response = {};
};

/// The box that holds everything.
struct Domain {
    Box3d box = {{{0, 0, 0}}, {{1, 1, 1}}};
    /// What leaves comes back on the other side; bodies that reach over a seam are on both. Cloth is not periodic.
    std::array<bool, 3> periodic = {false, false, false};
    /// Sides without a wall: -x, +x, -y, +y, -z, +z. What leaves flies on. Farther out than four times the longest
    /// edge, where gravity does not bring it back, particles are taken out and bodies stay.
    std::array<bool, 6> open = {false, false, false, false, false, false};
    SurfaceResponse response = {};
    std::vector<WallPlane> planes = {};  ///< more walls
    bool ghosts = true;  ///< walls share in density and pressure (as BoundaryKind::field); false: particles are only
                         ///< projected back, as in section 5 of the paper
};

enum class BodyShape : std::uint8_t { sphere, box, plane, mesh };
enum class BodyMotion : std::uint8_t {
    fixed,
    moving,   ///< with the given velocities, whatever it meets
    dynamic,  ///< moved by gravity, fluid and contacts
};

/// A solid. Its frame is at `position`, turned by `orientation`.
struct RigidBody {
    std::string name = {};
    BodyShape shape = BodyShape::sphere;
    BodyMotion motion = BodyMotion::fixed;
    double radius = 0.1;                               ///< sphere, metres
    Vec3d size = {{0.1, 0.1, 0.1}};                    ///< box: whole edges, metres
    Vec3d normal = {{0, 0, 1}};                        ///< plane: points to the fluid; passes through position
    std::vector<Triangle> triangles = {};              ///< mesh: closed, all facing out or all in
    std::vector<Vec3d> vertices = {};                  ///< mesh, in the body's frame
    double density = 500;                              ///< kg / m^3, for dynamic bodies
    Vec3d position = {};                               ///< metres
    std::array<double, 4> orientation = {1, 0, 0, 0};  ///< unit quaternion w, x, y, z
    Vec3d velocity = {};                               ///< m / s
    Vec3d angular_velocity = {};                       ///< rad / s
    BoundaryKind boundary = BoundaryKind::particles;
    SurfaceResponse response = {};
};

/// A sheet or shell that the fluid cannot pass and pushes. Sheets do not see each other: they pass through. They have
/// no images at the ends of a periodic axis.
struct SceneCloth {
    std::string name = {};
    std::vector<Triangle> triangles = {};
    std::vector<Vec3d> positions = {};
    std::vector<std::uint32_t> pins = {};  ///< vertices that are held
    ClothOptions options = {};             ///< gravity and executor are the simulation's
    double density = 1;                    ///< kg / m^2
    SurfaceResponse response = {};
};

struct Stepping {
    StepKind kind = StepKind::courant;
    double fixed = 0;    ///< seconds, with StepKind::fixed; at most 1e9 steps until end_time
    double courant = 0;  ///< alpha of eq. 12 in terms of half the support; 0: 0.25, incompressible 0.7
    double largest = 0;  ///< no step is longer, seconds; 0: the frame interval
};

/// Limits of the incompressible solver.
struct IncompressibleOptions {
    double density_error = 1e-3;     ///< average |rho - rho0| / rho0 that a step must reach
    double divergence_error = 1e-2;  ///< average rate of density change, times the step, that a step must reach
    std::uint32_t max_iterations = 100;
};

struct Scene {
    std::string name = {};
    int dimension = 3;  ///< 2 or 3
    Domain domain = {};
    Vec3d gravity = {{0, 0, -9.81}};  ///< m / s^2; in 2D along y usually
    double attraction = 0;            ///< 1 / s: pulls the fluid to the origin with -attraction^2 x
    double spacing = 0.02;            ///< between particles at rest, metres
    double support = 0;               ///< radius of the kernel, metres, 1 to 8 spacings; 0: 2.4 in 2D, 2 in 3D
    KernelKind kernel = KernelKind::wendland_c2;
    SolverKind solver = SolverKind::weakly_compressible;
    double expected_speed = 0;  ///< m / s; 0: from gravity, heights and the speeds given
    Stepping stepping = {};
    IncompressibleOptions incompressible = {};

    std::vector<Phase> phases = {Phase{}};
    std::vector<FluidBlock> blocks = {};
    std::vector<FluidParticles> particles = {};
    std::vector<Emitter> emitters = {};
    std::vector<RigidBody> bodies = {};
    std::vector<SceneCloth> cloths = {};

    bool general_loops = false;    ///< never the vector loops; for comparison
    double jitter = 0;             ///< random displacement of lattice points, in spacings, at most 1
    std::uint64_t seed = 1;        ///< of the jitter
    double end_time = 1;           ///< seconds; what a command runs to
    double frame_interval = 0.02;  ///< seconds between frames
};

}  // namespace quadrat
