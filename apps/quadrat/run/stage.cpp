#include "run/stage.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "render/fluid_surface.hpp"
#include "run/solids.hpp"

namespace quadrat::cli {

using scene_io::FluidColor;
using scene_io::FluidLook;

namespace {

Vec3f narrow(const Vec3d& v) {
    return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

float speed_of(const Vec3f& v) {
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// Blue when calm, white when fast: foam.
render::Color speed_color(float share) {
    return render::gradient({0x0b3c78, 0x1f6fb2, 0x49a6d9, 0xa8dcec, 0xf4fbff}, share);
}

void add_balls(render::Stage& stage, const Simulation& simulation, const Frame& frame, const SceneView& view) {
    const Simulation::Preset preset = simulation.preset();
    render::Balls balls;
    balls.finish = {.coat = 0.05f};
    const float top = static_cast<float>(preset.expected_speed > 0 ? preset.expected_speed : 1);
    for (std::size_t i = 0; i < frame.positions.size(); ++i) {
        balls.balls.push_back({frame.positions[i], static_cast<float>(0.5 * preset.spacing)});
        const render::Color own = color_of(view.phase_colors, frame.phases[i], 0x1f6fb2);
        const double rest = simulation.scene().phases[frame.phases[i]].rest_density;
        const float share = std::min(1.0f, speed_of(frame.velocities[i]) / top);
        switch (view.color) {
            case FluidColor::speed:
                balls.colors.push_back(speed_color(share));
                break;
            case FluidColor::density:
                balls.colors.push_back(render::gradient(
                    {0x2f6690, 0xf1f3f4, 0xc8452d}, 0.5f + 10 * (frame.densities[i] / static_cast<float>(rest) - 1)));
                break;
            case FluidColor::phase:
                balls.colors.push_back(render::lerp(own, {0.9f, 0.95f, 1.0f}, 0.6f * share * share));
        }
    }
    stage.balls.push_back(std::move(balls));
}

// False when this build has no surfaces.
bool add_surfaces(render::Stage& stage, const Simulation& simulation, const Frame& frame, const SceneView& view) {
    if (!render::has_fluid_surface()) return false;
    const Scene& scene = simulation.scene();
    const Box3d& box = scene.domain.box;
    const auto spacing = static_cast<float>(simulation.preset().spacing);
    double size = 0;
    for (int k = 0; k < 3; ++k) size = std::max(size, box.hi[k] - box.lo[k]);
    if (scene.phases.size() > 1) stage.gap = 1.5f * spacing;
    for (std::size_t phase = 0; phase < scene.phases.size(); ++phase) {
        std::vector<Vec3f> points;
        for (std::size_t i = 0; i < frame.positions.size(); ++i)
            if (frame.phases[i] == phase) points.push_back(frame.positions[i]);
        auto surface = render::fluid_surface(points, {.spacing = spacing});
        if (!surface) continue;
        // Flat against the walls; a hair above the floor, which is drawn by itself.
        for (Vec3f& v : surface->vertices)
            for (int k = 0; k < 3; ++k) {
                const auto hair = static_cast<float>(1e-3 * size);
                if (!scene.domain.open[static_cast<std::size_t>(2 * k)])
                    v[k] = std::max(v[k], static_cast<float>(box.lo[k]) + hair);
                if (!scene.domain.open[static_cast<std::size_t>(2 * k + 1)])
                    v[k] = std::min(v[k], static_cast<float>(box.hi[k]) - hair);
            }
        const render::Color own = color_of(view.phase_colors, phase, 0x1f6fb2);
        render::Liquid liquid;
        liquid.shape.vertices = std::move(surface->vertices);
        liquid.shape.triangles = std::move(surface->triangles);
        liquid.shape.normals = std::move(surface->normals);
        liquid.shape.colors = {own};
        const auto per = [&](float c) {
            return -std::log(std::clamp(c, 0.004f, 0.95f)) * 1.5f / static_cast<float>(size);
        };
        liquid.absorption = {per(own.r), per(own.g), per(own.b)};
        liquid.scatter = own;
        liquid.haze = 1.2f / static_cast<float>(size);
        stage.liquids.push_back(std::move(liquid));
    }
    return true;
}

// How light falls on a surface: faces that are flat, or normals that turn from one to the next.
enum class Shading { flat, smooth };

render::Shape shape_of(const RigidBody& body, const Placement& place, render::Color color, Shading shading) {
    const Solid solid = solid_of(body);
    render::Shape shape;
    for (const Vec3d& v : solid.vertices) shape.vertices.push_back(narrow(place(v)));
    shape.triangles = solid.triangles;
    if (shading == Shading::smooth) shape.normals = render::smooth_normals(shape.vertices, shape.triangles);
    shape.colors = {color};
    return shape;
}

// A shape without a line here fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
void add_bodies(render::Stage& stage, const Simulation& simulation, const SceneView& view) {
    const Scene& scene = simulation.scene();
    render::Balls spheres;
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        const RigidBody& body = scene.bodies[i];
        const render::Color color = color_of(view.body_colors, i, 0xc8452d);
        switch (body.shape) {
            case BodyShape::plane:
                break;
            case BodyShape::sphere:
                spheres.balls.push_back({narrow(simulation.bodies()[i].position), static_cast<float>(body.radius)});
                spheres.colors.push_back(color);
                break;
            case BodyShape::box:
                stage.shapes.push_back(shape_of(body, Placement(simulation.bodies()[i]), color, Shading::flat));
                break;
            case BodyShape::mesh:
                stage.shapes.push_back(shape_of(body, Placement(simulation.bodies()[i]), color, Shading::smooth));
                break;
        }
    }
    if (!spheres.balls.empty()) stage.balls.push_back(std::move(spheres));
}
#pragma GCC diagnostic pop

void add_cloths(render::Stage& stage, const Simulation& simulation, const SceneView& view) {
    const Scene& scene = simulation.scene();
    for (std::size_t i = 0; i < scene.cloths.size(); ++i) {
        const ClothSurface cloth = simulation.cloth(i);
        render::Shape shape;
        for (const Vec3d& v : cloth.positions) shape.vertices.push_back(narrow(v));
        shape.triangles.assign(cloth.triangles.begin(), cloth.triangles.end());
        shape.normals = render::smooth_normals(shape.vertices, shape.triangles);
        shape.colors = {color_of(view.cloth_colors, i, 0xb5343f)};
        shape.finish = {.coat = 0.01f, .two_sided = true};
        stage.shapes.push_back(std::move(shape));
    }
}

// Planes that the camera sees the front of; the others would hide what they hold.
void add_walls(render::Stage& stage, const Simulation& simulation, const SceneView& view, double size) {
    const Vec3f& from = stage.camera.eye;
    const Vec3d eye = {{double(from[0]), double(from[1]), double(from[2])}};
    const std::vector<Wall> walls = walls_of(simulation, view);
    for (const Wall& wall : walls) {
        const double before = wall.normal[0] * eye[0] + wall.normal[1] * eye[1] + wall.normal[2] * eye[2];
        if (simulation.scene().dimension == 3 && before <= wall.offset) continue;
        const Solid plate = plate_of(wall, walls, simulation, size);
        render::Shape shape;
        for (const Vec3d& v : plate.vertices) shape.vertices.push_back(narrow(v));
        shape.triangles = plate.triangles;
        shape.colors = {wall.color};
        shape.finish = {.coat = 0.02f};
        if (!shape.triangles.empty()) stage.shapes.push_back(std::move(shape));
    }
}

}  // namespace

render::Stage stage_of(const Simulation& simulation, const Frame& frame, const SceneView& view) {
    const Scene& scene = simulation.scene();
    render::Stage stage;
    const bool flat = scene.dimension == 2;
    Box3d box = scene.domain.box;
    if (flat) box.lo[2] = box.hi[2] = 0;

    const bool surface = view.fluid != FluidLook::balls && !flat && view.color == FluidColor::phase;
    if (!surface || !add_surfaces(stage, simulation, frame, view)) add_balls(stage, simulation, frame, view);

    add_bodies(stage, simulation, view);
    add_cloths(stage, simulation, view);

    double size = 0;
    for (int k = 0; k < 3; ++k) size = std::max(size, box.hi[k] - box.lo[k]);
    const auto scale = static_cast<float>(size);
    const Box3f bounds = {narrow(box.lo), narrow(box.hi)};
    if (!flat) stage.floor = render::Floor{.height = bounds.lo[2] - 1e-3f * scale, .fade = 5 * scale};
    if (view.walls) {
        render::Shape frame_bars = render::frame_shape(bounds, 0.006f * scale, render::from_hex(0x6b7078));
        frame_bars.finish = {.coat = 0.02f};
        stage.shapes.push_back(std::move(frame_bars));
    }
    stage.camera = render::camera_for(bounds, static_cast<float>(view.width) / static_cast<float>(view.height),
                                      static_cast<float>(view.field_of_view * std::numbers::pi / 180));
    if (view.eye) stage.camera.eye = narrow(*view.eye);
    if (view.target) stage.camera.target = narrow(*view.target);
    add_walls(stage, simulation, view, size);
    return stage;
}

}  // namespace quadrat::cli
