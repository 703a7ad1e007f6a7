#include "scene_io/grain_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "base/random.hpp"
#include "base/surfaces.hpp"
#include "io/files.hpp"
#include "io/text.hpp"
#include "scene_io/meshes.hpp"
#include "scene_io/reader.hpp"
#include "scene_io/view_fields.hpp"
#include "simulation/grains/grain_fields.hpp"

namespace quadrat::scene_io {

template <class Reader>
void read_array(const JsonCursor&, Watch&, const Reader&) {}  // never in a file

namespace {

constexpr std::uint64_t most_grains = 10'000'000;
constexpr std::uint32_t palette[] = {0xd9a441, 0xc8452d, 0x2f6690, 0x4b8f6b, 0x7a4b94, 0xe0c097};

// What read_fields asks of a reader; nothing here has phases.
struct Rows {
    [[nodiscard]] static const Scene& scene() {
        static const Scene none;
        return none;
    }
};

// A drum along y with both of its ends.
Surface cylinder(double radius, double length, std::uint32_t segments) {
    Surface m;
    for (std::uint32_t k = 0; k < segments; ++k) {
        const double a = 2 * std::numbers::pi * k / segments;
        for (const double y : {-0.5, 0.5})
            m.vertices.push_back({{radius * std::cos(a), y * length, radius * std::sin(a)}});
    }
    const std::uint32_t c = 2 * segments;
    m.vertices.push_back({{0, -0.5 * length, 0}});
    m.vertices.push_back({{0, 0.5 * length, 0}});
    for (std::uint32_t k = 0; k < segments; ++k) {
        const std::uint32_t a = 2 * k, b = 2 * ((k + 1) % segments);
        m.triangles.push_back({a, b, b + 1});
        m.triangles.push_back({a, b + 1, a + 1});
        m.triangles.push_back({c, a, b});
        m.triangles.push_back({c + 1, b + 1, a + 1});
    }
    return m;
}

// A square funnel: from half `top` at the height to half `outlet` at 0, and walls straight up above it.
Surface funnel(double top, double outlet, double height, double above) {
    Surface m;
    for (const auto& [half, z] : {std::pair(outlet, 0.0), std::pair(top, height), std::pair(top, height + above)})
        for (int k = 0; k < 4; ++k) {
            const double x = k == 0 || k == 3 ? -half : half, y = k < 2 ? -half : half;
            m.vertices.push_back({{x, y, z}});
        }
    for (std::uint32_t ring = 0; ring < 2; ++ring)
        for (std::uint32_t k = 0; k < 4; ++k) {
            const std::uint32_t a = 4 * ring + k, b = 4 * ring + (k + 1) % 4;
            m.triangles.push_back({a, b, b + 4});
            m.triangles.push_back({a, b + 4, a + 4});
        }
    return m;
}

class GrainReader {
  public:
    GrainReader(GrainFile& file, std::string folder) : file_(file), folder_(std::move(folder)) {}

    void read(const JsonCursor& at) {
        JsonObject object(at);
        if (const auto name = object.find("name")) file_.name = name->text();
        if (const auto about = object.find("about")) (void)about->text();
        const JsonCursor grains = object.need("grains");
        if (const auto given = JsonObject(grains).find("dimension")) dimension_ = static_cast<int>(given->count(2, 3));
        if (dimension_ == 2) file_.options.gravity = {{0, -9.81, 0}};
        if (const auto view = object.find("view")) read_view(*view);
        if (const auto end = object.find("end_time")) file_.end_time = end->number(Range::positive);
        if (const auto interval = object.find("frame_interval"))
            file_.frame_interval = interval->number(Range::positive);
        if (file_.end_time / file_.frame_interval > 1e6)
            object.need("frame_interval").expected("at most a million frames until end_time");
        read_grains(grains.in_dimension(dimension_));
        object.end();
    }

  private:
    void read_view(const JsonCursor& at) {
        JsonObject object(at);
        read_fields(object, file_.view, rows_);
        object.end();
        if (file_.view.field_of_view >= 170) object.need("field_of_view").expected("degrees below 170");
    }

