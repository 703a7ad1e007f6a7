// A small cloth that shows the contact pipeline at work: implicit steps with continuous collision response.
// Its promise is that no triangle ever passes through another one: not of the cloth itself, and not of an obstacle. It
// holds by induction: a cloth starts free of contact, and a step that is not proved free of contact is not made.
//
// Lengths are in metres, times in seconds. The cloth weighs 1 kg / m^2, each vertex a third of its triangles;
// compliances and pushes are in terms of that: for a cloth of another density multiply both by it.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

/// How a cloth behaves. Cloth itself refuses only a time step or thickness that is out of its range; Simulation, whose
/// scenes hold these options too, checks all of them.
struct ClothOptions {
    /// Of every step, seconds: above 0 and finite. Default: 1 / 120.
    double time_step = 1.0 / 120;
    /// m / s^2, finite. Default: (0, 0, -9.81), the earth's.
    Vec3d gravity = {{0, 0, -9.81}};
    /// Metres that the solver keeps between surfaces: above 0 and finite, and well below the length of an edge, since
    /// features of one sheet that share no vertex are kept so far apart as well. Contact itself is excluded whether the
    /// solver reaches this or not. 0, the default: 1 cm, or half of the shortest edge if that is less.
    double thickness = 0;
    /// Coulomb coefficient at contacts, of cloth with cloth and with obstacles: 0 or more. Default: 0.4.
    double friction = 0.4;
    /// Rate at which velocities decay, 1 / s: 0 or more. Default: 0.5.
    double damping = 0.5;
    /// Of edges, m / N: 0 or more, 0 is inextensible as far as double precision tells, and a net of triangles
    /// without stretch folds like paper. Default: 1e-5.
    double stretch_compliance = 1e-5;
    /// Of the distance between the far corners of two triangles with a common edge, m / N: 0 or more. Edges of three or
    /// more triangles do not resist bending. Default: 1e-3.
    double bend_compliance = 1e-3;
    /// Rounds of Newton's method per step, at most: 1 to 10,000. Few are needed where the cloth moves little in a step;
    /// with too few it gives way more than its compliance says. Default: 20.
    std::uint32_t iterations = 20;
    /// Where contact is looked for; the solver runs on the caller's thread. Must outlive the cloth. Default: null, the
    /// calling thread.
    Executor* executor = nullptr;
};

/// What the last step did; zeros before the first.
struct ClothStats {
    /// Pairs of features whose swept boxes came near each other.
    std::uint64_t candidates = 0;
    /// Those of them within reach, which the solver kept apart.
    std::size_t near = 0;
    /// Contacts that the continuous test found after that: what the solver let through and was then stopped.
    std::size_t impacts = 0;
    /// How often the solver computed the forces between all parts of the cloth.
    std::size_t forces = 0;
    /// Continuous tests made, at least 1. Many mean that the cloth is jammed.
    std::size_t rounds = 0;
    /// Vertices that were held where they were because shortening their motion did not help.
    std::size_t stopped = 0;
};

/// What the cloth gave an obstacle during the last step, as far as the solver did it.
struct ObstaclePush {
    /// N s, of cloth that weighs 1 kg / m^2; towards the obstacle.
    Vec3d impulse = {};
    /// Where, on average over the vertices that were pushed, metres; zero without a push.
    Vec3d point = {};
};

/// Sheets, closed shells and obstacles. All start apart from each other. One object may hold several sheets that are
/// not connected; they meet each other like parts of one. Simulation is for cloth that meets fluid and rigid bodies.
///
///     Cloth cloth(triangles, positions, {.thickness = 0.005});
///     cloth.pin(0);
///     const std::uint32_t ball = cloth.add_obstacle(ball_triangles, ball_positions);
///     for (int i = 0; i < 120; ++i) cloth.step();  // one second, at the default step
///
/// Threads: const members may be called at the same time, all others alone. Results are the same bytes for any number
/// of threads. Spans that are handed out are valid until the next call of a member that is not const.
class Cloth {
  public:
    /// A cloth at rest at these places, which are also what its edges and corners want to keep. Vertices have unit area
    /// density (mass by area); one without a triangle of positive area is held like a pinned one. Costs one test of all
    /// triangles against each other.
    ///
    /// triangles: positions in `positions`, or Error{bad_value} names the index.
    /// positions: metres, finite; or Error{bad_value}, also if the surface starts in contact with itself. Triangles
    ///     that share a vertex may touch.
    /// options: Error{bad_value} names the time step if it is not positive, the thickness if it is negative, either if
    /// it
    ///     is not finite.
    Cloth(std::span<const Triangle> triangles, std::span<const Vec3d> positions, const ClothOptions& options = {});
    ~Cloth();
    Cloth(Cloth&&) noexcept;
    Cloth& operator=(Cloth&&) noexcept;

