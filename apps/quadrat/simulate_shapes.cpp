#include "simulate_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "render/fluid_surface.hpp"
#include "simulate_output.hpp"

namespace quadrat::cli {
namespace {

Vec3f narrow(const Vec3d& v) {
    return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

// From a body's frame into the world.
class Placement {
  public:
    explicit Placement(const BodyPose& pose) : at_(pose.position) {
        const auto [w, x, y, z] = pose.orientation;
        const double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                                {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) m_[i][k] = m[i][k];
    }
    [[nodiscard]] Vec3d operator()(const Vec3d& v) const {
        Vec3d r = at_;
        for (int i = 0; i < 3; ++i) r[i] += m_[i][0] * v[0] + m_[i][1] * v[1] + m_[i][2] * v[2];
        return r;
    }

  private:
    Vec3d at_;
    double m_[3][3];
};

constexpr double slab_share = 0.006;  // thickness of what is drawn of a plane, of the domain's longest side

struct Solid {
    std::vector<Vec3d> vertices = {};
    std::vector<Triangle> triangles = {};
};

// A ball of radius 1: an octahedron divided three times.
const Solid& unit_ball() {
    static const Solid ball = [] {
        Solid s;
        s.vertices = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{-1, 0, 0}}, {{0, -1, 0}}, {{0, 0, -1}}};
        s.triangles = {{0, 1, 2}, {1, 3, 2}, {3, 4, 2}, {4, 0, 2}, {1, 0, 5}, {3, 1, 5}, {4, 3, 5}, {0, 4, 5}};
        for (int level = 0; level < 3; ++level) {
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middle;
            std::vector<Triangle> finer;
            const auto half = [&](std::uint32_t a, std::uint32_t b) {
                const auto [it, fresh] =
                    middle.try_emplace(std::minmax(a, b), static_cast<std::uint32_t>(s.vertices.size()));
                if (fresh) {
                    Vec3d m;
                    for (int k = 0; k < 3; ++k) m[k] = s.vertices[a][k] + s.vertices[b][k];
                    const double length = std::hypot(m[0], m[1], m[2]);
                    for (int k = 0; k < 3; ++k) m[k] /= length;
                    s.vertices.push_back(m);
                }
                return it->second;
            };
            for (const Triangle& t : s.triangles) {
                const std::uint32_t ab = half(t.a, t.b), bc = half(t.b, t.c), ca = half(t.c, t.a);
                finer.insert(finer.end(), {{t.a, ab, ca}, {ab, t.b, bc}, {ca, bc, t.c}, {ab, bc, ca}});
            }
            s.triangles = finer;
        }
        return s;
    }();
    return ball;
}

Solid box_of(const Vec3d& size) {
    const render::Shape unit = render::box_shape({{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}}, {});
    Solid s{{}, unit.triangles};
    for (const Vec3f& v : unit.vertices)
        s.vertices.push_back({{static_cast<double>(v[0]) * size[0], static_cast<double>(v[1]) * size[1],
                               static_cast<double>(v[2]) * size[2]}});
    return s;
}

// Of anything but a plane, in the body's frame.
Solid solid_of(const RigidBody& body) {
    if (body.shape == BodyShape::box) return box_of(body.size);
    if (body.shape == BodyShape::mesh) return {body.vertices, body.triangles};
    Solid ball = unit_ball();
    for (Vec3d& v : ball.vertices)
        for (int k = 0; k < 3; ++k) v[k] *= body.radius;
    return ball;
}

double dot(const Vec3d& a, const Vec3d& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A plane as far as the domain goes: dot(normal, x) = offset, and its back a little behind it.
struct Wall {
    Vec3d normal;  // unit length
    double offset;
    render::Color color;
};

// What is seen of a plane, as a slab behind it: a large square cut by the sides of the box and by the other planes.
// Empty if nothing is left.
Solid slab_of(const Wall& wall, const std::vector<Wall>& all, const Box3d& box, double thickness) {
    const Vec3d& n = wall.normal;
    const int axis = std::abs(n[0]) < 0.6 ? 0 : std::abs(n[1]) < 0.6 ? 1 : 2;
    Vec3d u{}, center{};
    u[axis] = 1;
    const double along = dot(u, n);
    for (int k = 0; k < 3; ++k) u[k] -= along * n[k];
    const double length = std::sqrt(dot(u, u));
    for (int k = 0; k < 3; ++k) u[k] /= length;
    const Vec3d v = {{n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]}};
    double size = 0;
    for (int k = 0; k < 3; ++k) {
        center[k] = 0.5 * (box.lo[k] + box.hi[k]);
        size += box.hi[k] - box.lo[k];
    }
    const double away = dot(center, n) - wall.offset;
    std::vector<Vec3d> polygon;
    for (const auto& [a, b] : {std::pair(-1, -1), std::pair(1, -1), std::pair(1, 1), std::pair(-1, 1)}) {
        Vec3d p;
        for (int k = 0; k < 3; ++k) p[k] = center[k] - away * n[k] + size * (a * u[k] + b * v[k]);
        polygon.push_back(p);
    }
    const auto keep_in_front = [&](const Vec3d& normal, double limit) {
        std::vector<Vec3d> kept;
        for (std::size_t i = 0; i < polygon.size(); ++i) {
            const Vec3d &p = polygon[i], &q = polygon[(i + 1) % polygon.size()];
            const double dp = dot(normal, p) - limit, dq = dot(normal, q) - limit;
            if (dp >= 0) kept.push_back(p);
            if ((dp >= 0) == (dq >= 0)) continue;
            Vec3d cut;
            for (int j = 0; j < 3; ++j) cut[j] = p[j] + dp / (dp - dq) * (q[j] - p[j]);
            kept.push_back(cut);
        }
        polygon.swap(kept);
    };
    for (int k = 0; k < 3; ++k)
        for (const double sign : {1.0, -1.0}) {
            Vec3d side{};
            side[k] = sign;
            keep_in_front(side, sign > 0 ? box.lo[k] : -box.hi[k]);
        }
    for (const Wall& other : all)
        if (&other != &wall) keep_in_front(other.normal, other.offset - thickness);
    Solid slab;
    const auto m = static_cast<std::uint32_t>(polygon.size());
    if (m < 3) return slab;
    slab.vertices = polygon;
    for (Vec3d p : polygon) {
        for (int k = 0; k < 3; ++k) p[k] -= thickness * n[k];
        slab.vertices.push_back(p);
    }
    for (std::uint32_t i = 0; i < m; ++i) {
        const std::uint32_t j = (i + 1) % m;
        if (i >= 2) slab.triangles.insert(slab.triangles.end(), {{0, i - 1, i}, {m, m + i, m + i - 1}});
        slab.triangles.insert(slab.triangles.end(), {{i, m + j, j}, {i, m + i, m + j}});
    }
    return slab;
}

// In two dimensions slabs are seen from the side: as deep as a particle.
Box3d box_of_slabs(const Simulation& simulation) {
    const Scene& scene = simulation.scene();
    Box3d box = scene.domain.box;
    if (scene.dimension == 2) {
        box.hi[2] = 0.5 * simulation.preset().spacing;
        box.lo[2] = -box.hi[2];
    }
    return box;
}

double largest_side(const Box3d& box) {
    return std::max({box.hi[0] - box.lo[0], box.hi[1] - box.lo[1], box.hi[2] - box.lo[2]});
}

template <class Colors>
render::Color color_of(const Colors& colors, std::size_t i, std::uint32_t otherwise) {
    return i < colors.size() ? colors[i] : render::from_hex(otherwise);
}

// The planes of the domain and the bodies that are planes.
std::vector<Wall> walls_of(const Simulation& simulation, const SceneView& view) {
    std::vector<Wall> walls;
    const Scene& scene = simulation.scene();
    for (const auto& plane : scene.domain.planes) {
        const double length = std::sqrt(dot(plane.normal, plane.normal));
        Vec3d n;
        for (int k = 0; k < 3; ++k) n[k] = plane.normal[k] / length;
        walls.push_back({n, plane.offset, render::from_hex(0x7d838b)});
    }
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        if (scene.bodies[i].shape != BodyShape::plane) continue;
        BodyPose turned = simulation.bodies()[i];
        const Vec3d at = turned.position;
        turned.position = {};
        Vec3d n = Placement(turned)(scene.bodies[i].normal);
        const double length = std::sqrt(dot(n, n));
        for (int k = 0; k < 3; ++k) n[k] /= length;
        walls.push_back({n, dot(n, at), color_of(view.body_colors, i, 0x7d838b)});
    }
    return walls;
}

