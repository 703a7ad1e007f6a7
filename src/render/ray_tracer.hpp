// Pictures by ray tracing on Embree: balls by the hundred thousand, triangle meshes, and liquids that reflect and
// refract, under one sun with soft shadows and a sky that also lights what the sun does not reach. Colours are linear
// light until the end. The same scene gives the same bytes for any number of threads: every random number comes from
// the pixel and the sample.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "render/picture.hpp"

namespace quadrat::render {

/// How a surface answers light, next to its colour.
struct Finish {
    float coat = 0.04f;      ///< share of light that a clear coat reflects when seen straight on: 0 chalk, 0.04 varnish
    float emission = 0;      ///< shines by itself, in multiples of its colour
    bool two_sided = false;  ///< the normal turns to the viewer, for sheets
};

struct Balls {
    std::vector<Sphere<3, float>> balls = {};
    std::vector<Color> colors = {};  ///< one per ball, or a single one for all
    Finish finish = {};
};

struct Shape {
    std::vector<Vec3f> vertices = {};
    std::vector<Triangle> triangles = {};
    std::vector<Vec3f> normals = {};  ///< one per vertex for a smooth look; none: flat
    std::vector<Color> colors = {};   ///< one per vertex, or a single one for all
    Finish finish = {};
};

/// A closed surface, its triangles counter-clockwise from outside, with clear liquid in it.
struct Liquid {
    Shape shape = {};
    Color absorption = {};  ///< per unit length: what passes is exp(-absorption * length)
    Color scatter = {};     ///< the colour of the liquid's own body
    float haze = 0;         ///< per unit length: how fast that body covers what lies behind
    float index = 1.33f;    ///< of refraction
};

struct Sun {
    Vec3f direction{-0.45f, -0.55f, 0.9f};  ///< towards the sun; need not be normalised
    Color color{1.55f, 1.42f, 1.24f};
    float angle = 0.06f;  ///< half the angle of its disc, radians: how soft shadows are
};

struct Sky {
    Color zenith{0.30f, 0.38f, 0.50f};
    Color horizon{0.50f, 0.53f, 0.57f};
};

/// An endless floor that fades into the horizon.
struct Floor {
    float height = 0;
    Color color{0.40f, 0.40f, 0.40f};
    float fade = 10;  ///< distance from the camera's target at which the floor is half gone
};

struct Stage {
    std::vector<Balls> balls = {};
    std::vector<Shape> shapes = {};
    std::vector<Liquid> liquids = {};
    float gap = 0;  ///< liquids that are nearer to each other than this touch
    std::optional<Floor> floor = {};
    Camera camera = {};
    Sun sun = {};
    Sky sky = {};
};

struct TraceOptions {
    std::uint32_t width = 960;
    std::uint32_t height = 540;
    std::uint32_t samples = 16;  ///< per pixel
    float exposure = 1;
    bool smooth = true;  ///< removes the grain of few samples, keeping edges
    Executor* executor = nullptr;
    Watch watch = {};
};

/// 8-bit RGB, row by row. Throws Error for indices beyond their arrays, and stopped.
[[nodiscard]] std::vector<std::uint8_t> trace(const Stage& stage, const TraceOptions& options = {});

/// A camera in front of the box, a little to the left and above, that holds all of it in the picture.
[[nodiscard]] Camera camera_for(const Box3f& box, float aspect = 16.0f / 9, float field_of_view = 0.55f);

/// Average of the directions of the triangles around each vertex, by their angles.
[[nodiscard]] std::vector<Vec3f> smooth_normals(std::span<const Vec3f> vertices, std::span<const Triangle> triangles);

/// The twelve edges of a box as thin bars, each of them closed, with triangles that face out.
[[nodiscard]] Shape frame_shape(const Box3f& box, float thickness, const Color& color);

}  // namespace quadrat::render
