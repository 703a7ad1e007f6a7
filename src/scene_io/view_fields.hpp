// The table of SceneView, as simulation/scene/scene_fields.hpp has those of the scene.
#pragma once

#include "scene_io/scene_file.hpp"
#include "simulation/scene/fields.hpp"

namespace quadrat::simulation {

template <>
inline constexpr std::array names_of<scene_io::FluidLook> = {"auto", "surface", "balls"};
template <>
inline constexpr std::array names_of<scene_io::FluidColor> = {"phase", "speed", "density"};

template <>
struct FieldsOf<scene_io::SceneView> {
    using S = scene_io::SceneView;
    static constexpr std::tuple rows = {
        field("eye", &S::eye, "m", "Where the camera stands.").or_else("the whole domain is seen"),
        field("target", &S::target, "m",
              "What it looks at. z is up in the picture, or y where it looks straight down or up.")
            .or_else("the whole domain is seen"),
        field("field_of_view", &S::field_of_view, "degrees", "Vertical angle, below 170.").in(Range::positive),
        field("width", &S::width, "pixels", "Of the pictures.").from(16, 16384),
        field("height", &S::height, "pixels", "Of the pictures.").from(16, 16384),
        field("samples", &S::samples, "", "Rays per pixel.").from(1, 4096),
        field("exposure", &S::exposure, "", "Brightness.").in(Range::positive),
        field("fluid", &S::fluid, "",
              "`surface` is a clear liquid, not in 2D; `auto` is a surface where this build has OpenVDB and the scene "
              "is 3D."),
        field("color", &S::color, "", "`speed` or `density` colour single balls."),
        field("walls", &S::walls, "", "The edges of the domain are drawn."),
        field("phase_colors", &S::phase_colors, "", "").as(Use::made),
        field("body_colors", &S::body_colors, "", "").as(Use::made),
        field("cloth_colors", &S::cloth_colors, "", "").as(Use::made)};
};
static_assert(described<scene_io::SceneView>());

}  // namespace quadrat::simulation
