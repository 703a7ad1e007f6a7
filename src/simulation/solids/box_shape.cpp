// A box around the origin, along the axes; in two dimensions a rectangle.
#include "simulation/solids/shape.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

double arm_of(const RigidBody& body, int dimension) {
    return 0.5 * std::hypot(body.size[0], body.size[1], dimension == 3 ? body.size[2] : 0.0);
}

Vector half_of(const RigidBody& body, int dimension) {
    Vector half = 0.5 * vector(body.size);
    if (dimension == 2) half[2] = 4 * std::max(half[0], half[1]);  // in the plane no face along z is ever the nearest
    return half;
}

std::vector<Vector> on_box(const Vector& half, double spacing, bool flat) {
    int n[3];
    for (int k = 0; k < 3; ++k) n[k] = std::max(1, static_cast<int>(std::round(2 * half[k] / spacing)));
    std::vector<Vector> out;
    for (int x = 0; x <= n[0]; ++x)
        for (int y = 0; y <= n[1]; ++y)
            for (int z = 0; z <= (flat ? 0 : n[2]); ++z) {
                const bool edge = x == 0 || x == n[0] || y == 0 || y == n[1] || (!flat && (z == 0 || z == n[2]));
                if (edge)
                    out.emplace_back((2.0 * x / n[0] - 1) * half[0], (2.0 * y / n[1] - 1) * half[1],
                                     flat ? 0 : (2.0 * z / n[2] - 1) * half[2]);
            }
    return out;
}

class BoxShape final : public Shape {
  public:
    BoxShape(const RigidBody& body, int dimension)
        : Shape(BodyShape::box, dimension, arm_of(body, dimension), 0,
                plain_box(-half_of(body, dimension), half_of(body, dimension))),
          half_(half_of(body, dimension)) {}

    [[nodiscard]] Distance distance(const Vector& x, double) const override {
        const Vector q = x.cwiseAbs() - half_;
        const Vector sign = x.unaryExpr([](double v) { return v < 0 ? -1.0 : 1.0; });
        if (q.maxCoeff() > 0) {
            const Vector out = q.cwiseMax(0.0);
            const double d = out.norm();
            return {d, Vector(out.cwiseProduct(sign) / d)};
        }
        int axis = 0;
        const double d = q.maxCoeff(&axis);
        return {d, Vector(sign[axis] * Vector::Unit(axis))};
    }

    // Slabs: the segment is inside from the last entry of an axis to the first exit.
    [[nodiscard]] std::optional<Hit> entry(const Vector& a, const Vector& b) const override {
        const Vector d = b - a;
        double in = -1, out = 2;
        int axis = -1;
        for (int k = 0; k < 3; ++k) {
            if (d[k] == 0) {
                if (std::abs(a[k]) > half_[k]) return {};
                continue;
            }
            const double s = d[k] > 0 ? 1 : -1;
            const double near = (-s * half_[k] - a[k]) / d[k], far = (s * half_[k] - a[k]) / d[k];
            if (near > in) in = near, axis = k;
            out = std::min(out, far);
        }
        if (axis < 0 || in < 0 || in > 1 || in > out) return {};
        return Hit{in, Vector((d[axis] > 0 ? -1.0 : 1.0) * Vector::Unit(axis))};
    }

    [[nodiscard]] Mass mass(double density) const override {
        const Vector e = 2 * half_;
        Mass m;
        if (dimension_ == 2) {
            m.mass = density * e[0] * e[1];
            m.inertia *= m.mass * (e[0] * e[0] + e[1] * e[1]) / 12;
        } else {
            m.mass = density * e[0] * e[1] * e[2];
            for (int k = 0; k < 3; ++k) m.inertia(k, k) = m.mass * (e.squaredNorm() - e[k] * e[k]) / 12;
        }
        return m;
    }

    [[nodiscard]] std::vector<Vector> corners() const override {
        std::vector<Vector> out;
        for (std::uint32_t c = 0; c < (dimension_ == 2 ? 4u : 8u); ++c) {
            out.push_back(vector(base::box_corner(bounds_, c)));
            if (dimension_ == 2) out.back()[2] = 0;
        }
        return out;
    }

    [[nodiscard]] std::vector<Vector> sample_surface(double spacing, double depth) const override {
        const Vector half = (half_.array() - depth).max(0.5 * half_.array());  // no deeper than half way to the middle
        return on_box(half, spacing, dimension_ == 2);
    }

    [[nodiscard]] base::Surface surface(const Detail&) const override { return base::box_surface(bounds_); }

  private:
    Vector half_;
};

}  // namespace

const ShapeRow box_row = {[](const RigidBody& body, int dimension) -> std::unique_ptr<Shape> {
                              return std::make_unique<BoxShape>(body, dimension);
                          },
                          arm_of,
                          [](const RigidBody& b, int dimension) {
                              const Vec3d& e = b.size;
                              return dimension == 2 ? 2 * (e[0] + e[1]) : 2 * (e[0] * e[1] + e[1] * e[2] + e[2] * e[0]);
                          },
                          check_nothing};

}  // namespace quadrat::simulation
