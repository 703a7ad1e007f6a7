// Pictures of scenes by plain software drawing: boxes, balls and triangles with flat shading in a depth buffer of
// several samples per pixel. Colours are linear light until the end. No dependencies; writing a file is io's job.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace quadrat::render {

/// Linear light, 0..1; more is allowed and is clipped at the end.
struct Color {
    float r = 0, g = 0, b = 0;

    friend constexpr Color operator*(float s, const Color& c) { return {s * c.r, s * c.g, s * c.b}; }
    friend constexpr Color operator+(const Color& a, const Color& b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
};

[[nodiscard]] constexpr Color lerp(const Color& a, const Color& b, float t) {
    return (1 - t) * a + t * b;
}
/// From the usual 0xRRGGBB.
[[nodiscard]] Color from_hex(std::uint32_t rgb);
/// Stops spread evenly over 0..1; t outside is clamped.
[[nodiscard]] Color gradient(std::initializer_list<std::uint32_t> stops, float t);

struct Camera {
    Vec3f eye{0, -4, 1};
    Vec3f target{0, 0, 0};
    Vec3f up{0, 0, 1};           ///< seen from straight above or below, y is up instead
    float field_of_view = 0.7f;  ///< vertical, radians
};

struct Light {
    Vec3f direction{-0.5f, -0.5f, 0.7f};  ///< towards the light; need not be normalised
    float ambient = 0.15f;
    float sky = 0.1f;  ///< more ambient on faces that look up
};

/// What a drawn thing looks like.
struct Surface {
    Color color;
    float lit = 1;       ///< how much of the light reaches it: 0 in full shadow
    float emission = 0;  ///< how much of the colour shines by itself
};

class Picture {
  public:
    /// samples^2 per pixel.
    Picture(std::uint32_t width, std::uint32_t height, std::uint32_t samples, const Camera& camera, const Light& light);

    /// The colour behind everything, by position in the picture: x and y from 0 to 1, right and down.
    void background(const std::function<Color(float x, float y)>& color);
    void draw(const Box3f& box, const Surface& surface);
    void draw(const Sphere<3, float>& ball, const Surface& surface);
    void draw(const Vec3f& a, const Vec3f& b, const Vec3f& c, const Surface& surface);

    /// Where a point appears, x and y from 0 to 1, and how large a unit length there is in pictures' heights.
    struct Seen {
        float x, y, scale;
    };
    [[nodiscard]] Seen seen(const Vec3f& point) const;

    /// Averages the samples, lets bright parts glow into their surroundings (0: none), and encodes as 8-bit RGB, row by
    /// row.
    [[nodiscard]] std::vector<std::uint8_t> finish(float glow = 0) const;

  private:
    struct Corner {
        float x, y, w;  ///< in samples; w is 1 / depth
    };
    struct Sample {
        float r, g, b;
    };
    [[nodiscard]] Corner project(const Vec3f& point) const;
    [[nodiscard]] Color shade(const Surface& surface, const Vec3f& normal) const;
    void fill(const Corner& a, const Corner& b, const Corner& c, const Color& color);
    void put(std::size_t at, float w, const Color& color) {
        if (w <= depth_[at]) return;
        depth_[at] = w;
        color_[at] = {color.r, color.g, color.b};
    }

    std::uint32_t width_, height_, samples_;
    int columns_, rows_;
    Light light_;
    Vec3f eye_, right_, up_, forward_;
    float focal_;
    std::vector<float> depth_;  ///< 1 / depth, so that 0 is infinitely far
    std::vector<Sample> color_;
};

}  // namespace quadrat::render
