#include "render/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/assert.hpp"
#include "render/vector.hpp"

namespace quadrat::render {
namespace {

constexpr float nearest = 1e-3f;  // what is closer to the eye is not drawn

float decode(float v) {
    return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
}

// One pass of a box filter along rows (step 1) or columns (step = width), by a running sum.
void blur(std::vector<Color>& image, int width, int height, int radius, bool along_rows) {
    QUADRAT_ASSERT(image.size() == static_cast<std::size_t>(width) * static_cast<std::size_t>(height) && radius >= 0);
    const int lines = along_rows ? height : width, length = along_rows ? width : height;
    const int step = along_rows ? 1 : width;
    std::vector<Color> line(static_cast<std::size_t>(length));
    for (int l = 0; l < lines; ++l) {
        Color* const first = image.data() + (along_rows ? l * width : l);
        const auto at = [&](int k) { return first[std::clamp(k, 0, length - 1) * step]; };
        Color sum;
        for (int k = -radius; k <= radius; ++k) sum = sum + at(k);
        for (int k = 0; k < length; ++k) {
            line[static_cast<std::size_t>(k)] = (1.0f / static_cast<float>(2 * radius + 1)) * sum;
            sum = sum + at(k + radius + 1) + -1.0f * at(k - radius);
        }
        for (int k = 0; k < length; ++k) first[k * step] = line[static_cast<std::size_t>(k)];
    }
}

}  // namespace

Color from_hex(std::uint32_t rgb) {
    const auto part = [&](int shift) { return decode(static_cast<float>(rgb >> shift & 255) / 255.0f); };
    return {part(16), part(8), part(0)};
}

Color gradient(std::initializer_list<std::uint32_t> stops, float t) {
    QUADRAT_ASSERT(stops.size() >= 2);
    const std::uint32_t* stop = stops.begin();
    const float position = std::clamp(t, 0.0f, 1.0f) * static_cast<float>(stops.size() - 1);
    const auto k = std::min(static_cast<std::size_t>(position), stops.size() - 2);
    return lerp(from_hex(stop[k]), from_hex(stop[k + 1]), position - static_cast<float>(k));
}

Picture::Picture(std::uint32_t width, std::uint32_t height, std::uint32_t samples, const Camera& camera,
                 const Light& light)
    : width_(width),
      height_(height),
      samples_(samples),
      columns_(static_cast<int>(width * samples)),
      rows_(static_cast<int>(height * samples)),
      light_(light),
      eye_(camera.eye),
      forward_(normalized(sub(camera.target, camera.eye))),
      focal_(0.5f * static_cast<float>(rows_) / std::tan(camera.field_of_view / 2)),
      depth_(std::size_t{width} * samples * height * samples, 0.0f),
      color_(depth_.size(), Sample{0, 0, 0}) {
    light_.direction = normalized(light.direction);
    right_ = right_of(forward_, camera.up);
    up_ = cross(right_, forward_);
}

void Picture::background(const std::function<Color(float, float)>& color) {
    for (int y = 0; y < rows_; ++y)
        for (int x = 0; x < columns_; ++x) {
            const Color c = color((static_cast<float>(x) + 0.5f) / static_cast<float>(columns_),
                                  (static_cast<float>(y) + 0.5f) / static_cast<float>(rows_));
            const std::size_t at =
                static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x);
            if (depth_[at] == 0) color_[at] = {c.r, c.g, c.b};
        }
}

Picture::Corner Picture::project(const Vec3f& point) const {
    const Vec3f d = sub(point, eye_);
    const float depth = dot(d, forward_);
    const float w = depth > nearest ? 1 / depth : -1;
    return {0.5f * static_cast<float>(columns_) + focal_ * dot(d, right_) * w,
            0.5f * static_cast<float>(rows_) - focal_ * dot(d, up_) * w, w};
}

Picture::Seen Picture::seen(const Vec3f& point) const {
    const Corner c = project(point);
    return {c.x / static_cast<float>(columns_), c.y / static_cast<float>(rows_),
            focal_ * c.w / static_cast<float>(rows_)};
}

Color Picture::shade(const Surface& surface, const Vec3f& normal) const {
    const float diffuse = std::max(0.0f, dot(normal, light_.direction)) * surface.lit;
    const float ambient = light_.ambient + light_.sky * (0.5f + 0.5f * normal[2]);
    return (ambient + diffuse + surface.emission) * surface.color;
}

void Picture::fill(const Corner& a, const Corner& b, const Corner& c, const Color& color) {
    if (a.w < 0 || b.w < 0 || c.w < 0) return;
    const float area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if (area == 0) return;
    const int x0 = std::max(0, static_cast<int>(std::floor(std::max(-1.0f, std::min({a.x, b.x, c.x})))));
    const int y0 = std::max(0, static_cast<int>(std::floor(std::max(-1.0f, std::min({a.y, b.y, c.y})))));
    const int x1 =
        std::min(columns_ - 1, static_cast<int>(std::min(static_cast<float>(columns_), std::max({a.x, b.x, c.x}))));
    const int y1 =
        std::min(rows_ - 1, static_cast<int>(std::min(static_cast<float>(rows_), std::max({a.y, b.y, c.y}))));
    const float inverse = 1 / area;
    for (int y = y0; y <= y1; ++y) {
        const float py = static_cast<float>(y) + 0.5f;
        for (int x = x0; x <= x1; ++x) {
            const float px = static_cast<float>(x) + 0.5f;
            const float u = ((b.x - px) * (c.y - py) - (b.y - py) * (c.x - px)) * inverse;
            const float v = ((c.x - px) * (a.y - py) - (c.y - py) * (a.x - px)) * inverse;
            const float t = 1 - u - v;
            if (u < 0 || v < 0 || t < 0) continue;
            put(static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x),
                u * a.w + v * b.w + t * c.w, color);
        }
    }
}

