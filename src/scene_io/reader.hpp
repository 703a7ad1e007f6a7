// The whole of a scene from JSON. Rows of the tables are read by read_fields; what a file may say beside them
// is read here, and listed in docs/scenes.md.
#pragma once

#include "scene_io/read_fields.hpp"
#include "scene_io/scene_file.hpp"

#include <string>

namespace quadrat::scene_io {

/// Fills a SceneFile. Throws bad_value with the path of what is wrong.
class SceneReader {
  public:
    /// folder: where other files are looked for.
    SceneReader(SceneFile& file, std::string folder) : file_(file), folder_(std::move(folder)) {}

    void read(const JsonCursor& at);

    // For read_fields: lists whose entries are more than rows.
    [[nodiscard]] const Scene& scene() const { return file_.scene; }
    void read_list(const JsonCursor& at, std::vector<Phase>& phases);
    void read_list(const JsonCursor& at, std::vector<FluidParticles>& particles);
    void read_list(const JsonCursor& at, std::vector<RigidBody>& bodies);
    void read_list(const JsonCursor& at, std::vector<SceneCloth>& cloths);

  private:
    void read_view(const JsonCursor& at);
    [[nodiscard]] RigidBody read_body(JsonObject& object);

    SceneFile& file_;
    std::string folder_;
};

/// "#rrggbb", if the object has a colour; otherwise the default.
[[nodiscard]] std::uint32_t read_color(JsonObject& object, std::uint32_t otherwise);

}  // namespace quadrat::scene_io
