// Surface voxelisation by separating axes: the three axes of the grid (the range of cells), the normal of the triangle,
// and the nine cross products of edges and axes, which are edge functions in the three projections of the triangle.
#include <quadrat/voxels/voxelise.hpp>

#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>

namespace quadrat {
namespace {

struct Entry {
    std::uint64_t key;
    std::uint32_t source;
};

VoxelisedSurface finish(std::vector<Entry>& entries, const Vec3d& origin, double cell) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.source < b.source; });
    VoxelisedSurface out;
    out.origin = origin;
    out.cell = cell;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i && entries[i].key == entries[i - 1].key) continue;
        const std::uint64_t k = entries[i].key;
        out.voxels.push_back({static_cast<std::int32_t>(k & 0x1fffff), static_cast<std::int32_t>(k >> 21 & 0x1fffff),
                              static_cast<std::int32_t>(k >> 42)});
        out.source.push_back(entries[i].source);
    }
    return out;
}

// Vertices in units of cells.
std::vector<Vec3d> to_grid(std::span<const Vec3d> vertices, std::uint32_t resolution, Vec3d& origin, double& cell) {
    if (resolution < 1 || resolution > (1u << 21))
        throw Error(ErrorKind::bad_value, "resolution must be in [1, 2^21]", {.field = "resolution"});
    if (vertices.empty()) return {};
    Vec3d lo = vertices[0], hi = vertices[0];
    for (std::size_t i = 0; i < vertices.size(); ++i)
        for (int a = 0; a < 3; ++a) {
            if (!std::isfinite(vertices[i][a]))
                throw Error(ErrorKind::bad_value, "not finite", {.index = i, .column = static_cast<std::uint64_t>(a)});
            lo[a] = std::min(lo[a], vertices[i][a]);
            hi[a] = std::max(hi[a], vertices[i][a]);
        }
    double longest = 0;
    for (int a = 0; a < 3; ++a) longest = std::max(longest, hi[a] - lo[a]);
    if (!std::isfinite(longest)) throw Error(ErrorKind::bad_value, "the mesh is too large for its size to be a number");
    origin = lo;
    cell = longest > 0 ? longest / resolution : 1;
    std::vector<Vec3d> grid(vertices.size());
    for (std::size_t i = 0; i < vertices.size(); ++i)
        for (int a = 0; a < 3; ++a) grid[i][a] = std::clamp((vertices[i][a] - lo[a]) / cell, 0.0, double(resolution));
    return grid;
}

Vec3d minus(const Vec3d& a, const Vec3d& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

// True if the triangle and the closed cube around `c` with half edge 1/2 are separated by one of the cross products or
// the normal.
bool separated(const Vec3d (&t)[3], const Vec3d (&edge)[3], const Vec3d& normal, const Vec3d& c) {
    const Vec3d v[3] = {minus(t[0], c), minus(t[1], c), minus(t[2], c)};
    const double d = normal[0] * v[0][0] + normal[1] * v[0][1] + normal[2] * v[0][2];
    if (std::fabs(d) > 0.5 * (std::fabs(normal[0]) + std::fabs(normal[1]) + std::fabs(normal[2]))) return true;
    for (int e = 0; e < 3; ++e)
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, k = (a + 2) % 3;  // the projection along a
            const double p = edge[e][b] * v[e][k] - edge[e][k] * v[e][b];
            const double q = edge[e][b] * v[(e + 2) % 3][k] - edge[e][k] * v[(e + 2) % 3][b];
            const double r = 0.5 * (std::fabs(edge[e][b]) + std::fabs(edge[e][k]));
            if (std::min(p, q) > r || std::max(p, q) < -r) return true;
        }
    return false;
}

}  // namespace

VoxelisedSurface voxelise(std::span<const Vec3d> vertices, std::span<const Triangle> triangles,
                          std::uint32_t resolution) {
    Vec3d origin{};
    double cell = 1;
    const std::vector<Vec3d> grid = to_grid(vertices, resolution, origin, cell);
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < triangles.size(); ++i) {
        const std::uint32_t corner[3] = {triangles[i].a, triangles[i].b, triangles[i].c};
        Vec3d t[3];
        for (int k = 0; k < 3; ++k) {
            if (corner[k] >= vertices.size())
                throw Error(ErrorKind::bad_shape, "no such vertex",
                            {.index = i, .column = static_cast<std::uint64_t>(k)});
            t[k] = grid[corner[k]];
        }
        const Vec3d edge[3] = {minus(t[1], t[0]), minus(t[2], t[1]), minus(t[0], t[2])};
        const Vec3d normal{edge[0][1] * edge[1][2] - edge[0][2] * edge[1][1],
                           edge[0][2] * edge[1][0] - edge[0][0] * edge[1][2],
                           edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0]};
        // Closed cubes: a vertex on the face between two cells touches both.
        std::uint32_t lo[3], hi[3];
        for (int a = 0; a < 3; ++a) {
            const double low = std::min({t[0][a], t[1][a], t[2][a]}), high = std::max({t[0][a], t[1][a], t[2][a]});
            lo[a] = static_cast<std::uint32_t>(std::max(0.0, std::ceil(low) - 1));
            hi[a] = std::min(resolution - 1, static_cast<std::uint32_t>(std::floor(high)));
        }
        for (std::uint32_t z = lo[2]; z <= hi[2]; ++z)
            for (std::uint32_t y = lo[1]; y <= hi[1]; ++y)
                for (std::uint32_t x = lo[0]; x <= hi[0]; ++x)
                    if (!separated(t, edge, normal, {x + 0.5, y + 0.5, z + 0.5}))
                        entries.push_back(
                            {x | std::uint64_t{y} << 21 | std::uint64_t{z} << 42, static_cast<std::uint32_t>(i)});
    }
    return finish(entries, origin, cell);
}

VoxelisedSurface voxelise(std::span<const Vec3d> points, std::uint32_t resolution) {
    Vec3d origin{};
    double cell = 1;
    const std::vector<Vec3d> grid = to_grid(points, resolution, origin, cell);
    std::vector<Entry> entries(grid.size());
    for (std::size_t i = 0; i < grid.size(); ++i) {
        std::uint64_t key = 0;
        for (int a = 2; a >= 0; --a) key = key << 21 | std::min(resolution - 1, static_cast<std::uint32_t>(grid[i][a]));
        entries[i] = {key, static_cast<std::uint32_t>(i)};
    }
    return finish(entries, origin, cell);
}

}  // namespace quadrat
