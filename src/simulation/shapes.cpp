// Shapes: signed distance, first hit of a segment, samples, mass. Distances of meshes are in mesh_shape.cpp.
#include "simulation/bodies.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

namespace quadrat::simulation {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Box3d around(const Vector& lo, const Vector& hi) {
    return {plain(lo), plain(hi)};
}

}  // namespace

Shape::Shape(const RigidBody& body, int dimension) : kind_(body.shape), dimension_(dimension) {
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

std::vector<Vector> Shape::sample_surface(double spacing) const {
    std::vector<Vector> out;
    const double pi = std::numbers::pi;
    if (kind_ == BodyShape::sphere && dimension_ == 2) {
        const int n = std::max(3, static_cast<int>(std::round(2 * pi * radius_ / spacing)));
        for (int k = 0; k < n; ++k)
            out.push_back(radius_ * Vector(std::cos(2 * pi * k / n), std::sin(2 * pi * k / n), 0));
    } else if (kind_ == BodyShape::sphere) {  // Fibonacci's lattice
        const int n = std::max(6, static_cast<int>(std::round(4 * pi * radius_ * radius_ / (spacing * spacing))));
        for (int k = 0; k < n; ++k) {
            const double z = 1 - (2 * k + 1.0) / n, turn_by = k * pi * (3 - std::sqrt(5.0));
            const double r = std::sqrt(1 - z * z);
            out.push_back(radius_ * Vector(r * std::cos(turn_by), r * std::sin(turn_by), z));
        }
    } else if (kind_ == BodyShape::box) {
        int n[3];
        for (int k = 0; k < 3; ++k) n[k] = std::max(1, static_cast<int>(std::round(2 * half_[k] / spacing)));
        const bool flat = dimension_ == 2;
        for (int x = 0; x <= n[0]; ++x)
            for (int y = 0; y <= n[1]; ++y)
                for (int z = 0; z <= (flat ? 0 : n[2]); ++z) {
                    const bool edge = x == 0 || x == n[0] || y == 0 || y == n[1] || (!flat && (z == 0 || z == n[2]));
                    if (edge)
                        out.emplace_back((2.0 * x / n[0] - 1) * half_[0], (2.0 * y / n[1] - 1) * half_[1],
                                         flat ? 0 : (2.0 * z / n[2] - 1) * half_[2]);
                }
    } else if (kind_ == BodyShape::mesh) {
        // Points of a grid on each triangle; one that comes near an earlier one is left out.
        struct CellHash {
            std::size_t operator()(const std::array<long, 3>& c) const {
                return static_cast<std::size_t>(c[0] * 73856093L ^ c[1] * 19349663L ^ c[2] * 83492791L);
            }
        };
        std::unordered_map<std::array<long, 3>, std::vector<std::size_t>, CellHash> cells;
        const double apart = 0.7 * spacing;
        for (const Triangle& t : triangles_) {
            const Vector &a = vertices_[t.a], e = vertices_[t.b] - a, f = vertices_[t.c] - a;
            const int n = std::max(
                1, static_cast<int>(std::ceil(std::max({e.norm(), f.norm(), (e - f).norm()}) / (0.5 * spacing))));
            for (int i = 0; i <= n; ++i)
                for (int j = 0; i + j <= n; ++j) {
                    const Vector p = a + (double(i) / n) * e + (double(j) / n) * f;
                    std::array<long, 3> c;
                    for (std::size_t k = 0; k < 3; ++k)
                        c[k] = static_cast<long>(std::floor(p[static_cast<int>(k)] / apart));
                    bool free = true;
                    for (long x = -1; x <= 1 && free; ++x)
                        for (long y = -1; y <= 1 && free; ++y)
                            for (long z = -1; z <= 1 && free; ++z) {
                                const auto it = cells.find({c[0] + x, c[1] + y, c[2] + z});
                                if (it == cells.end()) continue;
                                for (const std::size_t o : it->second) free = free && (out[o] - p).norm() >= apart;
                            }
                    if (!free) continue;
                    cells[c].push_back(out.size());
                    out.push_back(p);
                }
        }
    }
    return out;
}

std::vector<Vector> Shape::sample_inside(double spacing, double depth) const {
    std::vector<Vector> out;
    int n[3];
    for (int k = 0; k < 3; ++k) n[k] = static_cast<int>(std::ceil(bounds_.hi[k] / spacing)) + 1;
    int low[3];
    for (int k = 0; k < 3; ++k) low[k] = static_cast<int>(std::floor(bounds_.lo[k] / spacing)) - 1;
    if (dimension_ == 2) low[2] = 0, n[2] = 0;
    for (int z = low[2]; z <= n[2]; ++z)
        for (int y = low[1]; y <= n[1]; ++y)
            for (int x = low[0]; x <= n[0]; ++x) {
                const double shift = 0.5 * spacing;
                const Vector p(x * spacing + shift, y * spacing + shift, dimension_ == 2 ? 0 : z * spacing + shift);
                const double d = distance(p, depth + spacing).value;
                if (d < 0 && d > -depth) out.push_back(p);
            }
    return out;
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