    void read_grains(const JsonCursor& at) {
        JsonObject object(at);
        read_fields(object, file_.options, rows_);
        if (file_.options.contacts != GrainContacts::hard) (void)object.need("stiffness");
        if (const auto step = object.find("time_step")) file_.time_step = step->number(Range::positive);
        if (file_.end_time / file_.time_step > 1e9) object.need("time_step").expected("at most a billion steps");
        {
            const JsonCursor box = object.need("box");
            JsonObject corners(box);
            read_fields(corners, file_.box, rows_);
            after_group(corners, file_.box);
            corners.end();
        }
        if (const auto closed = object.find("closed")) read_closed(*closed);
        if (const auto planes = object.find("planes"))
            for (const JsonCursor& one : planes->list()) {
                JsonObject entry(one);
                GrainPlane plane;
                read_fields(entry, plane, rows_);
                entry.end();
                file_.planes.push_back(plane);
            }
        if (const auto walls = object.find("walls"))
            for (const JsonCursor& one : walls->list()) read_wall(one);
        const JsonCursor bodies = object.need("bodies");
        std::size_t entry = 0;
        for (const JsonCursor& one : bodies.list()) read_body(one, entry++);
        if (file_.grains.empty()) bodies.expected("at least one");
        object.end();
    }

    // "closed": {"friction", ...}: the sides of the box are planes.
    void read_closed(const JsonCursor& at) {
        JsonObject object(at);
        GrainSurface surface;
        read_fields(object, surface, rows_);
        object.end();
        for (int k = 0; k < dimension_; ++k)
            for (const double sign : {1.0, -1.0}) {
                GrainPlane plane{.normal = {{0, 0, 0}}, .surface = surface};
                plane.normal[k] = sign;
                plane.offset = sign > 0 ? file_.box.lo[k] : -file_.box.hi[k];
                file_.planes.push_back(plane);
            }
    }

    void read_wall(const JsonCursor& at) {
        JsonObject object(at);
        constexpr const char* shapes[] = {"mesh", "box", "drum", "funnel"};
        const std::size_t shape = object.need("shape").choice(shapes);
        GrainWall wall;
        Surface mesh;
        const auto positive = [&](const char* key) { return object.need(key).number(Range::positive); };
        if (shape == 0) {
            mesh = read_mesh_file(object, folder_);
        } else if (shape == 1) {
            const Vec3d size = object.need("size").vector(Range::positive);
            mesh = base::box_surface(
                {{{-0.5 * size[0], -0.5 * size[1], -0.5 * size[2]}}, {{0.5 * size[0], 0.5 * size[1], 0.5 * size[2]}}});
        } else if (shape == 2) {
            const auto segments = object.find("segments");
            mesh = cylinder(positive("radius"), positive("length"),
                            segments ? static_cast<std::uint32_t>(segments->count(3, 4096)) : 48);
        } else {
            const double outlet = positive("outlet"), top = positive("top"), height = positive("height");
            const auto above = object.find("above");
            if (top <= outlet) object.need("top").expected("more than outlet");
            mesh = funnel(0.5 * top, 0.5 * outlet, height, above ? above->number(Range::positive) : height);
        }
        read_fields(object, wall, rows_);
        wall.triangles = std::move(mesh.triangles);
        wall.vertices = std::move(mesh.vertices);
        file_.wall_colors.push_back(read_color(object, 0x8f979f));
        object.end();
        file_.walls.push_back(std::move(wall));
    }

    void read_body(const JsonCursor& at, std::size_t entry) {
        JsonObject object(at);
        Grain grain;
        read_fields(object, grain, rows_);
        if (grain.shape == GrainShape::convex) {
            std::vector<Vec3d> points;
            for (const JsonCursor& p : object.need("points").list()) points.push_back(p.vector());
            grain.hull = static_cast<std::uint32_t>(file_.hulls.size());
            file_.hulls.push_back(std::move(points));
        }
        const bool colored = object.find("color").has_value();
        const std::uint32_t color = read_color(object, 0);
        const auto array = object.find("array");
        if (array)
            read_array_of(*array, grain, colored, color, entry);
        else
            add(grain, colored ? color : palette[entry % std::size(palette)], entry);
        object.end();
    }

