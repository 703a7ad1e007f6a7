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

// Spacings. A sample is tried below places of the surface that are at most so far apart: where one is too near to
// another sample (least_apart), the next is not.
constexpr double grid = 0.5;
// Spacings. Of two samples that are nearer to each other the later one is left out.
constexpr double least_apart = 0.7;
// Of the depth. Beside an edge whose faces turn by up to 25 degrees, as on a round body made of triangles, a sample
// below one face is still as deep as this below the other: cos 25 = 0.906. Beside sharper ones it must lie farther in.
constexpr double deep_enough = 0.9;
// Of the depth. The sample that serves the edge of a box lies sqrt(2) depths from it; how far a distance is looked for
// must be above 1, since the sample came that far from its own face.
constexpr double around = 1.5;

}  // namespace

// Points of a grid on each triangle, moved inwards; one that comes near an earlier one is left out. Beside an edge
// that is not as deep below the other face: there the samples of both faces meet farther in. Where nothing is near,
// the mesh is thin, and a smaller depth will do.
std::vector<Vector> MeshShape::sample_surface(double spacing, double depth) const {
    QUADRAT_ASSERT(spacing > 0 && depth >= 0);
    constexpr double parts[] = {1, 0.5, 0.25, 0.125, 0};
    Samples out(spacing + around * depth);
    for (const double part : parts) {
        const double below = part * depth;
        const std::size_t deeper = out.points.size();
        for (std::size_t f = 0; f < triangles_.size(); ++f) {
            const Triangle& t = triangles_[f];
            const Vector &a = vertices_[t.a], e = vertices_[t.b] - a, g = vertices_[t.c] - a;
            const int n = std::max(
                1, static_cast<int>(std::ceil(std::max({e.norm(), g.norm(), (e - g).norm()}) / (grid * spacing))));
            for (int i = 0; i <= n; ++i)
                for (int j = 0; i + j <= n; ++j) {
                    const Vector on = a + (double(i) / n) * e + (double(j) / n) * g;
                    if (out.near(on, spacing + around * depth, deeper)) continue;
                    const Vector p = on - below * face_normals_[f];
                    if (below > 0 && !(distance(p, around * below).value < -deep_enough * below)) continue;
                    if (!out.near(p, least_apart * spacing, out.points.size())) out.add(p);
                }
        }
        if (depth == 0) break;
    }
    return std::move(out.points);
}

}  // namespace quadrat::simulation
