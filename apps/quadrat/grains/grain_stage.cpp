#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/surfaces.hpp"
#include "grains/grain_run.hpp"
#include "run/solids.hpp"
#include "simulation/grains/shapes/hulls.hpp"

namespace quadrat::cli {
namespace {

Vec3f narrow(const Vec3d& v) {
    return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

Placement placed(const Vec3d& position, const std::array<double, 4>& orientation) {
    return Placement(BodyPose{.position = position, .orientation = orientation});
}

// The faces of a hull as triangles.
Solid solid_of_points(const std::vector<Vec3d>& points, const Vec3d& origin) {
    const simulation::grains::Hull hull = simulation::grains::convex_hull(points);
    Solid solid;
    for (const auto& c : hull.corners) solid.vertices.push_back({{c.x + origin[0], c.y + origin[1], c.z + origin[2]}});
    for (const auto& f : hull.faces)
        for (std::size_t k = 1; k + 1 < f.corners.size(); ++k)
            solid.triangles.push_back({f.corners[0], f.corners[k], f.corners[k + 1]});
    return solid;
}

// A tube along z between the two balls of a capsule.
Solid tube(double radius, double length) {
    constexpr std::uint32_t around = 24;
    Solid s;
    for (std::uint32_t k = 0; k < around; ++k) {
        const double a = 2 * std::numbers::pi * k / around;
        for (const double z : {-0.5, 0.5})
            s.vertices.push_back({{radius * std::cos(a), radius * std::sin(a), z * length}});
        const std::uint32_t p = 2 * k, q = 2 * ((k + 1) % around);
        s.triangles.push_back({p, q, q + 1});
        s.triangles.push_back({p, q + 1, p + 1});
    }
    return s;
}

void add_solid(render::Shape& shape, const Solid& solid, const Placement& place, const render::Color& color) {
    const auto first = static_cast<std::uint32_t>(shape.vertices.size());
    for (const Vec3d& v : solid.vertices) {
        shape.vertices.push_back(narrow(place(v)));
        shape.colors.push_back(color);
    }
    for (const Triangle& t : solid.triangles) shape.triangles.push_back({first + t.a, first + t.b, first + t.c});
}

void add_grains(render::Stage& stage, const Grains& grains, const scene_io::GrainFile& file) {
    render::Balls balls;
    balls.finish = {.coat = 0.03f};
    render::Shape shape;
    std::vector<Solid> hulls;
    for (std::size_t k = 0; k < file.hulls.size(); ++k)
        hulls.push_back(solid_of_points(file.hulls[k], grains.hull_origin(static_cast<std::uint32_t>(k))));
    for (std::size_t i = 0; i < grains.size(); ++i) {
        const Grain& g = file.grains[i];
        const render::Color color = render::from_hex(file.colors[i]);
        const Placement place = placed(grains.positions()[i], grains.orientations()[i]);
        const auto ball = [&](const Vec3d& at) {
            balls.balls.push_back({narrow(at), static_cast<float>(g.radius)});
            balls.colors.push_back(color);
        };
        switch (g.shape) {
            case GrainShape::sphere:
                ball(grains.positions()[i]);
                break;
            case GrainShape::box: {
                const Vec3d& s = g.size;
                const base::Surface box = base::box_surface(
                    {{{-0.5 * s[0], -0.5 * s[1], -0.5 * s[2]}}, {{0.5 * s[0], 0.5 * s[1], 0.5 * s[2]}}});
                add_solid(shape, box, place, color);
                break;
            }
            case GrainShape::capsule:
                ball(place({{0, 0, -0.5 * g.length}}));
                ball(place({{0, 0, 0.5 * g.length}}));
                add_solid(shape, tube(g.radius, g.length), place, color);
                break;
            case GrainShape::convex:
                add_solid(shape, hulls[g.hull], place, color);
                break;
        }
    }
    if (!balls.balls.empty()) stage.balls.push_back(std::move(balls));
    if (!shape.triangles.empty()) stage.shapes.push_back(std::move(shape));
}

// Walls are seen from inside: triangles that show the camera the side that is turned away from the middle are left out.
void add_walls(render::Stage& stage, const Grains& grains, const scene_io::GrainFile& file, const Vec3f& middle) {
    const Vec3f& eye = stage.camera.eye;
    for (std::uint32_t w = 0; w < grains.walls(); ++w) {
        const GrainWall& wall = grains.wall(w);
        const Placement place = placed(wall.position, wall.orientation);
        render::Shape shape;
        shape.finish = {.coat = 0.02f, .two_sided = true};
        shape.colors = {render::from_hex(file.wall_colors[w])};
        for (const Vec3d& v : wall.vertices) shape.vertices.push_back(narrow(place(v)));
        for (const Triangle& t : wall.triangles) {
            const Vec3f &a = shape.vertices[t.a], &b = shape.vertices[t.b], &c = shape.vertices[t.c];
            float out = 0, to_eye = 0;
            for (int k = 0; k < 3; ++k) {
                const int i = (k + 1) % 3, j = (k + 2) % 3;
                const float normal = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
                out += normal * (a[k] - middle[k]);
                to_eye += normal * (eye[k] - a[k]);
            }
            if (out * to_eye <= 0) shape.triangles.push_back(t);
        }
        if (!shape.triangles.empty()) stage.shapes.push_back(std::move(shape));
    }
}

}  // namespace

render::Stage grain_stage(const Grains& grains, const scene_io::GrainFile& file, const scene_io::SceneView& view) {
    render::Stage stage;
    const bool flat = file.options.dimension == 2;
    Box3d box = file.box;
    if (flat) box.lo[2] = box.hi[2] = 0;
    double size = 0;
    for (int k = 0; k < 3; ++k) size = std::max(size, box.hi[k] - box.lo[k]);
    const auto scale = static_cast<float>(size);
    const Box3f bounds = {narrow(box.lo), narrow(box.hi)};
    stage.camera = render::camera_for(bounds, static_cast<float>(view.width) / static_cast<float>(view.height),
                                      static_cast<float>(view.field_of_view * std::numbers::pi / 180));
    if (view.eye) stage.camera.eye = narrow(*view.eye);
    if (view.target) stage.camera.target = narrow(*view.target);
    if (!flat) stage.floor = render::Floor{.height = bounds.lo[2] - 1e-3f * scale, .fade = 5 * scale};
    add_grains(stage, grains, file);
    Vec3f middle;
    for (int k = 0; k < 3; ++k) middle[k] = 0.5f * (bounds.lo[k] + bounds.hi[k]);
    add_walls(stage, grains, file, middle);
    if (view.walls) {
        render::Shape bars = render::frame_shape(bounds, 0.004f * scale, render::from_hex(0x6b7078));
        bars.finish = {.coat = 0.02f};
        stage.shapes.push_back(std::move(bars));
    }
    return stage;
}

}  // namespace quadrat::cli
