// What a simulation starts from: plain aggregates with defaults, in SI units (metres, kilograms, seconds). A file
// reader or the program fills a Scene; Simulation checks it and names what is wrong by a path such as
// "/bodies/2/radius".
//
// Paths are those of a scene file (docs/scenes.md): what a struct holds as a group (`box`, `response`, `options`)
// stands beside the struct's own members there, so that `bodies[2].response.friction` is "/bodies/2/friction".
//
// In two dimensions everything lies in the plane z = 0: the z of positions, velocities, directions and normals must be
// 0, masses and densities are per metre of depth, and bodies turn about z only. Fluid, emitters, cloth and the centres
// of dynamic bodies start inside the domain and in front of its planes.
//
// Numbers are finite unless something else is said. Each member has a row in a table (src/simulation/scene/) that the
// reader, the checks, the checkpoint and the page are made from; one that has none does not compile.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/simulation/cloth.hpp>

#include <array>
#include <cstddef>
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
    per_particle,  ///< an even part of a frame / 2^n for each particle by eq. 12, with the corrected eq. 13
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

/// Particles on a lattice that fills a box, less those inside bodies; at least one must be left.
struct FluidBlock {
    /// Metres. `hi` is above `lo` on every axis; in two dimensions z has no meaning. Default: no extent, which is
    /// refused.
    Box3d box = {};
    /// At the start, m / s. Default: 0, at rest.
    Vec3d velocity = {};
    /// Which of Scene::phases: below their number. Default: 0, the first.
    std::uint32_t phase = 0;
    /// Lattice points along the axes. 0, the default: box edge / spacing, rounded down, and at least 1. More of them
    /// make the block denser than at rest, and it will burst.
    std::array<std::uint32_t, 3> count = {0, 0, 0};
};

/// One liquid or gas.
struct Phase {
    /// What a scene file's blocks, particles and emitters may call it by. Any text that is not another one's. Default:
    /// empty, no name.
    std::string name = {};
    /// kg / m^3, above 0. Default: 1000, water's.
    double rest_density = 1000;
    /// Dynamic viscosity (eq. 8b), Pa s, 0 or more. Default: 0.
    double viscosity = 0;
    /// Alpha of Monaghan's term, which damps sound. No unit, 0 or more. Default: 0.02.
    double artificial_viscosity = 0.02;
    /// m / s, above 0. 0, the default: ten times the largest speed to be expected.
    double sound_speed = 0;
    /// k of the equation of state, above 0: Pa for Tait, N m / kg for the ideal gas. 0, the default: from the sound
    /// speed.
    double stiffness = 0;
    /// Tait's exponent, above 0. Default: 7.
    double gamma = 7;
    /// Sigma against other phases and free surfaces, N / m, 0 or more. Default: 0.
    double tension = 0;
    /// Pressure below the rest density too; free surfaces then pull particles into clumps. Default: false.
    bool negative_pressure = false;
    /// kg, above 0. 0, the default: rest_density spacing^D.
    double particle_mass = 0;
    /// Radius of the kernel, metres, above 0: 1 to 8 times the distance of particles. 0, the default: the scene's.
    /// Phases may differ, but not with the incompressible solver, which needs one support and one particle volume for
    /// all.
    double support = 0;
};

/// A cloud of single particles.
struct FluidParticles {
    /// Which of Scene::phases: below their number. Default: 0, the first.
    std::uint32_t phase = 0;
    /// Metres, at least one. Default: empty, which is refused.
    std::vector<Vec3d> positions = {};
    /// m / s, one per position. Default: empty, at rest.
    std::vector<Vec3d> velocities = {};
    /// Metres, above 0, one per position, in the range of Phase::support. Default: empty, the phase's.
    std::vector<double> supports = {};
};

/// A disc that sends out particles along its normal. It must not lie inside a body that is there when it starts.
struct Emitter {
    /// Which of Scene::phases: below their number. Default: 0, the first.
    std::uint32_t phase = 0;
    /// Centre of the disc, metres. Default: 0, the origin.
    Vec3d position = {};
    /// Where particles go: any length above 0. Default: (0, 0, -1), which two dimensions refuse.
    Vec3d direction = {{0, 0, -1}};
    /// Of the disc, metres, above 0. Default: 0.05.
    double radius = 0.05;
    /// Of what is sent out, m / s, above 0. Default: 1.
    double speed = 1;
    /// When it begins, seconds, 0 or more. Default: 0.
    double start = 0;
    /// When it ends, seconds, 0 or more and after `start`. Default: infinity: never.
    double end = std::numeric_limits<double>::infinity();
    /// Nothing is sent out beyond this number, at least 1 and as many as a disc has: discs go out as a whole. Default:
    /// 1,000,000.
    std::uint64_t max_particles = 1'000'000;
};

/// What happens to a particle or body that meets a surface.
struct SurfaceResponse {
    /// Share of the normal speed that comes back, 0 to 1. Between two bodies the larger value counts. Default: 0,
    /// inelastic.
    double restitution = 0;
    /// 0 or more. Of particles, wet friction: the speed along the surface decays at this rate, 1 / s. Between two
    /// bodies, or a body and a wall, Coulomb friction: the coefficient is 0.5 min(1, product of the two values).
    /// Default: 1.
    double friction = 1;
};

