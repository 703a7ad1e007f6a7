#include "scene_file.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

#include "io/files.hpp"
#include "io/text.hpp"
#include "scene_parts.hpp"

namespace quadrat::cli {
namespace {

constexpr const char* kernel_names[] = {"paper", "wendland", "cubic"};
constexpr const char* solver_names[] = {"weakly_compressible", "ideal_gas", "incompressible"};
constexpr const char* step_names[] = {"courant", "per_particle", "fixed"};
constexpr const char* look_names[] = {"auto", "surface", "balls"};
constexpr const char* color_names[] = {"phase", "speed", "density"};
constexpr const char* side_names[] = {"-x", "+x", "-y", "+y", "-z", "+z"};

void read_domain(const JsonCursor& at, Domain& domain) {
    JsonObject object(at);
    domain.box = read_box(object);
    if (const auto list = object.find("periodic")) {
        const auto axes = list->list();
        if (axes.size() > 3) list->expected("at most 3 axes");
        for (std::size_t k = 0; k < axes.size(); ++k) domain.periodic[k] = axes[k].yes();
    }
    if (const auto list = object.find("open"))
        for (const JsonCursor& side : list->list()) {
            const std::size_t number = side.choice(side_names);
            if (at.dimension() == 2 && number >= 4) side.expected("a side along x or y in two dimensions");
            domain.open[number] = true;
        }
    read_response(object, domain.response);
    if (const auto list = object.find("planes"))
        for (const JsonCursor& plane : list->list()) {
            JsonObject p(plane);
            WallPlane wall;
            wall.normal = p.need("normal").vector();
            p.read("offset", wall.offset);
            read_response(p, wall.response);
            p.end();
            domain.planes.push_back(wall);
        }
    object.read("ghosts", domain.ghosts);
    object.end();
}

void read_stepping(const JsonCursor& at, Stepping& stepping) {
    JsonObject object(at);
    object.read_choice("kind", stepping.kind, step_names);
    object.read("fixed", stepping.fixed, Range::positive);
    object.read("courant", stepping.courant, Range::positive);
    object.read("largest", stepping.largest, Range::positive);
    object.end();
    if (stepping.kind == StepKind::fixed && stepping.fixed == 0) (void)object.need("fixed");
    if (stepping.kind != StepKind::fixed && stepping.fixed > 0) object.need("fixed").fail("needs the kind fixed");
}

void read_incompressible(const JsonCursor& at, IncompressibleOptions& options) {
    JsonObject object(at);
    object.read("density_error", options.density_error, Range::positive);
    object.read("divergence_error", options.divergence_error, Range::positive);
    object.read_count("max_iterations", options.max_iterations, 1);
    object.end();
}

void read_view(const JsonCursor& at, SceneView& view) {
    JsonObject object(at);
    if (const auto eye = object.find("eye")) view.eye = eye->vector();
    if (const auto target = object.find("target")) view.target = target->vector();
    object.read("field_of_view", view.field_of_view, Range::positive);
    if (view.field_of_view >= 170) object.need("field_of_view").expected("degrees below 170");
    object.read_count("width", view.width, 16, 16384);
    object.read_count("height", view.height, 16, 16384);
    object.read_count("samples", view.samples, 1, 4096);
    object.read("exposure", view.exposure, Range::positive);
    object.read_choice("fluid", view.fluid, look_names);
    object.read_choice("color", view.color, color_names);
    object.read("walls", view.walls);
    object.end();
    if (view.eye && view.target && *view.eye == *view.target) at.fail("eye and target are the same point");
}

SceneFile read_all(const JsonCursor& at, const std::string& folder) {
    SceneFile file;
    Scene& scene = file.scene;
    std::uint32_t dimension = 3;
    JsonObject(at).read_count("dimension", dimension, 2, 3);
    scene.dimension = static_cast<int>(dimension);
    JsonObject object(at.in_dimension(scene.dimension));
    (void)object.find("dimension");
    (void)object.find("variants");
    std::string about;
    object.read("name", scene.name);
    object.read("about", about);
    if (scene.dimension == 2) scene.gravity = {{0, -9.81, 0}};
    read_domain(object.need("domain"), scene.domain);
    object.read("gravity", scene.gravity);
    object.read("attraction", scene.attraction, Range::not_negative);
    object.read("spacing", scene.spacing, Range::positive);
    object.read("support", scene.support, Range::positive);
    object.read_choice("kernel", scene.kernel, kernel_names);
    object.read_choice("solver", scene.solver, solver_names);
    object.read("expected_speed", scene.expected_speed, Range::positive);
    if (const auto part = object.find("stepping")) read_stepping(*part, scene.stepping);
    if (const auto part = object.find("incompressible")) read_incompressible(*part, scene.incompressible);
    object.read("jitter", scene.jitter, Range::not_negative);
    object.read_count("seed", scene.seed, 0, UINT64_MAX);
    object.read("end_time", scene.end_time, Range::positive);
    object.read("frame_interval", scene.frame_interval, Range::positive);
    if (const auto part = object.find("phases")) read_phases(*part, file);
    if (const auto part = object.find("blocks")) read_blocks(*part, file);
    if (const auto part = object.find("particles")) read_particles(*part, file, folder);
    if (const auto part = object.find("emitters")) read_emitters(*part, file);
    if (const auto part = object.find("bodies")) read_bodies(*part, file, folder);
    if (const auto part = object.find("cloths")) read_cloths(*part, file, folder);
    if (const auto part = object.find("view")) {
        read_view(*part, file.view);
        if (scene.dimension == 2 && file.view.fluid == FluidLook::surface)
            JsonObject(*part).need("fluid").expected("balls or auto in two dimensions");
    }
    object.end();
    if (scene.end_time / scene.frame_interval > 1e6)
        object.need("frame_interval").expected("at most a million frames until end_time");
    if (scene.blocks.empty() && scene.particles.empty() && scene.emitters.empty() && scene.bodies.empty() &&
        scene.cloths.empty())
        at.fail("expected blocks, particles, emitters, bodies or cloths, found none of them");
    return file;
}

}  // namespace

namespace {

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at + 1), path.size());
        if (end > at + 1) parts.push_back(path.substr(at + 1, end - at - 1));
        at = end;
    }
    return parts;
}

