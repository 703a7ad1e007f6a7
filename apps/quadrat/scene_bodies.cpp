// Bodies and cloths of a scene file: single ones, lattices of them, and spheres scattered at random.
#include <cmath>
#include <map>
#include <numbers>

#include "base/scenes.hpp"
#include "io/mesh.hpp"
#include "scene_parts.hpp"

namespace quadrat::cli {
namespace {

constexpr const char* shape_names[] = {"sphere", "box", "plane", "mesh", "torus"};
constexpr const char* motion_names[] = {"fixed", "moving", "dynamic"};
constexpr const char* boundary_names[] = {"particles", "ghosts", "field"};
constexpr std::uint64_t most_bodies = 100000;  ///< of one entry
constexpr std::uint32_t palette[] = {0xc8452d, 0xe8a33d, 0x4b8f6b, 0x2f6690, 0x7a4b94, 0xd97b5f, 0x8fb339, 0xe0c097};

struct Mesh {
    std::vector<Triangle> triangles = {};
    std::vector<Vec3d> vertices = {};
};

Vec3d turned(const Vec3d& v, const std::array<double, 4>& q) {
    const Vec3d u = {{q[1], q[2], q[3]}};
    const auto cross = [](const Vec3d& a, const Vec3d& b) {
        return Vec3d{{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
    };
    const Vec3d t = cross(u, v), s = cross(u, t);
    return {{v[0] + 2 * (q[0] * t[0] + s[0]), v[1] + 2 * (q[0] * t[1] + s[1]), v[2] + 2 * (q[0] * t[2] + s[2])}};
}

// "rotation": {"axis": [x, y, z], "degrees": a}
std::array<double, 4> read_rotation(JsonObject& object) {
    const auto at = object.find("rotation");
    if (!at) return {1, 0, 0, 0};
    JsonObject rotation(*at);
    const JsonCursor axis_at = rotation.need("axis");
    const Vec3d axis = axis_at.in_dimension(3).vector();
    const double half = rotation.need("degrees").number() * std::numbers::pi / 360;
    rotation.end();
    const double length = std::hypot(axis[0], axis[1], axis[2]);
    if (!(length > 0)) axis_at.expected("an axis that is not zero");
    const double s = std::sin(half) / length;
    return {std::cos(half), s * axis[0], s * axis[1], s * axis[2]};
}

Mesh torus(double ring, double tube) {
    Mesh mesh;
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

// A file next to the scene, put upright, centred over its lowest point and scaled to a height where asked.
Mesh read_mesh_file(JsonObject& object, const std::string& folder) {
    const JsonCursor name = object.need("file");
    Mesh mesh;
    try {
        const io::Mesh read = io::read_mesh(folder + "/" + name.text());
        mesh = {read.triangles, read.vertices};
    } catch (const Error& error) {
        name.fail(error.what());
    }
    if (mesh.triangles.empty()) name.fail("expected a mesh with triangles, found none");
    bool y_up = false, center = false;
    double height = 0, scale = 1;
    object.read("y_up", y_up);
    object.read("center", center);
    object.read("height", height, Range::positive);
    object.read("scale", scale, Range::positive);
    if (y_up)
        for (Vec3d& v : mesh.vertices) v = {{v[0], -v[2], v[1]}};
    Box3d box = {mesh.vertices.front(), mesh.vertices.front()};
    for (const Vec3d& v : mesh.vertices)
        for (int k = 0; k < 3; ++k) {
            box.lo[k] = std::min(box.lo[k], v[k]);
            box.hi[k] = std::max(box.hi[k], v[k]);
        }
    if (height > 0 && !(box.hi[2] > box.lo[2]))
        object.need("height").fail("the mesh is flat: expected a scale instead");
    if (height > 0) scale = height / (box.hi[2] - box.lo[2]);
    const Vec3d middle = center || height > 0
                             ? Vec3d{{(box.lo[0] + box.hi[0]) / 2, (box.lo[1] + box.hi[1]) / 2, box.lo[2]}}
                             : Vec3d{{0, 0, 0}};
    for (Vec3d& v : mesh.vertices)
        for (int k = 0; k < 3; ++k) v[k] = (v[k] - middle[k]) * scale;
    return mesh;
}

RigidBody read_body(JsonObject& object, const std::string& folder) {
    RigidBody body;
    std::size_t shape = 0;
    object.read_choice("shape", shape, shape_names);
    object.read("name", body.name);
    object.read_choice("motion", body.motion, motion_names);
    switch (shape) {
        case 0:
            body.radius = object.find("scatter") ? 1 : object.need("radius").number(Range::positive);
            break;
        case 1:
            body.shape = BodyShape::box;
            body.size = object.need("size").vector(Range::positive);
            break;
        case 2:
            body.shape = BodyShape::plane;
            if (object.at().dimension() == 2) body.normal = {{0, 1, 0}};
            object.read("normal", body.normal);
            break;
        default: {
            body.shape = BodyShape::mesh;
            Mesh mesh;
            if (shape == 3) {
                mesh = read_mesh_file(object, folder);
            } else {
                const double tube = object.need("tube").number(Range::positive);
                const JsonCursor ring = object.need("radius");
                if (ring.number(Range::positive) <= tube) ring.expected("more than tube");
                mesh = torus(ring.number(), tube);
            }
            body.triangles = std::move(mesh.triangles);
            body.vertices = std::move(mesh.vertices);
        }
    }
    object.read("density", body.density, Range::positive);
    object.read("position", body.position);
    body.orientation = read_rotation(object);
    object.read("velocity", body.velocity);
    // Three numbers in the plane as well, where it turns about z.
    if (const auto spin = object.find("angular_velocity")) body.angular_velocity = spin->in_dimension(3).vector();
    object.read_choice("boundary", body.boundary, boundary_names);
    read_response(object, body.response);
    return body;
}

// "array": {"count": [nx, ny, nz], "step": [dx, dy, dz]}: copies on a lattice, the first at position.
std::vector<RigidBody> lattice(const JsonCursor& at, const RigidBody& body) {
    JsonObject object(at);
    const JsonCursor count_at = object.need("count");
    const auto counts = count_at.list();
    const Vec3d step = object.need("step").vector();
    object.end();
    std::uint64_t n[3] = {1, 1, 1};
    if (counts.size() > 3) count_at.expected("at most 3 numbers");
    for (std::size_t k = 0; k < counts.size(); ++k) n[k] = counts[k].count(1, 1000);
    if (n[0] * n[1] * n[2] > most_bodies)
        count_at.fail("expected at most " + std::to_string(most_bodies) + " bodies, found " +
                      std::to_string(n[0] * n[1] * n[2]));
    std::vector<RigidBody> all;
    for (std::uint64_t k = 0; k < n[2]; ++k)
        for (std::uint64_t j = 0; j < n[1]; ++j)
            for (std::uint64_t i = 0; i < n[0]; ++i) {
                RigidBody copy = body;
                const double s[3] = {static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)};
                for (int axis = 0; axis < 3; ++axis) copy.position[axis] += s[axis] * step[axis];
                all.push_back(std::move(copy));
            }
    return all;
}

// "scatter": {"count", "lo", "hi", "radius": [least, most], "gap", "seed"}: spheres at random places of a box that do
// not touch each other. Sizes are spread evenly over the powers of two between the two radii.
std::vector<RigidBody> scatter(const JsonCursor& at, const RigidBody& body, int dimension) {
    JsonObject object(at);
    const JsonCursor count_at = object.need("count");
    const std::uint64_t count = count_at.count(1, most_bodies);
    const auto [lo, hi] = read_box(object);
    const JsonCursor radius_at = object.need("radius");
    const auto radii = radius_at.list();
    if (radii.size() != 2) radius_at.expected("two numbers, least and most");
    const double least = radii[0].number(Range::positive), most = radii[1].number(Range::positive);
    double gap = 0;
    std::uint64_t seed = 1;
    object.read("gap", gap, Range::not_negative);
    object.read_count("seed", seed, 0, UINT64_MAX);
    object.end();
    if (most < least) radii[1].expected("at least the first radius");
    base::SplitMix random(seed);
    std::vector<RigidBody> all;
    std::map<std::array<std::int64_t, 3>, std::vector<std::size_t>> cells;
    const double edge = 2 * most + gap;
    for (int k = 0; k < dimension; ++k)
        if (std::max(std::abs(lo[k]), std::abs(hi[k])) > 1e15 * edge) radii[1].expected("a size that the box can show");
    const auto cell = [&](const Vec3d& p) {
        return std::array<std::int64_t, 3>{static_cast<std::int64_t>(std::floor(p[0] / edge)),
                                           static_cast<std::int64_t>(std::floor(p[1] / edge)),
                                           static_cast<std::int64_t>(std::floor(p[2] / edge))};
    };
    std::uint64_t misses = 0;
    while (all.size() < count) {
        RigidBody one = body;
        one.radius = least * std::exp2(random.uniform() * std::log2(most / least));
        for (int k = 0; k < dimension; ++k)
            one.position[k] = random.uniform(lo[k] + one.radius, std::max(lo[k] + one.radius, hi[k] - one.radius));
        const auto here = cell(one.position);
        bool free = true;
        for (std::int64_t x = -1; x <= 1 && free; ++x)
            for (std::int64_t y = -1; y <= 1 && free; ++y)
                for (std::int64_t z = -1; z <= 1 && free; ++z) {
                    const auto found = cells.find({here[0] + x, here[1] + y, here[2] + z});
                    if (found == cells.end()) continue;
                    for (const std::size_t other : found->second) {
                        double d_sq = 0;
                        for (int k = 0; k < 3; ++k)
                            d_sq +=
                                (all[other].position[k] - one.position[k]) * (all[other].position[k] - one.position[k]);
                        const double reach = all[other].radius + one.radius + gap;
                        if (d_sq < reach * reach) free = false;
                    }
                }
        if (!free) {
            if (++misses > 100000)  // one after the other
                count_at.expected("spheres that fit; only " + std::to_string(all.size()) + " do");
            continue;
        }
        misses = 0;
        cells[here].push_back(all.size());
        all.push_back(std::move(one));
    }
    return all;
}

// "sheet": {"cells": [n, m], "size": [a, b], "center", "rotation", "sag"}: a rectangle, flat at first or, with a sag,
// hanging between its edges.
Mesh sheet(const JsonCursor& at, std::uint32_t cells[2]) {
    JsonObject object(at);
    const JsonCursor cells_at = object.need("cells");
    const auto counts = cells_at.list();
    const JsonCursor size_at = object.need("size");
    const auto sizes = size_at.list();
    Vec3d center = {{0, 0, 0}};
    object.read("center", center);
    double sag = 0;
    object.read("sag", sag);
    const std::array<double, 4> rotation = read_rotation(object);
    object.end();
    if (counts.size() != 2) cells_at.expected("two numbers");
    if (sizes.size() != 2) size_at.expected("two lengths");
    for (std::size_t k = 0; k < 2; ++k) cells[k] = static_cast<std::uint32_t>(counts[k].count(1, 2000));
    const double size[2] = {sizes[0].number(Range::positive), sizes[1].number(Range::positive)};
    Mesh mesh;
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

}  // namespace

void read_bodies(const JsonCursor& at, SceneFile& file, const std::string& folder) {
    for (const JsonCursor& one : at.list()) {
        JsonObject object(one);
        const RigidBody body = read_body(object, folder);
        const std::optional<render::Color> color = read_color(object);
        const auto array = object.find("array"), scattered = object.find("scatter");
        if (array && scattered) one.fail("expected either array or scatter, found both");
        if (scattered && body.shape != BodyShape::sphere) scattered->fail("expected the shape sphere");
        object.end();
        const std::vector<RigidBody> all = array       ? lattice(*array, body)
                                           : scattered ? scatter(*scattered, body, file.scene.dimension)
                                                       : std::vector{body};
        for (std::size_t k = 0; k < all.size(); ++k) {
            const std::size_t hue = all.size() > 1 ? k : file.scene.bodies.size();
            file.view.body_colors.push_back(color.value_or(render::from_hex(palette[hue % std::size(palette)])));
            file.body_paths.push_back(one.path());
            file.scene.bodies.push_back(all[k]);
        }
    }
}

void read_cloths(const JsonCursor& at, SceneFile& file, const std::string& folder) {
    for (const JsonCursor& one : at.list()) {
        JsonObject object(one);
        SceneCloth cloth;
        object.read("name", cloth.name);
        std::uint32_t cells[2] = {0, 0};
        const auto flat = object.find("sheet");
        Mesh mesh = flat ? sheet(*flat, cells) : read_mesh_file(object, folder);
        if (!flat) {
            Vec3d position = {{0, 0, 0}};
            object.read("position", position);
            for (Vec3d& v : mesh.vertices)
                for (int k = 0; k < 3; ++k) v[k] += position[k];
        }
        if (const auto pins = object.find("pins")) {
            if (pins->value().is_string()) {
                constexpr const char* places[] = {"corners"};
                (void)pins->choice(places);
                if (!flat) pins->expected("numbers of vertices");
                const std::uint32_t n = cells[0], m = cells[1];
                cloth.pins = {0, m, n * (m + 1), n * (m + 1) + m};
            } else {
                for (const JsonCursor& pin : pins->list())
                    cloth.pins.push_back(static_cast<std::uint32_t>(pin.count(0, mesh.vertices.size() - 1)));
            }
        }
        cloth.triangles = std::move(mesh.triangles);
        cloth.positions = std::move(mesh.vertices);
        object.read("density", cloth.density, Range::positive);
        object.read("thickness", cloth.options.thickness, Range::positive);
        object.read("time_step", cloth.options.time_step, Range::positive);
        object.read("damping", cloth.options.damping, Range::not_negative);
        object.read("stretch_compliance", cloth.options.stretch_compliance, Range::not_negative);
        object.read("bend_compliance", cloth.options.bend_compliance, Range::not_negative);
        object.read_count("iterations", cloth.options.iterations, 1, 10000);
        object.read("contact_friction", cloth.options.friction, Range::not_negative);
        read_response(object, cloth.response);
        file.view.cloth_colors.push_back(read_color(object).value_or(render::from_hex(0xb5343f)));
        object.end();
        file.scene.cloths.push_back(std::move(cloth));
    }
}

}  // namespace quadrat::cli
