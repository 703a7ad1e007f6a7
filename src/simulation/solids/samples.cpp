// Points that stand for a shape: on its surface or some way below it, and on a lattice inside.
#include "simulation/solids/bodies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quadrat::simulation {
namespace {

// Points, found by their place.
class Spread {
  public:
    explicit Spread(double cell) : cell_(cell) {}
    void add(const Vector& p) {
        cells_[cell_of(p)].push_back(points.size());
        points.push_back(p);
    }
    /// Whether one of the first `count` points is nearer than r, which is at most the edge of a cell.
    [[nodiscard]] bool near(const Vector& p, double r, std::size_t count) const {
        const Cell c = cell_of(p);
        for (long x = -1; x <= 1; ++x)
            for (long y = -1; y <= 1; ++y)
                for (long z = -1; z <= 1; ++z) {
                    const auto it = cells_.find({c[0] + x, c[1] + y, c[2] + z});
                    if (it == cells_.end()) continue;
                    for (const std::size_t o : it->second)
                        if (o < count && (points[o] - p).norm() < r) return true;
                }
        return false;
    }

    std::vector<Vector> points;

  private:
    using Cell = std::array<long, 3>;
    struct CellHash {
        std::size_t operator()(const Cell& c) const {
            return static_cast<std::size_t>(c[0] * 73856093L ^ c[1] * 19349663L ^ c[2] * 83492791L);
        }
    };
    [[nodiscard]] Cell cell_of(const Vector& p) const {
        Cell c;
        for (std::size_t k = 0; k < 3; ++k) c[k] = static_cast<long>(std::floor(p[static_cast<int>(k)] / cell_));
        return c;
    }
    double cell_;
    std::unordered_map<Cell, std::vector<std::size_t>, CellHash> cells_;
};

std::vector<Vector> on_circle(double radius, double spacing) {
    const double pi = std::numbers::pi;
    const int n = std::max(3, static_cast<int>(std::round(2 * pi * radius / spacing)));
    std::vector<Vector> out;
    for (int k = 0; k < n; ++k) out.push_back(radius * Vector(std::cos(2 * pi * k / n), std::sin(2 * pi * k / n), 0));
    return out;
}

// Fibonacci's lattice.
std::vector<Vector> on_sphere(double radius, double spacing) {
    const double pi = std::numbers::pi;
    const int n = std::max(6, static_cast<int>(std::round(4 * pi * radius * radius / (spacing * spacing))));
    std::vector<Vector> out;
    for (int k = 0; k < n; ++k) {
        const double z = 1 - (2 * k + 1.0) / n, turn_by = k * pi * (3 - std::sqrt(5.0));
        const double r = std::sqrt(1 - z * z);
        out.push_back(radius * Vector(r * std::cos(turn_by), r * std::sin(turn_by), z));
    }
    return out;
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

}  // namespace

std::vector<Vector> Shape::sample_surface(double spacing, double depth) const {
    // No deeper than half way to the middle.
    const double radius = std::max(radius_ - depth, 0.5 * radius_);
    const Vector half = (half_.array() - depth).max(0.5 * half_.array());
    switch (kind_) {
        case BodyShape::sphere:
            return dimension_ == 2 ? on_circle(radius, spacing) : on_sphere(radius, spacing);
        case BodyShape::box:
            return on_box(half, spacing, dimension_ == 2);
        case BodyShape::plane:
            return {};
        case BodyShape::mesh:
            break;
    }
    // Points of a grid on each triangle, moved inwards; one that comes near an earlier one is left out. Beside an edge
    // that is not as deep below the other face: there the samples of both faces meet farther in. Where nothing is near,
    // the mesh is thin, and a smaller depth will do.
    constexpr double parts[] = {1, 0.5, 0.25, 0.125, 0};
    Spread out(2 * spacing + depth);
    for (const double part : parts) {
        const double below = part * depth;
        const std::size_t deeper = out.points.size();
        for (std::size_t f = 0; f < triangles_.size(); ++f) {
            const Triangle& t = triangles_[f];
            const Vector &a = vertices_[t.a], e = vertices_[t.b] - a, g = vertices_[t.c] - a;
            const int n = std::max(
                1, static_cast<int>(std::ceil(std::max({e.norm(), g.norm(), (e - g).norm()}) / (0.5 * spacing))));
            for (int i = 0; i <= n; ++i)
                for (int j = 0; i + j <= n; ++j) {
                    const Vector on = a + (double(i) / n) * e + (double(j) / n) * g;
                    if (out.near(on, spacing + 1.5 * depth, deeper)) continue;
                    const Vector p = on - below * face_normals_[f];
                    if (below > 0 && !(distance(p, 1.5 * below).value < -0.9 * below)) continue;
                    if (!out.near(p, 0.7 * spacing, out.points.size())) out.add(p);
                }
        }
        if (depth == 0) break;
    }
    return std::move(out.points);
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

}  // namespace quadrat::simulation
