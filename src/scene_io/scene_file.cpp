#include "scene_io/scene_file.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

#include "io/files.hpp"
#include "io/text.hpp"
#include "scene_io/reader.hpp"

namespace quadrat::scene_io {
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

// A part of a path as the position in a list of that size.
std::optional<std::size_t> position(const std::string& part, std::size_t size) {
    if (part.empty() || part.size() > 9 || part.find_first_not_of("0123456789") != part.npos) return std::nullopt;
    const std::size_t k = std::stoul(part);
    return k < size ? std::optional(k) : std::nullopt;
}

const Json* inside(const Json& value, const std::string& part) {
    if (value.is_object() && value.contains(part)) return &value[part];
    if (value.is_array())
        if (const auto k = position(part, value.size())) return &value[*k];
    return nullptr;
}

}  // namespace

Error SceneFile::placed(const Error& error, const std::string& name) const {
    Where where = error.where();
    std::vector<std::string> parts = parts_of(where.field);
    if (parts.empty() || !where.field.starts_with('/')) return error.in_file(name);
    if (parts.size() > 1 && parts[0] == "bodies")
        if (const auto body = position(parts[1], body_entries.size())) parts[1] = std::to_string(body_entries[*body]);
    if (parts.size() > 2 && parts[0] == "particles" && parts[2] == "velocities") {  // made from one for all
        parts.resize(3);
        parts[2] = "velocity";
    }
    std::string message = error.message();
    if (const auto* overlap = dynamic_cast<const OverlapError*>(&error);
        overlap && overlap->body() < body_entries.size()) {
        const std::string other = std::to_string(body_entries[overlap->body()]);
        const bool same = parts[0] == "bodies" && parts[1] == other;
        message = same ? "two of its bodies overlap" : "overlaps /bodies/" + other;
    }
    // As far as the file goes; the rest is a default of ours, or made from other keys, and the message names it.
    const Json* value = json.get();
    where.field.clear();
    std::string rest;
    for (const std::string& part : parts) {
        value = value ? inside(*value, part) : nullptr;
        if (value)
            where.field.append("/").append(part);
        else
            rest.append(rest.empty() ? "" : "/").append(part);
    }
    if (where.field.empty()) where.field = "/";
    if (!rest.empty()) rest.append(": ");
    return Error(error.kind(), rest.append(message), where).in_file(name);
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

// The file with the variant's keys in place, and without the list of variants.
void apply_variant(Json& json, const std::string& file, const std::string& variant) {
    if (!variant.empty()) {
        JsonObject variants(JsonObject(JsonCursor(json, "")).need("variants"));
        const auto patch = variants.find(variant.c_str());
        if (!patch) {
            std::string names;
            for (const auto& [name, value] : variants.at().value().items()) names += (names.empty() ? "" : ", ") + name;
            throw UnknownVariant(ErrorKind::bad_value, "has no variant '" + variant + "'; choose one of " + names,
                                 {.file = file});
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
}

}  // namespace

SceneFile parse_scene(std::string_view text, const std::string& path, const std::string& variant) {
    Json json = parse_json(text, path);
    try {
        apply_variant(json, path, variant);
        const std::string folder = std::filesystem::path(path).parent_path().string();
        SceneFile file;
        SceneReader(file, folder.empty() ? "." : folder).read(JsonCursor(json, ""));
        if (file.scene.name.empty()) file.scene.name = std::filesystem::path(path).stem().string();
        file.identity = what_matters(json).dump(-1, ' ', true, Json::error_handler_t::replace);
        file.json = std::make_shared<const Json>(std::move(json));
        return file;
    } catch (const Error& error) {
        if (!error.where().file.empty()) throw;
        throw error.in_file(path);
    }
}

SceneFile read_scene(const std::string& path, const std::string& variant) {
    const io::MappedFile file(path);
    return parse_scene(io::as_text(file.bytes()), path, variant);
}

}  // namespace quadrat::scene_io