/// The half-space dot(n, x) >= offset holds the fluid, where n is the normal at unit length.
struct WallPlane {
    /// Any length above 0. Default: (0, 0, 1).
    Vec3d normal = {{0, 0, 1}};
    /// Metres, for the unit normal. Default: 0.
    double offset = 0;
    /// What it does to those who meet it.
    SurfaceResponse response = {};
};

/// The box that holds everything.
struct Domain {
    /// Metres. `hi` is above `lo` on every axis; in two dimensions z has no meaning. Default: from 0 to 1 on every
    /// axis.
    Box3d box = {{{0, 0, 0}}, {{1, 1, 1}}};
    /// Per axis: what leaves comes back on the other side; bodies that reach over a seam are on both. Cloth is not
    /// periodic. Default: none.
    std::array<bool, 3> periodic = {false, false, false};
    /// Sides without a wall: -x, +x, -y, +y, -z, +z; none of a periodic axis. What leaves flies on. Farther out than
    /// four times the longest edge, where gravity does not bring it back, particles are taken out and bodies stay.
    /// Default: none.
    std::array<bool, 6> open = {false, false, false, false, false, false};
    /// Of the box's sides; planes have their own.
    SurfaceResponse response = {};
    /// More walls. Default: none.
    std::vector<WallPlane> planes;
    /// Walls share in density and pressure (as BoundaryKind::field); false: particles are only projected back, as in
    /// section 5 of the paper. Default: true.
    bool ghosts = true;
};

/// What a body looks like.
enum class BodyShape : std::uint8_t {
    sphere,  ///< RigidBody::radius
    box,     ///< RigidBody::size
    plane,   ///< the half-space behind RigidBody::normal; never dynamic
    mesh,    ///< RigidBody::triangles; three dimensions only
};
/// What moves a body.
enum class BodyMotion : std::uint8_t {
    fixed,    ///< stays
    moving,   ///< with the given velocities, whatever it meets
    dynamic,  ///< moved by gravity, fluid and contacts
};

/// A solid. Its frame is at `position`, turned by `orientation`. Bodies must not overlap at the start; only planes may
/// cross planes.
struct RigidBody {
    /// For people. Any text. Default: empty.
    std::string name = {};
    /// Which of the members below count. Default: sphere.
    BodyShape shape = BodyShape::sphere;
    /// What moves it. Default: fixed.
    BodyMotion motion = BodyMotion::fixed;
    /// Of a sphere, metres, above 0. Default: 0.1.
    double radius = 0.1;
    /// Whole edges of a box, metres, above 0 on every axis that the scene has. Default: (0.1, 0.1, 0.1).
    Vec3d size = {{0.1, 0.1, 0.1}};
    /// Of a plane: points to the fluid, any length above 0. The plane passes through `position`. Default: (0, 0, 1).
    Vec3d normal = {{0, 0, 1}};
    /// Of a mesh: closed (two triangles at every edge, none without an area), all facing out or all in. Default: none.
    std::vector<Triangle> triangles = {};
    /// Of a mesh, metres, in the body's frame. Default: none.
    std::vector<Vec3d> vertices = {};
    /// Of dynamic bodies, kg / m^3, above 0. Default: 500.
    double density = 500;
    /// Of the frame, metres: the centre of a sphere or box, a point of a plane, the origin of a mesh. Default: 0.
    Vec3d position = {};
    /// Unit quaternion w, x, y, z; in two dimensions about z. Errors call it "rotation", as files do. Default: (1, 0,
    /// 0, 0), not turned.
    std::array<double, 4> orientation = {1, 0, 0, 0};
    /// Of the centre of mass, m / s: at the start, or for good if the body is `moving`. Fixed ones have none. Default:
    /// 0.
    Vec3d velocity = {};
    /// rad / s, in the world's axes; in two dimensions about z. Default: 0.
    Vec3d angular_velocity = {};
    /// How the fluid feels it. Default: particles, below the surface.
    BoundaryKind boundary = BoundaryKind::particles;
    /// What it does to particles and bodies that meet it; particles feel restitution and wet friction.
    SurfaceResponse response = {};
};

/// A sheet or shell that the fluid cannot pass and pushes. Three dimensions only. Sheets do not see each other: they
/// pass through. They have no images at the ends of a periodic axis.
struct SceneCloth {
    /// For people. Any text that is not another one's. Default: empty, no name.
    std::string name = {};
    /// At least one. Default: none, which is refused.
    std::vector<Triangle> triangles = {};
    /// Of the vertices, metres. Default: none, which is refused.
    std::vector<Vec3d> positions = {};
    /// Vertices that are held: below the number of positions. Default: none.
    std::vector<std::uint32_t> pins = {};
    /// Gravity and executor are the simulation's, whatever stands here.
    ClothOptions options = {};
    /// kg / m^2, above 0: what particles and bodies feel of its mass. Default: 1.
    double density = 1;
    /// What it does to particles; friction between cloth and bodies is ClothOptions::friction.
    SurfaceResponse response = {};
};

