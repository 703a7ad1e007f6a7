// Scenes in JSON: docs/scenes.md is the schema. A file gives the library's Scene and how to draw it. This module stands
// on simulation and io; the command line uses it, and bindings may. scene_file.hpp is what others touch; the rest is
// how it is done:
//   json, parse       values with their paths
//   read_fields       one row of a table read from JSON, by its type
//   reader            the whole of a scene; fluids, bodies, cloths, meshes: what is more than rows
//   view_fields       the table of SceneView
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/simulation/scene.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadrat::scene_io {

enum class FluidLook : std::uint8_t { automatic, surface, balls };
enum class FluidColor : std::uint8_t { phase, speed, density };

/// How the pictures are made. Colours are 0xRRGGBB; there is one per phase, body and cloth of the scene.
struct SceneView {
    std::optional<Vec3d> eye = {};     ///< metres; none: so that the whole domain is seen
    std::optional<Vec3d> target = {};  ///< metres; none: the middle of the domain
    double field_of_view = 32;         ///< vertical, degrees, above 0 and below 170
    std::uint32_t width = 960;         ///< pixels, 16 to 16384
    std::uint32_t height = 540;        ///< pixels, 16 to 16384
    std::uint32_t samples = 16;        ///< rays per pixel, 1 to 4096
    double exposure = 1;               ///< above 0
    FluidLook fluid = FluidLook::automatic;
    FluidColor color = FluidColor::phase;
    bool walls = true;  ///< the edges of the domain
    std::vector<std::uint32_t> phase_colors = {};
    std::vector<std::uint32_t> body_colors = {};
    std::vector<std::uint32_t> cloth_colors = {};
};

/// A file that was read.
struct SceneFile {
    Scene scene = {};
    SceneView view = {};
    /// What the file says, variant included, without what a run can be continued without: names, colours, view,
    /// end_time. Two files with the same identity can continue each other's runs.
    std::string identity = {};
    /// The file as it was read, variant included.
    std::shared_ptr<const nlohmann::ordered_json> json = {};
    /// Which entry of the file's `bodies` each body of the scene comes from: arrays and scattered spheres are one
    /// entry.
    std::vector<std::size_t> body_entries = {};

    /// An error of the simulation with the path as it is in the file `name`: bodies made by an array or scattered
    /// become one, and where the file has no such value the path ends at the entry and the message names the rest.
    [[nodiscard]] Error placed(const Error& error, const std::string& name) const;
};

/// The caller asked for a variant that the file does not have; the message lists those that it has.
struct UnknownVariant : Error {
    using Error::Error;
};

/// Reads a scene file. Throws Error: cannot_read, bad_format with the line, bad_value with the path of the value;
/// UnknownVariant. The scene is not checked as a whole: Simulation does that.
/// path: other files that the scene names are looked for next to it.
/// variant: the name of one of the file's variants, or empty.
[[nodiscard]] SceneFile read_scene(const std::string& path, const std::string& variant = {});
/// The same for a text; `path` is what errors call it.
[[nodiscard]] SceneFile parse_scene(std::string_view text, const std::string& path, const std::string& variant = {});

}  // namespace quadrat::scene_io
