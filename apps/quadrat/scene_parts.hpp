// The parts of a scene file: fluids, bodies and cloths.
#pragma once

#include "scene_file.hpp"
#include "scene_json.hpp"

namespace quadrat::cli {

/// "#rrggbb", if the object has a colour.
[[nodiscard]] std::optional<render::Color> read_color(JsonObject& object);
void read_response(JsonObject& object, SurfaceResponse& response);
/// The corners lo and hi; hi is above lo on every axis that the scene has.
[[nodiscard]] Box3d read_box(JsonObject& object);

void read_phases(const JsonCursor& at, SceneFile& file);
void read_blocks(const JsonCursor& at, SceneFile& file);
void read_particles(const JsonCursor& at, SceneFile& file, const std::string& folder);
void read_emitters(const JsonCursor& at, SceneFile& file);
void read_bodies(const JsonCursor& at, SceneFile& file, const std::string& folder);
void read_cloths(const JsonCursor& at, SceneFile& file, const std::string& folder);

}  // namespace quadrat::cli
