// Triangles of a wall learn who shares their edges and corners.
#include <algorithm>
#include <map>

#include "simulation/grains/world.hpp"

namespace quadrat::simulation::grains {
namespace {

V3d unit(const V3d& v) {
    return 1 / length(v) * v;
}

// From the edge k of a triangle into it.
V3d into(const WallTriangle& t, int k) {
    const V3d along = unit(t.corners[(k + 1) % 3] - t.corners[k]);
    const V3d to_third = t.corners[(k + 2) % 3] - t.corners[k];
    return unit(to_third - dot(to_third, along) * along);
}

}  // namespace

void join_triangles(const GrainWall& wall, std::span<WallTriangle> triangles) {
    struct Side {
        std::uint32_t triangle;
        int k;
    };
    // Vertices in one place count as one: many files repeat them for every triangle.
    std::map<std::array<double, 3>, std::uint32_t> places;
    std::vector<std::uint32_t> vertex(wall.vertices.size());
    for (std::size_t i = 0; i < vertex.size(); ++i) {
        const Vec3d& v = wall.vertices[i];
        vertex[i] = places.emplace(std::array{v[0], v[1], v[2]}, static_cast<std::uint32_t>(i)).first->second;
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Side>> edges;
    std::map<std::uint32_t, std::vector<Side>> corners;
    const auto at = [&](std::size_t t, int k) {
        const Triangle& triangle = wall.triangles[t];
        const std::uint32_t v[3] = {triangle.a, triangle.b, triangle.c};
        return vertex[v[k % 3]];
    };
    for (std::uint32_t t = 0; t < triangles.size(); ++t)
        for (int k = 0; k < 3; ++k) {
            edges[std::minmax(at(t, k), at(t, k + 1))].push_back({t, k});
            corners[at(t, k)].push_back({t, k});
        }
    for (const auto& [pair, sides] : edges)
        for (const Side& one : sides)
            for (const Side& other : sides) {
                if (one.triangle == other.triangle) continue;
                triangles[one.triangle].across_edge[one.k].push_back(into(triangles[other.triangle], other.k));
                if (other.triangle < one.triangle) triangles[one.triangle].owns_edge[one.k] = false;
            }
    for (const auto& [v, sides] : corners)
        for (const Side& one : sides)
            for (const Side& other : sides) {
                const WallTriangle& t = triangles[other.triangle];
                auto& list = triangles[one.triangle].from_corner[one.k];
                list.push_back(unit(t.corners[(other.k + 1) % 3] - t.corners[other.k]));
                list.push_back(unit(t.corners[(other.k + 2) % 3] - t.corners[other.k]));
                if (other.triangle < one.triangle) triangles[one.triangle].owns_corner[one.k] = false;
            }
}

}  // namespace quadrat::simulation::grains
