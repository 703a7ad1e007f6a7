// Shapes: signed distance, first hit of a segment, mass. Distances of meshes are in mesh_shape.cpp, samples in
// samples.cpp.
#include "simulation/solids/bodies.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace quadrat::simulation {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Box3d around(const Vector& lo, const Vector& hi) {
    return {plain(lo), plain(hi)};
}

}  // namespace

double turning_arm(const RigidBody& body, int dimension) {
    if (body.shape == BodyShape::box)
        return 0.5 * std::hypot(body.size[0], body.size[1], dimension == 3 ? body.size[2] : 0.0);
    if (body.shape != BodyShape::mesh || body.vertices.empty()) return 0;
    Vector lo = vector(body.vertices[0]), hi = lo;
    double arm = 0;
    for (const Vec3d& v : body.vertices) {
        lo = lo.cwiseMin(vector(v));
        hi = hi.cwiseMax(vector(v));
        arm = std::max(arm, vector(v).norm());
    }
    return std::max(arm, (hi - lo).norm());
}

Shape::Shape(const RigidBody& body, int dimension)
    : kind_(body.shape), dimension_(dimension), arm_(turning_arm(body, dimension)) {
    switch (kind_) {
        case BodyShape::sphere:
            radius_ = body.radius;
            bounds_ = around(Vector::Constant(-radius_), Vector::Constant(radius_));
            break;
        case BodyShape::box:
            half_ = 0.5 * vector(body.size);
            // In the plane no face along z is ever the nearest.
            if (dimension == 2) half_[2] = 4 * std::max(half_[0], half_[1]);
            bounds_ = around(-half_, half_);
            break;
        case BodyShape::plane:
            normal_ = vector(body.normal).normalized();
            bounds_ = around(Vector::Constant(-infinity), Vector::Constant(infinity));
            break;
        case BodyShape::mesh:
            prepare_mesh(body);
            break;
    }
}

Shape::Distance Shape::distance(const Vector& x, double reach) const {
    switch (kind_) {
        case BodyShape::sphere: {
            const double r = x.norm();
            return {r - radius_, r > 0 ? Vector(x / r) : Vector(Vector::UnitX())};
        }
        case BodyShape::box: {
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
        case BodyShape::plane:
            return {normal_.dot(x), normal_};
        case BodyShape::mesh:
            break;
    }
    return mesh_distance(x, reach);
}

std::optional<Shape::Hit> Shape::entry(const Vector& a, const Vector& b) const {
    const Vector d = b - a;
    switch (kind_) {
        case BodyShape::sphere: {
            const double c = a.squaredNorm() - radius_ * radius_, half_b = a.dot(d), q = d.squaredNorm();
            const double root = half_b * half_b - q * c;
            if (c < 0 || half_b >= 0 || root < 0) return {};
            const double t = c / (-half_b + std::sqrt(root));
            if (t > 1) return {};
            return Hit{t, Vector((a + t * d) / radius_)};
        }
        case BodyShape::box: {
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
        case BodyShape::plane: {
            const double from = normal_.dot(a), to = normal_.dot(b);
            if (from < 0 || to >= 0) return {};
            return Hit{from / (from - to), normal_};
        }
        case BodyShape::mesh:
            break;
    }
    return mesh_entry(a, b);
}

Shape::Mass Shape::mass(double density) const {
    Mass m = {0, Vector::Zero(), Matrix3d::Identity()};
    const double pi = std::numbers::pi;
    if (kind_ == BodyShape::sphere) {
        const bool flat = dimension_ == 2;
        m.mass = density * (flat ? pi * radius_ * radius_ : 4.0 / 3 * pi * radius_ * radius_ * radius_);
        m.inertia *= (flat ? 0.5 : 0.4) * m.mass * radius_ * radius_;
    } else if (kind_ == BodyShape::box) {
        const Vector e = 2 * half_;
        if (dimension_ == 2) {
            m.mass = density * e[0] * e[1];
            m.inertia *= m.mass * (e[0] * e[0] + e[1] * e[1]) / 12;
        } else {
            m.mass = density * e[0] * e[1] * e[2];
            for (int k = 0; k < 3; ++k) m.inertia(k, k) = m.mass * (e.squaredNorm() - e[k] * e[k]) / 12;
        }
    } else if (kind_ == BodyShape::mesh) {
        // Signed tetrahedra from the origin.
        Matrix3d second = Matrix3d::Zero();
        double volume = 0;
        Vector first = Vector::Zero();
        for (const Triangle& t : triangles_) {
            const Vector &a = vertices_[t.a], &b = vertices_[t.b], &c = vertices_[t.c];
            const double v = a.dot(b.cross(c)) / 6;
            const Vector s = a + b + c;
            volume += v;
            first += v / 4 * s;
            second += v / 20 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
        }
        m.mass = density * volume;
        if (volume > 0) {
            m.centre = first / volume;
            second -= volume * m.centre * m.centre.transpose();
            m.inertia = density * (second.trace() * Matrix3d::Identity() - second);
        }
    }
    return m;
}

}  // namespace quadrat::simulation
