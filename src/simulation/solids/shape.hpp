// What a body looks like: one interface, one file per shape behind it (sphere_shape.cpp, box_shape.cpp,
// plane_shape.cpp, mesh_shape.cpp). A new shape is a name in BodyShape, a file, a row in the table of shape.cpp, and
// its row and column in the table of meetings.hpp; each that is forgotten fails to compile. Everything is in the frame
// of the body.
#pragma once

#include <quadrat/simulation/scene.hpp>

#include "base/surfaces.hpp"
#include "simulation/solids/frames.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadrat::simulation {

class MeshShape;

class Shape {
  public:
    virtual ~Shape() = default;
    Shape(const Shape&) = delete;
    Shape& operator=(const Shape&) = delete;

    [[nodiscard]] BodyShape kind() const { return kind_; }
    /// Infinite for a plane.
    [[nodiscard]] const Box3d& bounds() const { return bounds_; }
    /// How far a point of it can be from where it turns; 0 for a sphere, which looks the same, and a plane.
    [[nodiscard]] double arm() const { return arm_; }
    /// Of the ball around each of its corners: the radius of a sphere, 0 for anything else.
    [[nodiscard]] double radius() const { return radius_; }

    /// A segment between two points inside stays inside.
    [[nodiscard]] virtual bool convex() const { return true; }
    /// It has no end: it stays where it is when the world is periodic, and is no source of samples.
    [[nodiscard]] virtual bool unbounded() const { return false; }
    /// It looks the same however it is turned.
    [[nodiscard]] virtual bool round() const { return false; }

    struct Distance {
        double value;  ///< negative inside
        Vector normal;
    };
    /// For a mesh infinite if its surface is farther than `reach`, inside as well.
    [[nodiscard]] virtual Distance distance(const Vector& x, double reach) const = 0;
    /// The same, but of any depth inside.
    [[nodiscard]] virtual Distance deep_distance(const Vector& x, double reach) const { return distance(x, reach); }

    struct Hit {
        double time;
        Vector normal;
    };
    /// Where the segment from a enters the shape: the parameter in [0, 1] and the normal. A start inside does not
    /// count.
    [[nodiscard]] virtual std::optional<Hit> entry(const Vector& a, const Vector& b) const = 0;

    struct Mass {
        double mass = 0;
        Vector centre = Vector::Zero();
        Matrix3d inertia = Matrix3d::Identity();  ///< about the centre
    };
    [[nodiscard]] virtual Mass mass(double density) const = 0;

    /// The points that touch first: the centre of a sphere, the corners of a box, the vertices of a mesh.
    [[nodiscard]] virtual std::vector<Vector> corners() const = 0;
    /// Points about `spacing` apart on the surface, or `depth` below it where the shape is not too thin for that.
    [[nodiscard]] virtual std::vector<Vector> sample_surface(double spacing, double depth) const = 0;
    /// Points of a lattice inside, down to `depth`.
    [[nodiscard]] std::vector<Vector> sample_inside(double spacing, double depth) const;

    struct Detail {
        int rounds = 3;    ///< how often the octahedron of a sphere is cut
        double reach = 1;  ///< a plane is as wide as this each way
    };
    /// Triangles around it, for what collides with surfaces. Those of a sphere enclose it.
    [[nodiscard]] virtual base::Surface surface(const Detail& detail) const = 0;
    /// Itself, if it is made of triangles, else null.
    [[nodiscard]] virtual const MeshShape* as_mesh() const { return nullptr; }

  protected:
    Shape(BodyShape kind, int dimension, double arm, double radius, const Box3d& bounds)
        : dimension_(dimension), arm_(arm), radius_(radius), bounds_(bounds), kind_(kind) {}

    int dimension_;
    double arm_, radius_;
    Box3d bounds_;

  private:
    BodyShape kind_;
};

/// The shape of a body, whose numbers are valid; in two dimensions a sphere is a disc and a box a rectangle.
[[nodiscard]] std::unique_ptr<Shape> make_shape(const RigidBody& body, int dimension);
/// Throws Error for what this shape cannot be: in so many dimensions, with this motion, of these triangles. The body's
/// fields are valid one by one, but the triangles may name vertices that are not there. path: of the body.
void check_shape(const RigidBody& body, int dimension, const std::string& path);
/// Shape::arm without making the shape.
[[nodiscard]] double turning_arm(const RigidBody& body, int dimension);
/// Of its surface, in m^2 (m in two dimensions); 0 for a plane, which goes as far as the domain.
[[nodiscard]] double surface_area(const RigidBody& body, int dimension);

/// What shape.cpp has to know of a shape.
struct ShapeRow {
    std::unique_ptr<Shape> (*make)(const RigidBody& body, int dimension);
    double (*arm)(const RigidBody& body, int dimension);
    double (*area)(const RigidBody& body, int dimension);
    void (*check)(const RigidBody& body, int dimension, const std::string& path);
};
extern const ShapeRow sphere_row, box_row, plane_row, mesh_row;

/// What is wrong with a shape that can be anything.
inline void check_nothing(const RigidBody&, int, const std::string&) {}

/// A square of the plane through `point`, as a surface; what a plane and a wall are for cloth.
[[nodiscard]] base::Surface square(const Vector& normal, const Vector& point, double half_edge);

}  // namespace quadrat::simulation
