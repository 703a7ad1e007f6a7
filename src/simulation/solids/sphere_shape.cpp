// A sphere around the origin; in two dimensions a disc.
#include "simulation/solids/shape.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace quadrat::simulation {
namespace {

constexpr double pi = std::numbers::pi;

std::vector<Vector> on_circle(double radius, double spacing) {
    const int n = std::max(3, static_cast<int>(std::round(2 * pi * radius / spacing)));
    std::vector<Vector> out;
    for (int k = 0; k < n; ++k) out.push_back(radius * Vector(std::cos(2 * pi * k / n), std::sin(2 * pi * k / n), 0));
    return out;
}

// Fibonacci's lattice: turns by the golden angle, in bands of equal area.
std::vector<Vector> on_sphere(double radius, double spacing) {
    const int n = std::max(6, static_cast<int>(std::round(4 * pi * radius * radius / (spacing * spacing))));
    std::vector<Vector> out;
    for (int k = 0; k < n; ++k) {
        const double z = 1 - (2 * k + 1.0) / n, turn_by = k * pi * (3 - std::sqrt(5.0));
        const double r = std::sqrt(1 - z * z);
        out.push_back(radius * Vector(r * std::cos(turn_by), r * std::sin(turn_by), z));
    }
    return out;
}

class SphereShape final : public Shape {
  public:
    SphereShape(const RigidBody& body, int dimension)
        : Shape(BodyShape::sphere, dimension, 0, body.radius,
                plain_box(Vector::Constant(-body.radius), Vector::Constant(body.radius))) {}

    [[nodiscard]] bool round() const override { return true; }

    [[nodiscard]] Distance distance(const Vector& x, double) const override {
        const double r = x.norm();
        return {r - radius_, r > 0 ? Vector(x / r) : Vector(Vector::UnitX())};
    }

    [[nodiscard]] std::optional<Hit> entry(const Vector& a, const Vector& b) const override {
        const Vector d = b - a;
        const double c = a.squaredNorm() - radius_ * radius_, half_b = a.dot(d), q = d.squaredNorm();
        const double root = half_b * half_b - q * c;
        if (c < 0 || half_b >= 0 || root < 0) return {};
        const double t = c / (-half_b + std::sqrt(root));
        if (t > 1) return {};
        return Hit{t, Vector((a + t * d) / radius_)};
    }

    [[nodiscard]] Mass mass(double density) const override {
        const bool flat = dimension_ == 2;
        Mass m;
        m.mass = density * (flat ? pi * radius_ * radius_ : 4.0 / 3 * pi * radius_ * radius_ * radius_);
        m.inertia *= (flat ? 0.5 : 0.4) * m.mass * radius_ * radius_;
        return m;
    }

    [[nodiscard]] std::vector<Vector> corners() const override { return {Vector::Zero()}; }

    [[nodiscard]] std::vector<Vector> sample_surface(double spacing, double depth) const override {
        const double radius = std::max(radius_ - depth, 0.5 * radius_);  // no deeper than half way to the middle
        return dimension_ == 2 ? on_circle(radius, spacing) : on_sphere(radius, spacing);
    }

    [[nodiscard]] base::Surface surface(const Detail& detail) const override {
        base::Surface s = base::ball_surface(detail.rounds);
        double least = 1;  // distance of the faces from the centre
        for (const Triangle& t : s.triangles)
            least = std::min(
                least, ((vector(s.vertices[t.a]) + vector(s.vertices[t.b]) + vector(s.vertices[t.c])) / 3).norm());
        for (Vec3d& v : s.vertices)
            for (int k = 0; k < 3; ++k) v[k] *= radius_ / least;
        return s;
    }
};

}  // namespace

const ShapeRow sphere_row = {
    [](const RigidBody& body, int dimension) -> std::unique_ptr<Shape> {
        return std::make_unique<SphereShape>(body, dimension);
    },
    [](const RigidBody&, int) { return 0.0; },
    [](const RigidBody& b, int dimension) { return dimension == 2 ? 2 * pi * b.radius : 4 * pi * b.radius * b.radius; },
    check_nothing};

}  // namespace quadrat::simulation
