// The tables of every struct of a scene. To add a field: add the member to include/quadrat/simulation/scene.hpp and its
// row here, and run the test ScenesPage, which says how to renew docs/scenes.md. The reader, the validator and the
// checkpoint follow by themselves; a member without a row does not compile.
#pragma once

#include <quadrat/simulation/scene.hpp>

#include "simulation/scene/fields.hpp"

namespace quadrat::simulation {

template <>
inline constexpr std::array names_of<SolverKind> = {"weakly_compressible", "ideal_gas", "incompressible"};
template <>
inline constexpr std::array names_of<StepKind> = {"courant", "per_particle", "fixed"};
template <>
inline constexpr std::array names_of<KernelKind> = {"paper", "wendland", "cubic"};
template <>
inline constexpr std::array names_of<BoundaryKind> = {"particles", "ghosts", "field"};
template <>
inline constexpr std::array names_of<BodyShape> = {"sphere", "box", "plane", "mesh"};
template <>
inline constexpr std::array names_of<BodyMotion> = {"fixed", "moving", "dynamic"};
/// Of Domain::open.
inline constexpr std::array side_names = {"-x", "+x", "-y", "+y", "-z", "+z"};

template <>
struct FieldsOf<Box3d> {
    static constexpr std::tuple rows = {
        field("lo", &Box3d::lo, "m", "Lower corner of the box.").in(Range::corner).must(),
        field("hi", &Box3d::hi, "m", "Upper corner of the box, above `lo` on every axis.").in(Range::corner).must()};
};

template <>
struct FieldsOf<SurfaceResponse> {
    using S = SurfaceResponse;
    static constexpr std::tuple rows = {
        field("restitution", &S::restitution, "", "Share of the normal speed that comes back; 0 is inelastic.")
            .in(Range::share),
        field("friction", &S::friction, "1/s",
              "Decay of a particle's speed along the surface. Between two bodies, or a body and a wall, friction is "
              "Coulomb's: 0.5 times the product of the two values, the product at most 1 (so 1 and 4 are the same "
              "there).")
            .in(Range::not_negative)};
};

template <>
struct FieldsOf<WallPlane> {
    using S = WallPlane;
    static constexpr std::tuple rows = {
        field("normal", &S::normal, "", "Points to the fluid; of any length but 0.").in(Range::direction).must(),
        field("offset", &S::offset, "m",
              "dot(n, x) >= offset holds the fluid, where n is `normal` at unit length: `[0, 0, 2]` with 1 is the "
              "plane z = 1."),
        group(&S::response)};
};

template <>
struct FieldsOf<Domain> {
    using S = Domain;
    static constexpr std::tuple rows = {
        group(&S::box),
        field("periodic", &S::periodic, "",
              "Per axis, for fluid and bodies: what leaves comes back on the other side. No body may be longer than "
              "the period."),
        field("open", &S::open, "",
              "Sides without a wall: `\"-x\" \"+x\" \"-y\" \"+y\" \"-z\" \"+z\"`; what leaves flies on. Farther out "
              "than four times the longest edge, where gravity does not bring it back, particles are taken out of the "
              "run (their number and mass become less; `left` in the statistics counts them) and bodies stay where "
              "they are. A periodic axis has no open side.")
            .or_else("none"),
        group(&S::response),
        field("planes", &S::planes, "", "More walls, below."),
        field("ghosts", &S::ghosts, "", "Walls share in density and pressure; false: particles are only put back.")};
};

template <>
struct FieldsOf<Stepping> {
    using S = Stepping;
    static constexpr std::tuple rows = {
        field("kind", &S::kind, "",
              "One step for all, as long as eq. 12 of the paper allows; steps of each particle's own; or `fixed`. More "
              "than a billion steps until `end_time` are refused."),
        field("fixed", &S::fixed, "s",
              "The step, with the kind `fixed`, which needs it: at most what eq. 12 and forces allow.")
            .in(Range::positive_or_unset)
            .or_else("-"),
        field("courant", &S::courant, "", "Alpha of eq. 12, in terms of half the support.")
            .in(Range::positive_or_unset)
            .or_else("0.25; incompressible 0.7"),
        field("largest", &S::largest, "s", "No step is longer.")
            .in(Range::positive_or_unset)
            .or_else("`frame_interval`")};
};

template <>
struct FieldsOf<IncompressibleOptions> {
    using S = IncompressibleOptions;
    static constexpr std::tuple rows = {
        field("density_error", &S::density_error, "", "Average share of the rest density that a step may be off by.")
            .in(Range::positive),
        field("divergence_error", &S::divergence_error, "",
              "Average rate of density change, times the step, that a step may leave.")
            .in(Range::positive),
        field("max_iterations", &S::max_iterations, "", "Iterations of the pressure solver in each step, at most.")
            .from(1)};
};

template <>
struct FieldsOf<Phase> {
    using S = Phase;
    static constexpr std::tuple rows = {
        field("name", &S::name, "", "What others call it by."),
        field("rest_density", &S::rest_density, "kg/m³", "Density without pressure.").in(Range::positive),
        field("viscosity", &S::viscosity, "Pa s", "Dynamic viscosity.").in(Range::not_negative),
        field("artificial_viscosity", &S::artificial_viscosity, "", "Alpha of Monaghan's term, which damps sound.")
            .in(Range::not_negative),
        field("sound_speed", &S::sound_speed, "m/s", "How fast pressure travels.")
            .in(Range::positive_or_unset)
            .or_else("ten times the expected speed"),
        field("stiffness", &S::stiffness, "Pa",
              "Stiffness of the weakly compressible solver; of the ideal gas, in N m/kg.")
            .in(Range::positive_or_unset)
            .or_else("from the sound speed"),
        field("gamma", &S::gamma, "", "Tait's exponent.").in(Range::positive),
        field("tension", &S::tension, "N/m", "Against other phases and free surfaces.").in(Range::not_negative),
        field("negative_pressure", &S::negative_pressure, "",
              "Fluid below its rest density pulls; free surfaces then clump."),
        field("particle_mass", &S::particle_mass, "kg", "What one particle weighs.")
            .in(Range::positive_or_unset)
            .or_else("density times spacing to the power of the dimension"),
        field("support", &S::support, "m", "Radius of the kernel, 1 to 8 times the distance of particles.")
            .in(Range::positive_or_unset)
            .or_else("that of the scene")};
};

/// Of what fluid is made.
inline constexpr const char* phase_words = "Which of the phases: its number, from 0, or its name.";

template <>
struct FieldsOf<FluidBlock> {
    using S = FluidBlock;
    static constexpr std::tuple rows = {group(&S::box), field("velocity", &S::velocity, "m/s", "At the start."),
                                        field("phase", &S::phase, "", phase_words).in(Range::phase),
                                        field("count", &S::count, "", "Lattice points along each axis.")
                                            .from(1, 1'000'000)
                                            .or_else("edge / spacing, rounded down")};
};

template <>
struct FieldsOf<FluidParticles> {
    using S = FluidParticles;
    static constexpr std::tuple rows = {field("phase", &S::phase, "", phase_words).in(Range::phase),
                                        field("positions", &S::positions, "m", "A list of points.").as(Use::made),
                                        field("velocities", &S::velocities, "m/s", "").as(Use::made),
                                        field("supports", &S::supports, "m", "").in(Range::positive).as(Use::made)};
};

template <>
struct FieldsOf<Emitter> {
    using S = Emitter;
    static constexpr std::tuple rows = {
        field("phase", &S::phase, "", phase_words).in(Range::phase),
        field("position", &S::position, "m", "Centre of the disc.").must(),
        field("direction", &S::direction, "", "Where the particles go; of any length but 0.").in(Range::direction),
        field("radius", &S::radius, "m", "The radius of the disc.").in(Range::positive),
        field("speed", &S::speed, "m/s", "Of what is sent out.").in(Range::positive),
        field("start", &S::start, "s", "When it begins.").in(Range::not_negative),
        field("end", &S::end, "s", "When it ends, after `start`.").in(Range::until).or_else("never"),
        field("max_particles", &S::max_particles, "", "A disc is sent as a whole, so at least as many as one has.")
            .from(1, UINT64_MAX)};
};

template <>
struct FieldsOf<RigidBody> {
    using S = RigidBody;
    template <BodyShape shape>
    static constexpr bool is(const S& s) {
        return s.shape == shape;
    }
    static constexpr std::tuple rows = {
        field("name", &S::name, "", "For people."),
        field("shape", &S::shape, "", "").as(Use::made),
        field(
            "motion", &S::motion, "",
            "`moving`: with the given velocities, whatever it meets; `dynamic`: moved by gravity, fluid and contacts."),
        field("radius", &S::radius, "m", "sphere: its radius; torus: that of the ring.")
            .in(Range::positive)
            .must()
            .when(is<BodyShape::sphere>),
        field("size", &S::size, "m", "box: its whole edges.").in(Range::positive).must().when(is<BodyShape::box>),
        field("normal", &S::normal, "", "plane: points to the fluid; the plane passes through `position`.")
            .in(Range::direction)
            .when(is<BodyShape::plane>),
        field("triangles", &S::triangles, "", "").as(Use::made),
        field("vertices", &S::vertices, "m", "").in(Range::corner).as(Use::made),
        field("density", &S::density, "kg/m³", "Of dynamic bodies.").in(Range::positive),
        field("position", &S::position, "m", "Where its centre is; of a mesh, its origin."),
        field("rotation", &S::orientation, "",
              "`{\"axis\": [x, y, z], \"degrees\": a}`: how it is turned at the start.")
            .or_else("none"),
        field("velocity", &S::velocity, "m/s", "At the start, or for good if it is `moving`."),
        field("angular_velocity", &S::angular_velocity, "rad/s",
              "Three numbers in two dimensions as well: `[0, 0, 3]`.")
            .in(Range::turn),
        field("boundary", &S::boundary, "",
              "How the fluid feels it: `particles` just below the surface, `ghosts` inside, or a distance `field`."),
        group(&S::response)};
};

template <>
struct FieldsOf<ClothOptions> {
    using S = ClothOptions;
    static constexpr std::tuple rows = {
        field("time_step", &S::time_step, "s", "The step of the cloth alone.").in(Range::positive),
        field("gravity", &S::gravity, "m/s²", "").in(Range::corner).as(Use::made),
        field("thickness", &S::thickness, "m", "Kept between surfaces; less than the shortest edge.")
            .in(Range::positive_or_unset)
            .or_else("0.01, or half of the shortest edge if that is less"),
        field("contact_friction", &S::friction, "", "Coulomb's coefficient where cloth meets cloth or a body.")
            .in(Range::not_negative),
        field("damping", &S::damping, "1/s", "Of velocities.").in(Range::not_negative),
        field("stretch_compliance", &S::stretch_compliance, "m/N", "Of edges; 0 is inextensible.")
            .in(Range::not_negative),
        field("bend_compliance", &S::bend_compliance, "m/N", "Between the far corners of neighbouring triangles.")
            .in(Range::not_negative),
        field("iterations", &S::iterations, "", "Iterations of the solver in each step.").from(1, 10000),
        field("executor", &S::executor, "", "").as(Use::run_time)};
};

template <>
struct FieldsOf<SceneCloth> {
    using S = SceneCloth;
    static constexpr std::tuple rows = {
        field("name", &S::name, "", "For people."),
        field("triangles", &S::triangles, "", "").as(Use::made),
        field("positions", &S::positions, "m", "").in(Range::corner).as(Use::made),
        field("pins", &S::pins, "", "").as(Use::made),
        group(&S::options),
        field("density", &S::density, "kg/m²", "The mass of a square metre of the sheet.").in(Range::positive),
        group(&S::response)};
};

template <>
struct FieldsOf<Scene> {
    using S = Scene;
    static constexpr std::tuple rows = {
        field("dimension", &S::dimension, "", "Of space.").from(2, 3),
        field("name", &S::name, "", "Title of the report.").or_else("the file's"),
        field("domain", &S::domain, "", "The box that holds everything, below.").must(),
        field("gravity", &S::gravity, "m/s²", "Pulls everything."),
        field("attraction", &S::attraction, "1/s", "Pulls the fluid to the origin with -attraction² x.")
            .in(Range::not_negative),
        field("spacing", &S::spacing, "m", "Distance of particles at rest.").in(Range::positive),
        field("support", &S::support, "m", "Radius of the kernel, 1 (incompressible: 1.2) to 8 spacings.")
            .in(Range::positive_or_unset)
            .or_else("2 spacings; 2D 2.4"),
        field("kernel", &S::kernel, "", "Smoothing function: `paper` is poly6, spiky and the viscosity kernel."),
        field("solver", &S::solver, "", "How pressure follows from density."),
        field("expected_speed", &S::expected_speed, "m/s", "Largest speed to be expected.")
            .in(Range::positive_or_unset)
            .or_else("estimated"),
        field("stepping", &S::stepping, "", "How long a step is, below."),
        field("incompressible", &S::incompressible, "", "Limits of that solver, below."),
        field("phases", &S::phases, "", "Liquids and gases, below.").from(1, 255).or_else("one of water"),
        field("blocks", &S::blocks, "", "Boxes full of particles, below."),
        field("particles", &S::particles, "", "Single particles, below."),
        field("emitters", &S::emitters, "", "Discs that send out particles, below."),
        field("bodies", &S::bodies, "", "Solids, below."),
        field("cloths", &S::cloths, "", "Sheets and shells, below."),
        field("jitter", &S::jitter, "", "Random displacement of block particles, in spacings.").in(Range::share),
        field("seed", &S::seed, "", "Chooses the jitter: the same seed, the same places.").from(0, UINT64_MAX),
        field("end_time", &S::end_time, "s", "The last frame is the first one at or after it.")
            .in(Range::positive_or_unset),
        field("frame_interval", &S::frame_interval, "s", "Time between frames; at most a million until `end_time`.")
            .in(Range::positive)};
};

static_assert(described<Box3d>() && described<SurfaceResponse>() && described<WallPlane>() && described<Domain>());
static_assert(described<Stepping>() && described<IncompressibleOptions>() && described<Phase>());
static_assert(described<FluidBlock>() && described<FluidParticles>() && described<Emitter>());
static_assert(described<RigidBody>() && described<ClothOptions>() && described<SceneCloth>() && described<Scene>());

}  // namespace quadrat::simulation
