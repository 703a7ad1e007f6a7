#include "simulation/grains/hulls.hpp"

#include <algorithm>
#include <cmath>

#include <quadrat/error.hpp>

namespace quadrat::simulation::grains {
namespace {

V3d unit(const V3d& v) {
    return 1 / length(v) * v;
}

// Directions of all edges of the faces, each line once.
void find_edges(Hull& hull) {
    for (const Face& f : hull.faces)
        for (std::size_t k = 0; k < f.corners.size(); ++k) {
            const V3d d = unit(hull.corners[f.corners[(k + 1) % f.corners.size()]] - hull.corners[f.corners[k]]);
            const bool known = std::any_of(hull.edges.begin(), hull.edges.end(),
                                           [&](const V3d& e) { return std::abs(dot(e, d)) > 1 - 1e-9; });
            if (!known) hull.edges.push_back(d);
        }
}

}  // namespace

Hull box_hull(const Vec3d& size) {
    Hull h;
    for (int k = 0; k < 8; ++k)
        h.corners.push_back({(k & 1 ? 0.5 : -0.5) * size[0], (k & 2 ? 0.5 : -0.5) * size[1],
                             (k & 4 ? 0.5 : -0.5) * size[2]});
    h.faces = {{{-1, 0, 0}, 0.5 * size[0], {0, 4, 6, 2}}, {{1, 0, 0}, 0.5 * size[0], {1, 3, 7, 5}},
               {{0, -1, 0}, 0.5 * size[1], {0, 1, 5, 4}}, {{0, 1, 0}, 0.5 * size[1], {2, 6, 7, 3}},
               {{0, 0, -1}, 0.5 * size[2], {0, 2, 3, 1}}, {{0, 0, 1}, 0.5 * size[2], {4, 5, 7, 6}}};
    find_edges(h);
    return h;
}

Hull capsule_hull(double radius, double length) {
    return {.corners = {{0, 0, -0.5 * length}, {0, 0, 0.5 * length}}, .edges = {{0, 0, 1}}, .radius = radius};
}

Hull sphere_hull(double radius) {
    return {.corners = {{0, 0, 0}}, .radius = radius};
}

Hull triangle_hull(const V3d (&c)[3]) {
    Hull h;
    h.corners = {c[0], c[1], c[2]};
    const V3d n = unit(cross(c[1] - c[0], c[2] - c[0]));
    h.faces = {{n, dot(n, c[0]), {0, 1, 2}}, {-n, -dot(n, c[0]), {0, 2, 1}}};
    h.edges = {unit(c[1] - c[0]), unit(c[2] - c[1]), unit(c[0] - c[2])};
    return h;
}

}  // namespace quadrat::simulation::grains
