// Scenes in JSON: docs/scenes.md is the schema. A file gives the library's Scene and how to draw it.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/simulation/scene.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "render/picture.hpp"
#include "verb.hpp"

namespace quadrat::cli {

enum class FluidLook : std::uint8_t { automatic, surface, balls };
enum class FluidColor : std::uint8_t { phase, speed, density };

/// How the pictures are made.
struct SceneView {
    std::optional<Vec3d> eye = {}, target = {};
    double field_of_view = 32;  ///< vertical, degrees
    std::uint32_t width = 960, height = 540, samples = 16;
    double exposure = 1;
    FluidLook fluid = FluidLook::automatic;
    FluidColor color = FluidColor::phase;
    bool walls = true;  ///< the edges of the domain
    std::vector<render::Color> phase_colors = {};
    std::vector<render::Color> body_colors = {};
    std::vector<render::Color> cloth_colors = {};
};

struct SceneFile {
    Scene scene = {};
    SceneView view = {};
    std::string text = {};  ///< the scene as it was read, variant included
    std::string identity;   ///< the same without what a run can be continued without: names, colours, view, end_time
    std::vector<std::string> body_paths = {};  ///< where each body of the scene comes from: "/bodies/2"

    /// An error of the simulation with the path as it is in the file: bodies made by an array or scattered become one,
    /// and where the file has no such value the path ends at the entry and the message names the rest.
    [[nodiscard]] Error placed(const Error& error, const std::string& file) const;
};

/// Throws Error: cannot_read, bad_format with the line, bad_value with the path of the value. `variant` is the name of
/// one of the file's variants, or empty. Other files are looked for next to `path`.
[[nodiscard]] SceneFile read_scene(const std::string& path, const std::string& variant = {});
[[nodiscard]] SceneFile parse_scene(std::string_view text, const std::string& path, const std::string& variant = {});

}  // namespace quadrat::cli