/// Lengths of steps. More than a billion until Scene::end_time are refused.
struct Stepping {
    /// One step for all or one for each particle, and whether it follows from what moves or is given.
    /// Default: courant, one step for all, as long as is stable.
    StepKind kind = StepKind::courant;
    /// Seconds, above 0, with StepKind::fixed; otherwise it has no meaning. At most what eq. 12 allows at the speed to
    /// be expected, and what forces allow: a longer one is refused. So is 0, the default: not given.
    double fixed = 0;
    /// Alpha of eq. 12 in terms of half the support, above 0. 0, the default: 0.25, incompressible 0.7. A larger one
    /// allows longer fixed steps, too.
    double courant = 0;
    /// No step is longer, seconds, above 0. 0, the default: the frame interval.
    double largest = 0;
};

/// Limits of the incompressible solver, which needs one step for all: not StepKind::per_particle.
struct IncompressibleOptions {
    /// Average |rho - rho0| / rho0 that a step must reach, above 0. Default: 0.001.
    double density_error = 1e-3;
    /// Average rate of density change, times the step, that a step must reach, above 0. Default: 0.01.
    double divergence_error = 1e-2;
    /// Per step and solve, at least 1. What is not reached by then is left. Default: 100.
    std::uint32_t max_iterations = 100;
};

/// Everything that a run starts from. A default one is an empty box of one metre: it needs some fluid, an emitter, a
/// body or a cloth.
///
///     Scene dam;
///     dam.spacing = 0.01;
///     dam.blocks.push_back({.box = {{{0, 0, 0}}, {{0.3, 1, 0.5}}}});
///     dam.bodies.push_back({.motion = BodyMotion::dynamic, .radius = 0.08, .position = {{0.6, 0.5, 0.1}}});
///     Simulation run(dam);
struct Scene {
    /// For people. Any text. Default: empty.
    std::string name = {};
    /// 2 or 3. Default: 3.
    int dimension = 3;
    /// Where everything is. Default: one cubic metre with walls on all sides.
    Domain domain;
    /// m / s^2; in two dimensions along y usually. Default: (0, 0, -9.81).
    Vec3d gravity = {{0, 0, -9.81}};
    /// Pulls the fluid to the origin with -attraction^2 x; 1 / s, 0 or more. Default: 0.
    double attraction = 0;
    /// Between particles at rest, metres, above 0. Default: 0.02.
    double spacing = 0.02;
    /// Radius of the kernel, metres, above 0: 1 (incompressible: 1.2) to 8 spacings. 0, the default: 2.4 spacings in
    /// 2D, 2 in 3D.
    double support = 0;
    /// Smoothing functions of the fluid. Not `paper` with the incompressible solver. Default: wendland_c2.
    KernelKind kernel = KernelKind::wendland_c2;
    /// How pressure follows from density. Default: weakly_compressible.
    SolverKind solver = SolverKind::weakly_compressible;
    /// Largest speed to be expected, m / s, above 0. 0, the default: from gravity, heights and the speeds given. Sound
    /// speed and steps follow from it; a particle a hundred times as fast as this and as sound ends the run.
    double expected_speed = 0;
    /// How long a step is.
    Stepping stepping = {};
    /// Used by that solver alone; checked with every one.
    IncompressibleOptions incompressible = {};

    /// Liquids and gases, 1 to 255. Default: one of water.
    std::vector<Phase> phases = {Phase{}};
    /// Boxes full of particles. Default: none.
    std::vector<FluidBlock> blocks = {};
    /// Particles one by one. Default: none.
    std::vector<FluidParticles> particles = {};
    /// What sends out particles while the run goes on. Default: none.
    std::vector<Emitter> emitters = {};
    /// Solids. Default: none.
    std::vector<RigidBody> bodies = {};
    /// Sheets and shells. Default: none.
    std::vector<SceneCloth> cloths = {};

    /// Random displacement of lattice points, in spacings, 0 to 1. Default: 0.
    double jitter = 0;
    /// Of the jitter. Any number. Default: 1.
    std::uint64_t seed = 1;
    /// What a command runs to, seconds, above 0; 0 is one frame. Simulation itself goes on as long as it is
    /// asked to. Default: 1.
    double end_time = 1;
    /// Seconds between frames, above 0. Default: 0.02.
    double frame_interval = 0.02;
};

/// Two things of a scene lie in one place: where().field is one of them, and body() is the number of the body that it
/// overlaps. The kind is bad_value.
class OverlapError : public Error {
  public:
    /// path: of the thing that is in the way, such as "/bodies/3". body: the number of the body that it overlaps.
    OverlapError(std::string path, std::size_t body)
        : Error(ErrorKind::bad_value, "overlaps /bodies/" + std::to_string(body), {.field = std::move(path)}),
          body_(body) {}

    /// Position in Scene::bodies.
    [[nodiscard]] std::size_t body() const noexcept { return body_; }

  private:
    std::size_t body_;
};

}  // namespace quadrat
