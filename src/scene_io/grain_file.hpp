// Scenes of grains in JSON: a file with the key "grains" (docs/guides/grains.md). They are scenes of their own: no
// fluid, no cloth.
#pragma once

#include <quadrat/simulation/grains.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "scene_io/scene_file.hpp"

namespace quadrat::scene_io {

/// A file that was read: what a world is filled with, and how it is drawn.
struct GrainFile {
    std::string name;
    GrainOptions options;
    double time_step = 0.01;  ///< seconds
    std::vector<GrainPlane> planes;
    std::vector<GrainWall> walls;
    std::vector<std::uint32_t> wall_colors;  ///< 0xRRGGBB
    std::vector<std::vector<Vec3d>> hulls;   ///< points; Grain::hull is the position in this list
    std::vector<Grain> grains;
    std::vector<std::uint32_t> colors;       ///< one per grain
    std::vector<std::size_t> entries;        ///< of each grain, which entry of "bodies" it comes from
    Box3d box = {{{0, 0, 0}}, {{1, 1, 1}}};  ///< what the pictures show
    SceneView view;
    double end_time = 1, frame_interval = 0.02;
};

/// Whether the text is a scene of grains. False for what is no JSON: read_scene says what is wrong with it.
[[nodiscard]] bool is_grain_scene(const std::string& path);
/// Throws as read_scene; UnknownVariant for any variant, since these scenes have none.
[[nodiscard]] GrainFile read_grain_scene(const std::string& path, const std::string& variant = {});
[[nodiscard]] GrainFile parse_grain_scene(std::string_view text, const std::string& path);

/// The world of a file, with everything in it. Throws bad_value with the path of what is wrong, such as
/// "/grains/bodies/2/radius".
[[nodiscard]] Grains world_of(const GrainFile& file, Executor* executor);

}  // namespace quadrat::scene_io