// The library's names where the file has others: a mesh comes from a file or is a sheet, and what are structs of their
// own in the library are keys of the entry itself.
std::vector<std::string> named_as_in_file(const std::vector<std::string>& parts) {
    std::vector<std::string> named;
    const bool cloth = parts[0] == "cloths", solid = cloth || parts[0] == "bodies";
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const std::string& part = parts[k];
        if (k > 0 && (part == "box" || part == "response" || part == "options")) continue;
        if (solid && k == 2 && (part == "triangles" || part == "vertices" || part == "positions")) break;
        if (cloth && part == "friction" && parts[k - 1] == "options")
            named.push_back("contact_friction");
        else
            named.push_back(k == 2 && part == "orientation" ? "rotation" : part == "velocities" ? "velocity" : part);
    }
    return named;
}

bool is_number(const std::string& part) {
    return !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Error SceneFile::placed(const Error& error, const std::string& file) const {
    Where where = error.where();
    std::vector<std::string> parts = parts_of(where.field);
    if (parts.empty() || !where.field.starts_with('/')) return error.in_file(file);
    parts = named_as_in_file(parts);
    // An entry of the file may have become many bodies.
    const auto entry_of = [&](const std::string& body) {
        return is_number(body) && std::stoul(body) < body_paths.size() ? parts_of(body_paths[std::stoul(body)]).back()
                                                                       : body;
    };
    if (parts.size() > 1 && parts[0] == "bodies") parts[1] = entry_of(parts[1]);
    std::string message = error.message();
    if (const std::string_view other = "overlaps /bodies/"; message.starts_with(other)) {
        const std::string entry = entry_of(message.substr(other.size()));
        const bool same = parts[0] == "bodies" && entry == parts[1];
        message = same ? "two of its bodies overlap" : std::string(other) + entry;
    }
    // As far as the file goes; the rest is a default of ours, which the message names.
    const Json json = Json::parse(text);
    const Json* value = &json;
    where.field.clear();
    std::string rest;
    for (const std::string& part : parts) {
        const Json* inside = nullptr;
        if (value && value->is_object() && value->contains(part)) inside = &(*value)[part];
        if (value && value->is_array() && is_number(part) && std::stoul(part) < value->size())
            inside = &(*value)[std::stoul(part)];
        value = inside;
        if (inside)
            where.field += "/" + part;
        else
            rest += (rest.empty() ? "" : "/") + part;
    }
    if (where.field.empty()) where.field = "/";
    return Error(error.kind(), (rest.empty() ? "" : rest + ": ") + message, where).in_file(file);
}

namespace {

// A scene without what a run can be continued without: names, colours, the camera, and when it ends.
Json what_matters(Json json) {
    for (const char* key : {"name", "about", "view", "end_time"}) json.erase(key);
    if (!json.contains("frame_interval")) json["frame_interval"] = Scene{}.frame_interval;
    for (const char* list : {"phases", "bodies", "cloths"})
        if (json.contains(list) && json[list].is_array())
            for (Json& part : json[list])
                if (part.is_object()) {
                    part.erase("color");
                    if (std::string_view(list) != "phases") part.erase("name");
                }
    return json;
}

}  // namespace

SceneFile parse_scene(std::string_view text, const std::string& path, const std::string& variant) {
    Json json = parse_json(text, path);
    try {
        if (!variant.empty()) {
            JsonObject variants(JsonObject(JsonCursor(json, "")).need("variants"));
            const auto patch = variants.find(variant.c_str());
            if (!patch) {
                std::string names;
                for (const auto& [name, value] : variants.at().value().items())
                    names += (names.empty() ? "" : ", ") + name;
                throw UsageError("--variant: " + path + " has no variant '" + variant + "'; choose one of " + names);
            }
            const Json change = patch->value();
            json.merge_patch(change);
        }
        if (json.is_object() && json.contains("variants")) {
            const JsonObject variants(JsonCursor(json["variants"], "/variants"));
            for (const auto& [name, change] : json["variants"].items())
                (void)JsonObject(variants.at().inside(change, name));
            json.erase("variants");
        }
        const std::string folder = std::filesystem::path(path).parent_path().string();
        SceneFile file = read_all(JsonCursor(json, ""), folder.empty() ? "." : folder);
        if (file.scene.name.empty()) file.scene.name = std::filesystem::path(path).stem().string();
        file.text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
        file.identity = what_matters(json).dump(-1, ' ', true, Json::error_handler_t::replace);
        return file;
    } catch (const Error& error) {
        throw error.where().file.empty() ? error.in_file(path) : error;
    }
}

SceneFile read_scene(const std::string& path, const std::string& variant) {
    const io::MappedFile file(path);
    return parse_scene(io::as_text(file.bytes()), path, variant);
}

}  // namespace quadrat::cli
