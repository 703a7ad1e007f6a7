// Small meshes, normals and cameras for the ray tracer.
#include <limits>

#include "base/assert.hpp"
#include "base/surfaces.hpp"
#include "render/ray_tracer.hpp"
#include "render/vector.hpp"

namespace quadrat::render {

std::vector<Vec3f> smooth_normals(std::span<const Vec3f> vertices, std::span<const Triangle> triangles) {
    std::vector<Vec3f> normals(vertices.size(), Vec3f{0, 0, 0});
    for (const Triangle& t : triangles) {
        QUADRAT_ASSERT(std::max({t.a, t.b, t.c}) < vertices.size());
        const std::uint32_t corner[3] = {t.a, t.b, t.c};
        const Vec3f n = normalized(cross(sub(vertices[t.b], vertices[t.a]), sub(vertices[t.c], vertices[t.a])));
        for (int k = 0; k < 3; ++k) {
            const Vec3f& at = vertices[corner[k]];
            const Vec3f u = normalized(sub(vertices[corner[(k + 1) % 3]], at));
            const Vec3f v = normalized(sub(vertices[corner[(k + 2) % 3]], at));
            const float angle = std::acos(std::clamp(dot(u, v), -1.0f, 1.0f));
            normals[corner[k]] = along(normals[corner[k]], n, angle);
        }
    }
    for (Vec3f& n : normals) n = normalized(n);
    return normals;
}

namespace {

void add_box(Shape& shape, const Box3f& b) {
    const auto first = static_cast<std::uint32_t>(shape.vertices.size());
    for (std::uint32_t c = 0; c < 8; ++c) shape.vertices.push_back(base::box_corner(b, c));
    for (const Triangle& t : base::box_triangles) shape.triangles.push_back({first + t.a, first + t.b, first + t.c});
}

}  // namespace

Shape frame_shape(const Box3f& box, float thickness, const Color& color) {
    QUADRAT_ASSERT(thickness > 0);
    Shape shape;
    const float h = thickness / 2;
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 4; ++side) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            Box3f bar = box;
            bar.lo[axis] -= h;
            bar.hi[axis] += h;
            const float at_u = side & 1 ? box.hi[u] : box.lo[u], at_v = side & 2 ? box.hi[v] : box.lo[v];
            bar.lo[u] = at_u - h;
            bar.hi[u] = at_u + h;
            bar.lo[v] = at_v - h;
            bar.hi[v] = at_v + h;
            add_box(shape, bar);
        }
    shape.colors = {color};
    return shape;
}

Camera camera_for(const Box3f& box, float aspect, float field_of_view) {
    QUADRAT_ASSERT(aspect > 0 && field_of_view > 0);
    Camera camera;
    camera.field_of_view = field_of_view;
    for (int k = 0; k < 3; ++k) camera.target[k] = (box.lo[k] + box.hi[k]) / 2;
    const bool flat =
        !(box.hi[2] - box.lo[2] > 1e-6f * (box.hi[0] - box.lo[0]));  // a scene of two dimensions: straight on
    const Vec3f back = flat ? Vec3f{0, 0, 1} : normalized({-0.42f, -1.0f, 0.52f});
    if (flat) camera.up = {0, 1, 0};
    const Vec3f right = normalized(cross(scaled(back, -1), camera.up));
    const Vec3f up = cross(back, right);
    const float half_y = std::tan(camera.field_of_view / 2) * 0.92f, half_x = half_y * aspect;
    float distance = 1e-6f;
    for (std::uint32_t k = 0; k < 8; ++k) {
        const Vec3f corner = sub(base::box_corner(box, k), camera.target);
        const float depth = dot(corner, back);
        distance = std::max(
            {distance, depth + std::abs(dot(corner, right)) / half_x, depth + std::abs(dot(corner, up)) / half_y});
    }
    camera.eye = along(camera.target, back, distance);
    return camera;
}

}  // namespace quadrat::render
