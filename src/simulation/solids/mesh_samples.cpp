// Points that stand for the surface of a mesh, on it or some way below it.
#include "base/assert.hpp"
#include "cells/spread_points.hpp"
#include "simulation/solids/mesh_shape.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace quadrat::simulation {
namespace {

// Points, found by their place.
class Samples {
  public:
    explicit Samples(double cell) : places_(cell) {}
    void add(const Vector& p) {
        places_.add({p[0], p[1], p[2]});
        points.push_back(p);
    }
    /// Whether one of the first `count` points is nearer than r, which is at most the edge of a cell.
    [[nodiscard]] bool near(const Vector& p, double r, std::size_t count) const {
        QUADRAT_ASSERT(r <= places_.edge());
        return places_.any_near({p[0], p[1], p[2]},
                                [&](std::size_t other) { return other < count && (points[other] - p).norm() < r; });
    }

    std::vector<Vector> points;

  private:
    cells::SpreadPoints places_;
};

}  // namespace

// Points of a grid on each triangle, moved inwards; one that comes near an earlier one is left out. Beside an edge
// that is not as deep below the other face: there the samples of both faces meet farther in. Where nothing is near,
// the mesh is thin, and a smaller depth will do.
std::vector<Vector> MeshShape::sample_surface(double spacing, double depth) const {
    QUADRAT_ASSERT(spacing > 0 && depth >= 0);
    constexpr double parts[] = {1, 0.5, 0.25, 0.125, 0};
    Samples out(spacing + 1.5 * depth);
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

}  // namespace quadrat::simulation