    /// Holds a vertex where it is, for good.
    ///
    /// vertex: below the number of positions, or Error{bad_value}.
    void pin(std::uint32_t vertex);
    /// A spring at its present length between two vertices, for bodies that keep their shape. The edges have theirs
    /// already.
    ///
    /// a, b: below the number of positions, or Error{bad_value}.
    /// compliance: m / N, 0 (rigid) or more.
    void add_spring(std::uint32_t a, std::uint32_t b, double compliance);
    /// A surface that moves as it is told; pushes() says what the cloth did to it. Returns its number, from 0.
    /// Obstacles do not meet each other and may cross. Costs one test of all triangles. Throws Error{bad_value} for bad
    /// indices and coordinates, and if it touches or crosses the cloth; the cloth is then as it was.
    std::uint32_t add_obstacle(std::span<const Triangle> triangles, std::span<const Vec3d> positions);
    /// Where the obstacle's vertices should be at the end of the next step, which they go to in straight lines. If the
    /// cloth is jammed against it, the obstacle waits: it stays where it was, obstacle() tells, and this must be called
    /// again.
    ///
    /// obstacle: a number that add_obstacle() gave, or Error{bad_value}.
    /// positions: metres, finite, which only the step finds out; one per vertex, or Error{bad_shape}.
    void move_obstacle(std::uint32_t obstacle, std::span<const Vec3d> positions);

    /// Adds to the velocity of a vertex, m / s; held ones stay.
    ///
    /// vertex: below the number of positions, or Error{bad_value}.
    void push(std::uint32_t vertex, const Vec3d& velocity_change);
    /// One time step. The motion from the old positions to the new ones, in straight lines, is free of contact: motion
    /// that is not is shortened, then stopped, in the worst case that of everything.
    ///
    /// Time: O(features + candidates + forces (springs + near pairs)) for cloth that does not crowd, where
    /// ClothStats::forces grows with the cells across and with the time step. Throws
    /// Error{bad_value} if positions are not finite any more and Error{too_large} if the cloth moves so far that
    /// everything meets everything (ContactOptions::max_candidates); positions are then those of before the step.
    ///
    /// load: what moves along with each vertex in this step, as a multiple of the vertex's own mass, 0 or more; one per
    ///     vertex, or Error{bad_shape}. Empty, the default: nothing. It has no weight of its own, but stretch, bending
    ///     and contact must move it too.
    void step(std::span<const double> load = {});

    /// Puts a cloth where another run of it was, for checkpoints. That the places are free of contact is not checked.
    /// Throws Error{bad_shape} for another number of vertices.
    void restore(std::span<const Vec3d> positions, std::span<const Vec3d> velocities);
    /// The same for an obstacle: it is there at once. Throws as move_obstacle().
    void restore_obstacle(std::uint32_t obstacle, std::span<const Vec3d> positions);

    /// The faces, as they were given.
    [[nodiscard]] std::span<const Triangle> triangles() const;
    /// Where the vertices are, metres.
    [[nodiscard]] std::span<const Vec3d> positions() const;
    /// How fast they went during the last step, m / s, and what push() added since.
    [[nodiscard]] std::span<const Vec3d> velocities() const;
    /// How many obstacles there are.
    [[nodiscard]] std::uint32_t obstacles() const;
    /// Where the vertices of an obstacle are, metres. Throws Error{bad_value} for a number that is not there.
    [[nodiscard]] std::span<const Vec3d> obstacle(std::uint32_t number) const;
    /// What the last step did to each obstacle; empty before the first.
    [[nodiscard]] std::span<const ObstaclePush> pushes() const;
    /// What the last step did and cost.
    [[nodiscard]] const ClothStats& stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
