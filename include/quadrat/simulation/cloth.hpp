// A small cloth that shows the contact pipeline at work: position based dynamics with continuous collision response.
// Its promise is that no triangle ever passes through another one: not of the cloth itself, and not of an obstacle.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

struct ClothOptions {
    double time_step = 1.0 / 120;      ///< seconds
    Vec3d gravity = {{0, 0, -9.81}};   ///< m / s^2
    double thickness = 0.01;           ///< metres kept between surfaces; well below the length of an edge
    double friction = 0.4;             ///< Coulomb coefficient at contacts
    double damping = 0.5;              ///< of velocities, per second
    double stretch_compliance = 1e-7;  ///< m / N of edges; 0 is inextensible
    double bend_compliance = 1e-3;     ///< m / N between the far corners of neighbouring triangles
    std::uint32_t iterations = 20;     ///< of the solver per step
    Executor* executor = nullptr;
};

/// What the last step did.
struct ClothStats {
    std::uint64_t candidates = 0;  ///< pairs of features looked at
    std::size_t near = 0;          ///< pairs within reach, kept apart by the solver
    std::size_t impacts = 0;       ///< contacts that the continuous test found after that
    std::size_t rounds = 0;        ///< continuous tests made
    std::size_t stopped = 0;       ///< vertices that were held where they were
};

/// What the cloth gave an obstacle during the last step. Momentum is that of cloth with unit area density.
struct ObstaclePush {
    Vec3d impulse = {};
    Vec3d point = {};  ///< where, on average
};

/// Sheets, closed shells and obstacles. All start apart from each other.
class Cloth {
  public:
    /// Vertices have unit area density (mass by area). Throws Error for bad indices, coordinates and options, and if
    /// the surface starts in contact with itself.
    Cloth(std::span<const Triangle> triangles, std::span<const Vec3d> positions, const ClothOptions& options = {});
    ~Cloth();
    Cloth(Cloth&&) noexcept;
    Cloth& operator=(Cloth&&) noexcept;

    /// Holds a vertex where it is.
    void pin(std::uint32_t vertex);
    /// A spring at its present length between two vertices, for bodies that keep their shape.
    void add_spring(std::uint32_t a, std::uint32_t b, double compliance);
    /// A surface that moves as it is told; pushes() says what the cloth did to it. Returns its number.
    std::uint32_t add_obstacle(std::span<const Triangle> triangles, std::span<const Vec3d> positions);
    /// Where the obstacle's vertices should be at the end of the next step. If the cloth is jammed against it, the
    /// obstacle waits.
    void move_obstacle(std::uint32_t obstacle, std::span<const Vec3d> positions);

    /// Adds to the velocity of a vertex; held ones stay.
    void push(std::uint32_t vertex, const Vec3d& velocity_change);
    /// `load` is what moves along with each vertex in this step, as a multiple of the vertex's own mass; empty:
    /// nothing. It has no weight of its own, but stretch, bending and contact must move it too.
    void step(std::span<const double> load = {});

    /// Puts a cloth where another run of it was; obstacles too. Throws Error{bad_shape} for another number of vertices.
    void restore(std::span<const Vec3d> positions, std::span<const Vec3d> velocities);
    void restore_obstacle(std::uint32_t obstacle, std::span<const Vec3d> positions);

    [[nodiscard]] std::span<const Triangle> triangles() const;
    [[nodiscard]] std::span<const Vec3d> positions() const;
    [[nodiscard]] std::span<const Vec3d> velocities() const;
    [[nodiscard]] std::uint32_t obstacles() const;
    [[nodiscard]] std::span<const Vec3d> obstacle(std::uint32_t number) const;
    [[nodiscard]] std::span<const ObstaclePush> pushes() const;
    [[nodiscard]] const ClothStats& stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
