#include "run/solids.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"
#include "render/ray_tracer.hpp"

namespace quadrat::cli {
namespace {

constexpr double plate_share = 0.006;  // thickness of what is drawn of a plane, of the domain's longest side

double dot(const Vec3d& a, const Vec3d& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Solid cut_plate(const Wall& wall, const std::vector<Wall>& all, const Box3d& box, double thickness) {
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
    Solid plate;
    const auto m = static_cast<std::uint32_t>(polygon.size());
    if (m < 3) return plate;
    plate.vertices = polygon;
    for (Vec3d p : polygon) {
        for (int k = 0; k < 3; ++k) p[k] -= thickness * n[k];
        plate.vertices.push_back(p);
    }
    for (std::uint32_t i = 0; i < m; ++i) {
        const std::uint32_t j = (i + 1) % m;
        if (i >= 2) plate.triangles.insert(plate.triangles.end(), {{0, i - 1, i}, {m, m + i, m + i - 1}});
        plate.triangles.insert(plate.triangles.end(), {{i, m + j, j}, {i, m + i, m + j}});
    }
    return plate;
}

// In two dimensions plates are seen from the side: as deep as a particle.
Box3d box_of_plates(const Simulation& simulation) {
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

Solid ball_of(double radius) {
    Solid ball = base::ball_surface(3);
    for (Vec3d& v : ball.vertices)
        for (int k = 0; k < 3; ++k) v[k] *= radius;
    return ball;
}

Solid box_of(const Vec3d& size) {
    Box3d box;
    for (int k = 0; k < 3; ++k) box.lo[k] = -0.5 * size[k], box.hi[k] = 0.5 * size[k];
    return base::box_surface(box);
}

std::uint8_t byte_of(float v) {
    return static_cast<std::uint8_t>(std::lround(255 * std::pow(std::clamp(v, 0.0f, 1.0f), 1 / 2.2f)));
}

}  // namespace

// A shape that is missing here fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
Solid solid_of(const RigidBody& body) {
    QUADRAT_ASSERT(body.shape != BodyShape::plane);
    switch (body.shape) {
        case BodyShape::sphere:
            return ball_of(body.radius);
        case BodyShape::box:
            return box_of(body.size);
        case BodyShape::mesh:
            return {body.triangles, body.vertices};
        case BodyShape::plane:
            break;
    }
    return {};
}
#pragma GCC diagnostic pop

render::Color color_of(const std::vector<std::uint32_t>& colors, std::size_t i, std::uint32_t otherwise) {
    return render::from_hex(i < colors.size() ? colors[i] : otherwise);
}

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

Solid plate_of(const Wall& wall, const std::vector<Wall>& all, const Simulation& simulation, double size) {
    return cut_plate(wall, all, box_of_plates(simulation), plate_share * size);
}

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
    const Box3d box = box_of_plates(simulation);
    const std::vector<Wall> walls = walls_of(simulation, view);
    for (const Wall& wall : walls) {
        const Solid plate = plate_of(wall, walls, simulation, largest_side(box));
        add(plate.vertices, plate.triangles, wall.color);
    }
    return mesh;
}

}  // namespace quadrat::cli
