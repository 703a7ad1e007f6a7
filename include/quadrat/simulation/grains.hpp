// Grains: rigid bodies by the million that fall, collide, rub, roll and come to rest, between walls that stand or move.
// The use that Schornbaum 2009 (HHG) made its hierarchical hash grids for. Pairs come from a HashGridHierarchy;
// contacts are hard (a non-smooth solver in sub-steps) or springs with dashpots; see docs/reference/simulation.md.
//
// Units are SI: metres, kilograms, seconds. In two dimensions grains are discs in the plane z = 0 and their masses are
// per metre of depth.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

/// What a grain looks like.
enum class GrainShape : std::uint8_t {
    sphere,   ///< Grain::radius; in two dimensions a disc
    box,      ///< Grain::size
    capsule,  ///< Grain::radius and Grain::length
    convex,   ///< Grain::hull
};

/// How grains that touch push each other.
enum class GrainContacts : std::uint8_t {
    hard,           ///< they do not overlap: impulses, Coulomb's cone, restitution (any shape)
    linear_spring,  ///< force = stiffness * overlap, with a dashpot for the restitution (spheres only)
    hertz,          ///< force ~ overlap^(3/2) of elastic spheres (spheres only)
};

/// Friction and the like of a grain or wall. Where two meet, friction and rolling are the geometric mean of the two
/// values, restitution is the larger one.
struct GrainSurface {
    /// Coulomb's coefficient, 0 or more.
    double friction = 0.5;
    /// Share of the normal speed that comes back, 0 to 1. Slow meetings give none: GrainOptions::bounce_speed.
    double restitution = 0;
    /// Largest torque against rolling and spinning, as a share of normal force times radius, 0 or more. Spheres only.
    double rolling = 0;
};

/// One rigid body.
struct Grain {
    /// Which of the sizes below count.
    GrainShape shape = GrainShape::sphere;
    /// Of a sphere or capsule, metres, above 0.
    double radius = 0.5;
    /// Whole edges of a box, metres, above 0.
    Vec3d size = {{1, 1, 1}};
    /// Of a capsule along its z axis, between the centres of its caps, metres, above 0.
    double length = 1;
    /// Of a convex grain: what add_hull() gave.
    std::uint32_t hull = 0;
    /// kg / m^3, above 0.
    double density = 1000;
    /// Of the centre of mass, metres.
    Vec3d position = {};
    /// Unit quaternion w, x, y, z.
    std::array<double, 4> orientation = {1, 0, 0, 0};
    /// m / s.
    Vec3d velocity = {};
    /// rad / s, in the world's axes.
    Vec3d angular_velocity = {};
    /// What it is like to touch.
    GrainSurface surface = {};
};

/// The grains stay where dot(normal, x) >= offset, for a normal of unit length.
struct GrainPlane {
    /// Any length above 0.
    Vec3d normal = {{0, 0, 1}};
    /// Metres, for the unit normal.
    double offset = 0;
    /// What it is like to touch.
    GrainSurface surface = {};
};

/// A surface of triangles that stands still or moves with given velocities whatever it meets: a hopper, a drum. Both of
/// its sides are walls. Three dimensions only.
struct GrainWall {
    /// At least one.
    std::vector<Triangle> triangles = {};
    /// Metres, in the wall's frame.
    std::vector<Vec3d> vertices = {};
    /// Of the frame, metres.
    Vec3d position = {};
    /// Unit quaternion w, x, y, z.
    std::array<double, 4> orientation = {1, 0, 0, 0};
    /// Of the frame, m / s.
    Vec3d velocity = {};
    /// rad / s, about the frame's origin, in the world's axes.
    Vec3d angular_velocity = {};
    /// What it is like to touch.
    GrainSurface surface = {};
};

