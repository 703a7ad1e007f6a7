// The half-space behind a plane through the origin.
#include "base/assert.hpp"
#include "simulation/scene/complain.hpp"
#include "simulation/solids/shape.hpp"

#include <limits>

namespace quadrat::simulation {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class PlaneShape final : public Shape {
  public:
    PlaneShape(const RigidBody& body, int dimension)
        : Shape(BodyShape::plane, dimension, 0, 0, plain_box(Vector::Constant(-infinity), Vector::Constant(infinity))),
          given_(vector(body.normal)),
          normal_(given_.normalized()) {}

    [[nodiscard]] bool unbounded() const override { return true; }

    [[nodiscard]] Distance distance(const Vector& x, double) const override { return {normal_.dot(x), normal_}; }

    [[nodiscard]] std::optional<Hit> entry(const Vector& a, const Vector& b) const override {
        const double from = normal_.dot(a), to = normal_.dot(b);
        if (from < 0 || to >= 0) return {};
        return Hit{from / (from - to), normal_};
    }

    [[nodiscard]] Mass mass(double) const override { return {}; }
    [[nodiscard]] std::vector<Vector> corners() const override { return {}; }
    [[nodiscard]] std::vector<Vector> sample_surface(double, double) const override { return {}; }

    [[nodiscard]] base::Surface surface(const Detail& detail) const override {
        return square(given_, Vector::Zero(), detail.reach);
    }

  private:
    Vector given_, normal_;
};

}  // namespace

base::Surface square(const Vector& normal, const Vector& point, double half_edge) {
    QUADRAT_ASSERT(half_edge > 0 && normal.squaredNorm() > 0);
    const Vector u = half_edge * normal.unitOrthogonal(), w = normal.normalized().cross(u);
    base::Surface s;
    for (const Vector& corner : {Vector(-u - w), Vector(u - w), Vector(w - u), Vector(u + w)})
        s.vertices.push_back(plain(point + corner));
    s.triangles = {{0, 1, 2}, {1, 3, 2}};
    return s;
}

const ShapeRow plane_row = {[](const RigidBody& body, int dimension) -> std::unique_ptr<Shape> {
                                return std::make_unique<PlaneShape>(body, dimension);
                            },
                            [](const RigidBody&, int) { return 0.0; }, [](const RigidBody&, int) { return 0.0; },
                            [](const RigidBody& body, int, const std::string& path) {
                                if (body.motion == BodyMotion::dynamic)
                                    fail(path + "/motion", "a plane cannot be dynamic");
                            }};

}  // namespace quadrat::simulation
