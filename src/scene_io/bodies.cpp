// Bodies of a scene file: rows of their table, shapes that files have beside the library's, lattices of copies, and
// spheres scattered at random.
#include <cmath>
#include <map>
#include <string>

#include "base/random.hpp"
#include "cells/spread_points.hpp"
#include "scene_io/meshes.hpp"
#include "scene_io/reader.hpp"

namespace quadrat::scene_io {
namespace {

constexpr std::uint64_t most_bodies = 100000;  ///< of one entry
constexpr std::uint32_t palette[] = {0xc8452d, 0xe8a33d, 0x4b8f6b, 0x2f6690, 0x7a4b94, 0xd97b5f, 0x8fb339, 0xe0c097};

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

// Spheres that keep a distance from each other.
class ScatteredSpheres {
  public:
    ScatteredSpheres(double largest, double gap) : places_(2 * largest + gap), gap_(gap) {}
    /// Farther from 0 than 1e15 of these, places are too coarse to keep a distance.
    [[nodiscard]] double edge() const { return places_.edge(); }

    /// Puts a sphere where it is; false, and it is not put, if it is too near to another.
    [[nodiscard]] bool put(const Vec3d& position, double radius) {
        const cells::SpreadPoints::Place place{position[0], position[1], position[2]};
        if (places_.any_near(place, [&](std::size_t other) { return too_near(spheres_[other], position, radius); }))
            return false;
        places_.add(place);
        spheres_.push_back({position, radius});
        return true;
    }

  private:
    struct Ball {
        Vec3d position;
        double radius;
    };
    [[nodiscard]] bool too_near(const Ball& other, const Vec3d& position, double radius) const {
        const double reach = other.radius + radius + gap_;
        double d_sq = 0;
        for (int k = 0; k < 3; ++k) d_sq += (other.position[k] - position[k]) * (other.position[k] - position[k]);
        return d_sq < reach * reach;
    }

    cells::SpreadPoints places_;
    double gap_;
    std::vector<Ball> spheres_;
};

// "scatter": {"count", "lo", "hi", "radius": [least, most], "gap", "seed"}: spheres at random places of a box that do
// not touch each other. Sizes are spread evenly over the powers of two between the two radii.
std::vector<RigidBody> scatter(const JsonCursor& at, const RigidBody& body, SceneReader& reader) {
    JsonObject object(at);
    const JsonCursor count_at = object.need("count");
    const std::uint64_t count = count_at.count(1, most_bodies);
    Box3d box;
    read_fields(object, box, reader);
    after_group(object, box);
    const JsonCursor radius_at = object.need("radius");
    const auto radii = radius_at.list();
    if (radii.size() != 2) radius_at.expected("two numbers, least and most");
    const double least = radii[0].number(Range::positive), most = radii[1].number(Range::positive);
    const auto gap = object.find("gap"), seed = object.find("seed");
    ScatteredSpheres spread(most, gap ? gap->number(Range::not_negative) : 0);
    base::SplitMix random(seed ? seed->count(0, UINT64_MAX) : 1);
    object.end();
    if (most < least) radii[1].expected("at least the first radius");
    for (int k = 0; k < at.dimension(); ++k)
        if (std::max(std::abs(box.lo[k]), std::abs(box.hi[k])) > 1e15 * spread.edge())
            radii[1].expected("a size that the box can show");
    std::vector<RigidBody> all;
    std::uint64_t misses = 0;  // one after the other
    while (all.size() < count) {
        RigidBody one = body;
        one.radius = least * std::exp2(random.uniform() * std::log2(most / least));
        for (int k = 0; k < at.dimension(); ++k) {
            const double lo = box.lo[k] + one.radius;
            one.position[k] = random.uniform(lo, std::max(lo, box.hi[k] - one.radius));
        }
        if (spread.put(one.position, one.radius)) {
            all.push_back(std::move(one));
            misses = 0;
        } else if (++misses > 100000) {
            count_at.expected("spheres that fit; only " + std::to_string(all.size()) + " do");
        }
    }
    return all;
}

Surface read_torus(JsonObject& object) {
    const double tube = object.need("tube").number(Range::positive);
    const JsonCursor ring = object.need("radius");
    if (ring.number(Range::positive) <= tube) ring.expected("more than tube");
    return torus(ring.number(), tube);
}

// Whether a shape has triangles, which stand in a file of their own or are made here. The rest of what a shape has
// stands in its rows. A shape without a line here fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
bool has_triangles(BodyShape shape) {
    switch (shape) {
        case BodyShape::sphere:
        case BodyShape::box:
        case BodyShape::plane:
            return false;
        case BodyShape::mesh:
            return true;
    }
    return false;
}
#pragma GCC diagnostic pop

}  // namespace

RigidBody SceneReader::read_body(JsonObject& object) {
    auto body = blank<RigidBody>(object.at().dimension());
    // The library's shapes, and one that is a mesh of ours.
    std::vector<const char*> shapes(simulation::names_of<BodyShape>.begin(), simulation::names_of<BodyShape>.end());
    shapes.push_back("torus");
    std::size_t shape = 0;
    if (const auto at = object.find("shape")) shape = at->choice(shapes);
    const bool is_torus = shape + 1 == shapes.size();
    body.shape = is_torus ? BodyShape::mesh : static_cast<BodyShape>(shape);
    if (has_triangles(body.shape)) {
        Surface mesh = is_torus ? read_torus(object) : read_mesh_file(object, folder_);
        body.triangles = std::move(mesh.triangles);
        body.vertices = std::move(mesh.vertices);
    }
    if (object.find("scatter"))
        read_fields(object, body, *this, {"radius"});
    else
        read_fields(object, body, *this);
    return body;
}

void SceneReader::read_list(const JsonCursor& at, std::vector<RigidBody>& bodies) {
    std::size_t entry = 0;
    std::map<std::string, std::size_t> entries;  // by name
    for (const JsonCursor& one : at.list()) {
        JsonObject object(one);
        const RigidBody body = read_body(object);
        if (const auto [found, fresh] = entries.emplace(body.name, entry); !fresh && !body.name.empty())
            one.inside(one.value()["name"], "name")
                .fail("expected a name of its own, found that of /bodies/" + std::to_string(found->second));
        const bool colored = object.find("color").has_value();
        const std::uint32_t color = read_color(object, 0);
        const auto array = object.find("array"), scattered = object.find("scatter");
        if (array && scattered) one.fail("expected either array or scatter, found both");
        if (scattered && body.shape != BodyShape::sphere) scattered->fail("expected the shape sphere");
        object.end();
        const std::vector<RigidBody> all = array       ? lattice(*array, body)
                                           : scattered ? scatter(*scattered, body, *this)
                                                       : std::vector{body};
        for (std::size_t k = 0; k < all.size(); ++k) {
            const std::size_t hue = all.size() > 1 ? k : bodies.size();
            file_.view.body_colors.push_back(colored ? color : palette[hue % std::size(palette)]);
            file_.body_entries.push_back(entry);
            bodies.push_back(all[k]);
        }
        ++entry;
    }
}

}  // namespace quadrat::scene_io
