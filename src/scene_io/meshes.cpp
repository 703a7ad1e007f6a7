#include "scene_io/meshes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/assert.hpp"
#include "io/by_ending.hpp"
#include "scene_io/read_fields.hpp"

namespace quadrat::scene_io {
namespace {

Vec3d turned(const Vec3d& v, const std::array<double, 4>& q) {
    const Vec3d u = {{q[1], q[2], q[3]}};
    const auto cross = [](const Vec3d& a, const Vec3d& b) {
        return Vec3d{{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
    };
    const Vec3d t = cross(u, v), s = cross(u, t);
    return {{v[0] + 2 * (q[0] * t[0] + s[0]), v[1] + 2 * (q[0] * t[1] + s[1]), v[2] + 2 * (q[0] * t[2] + s[2])}};
}

}  // namespace

std::array<double, 4> rotation_of(const JsonCursor& at) {
    JsonObject rotation(at);
    const JsonCursor axis_at = rotation.need("axis");
    const Vec3d axis = axis_at.in_dimension(3).vector();
    const double half = rotation.need("degrees").number() * std::numbers::pi / 360;
    rotation.end();
    const double length = std::hypot(axis[0], axis[1], axis[2]);
    if (!(length > 0)) axis_at.expected("an axis that is not zero");
    const double s = std::sin(half) / length;
    return {std::cos(half), s * axis[0], s * axis[1], s * axis[2]};
}

Surface torus(double ring, double tube) {
    QUADRAT_ASSERT(tube > 0 && ring > tube);
    Surface mesh;
    constexpr std::uint32_t around = 48, across = 24;
    for (std::uint32_t i = 0; i < around; ++i)
        for (std::uint32_t k = 0; k < across; ++k) {
            const double a = 2 * std::numbers::pi * i / around, b = 2 * std::numbers::pi * k / across;
            const double r = ring + tube * std::cos(b);
            mesh.vertices.push_back({{r * std::cos(a), r * std::sin(a), tube * std::sin(b)}});
            const auto at = [](std::uint32_t p, std::uint32_t q) { return (p % around) * across + q % across; };
            mesh.triangles.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1)});
            mesh.triangles.push_back({at(i, k), at(i + 1, k + 1), at(i, k + 1)});
        }
    return mesh;
}

Surface read_mesh_file(JsonObject& object, const std::string& folder) {
    const JsonCursor name = object.need("file");
    Surface mesh;
    try {
        const io::Mesh read = io::read_mesh(folder + "/" + name.text());
        mesh = {read.triangles, read.vertices};
    } catch (const Error& error) {
        name.fail(error.what());
    }
    if (mesh.triangles.empty()) name.fail("expected a mesh with triangles, found none");
    const auto upright = object.find("y_up"), centred = object.find("center");
    const auto height_at = object.find("height"), scale_at = object.find("scale");
    const bool y_up = upright && upright->yes(), center = centred && centred->yes();
    const double height = height_at ? height_at->number(Range::positive) : 0;
    double scale = scale_at ? scale_at->number(Range::positive) : 1;
    if (y_up)
        for (Vec3d& v : mesh.vertices) v = {{v[0], -v[2], v[1]}};
    Box3d box = {mesh.vertices.front(), mesh.vertices.front()};
    for (const Vec3d& v : mesh.vertices)
        for (int k = 0; k < 3; ++k) {
            box.lo[k] = std::min(box.lo[k], v[k]);
            box.hi[k] = std::max(box.hi[k], v[k]);
        }
    if (height > 0 && !(box.hi[2] > box.lo[2])) height_at->fail("the mesh is flat: expected a scale instead");
    if (height > 0) scale = height / (box.hi[2] - box.lo[2]);
    const Vec3d middle = center || height > 0
                             ? Vec3d{{(box.lo[0] + box.hi[0]) / 2, (box.lo[1] + box.hi[1]) / 2, box.lo[2]}}
                             : Vec3d{{0, 0, 0}};
    for (Vec3d& v : mesh.vertices)
        for (int k = 0; k < 3; ++k) v[k] = (v[k] - middle[k]) * scale;
    return mesh;
}

Surface read_sheet(const JsonCursor& at, std::array<std::uint32_t, 2>& cells) {
    JsonObject object(at);
    const JsonCursor cells_at = object.need("cells");
    const auto counts = cells_at.list();
    const JsonCursor size_at = object.need("size");
    const auto sizes = size_at.list();
    Vec3d center = {{0, 0, 0}};
    if (const auto given = object.find("center")) center = given->vector();
    const auto sag_at = object.find("sag");
    const double sag = sag_at ? sag_at->number() : 0;
    const auto rotation_at = object.find("rotation");
    const std::array<double, 4> rotation = rotation_at ? rotation_of(*rotation_at) : std::array<double, 4>{1, 0, 0, 0};
    object.end();
    if (counts.size() != 2) cells_at.expected("two numbers");
    if (sizes.size() != 2) size_at.expected("two lengths");
    for (std::size_t k = 0; k < 2; ++k) cells[k] = static_cast<std::uint32_t>(counts[k].count(1, 2000));
    const double size[2] = {sizes[0].number(Range::positive), sizes[1].number(Range::positive)};
    Surface mesh;
    const std::uint32_t n = cells[0], m = cells[1];
    for (std::uint32_t i = 0; i <= n; ++i)
        for (std::uint32_t k = 0; k <= m; ++k) {
            const double s = static_cast<double>(i) / n, t = static_cast<double>(k) / m;
            Vec3d v =
                turned({{(s - 0.5) * size[0], (t - 0.5) * size[1], -16 * sag * s * (1 - s) * t * (1 - t)}}, rotation);
            for (int axis = 0; axis < 3; ++axis) v[axis] += center[axis];
            mesh.vertices.push_back(v);
            if (i == 0 || k == 0) continue;
            const std::uint32_t d = i * (m + 1) + k, b = d - 1, r = d - (m + 1), a = r - 1;
            if ((i + k) % 2) {  // diagonals alternate, so that no direction is stiffer
                mesh.triangles.push_back({a, r, d});
                mesh.triangles.push_back({a, d, b});
            } else {
                mesh.triangles.push_back({a, r, b});
                mesh.triangles.push_back({b, r, d});
            }
        }
    return mesh;
}

}  // namespace quadrat::scene_io