void Picture::draw(const Vec3f& a, const Vec3f& b, const Vec3f& c, const Surface& surface) {
    Vec3f normal = normalized(cross(sub(b, a), sub(c, a)));
    if (dot(normal, sub(eye_, a)) < 0) normal = {-normal[0], -normal[1], -normal[2]};
    fill(project(a), project(b), project(c), shade(surface, normal));
}

void Picture::draw(const Box3f& box, const Surface& surface) {
    std::array<Corner, 8> corner;
    for (unsigned k = 0; k < 8; ++k)
        corner[k] =
            project({k & 1 ? box.hi[0] : box.lo[0], k & 2 ? box.hi[1] : box.lo[1], k & 4 ? box.hi[2] : box.lo[2]});
    // Of each axis, at most one of the two faces can be seen. A face is the corners with one bit fixed.
    for (unsigned axis = 0; axis < 3; ++axis) {
        const int k = static_cast<int>(axis);
        const bool high = eye_[k] > box.hi[k];
        if (!high && !(eye_[k] < box.lo[k])) continue;
        Vec3f normal{0, 0, 0};
        normal[k] = high ? 1.0f : -1.0f;
        const unsigned bit = 1u << axis, base = high ? bit : 0, u = 1u << (axis + 1) % 3, v = 1u << (axis + 2) % 3;
        const Color color = shade(surface, normal);
        fill(corner[base], corner[base | u], corner[base | u | v], color);
        fill(corner[base], corner[base | u | v], corner[base | v], color);
    }
}

void Picture::draw(const Sphere<3, float>& ball, const Surface& surface) {
    const Corner center = project(ball.center);
    if (center.w < 0) return;
    const float radius = focal_ * ball.radius * center.w;
    if (center.x + radius < 0 || center.y + radius < 0 || center.x - radius > static_cast<float>(columns_) ||
        center.y - radius > static_cast<float>(rows_))
        return;
    const int x0 = std::max(0, static_cast<int>(center.x - radius)),
              y0 = std::max(0, static_cast<int>(center.y - radius));
    const int x1 = std::min(columns_ - 1, static_cast<int>(center.x + radius));
    const int y1 = std::min(rows_ - 1, static_cast<int>(center.y + radius));
    const float depth = 1 / center.w;
    for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x) {
            const float dx = (static_cast<float>(x) + 0.5f - center.x) / radius;
            const float dy = (static_cast<float>(y) + 0.5f - center.y) / radius;
            const float square = 1 - dx * dx - dy * dy;
            if (square < 0) continue;
            const float dz = std::sqrt(square);
            Vec3f normal;
            for (int k = 0; k < 3; ++k) normal[k] = dx * right_[k] - dy * up_[k] - dz * forward_[k];
            put(static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x),
                1 / std::max(nearest, depth - dz * ball.radius), shade(surface, normal));
        }
}

std::vector<std::uint8_t> Picture::finish(float glow) const {
    const std::size_t n = std::size_t{width_} * height_;
    std::vector<Color> image(n);
    const float share = 1.0f / static_cast<float>(samples_ * samples_);
    for (std::uint32_t y = 0; y < height_; ++y)
        for (std::uint32_t x = 0; x < width_; ++x) {
            Color sum;
            for (std::uint32_t sy = 0; sy < samples_; ++sy)
                for (std::uint32_t sx = 0; sx < samples_; ++sx) {
                    const Sample& s = color_[(std::size_t{y} * samples_ + sy) * static_cast<std::size_t>(columns_) +
                                             x * samples_ + sx];
                    sum = sum + Color{std::min(s.r, 1.5f), std::min(s.g, 1.5f), std::min(s.b, 1.5f)};
                }
            image[std::size_t{y} * width_ + x] = share * sum;
        }
    if (glow > 0) {
        std::vector<Color> bright(n);
        for (std::size_t i = 0; i < n; ++i) {
            const float level = std::max({image[i].r, image[i].g, image[i].b});
            bright[i] = (level > 0.35f ? (level - 0.35f) / level : 0.0f) * image[i];
        }
        const int radius = std::max(2, static_cast<int>(height_ / 90));
        for (int pass = 0; pass < 3; ++pass)
            for (const bool along_rows : {true, false})
                blur(bright, static_cast<int>(width_), static_cast<int>(height_), radius, along_rows);
        for (std::size_t i = 0; i < n; ++i) image[i] = image[i] + glow * bright[i];
    }
    std::vector<std::uint8_t> pixels(n * 3);
    for (std::size_t i = 0; i < n; ++i) {
        pixels[3 * i] = encode(image[i].r);
        pixels[3 * i + 1] = encode(image[i].g);
        pixels[3 * i + 2] = encode(image[i].b);
    }
    return pixels;
}

}  // namespace quadrat::render