std::uint8_t byte_of(float v) {
    return static_cast<std::uint8_t>(std::lround(255 * std::pow(std::clamp(v, 0.0f, 1.0f), 1 / 2.2f)));
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

}  // namespace

io::Mesh solid_mesh(const Simulation& simulation, const SceneView& view) {
    io::Mesh mesh;
    const auto add = [&](std::span<const Vec3d> vertices, std::span<const Triangle> triangles, const render::Color& c) {
        const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
        mesh.vertices.insert(mesh.vertices.end(), vertices.begin(), vertices.end());
        mesh.colors.insert(mesh.colors.end(), vertices.size(), {byte_of(c.r), byte_of(c.g), byte_of(c.b), 255});
        for (const Triangle& t : triangles) mesh.triangles.push_back({first + t.a, first + t.b, first + t.c});
    };
    const Scene& scene = simulation.scene();
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        if (scene.bodies[i].shape == BodyShape::plane) continue;
        Solid solid = solid_of(scene.bodies[i]);
        const Placement place(simulation.bodies()[i]);
        for (Vec3d& v : solid.vertices) v = place(v);
        add(solid.vertices, solid.triangles, color_of(view.body_colors, i, 0xc8452d));
    }
    for (std::size_t i = 0; i < scene.cloths.size(); ++i) {
        const ClothSurface cloth = simulation.cloth(i);
        add(cloth.positions, cloth.triangles, color_of(view.cloth_colors, i, 0xb5343f));
    }
    const Box3d box = box_of_slabs(simulation);
    const std::vector<Wall> walls = walls_of(simulation, view);
    for (const Wall& wall : walls) {
        const Solid slab = slab_of(wall, walls, box, slab_share * largest_side(box));
        add(slab.vertices, slab.triangles, wall.color);
    }
    return mesh;
}

