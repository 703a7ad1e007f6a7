// A closed surface of triangles as the shape of a body.
#pragma once

#include <quadrat/cells/hierarchical_hash.hpp>

#include "simulation/solids/shape.hpp"

#include <array>
#include <span>

namespace quadrat::simulation {

class MeshShape final : public Shape {
  public:
    MeshShape(const RigidBody& body, int dimension);
    /// The shape that a closed surface encloses.
    explicit MeshShape(base::Surface surface);

    [[nodiscard]] bool convex() const override { return false; }
    [[nodiscard]] Distance distance(const Vector& x, double reach) const override;
    [[nodiscard]] Distance deep_distance(const Vector& x, double reach) const override;
    [[nodiscard]] std::optional<Hit> entry(const Vector& a, const Vector& b) const override;
    [[nodiscard]] Mass mass(double density) const override;
    [[nodiscard]] std::vector<Vector> corners() const override { return vertices_; }
    [[nodiscard]] std::vector<Vector> sample_surface(double spacing, double depth) const override;
    [[nodiscard]] base::Surface surface(const Detail&) const override { return given_; }
    [[nodiscard]] const MeshShape* as_mesh() const override { return this; }

    /// Vertices in one place are one; triangles face out.
    [[nodiscard]] std::span<const Vector> vertices() const { return vertices_; }
    [[nodiscard]] std::span<const Triangle> triangles() const { return triangles_; }
    /// The parameters, in order, where a segment passes through the surface.
    [[nodiscard]] std::vector<double> crossings(const Vector& a, const Vector& b) const;

  private:
    void find_normals();
    [[nodiscard]] bool passes(std::uint32_t face, const Vector& a, const Vector& b, double from, double to,
                              double& time) const;

    base::Surface given_;
    std::vector<Triangle> triangles_;
    std::vector<Vector> vertices_, face_normals_, vertex_normals_;
    std::vector<std::array<Vector, 3>> edge_normals_;  // opposite of a, b, c
    HierarchicalHash<3, double> faces_;
};

}  // namespace quadrat::simulation
