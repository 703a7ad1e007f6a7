// The one file that includes OpenVDB: it takes about a minute to compile, so nothing else lives here. Without OpenVDB
// there are no surfaces, and callers draw balls.
#include "render/fluid_surface.hpp"

#include <quadrat/error.hpp>

#include <cmath>

#include "render/ray_tracer.hpp"
#include "render/vector.hpp"

#if QUADRAT_HAS_OPENVDB
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <openvdb/openvdb.h>
#include <openvdb/tools/ParticlesToLevelSet.h>
#include <openvdb/tools/VolumeToMesh.h>
#pragma GCC diagnostic pop
#endif

namespace quadrat::render {

#if QUADRAT_HAS_OPENVDB
namespace {

// What ParticlesToLevelSet asks for. In units of a voxel: OpenVDB takes voxels below 1e-5 for none.
struct Particles {
    using PosType = openvdb::Vec3R;
    std::span<const Vec3f> points;
    double voxel, radius;

    [[nodiscard]] std::size_t size() const { return points.size(); }
    void getPos(std::size_t n, openvdb::Vec3R& xyz) const {
        xyz = openvdb::Vec3R(points[n][0], points[n][1], points[n][2]) / voxel;
    }
    void getPosRad(std::size_t n, openvdb::Vec3R& xyz, openvdb::Real& r) const {
        getPos(n, xyz);
        r = radius;
    }
};

// Moves every vertex towards the middle of its neighbours, and back by a little more in the other rounds: bumps go, the
// volume stays. Neighbours come from the edges of the quads, each of which is met from both sides.
void even_out(std::vector<Vec3f>& vertices, std::span<const Triangle> triangles, int rounds) {
    std::vector<Vec3f> sum(vertices.size());
    std::vector<float> count(vertices.size());
    for (int round = 0; round < 2 * rounds; ++round) {
        const float step = round % 2 == 0 ? 0.5f : -0.52f;
        std::fill(sum.begin(), sum.end(), Vec3f{0, 0, 0});
        std::fill(count.begin(), count.end(), 0.0f);
        for (const Triangle& t : triangles)
            for (const auto& [p, q] : {std::pair{t.a, t.b}, std::pair{t.b, t.c}, std::pair{t.c, t.a}}) {
                sum[p] = add(sum[p], vertices[q]);
                sum[q] = add(sum[q], vertices[p]);
                count[p] += 1;
                count[q] += 1;
            }
        for (std::size_t i = 0; i < vertices.size(); ++i)
            if (count[i] > 0) vertices[i] = along(vertices[i], sub(scaled(sum[i], 1 / count[i]), vertices[i]), step);
    }
}

}  // namespace

bool has_fluid_surface() {
    return true;
}

std::optional<FluidSurface> fluid_surface(std::span<const Vec3f> particles, const FluidSurfaceOptions& options) {
    if (!(options.spacing > 0) || !std::isfinite(options.spacing))
        throw Error(ErrorKind::bad_value, "expected a positive number", {.field = "spacing"});
    if (particles.empty()) return std::nullopt;
    const double voxel = static_cast<double>(options.spacing * options.voxel);
    auto grid = openvdb::createLevelSet<openvdb::FloatGrid>(1.0, 2.0);
    // No interrupter: void would need one; the raster is short.
    openvdb::tools::ParticlesToLevelSet<openvdb::FloatGrid> raster(*grid);
    raster.setRmin(0.5);
    raster.setGrainSize(1000);
    raster.rasterizeSpheres(Particles{particles, voxel, static_cast<double>(options.radius / options.voxel)});
    raster.finalize(true);

    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    std::vector<openvdb::Vec4I> quads;
    openvdb::tools::volumeToMesh(*grid, points, triangles, quads, 0.0, 0.0);
    FluidSurface surface;
    surface.vertices.reserve(points.size());
    const auto unit = static_cast<float>(voxel);
    for (const auto& p : points) surface.vertices.push_back({unit * p[0], unit * p[1], unit * p[2]});
    // OpenVDB's faces are clockwise from outside.
    for (const auto& t : triangles) surface.triangles.push_back({t[0], t[2], t[1]});
    for (const auto& q : quads) {
        surface.triangles.push_back({q[0], q[2], q[1]});
        surface.triangles.push_back({q[0], q[3], q[2]});
    }
    even_out(surface.vertices, surface.triangles, options.smoothing);
    surface.normals = smooth_normals(surface.vertices, surface.triangles);
    return surface;
}

#else

bool has_fluid_surface() {
    return false;
}

std::optional<FluidSurface> fluid_surface(std::span<const Vec3f>, const FluidSurfaceOptions& options) {
    if (!(options.spacing > 0) || !std::isfinite(options.spacing))
        throw Error(ErrorKind::bad_value, "expected a positive number", {.field = "spacing"});
    return std::nullopt;
}

#endif

}  // namespace quadrat::render