/// How a world of grains is computed.
struct GrainOptions {
    /// Where to run; outlives the world. Default: null, the calling thread. No result depends on it.
    Executor* executor = nullptr;
    /// Ends a step before it has changed anything: step() throws stopped. `report` is not called. Default: nobody.
    Watch watch = {};
    /// 2 (discs in the plane z = 0) or 3.
    int dimension = 3;
    /// m / s^2.
    Vec3d gravity = {{0, 0, -9.81}};
    /// Parts that a step is cut into: more make contacts stiffer and piles steadier. 1 to 1000. Default: 4. Springs
    /// take more where their stiffness needs it.
    std::uint32_t substeps = 4;
    /// How contacts push.
    GrainContacts contacts = GrainContacts::hard;
    /// Of linear springs, N / m; of Hertz, Young's modulus of both materials over 1 - nu^2, Pa. Above 0 with those.
    double stiffness = 0;
    /// Meetings that are slower do not bounce, m / s. 0, the default: what gravity gives in four sub-steps.
    double bounce_speed = 0;
    /// Islands whose grains are all slower (a surface point, m / s) for sleep_time fall asleep. 0, the default: what
    /// gravity gives in a fifth of a step.
    double sleep_speed = 0;
    /// Seconds, 0 or more. Infinity, the default: nothing sleeps.
    double sleep_time = std::numeric_limits<double>::infinity();
    /// Pairs are looked for this far ahead, in radii of each grain; 0 to 1. Changes speed, and which contacts are
    /// foreseen, no more. Default: 0.1.
    double margin = 0.1;
};

/// Two grains, or a grain and a wall, that touch or are about to.
struct GrainContact {
    /// What the second is.
    enum class With : std::uint8_t { grain, plane, wall };
    /// The first, a grain.
    std::uint32_t first;
    /// The second: a grain, a plane or a wall, by its number.
    std::uint32_t second;
    /// See With.
    With with;
    /// Metres, between the two surfaces.
    Vec3d point;
    /// Unit length, from the first to the second.
    Vec3d normal;
    /// Metres between the surfaces; negative where they overlap.
    double separation;
    /// N, mean of the last sub-step, on the second (the first feels the opposite).
    Vec3d force;
};

/// Wall-clock seconds since the start, by phase.
struct GrainSeconds {
    double search = 0;    ///< pairs: grids, order, colours
    double contacts = 0;  ///< where pairs touch
    double solve = 0;     ///< impulses and sub-steps
    double move = 0;      ///< the rest of a step, sleeping included
    /// All of them.
    [[nodiscard]] double total() const { return search + contacts + solve + move; }
};

/// What the last step left.
struct GrainStats {
    double time = 0;             ///< of the run, seconds
    std::uint64_t steps = 0;     ///< made so far
    std::uint64_t grains = 0;    ///< in the world
    std::uint64_t asleep = 0;    ///< of them
    std::uint64_t pairs = 0;     ///< that are near each other, walls included
    std::uint64_t contacts = 0;  ///< that were solved in the last step
    std::uint64_t touching = 0;  ///< of them, with a force
    std::uint64_t stages = 0;    ///< of a solve, one after the other on all threads
    std::uint64_t searches = 0;  ///< how often pairs were looked for
    std::uint64_t islands = 0;   ///< groups of grains that touch, when last looked at; 0 without sleeping
    double kinetic = 0;          ///< J, linear
    double rotational = 0;       ///< J
    double potential = 0;        ///< J, by gravity from the origin
    Vec3d momentum = {};         ///< kg m / s
    double max_speed = 0;        ///< m / s
    double max_overlap = 0;      ///< metres, at the begin of the last step
    GrainSeconds seconds = {};
};

/// A world of grains. The same bytes for any number of threads. Grains, planes, walls and hulls are numbered in the
/// order in which they came, and keep their numbers. Not for use from several threads at once; const members may be
/// called at the same time between steps.
///
///     Grains grains({.gravity = {{0, 0, -9.81}}});
///     grains.add(GrainPlane{});
///     for (int k = 0; k < 10; ++k) grains.add(Grain{.position = {{0, 0, 0.5 + k}}});
///     for (int frame = 0; frame < 100; ++frame) grains.step(0.01);
///
/// Errors leave the world as it was, except where a step says otherwise. One that was moved from can be assigned to or
/// destroyed.
class Grains {
  public:
    /// An empty world. Throws bad_value naming the option that is out of its range.
    explicit Grains(const GrainOptions& options = {});
    ~Grains();
    Grains(Grains&&) noexcept;
    Grains& operator=(Grains&&) noexcept;