    // "array": {"count": [nx, ny, nz], "step": [dx, dy, dz], "speed", "smaller", "turned", "seed"}: copies on a
    // lattice, with velocities at random up to a speed along each axis, radii up to a share smaller, any orientation.
    void read_array_of(const JsonCursor& at, const Grain& grain, bool colored, std::uint32_t color, std::size_t entry) {
        JsonObject object(at);
        const JsonCursor count_at = object.need("count");
        const auto counts = count_at.list();
        const Vec3d step = object.need("step").vector();
        const auto speed = object.find("speed"), smaller = object.find("smaller"), any = object.find("turned"),
                   seed = object.find("seed");
        object.end();
        std::uint64_t n[3] = {1, 1, 1};
        if (counts.size() > 3) count_at.expected("at most 3 numbers");
        for (std::size_t k = 0; k < counts.size(); ++k) n[k] = counts[k].count(1, 10000);
        if (n[0] * n[1] * n[2] + file_.grains.size() > most_grains) count_at.expected("at most 10 million grains");
        const double fast = speed ? speed->number(Range::not_negative) : 0;
        const double less = smaller ? smaller->number(Range::share) : 0;
        if (less >= 1) smaller->expected("less than 1");
        const bool turned = any && any->yes();
        base::SplitMix random(seed ? seed->count(0, UINT64_MAX) : 1);
        for (std::uint64_t k = 0; k < n[0] * n[1] * n[2]; ++k) {
            const std::uint64_t place[3] = {k % n[0], k / n[0] % n[1], k / (n[0] * n[1])};
            Grain copy = grain;
            copy.radius *= 1 - less * random.uniform();
            for (int axis = 0; axis < 3; ++axis) {
                copy.position[axis] += static_cast<double>(place[axis]) * step[axis];
                if (axis < dimension_) copy.velocity[axis] += random.uniform(-fast, fast);
            }
            if (turned) copy.orientation = any_turn(random);
            add(copy, colored ? color : palette[place[2] % std::size(palette)], entry);
        }
    }

    static std::array<double, 4> any_turn(base::SplitMix& random) {  // Shoemake 1992
        const double u = random.uniform(), a = 2 * std::numbers::pi * random.uniform(),
                     b = 2 * std::numbers::pi * random.uniform();
        const double s = std::sqrt(1 - u), c = std::sqrt(u);
        return {s * std::sin(a), s * std::cos(a), c * std::sin(b), c * std::cos(b)};
    }

    void add(const Grain& grain, std::uint32_t color, std::size_t entry) {
        file_.grains.push_back(grain);
        file_.colors.push_back(color);
        file_.entries.push_back(entry);
    }

    GrainFile& file_;
    std::string folder_;
    Rows rows_;
    int dimension_ = 3;
};

// Runs fn and puts the place of what it refuses in front of its own field.
template <class Fn>
auto at_path(const std::string& path, Fn&& fn) {
    try {
        return fn();
    } catch (const Error& error) {
        throw Error(error.kind(), error.message(), {.field = path + "/" + error.where().field});
    }
}

}  // namespace

bool is_grain_scene(const std::string& path) {
    try {
        const io::MappedFile file(path);
        const Json json = parse_json(io::as_text(file.bytes()), path);
        return json.is_object() && json.contains("grains");
    } catch (const Error&) {
        return false;
    }
}

GrainFile parse_grain_scene(std::string_view text, const std::string& path) {
    const Json json = parse_json(text, path);
    try {
        const std::string folder = std::filesystem::path(path).parent_path().string();
        GrainFile file;
        GrainReader(file, folder.empty() ? "." : folder).read(JsonCursor(json, ""));
        if (file.name.empty()) file.name = std::filesystem::path(path).stem().string();
        return file;
    } catch (const Error& error) {
        if (!error.where().file.empty()) throw;
        throw error.in_file(path);
    }
}

GrainFile read_grain_scene(const std::string& path, const std::string& variant) {
    if (!variant.empty())
        throw UnknownVariant(ErrorKind::bad_value, "has no variant '" + variant + "': scenes of grains have none",
                             {.file = path});
    const io::MappedFile file(path);
    return parse_grain_scene(io::as_text(file.bytes()), path);
}

Grains world_of(const GrainFile& file, Executor* executor) {
    GrainOptions options = file.options;
    options.executor = executor;
    Grains grains = at_path("/grains", [&] { return Grains(options); });
    for (std::size_t k = 0; k < file.planes.size(); ++k)
        at_path("/grains/planes/" + std::to_string(k), [&] { return grains.add(file.planes[k]); });
    for (std::size_t k = 0; k < file.walls.size(); ++k)
        at_path("/grains/walls/" + std::to_string(k), [&] { return grains.add(file.walls[k]); });
    for (std::size_t k = 0; k < file.hulls.size(); ++k) {
        std::size_t entry = 0;
        for (std::size_t i = 0; i < file.grains.size(); ++i)
            if (file.grains[i].shape == GrainShape::convex && file.grains[i].hull == k) entry = file.entries[i];
        at_path("/grains/bodies/" + std::to_string(entry), [&] { return grains.add_hull(file.hulls[k]); });
    }
    try {
        grains.add(file.grains);
    } catch (const Error& error) {
        const std::size_t entry = error.where().index ? file.entries[*error.where().index] : 0;
        throw Error(error.kind(), error.message(),
                    {.field = "/grains/bodies/" + std::to_string(entry) + "/" + error.where().field});
    }
    return grains;
}

}  // namespace quadrat::scene_io