render::Stage stage_of(const Simulation& simulation, const Frame& frame, const SceneView& view) {
    const Scene& scene = simulation.scene();
    render::Stage stage;
    const bool flat = scene.dimension == 2;
    Box3d box = scene.domain.box;
    if (flat) box.lo[2] = box.hi[2] = 0;

    const bool surface = view.fluid != FluidLook::balls && !flat && view.color == FluidColor::phase;
    if (!surface || !add_surfaces(stage, simulation, frame, view)) add_balls(stage, simulation, frame, view);

    render::Balls spheres;
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        const RigidBody& body = scene.bodies[i];
        const render::Color color = color_of(view.body_colors, i, 0xc8452d);
        if (body.shape == BodyShape::plane) continue;
        if (body.shape == BodyShape::sphere) {
            spheres.balls.push_back({narrow(simulation.bodies()[i].position), static_cast<float>(body.radius)});
            spheres.colors.push_back(color);
            continue;
        }
        const Solid solid = solid_of(body);
        const Placement place(simulation.bodies()[i]);
        render::Shape shape;
        for (const Vec3d& v : solid.vertices) shape.vertices.push_back(narrow(place(v)));
        shape.triangles = solid.triangles;
        if (body.shape == BodyShape::mesh) shape.normals = render::smooth_normals(shape.vertices, shape.triangles);
        shape.colors = {color};
        stage.shapes.push_back(std::move(shape));
    }
    if (!spheres.balls.empty()) stage.balls.push_back(std::move(spheres));
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
    // Planes that the camera sees the front of; the others would hide what they hold.
    const Vec3f& from = stage.camera.eye;
    const Vec3d eye = {{double(from[0]), double(from[1]), double(from[2])}};
    const std::vector<Wall> walls = walls_of(simulation, view);
    for (const Wall& wall : walls) {
        if (!flat && dot(wall.normal, eye) <= wall.offset) continue;
        const Solid slab = slab_of(wall, walls, box_of_slabs(simulation), slab_share * size);
        render::Shape shape;
        for (const Vec3d& v : slab.vertices) shape.vertices.push_back(narrow(v));
        shape.triangles = slab.triangles;
        shape.colors = {wall.color};
        shape.finish = {.coat = 0.02f};
        if (!shape.triangles.empty()) stage.shapes.push_back(std::move(shape));
    }
    return stage;
}

}  // namespace quadrat::cli