    /// Adds grains and returns the number of the first. They may overlap others: they are then pushed apart, slowly.
    /// Throws bad_value with index and field of the first that is bad; unsupported for what is no disc in two
    /// dimensions, or no sphere with springs. Cost: O(those added), and a new search in the next step.
    std::uint32_t add(std::span<const Grain> grains);
    /// The same for one; the error has no index. For many the other is faster.
    std::uint32_t add(const Grain& grain);
    /// Adds a plane and returns its number. Throws bad_value with the field. Each costs a test with every grain
    /// whenever pairs are looked for.
    std::uint32_t add(const GrainPlane& plane);
    /// Adds a wall and returns its number. Throws bad_value with the field, and for triangles with the index.
    std::uint32_t add(const GrainWall& wall);
    /// Makes the hull of the points known and returns its number. The frame of grains with it is at its centre of mass,
    /// and its axes are those of the points. Throws bad_value for points that are not finite, lie in a plane, or make a
    /// hull of more than 64 corners. points: metres.
    std::uint32_t add_hull(std::span<const Vec3d> points);
    /// Where the points' origin is in the frame of grains with that hull, metres. Throws stale_id.
    [[nodiscard]] Vec3d hull_origin(std::uint32_t hull) const;

    /// Changes how a wall moves from now on. Throws stale_id, bad_value.
    void move_wall(std::uint32_t wall, const Vec3d& velocity, const Vec3d& angular_velocity);
    /// Sets the velocities of a grain, which wakes. Throws stale_id, bad_value.
    void set_velocity(std::uint32_t grain, const Vec3d& velocity, const Vec3d& angular_velocity = {});

    /// One time step. O(grains and contacts). Invalidates all spans.
    ///
    /// dt: seconds, above 0 and finite, or bad_value. Grains that cross more than a radius of the smallest in one
    ///     sub-step may pass through each other.
    /// Throws bad_value with the number of a grain as index whose state is no longer finite: the world is then that of
    /// the failure. Throws stopped; nothing has changed then.
    void step(double dt);

    /// Number of grains.
    [[nodiscard]] std::size_t size() const noexcept;
    /// Seconds since the begin.
    [[nodiscard]] double time() const noexcept;
    /// Of the centres of mass, metres. By number, as all that follow; valid until the next change.
    [[nodiscard]] std::span<const Vec3d> positions() const noexcept;
    /// Unit quaternions w, x, y, z.
    [[nodiscard]] std::span<const std::array<double, 4>> orientations() const noexcept;
    /// m / s.
    [[nodiscard]] std::span<const Vec3d> velocities() const noexcept;
    /// rad / s, in the world's axes.
    [[nodiscard]] std::span<const Vec3d> angular_velocities() const noexcept;
    /// kg.
    [[nodiscard]] std::span<const double> masses() const noexcept;
    /// 1 for a grain that sleeps, 0 for others.
    [[nodiscard]] std::span<const std::uint8_t> asleep() const noexcept;
    /// A grain as it is now. Throws std::out_of_range.
    [[nodiscard]] Grain grain(std::uint32_t number) const;
    /// Where a wall is now. Throws std::out_of_range.
    [[nodiscard]] const GrainWall& wall(std::uint32_t number) const;
    /// How many walls there are.
    [[nodiscard]] std::size_t walls() const noexcept;
    /// Refills `out` with the contacts of the last step, as they were at its begin, in an order that no number of
    /// threads changes. Empty before the first.
    void find_contacts(std::vector<GrainContact>& out) const;
    /// Computed on request, O(grains and contacts).
    [[nodiscard]] GrainStats stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
