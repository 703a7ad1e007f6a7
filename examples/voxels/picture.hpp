// What the programs of this folder share, none of it about hashing: an image of linear light, a mesh from a file or
// made up, and the part of a mesh that a camera sees, pixel by pixel.
#pragma once

#include <quadrat/geometry.hpp>

#include "io/by_ending.hpp"
#include "io/png.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace example {

using quadrat::Vec3d;

inline Vec3d operator+(const Vec3d& a, const Vec3d& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Vec3d operator-(const Vec3d& a, const Vec3d& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Vec3d operator*(double s, const Vec3d& a) {
    return {s * a[0], s * a[1], s * a[2]};
}
inline double dot(const Vec3d& a, const Vec3d& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vec3d cross(const Vec3d& a, const Vec3d& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double length(const Vec3d& a) {
    return std::sqrt(dot(a, a));
}
inline Vec3d normalised(const Vec3d& a) {
    const double l = length(a);
    return l > 0 ? (1 / l) * a : a;
}

/// Linear light; a Vec3d is a colour.
inline Vec3d mix(const Vec3d& a, const Vec3d& b, double t) {
    return (1 - t) * a + t * b;
}
inline double smooth(double lo, double hi, double x) {
    const double t = std::clamp((x - lo) / (hi - lo), 0.0, 1.0);
    return t * t * (3 - 2 * t);
}

struct Canvas {
    int width, height;
    std::vector<Vec3d> pixels;

    Canvas(int w, int h, const Vec3d& fill = {1, 1, 1})
        : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), fill) {}
    Vec3d& at(int x, int y) {
        return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    }
    const Vec3d& at(int x, int y) const { return const_cast<Canvas*>(this)->at(x, y); }

    /// Each pixel the mean of k x k.
    [[nodiscard]] Canvas reduced(int k) const {
        Canvas out(width / k, height / k, {0, 0, 0});
        for (int y = 0; y < out.height * k; ++y)
            for (int x = 0; x < out.width * k; ++x)
                out.at(x / k, y / k) = out.at(x / k, y / k) + (1.0 / (k * k)) * at(x, y);
        return out;
    }
    void paste(const Canvas& part, int left, int top) {
        for (int y = 0; y < part.height; ++y)
            for (int x = 0; x < part.width; ++x)
                if (left + x < width && top + y < height) at(left + x, top + y) = part.at(x, y);
    }
    void write(const std::string& path) const {
        quadrat::io::Image image{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 3, {}};
        for (const Vec3d& p : pixels)
            for (int c = 0; c < 3; ++c) {
                const double v = std::clamp(p[c], 0.0, 1.0);
                const double s = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
                image.pixels.push_back(static_cast<std::uint8_t>(255 * s + 0.5));
            }
        quadrat::io::write_png(path, image);
    }
};

/// From the usual 0xRRGGBB.
inline Vec3d color(std::uint32_t rgb) {
    const auto channel = [&](int shift) { return std::pow((rgb >> shift & 255) / 255.0, 2.2); };
    return {channel(16), channel(8), channel(0)};
}

using Mesh = quadrat::io::Mesh;

/// A closed surface with an arm and bumps, for when there is no file: a torus knot, swept by a circle that breathes.
inline Mesh knot(int along, int around) {
    Mesh mesh;
    constexpr double pi = 3.14159265358979323846;
    const auto center = [](double t) -> Vec3d {
        const double r = 2 + std::cos(3 * t);
        return {r * std::cos(2 * t), r * std::sin(2 * t), std::sin(3 * t) * 1.2};
    };
    for (int i = 0; i < along; ++i) {
        const double t = 2 * pi * i / along;
        const Vec3d c = center(t), forward = normalised(center(t + 1e-4) - c);
        const Vec3d side = normalised(cross(forward, {0, 0, 1})), up = cross(side, forward);
        for (int j = 0; j < around; ++j) {
            const double a = 2 * pi * j / around, radius = 0.62 + 0.08 * std::sin(9 * t + 2 * a);
            mesh.vertices.push_back(c + (radius * std::cos(a)) * side + (radius * std::sin(a)) * up);
        }
    }
    const auto vertex = [&](int i, int j) { return static_cast<std::uint32_t>((i % along) * around + j % around); };
    for (int i = 0; i < along; ++i)
        for (int j = 0; j < around; ++j) {
            mesh.triangles.push_back({vertex(i, j), vertex(i, j + 1), vertex(i + 1, j)});
            mesh.triangles.push_back({vertex(i + 1, j), vertex(i, j + 1), vertex(i + 1, j + 1)});
        }
    return mesh;
}

inline Vec3d lowest(const Mesh& mesh) {
    Vec3d lo = mesh.vertices[0];
    for (const Vec3d& v : mesh.vertices)
        for (int a = 0; a < 3; ++a) lo[a] = std::min(lo[a], v[a]);
    return lo;
}
inline Vec3d highest(const Mesh& mesh) {
    Vec3d hi = mesh.vertices[0];
    for (const Vec3d& v : mesh.vertices)
        for (int a = 0; a < 3; ++a) hi[a] = std::max(hi[a], v[a]);
    return hi;
}

struct Camera {
    Vec3d eye{0.6, 0.9, 1.6}, target{0, 0, 0}, up{0, 1, 0};
    double view = 0.62;  ///< height of the picture at distance 1
};

/// What one pixel shows. `triangle` is -1 where nothing is seen.
struct Seen {
    double depth = 1e30;
    std::int64_t triangle = -1;
    Vec3d position{0, 0, 0}, normal{0, 0, 1};
};

/// The visible surface, row by row. Give `into` to draw several meshes with one depth.
inline void draw(const Mesh& mesh, const Camera& camera, int width, int height, std::vector<Seen>& into) {
    into.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    const Vec3d forward = normalised(camera.target - camera.eye), right = normalised(cross(forward, camera.up)),
                up = cross(right, forward);
    std::vector<Vec3d> normals(mesh.vertices.size(), Vec3d{0, 0, 0}), screen;
    for (const auto& t : mesh.triangles) {
        const Vec3d n = cross(mesh.vertices[t.b] - mesh.vertices[t.a], mesh.vertices[t.c] - mesh.vertices[t.a]);
        for (const std::uint32_t v : {t.a, t.b, t.c}) normals[v] = normals[v] + n;
    }
    for (const Vec3d& v : mesh.vertices) {
        const Vec3d p = v - camera.eye;
        const double z = dot(p, forward), scale = height / camera.view / z;
        screen.push_back({width / 2.0 + dot(p, right) * scale, height / 2.0 - dot(p, up) * scale, 1 / z});
    }
    for (std::size_t k = 0; k < mesh.triangles.size(); ++k) {
        const auto& t = mesh.triangles[k];
        const Vec3d a = screen[t.a], b = screen[t.b], c = screen[t.c];
        const double area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if (area == 0 || a[2] <= 0 || b[2] <= 0 || c[2] <= 0) continue;
        const auto range = [](double p, double q, double r, int end) {
            return std::array<int, 2>{std::max(0, static_cast<int>(std::ceil(std::min({p, q, r}) - 0.5))),
                                      std::min(end - 1, static_cast<int>(std::floor(std::max({p, q, r}) - 0.5)))};
        };
        const auto xs = range(a[0], b[0], c[0], width), ys = range(a[1], b[1], c[1], height);
        for (int y = ys[0]; y <= ys[1]; ++y)
            for (int x = xs[0]; x <= xs[1]; ++x) {
                const double px = x + 0.5, py = y + 0.5;
                const double u = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area;
                const double v = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area, w = 1 - u - v;
                if (u < 0 || v < 0 || w < 0) continue;
                const double inverse = u * a[2] + v * b[2] + w * c[2], depth = 1 / inverse;
                Seen& s =
                    into[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
                if (depth >= s.depth) continue;
                const double p = u * a[2] * depth, q = v * b[2] * depth, r = w * c[2] * depth;
                s = {depth, static_cast<std::int64_t>(k),
                     p * mesh.vertices[t.a] + q * mesh.vertices[t.b] + r * mesh.vertices[t.c],
                     normalised(p * normals[t.a] + q * normals[t.b] + r * normals[t.c])};
            }
    }
}

/// Soft studio light on a colour.
inline Vec3d lit(const Vec3d& base, const Seen& s, const Camera& camera) {
    const Vec3d light = normalised({-0.45, 0.8, 0.55}), view = normalised(camera.eye - s.position);
    const Vec3d n = dot(s.normal, view) < 0 ? -1.0 * s.normal : s.normal;
    const double diffuse = std::max(0.0, dot(n, light)), sky = 0.5 + 0.5 * n[1];
    const double shine = std::pow(std::max(0.0, dot(n, normalised(light + view))), 40);
    return (0.22 * sky + 0.12 + 0.75 * diffuse) * base + Vec3d{0.16 * shine, 0.16 * shine, 0.16 * shine};
}

/// A quiet background, lighter in the middle.
inline Vec3d backdrop(double x, double y) {
    const double d = (x - 0.5) * (x - 0.5) + (y - 0.45) * (y - 0.45);
    return mix(color(0xF4F3EF), color(0xC9CDD2), smooth(0, 0.6, d));
}

/// Arguments of these programs: [OUT.png [MESH [UP [RESOLUTION]]]], where UP is the axis that is up in the file, y or
/// z. Without any they run small and only check themselves.
struct Arguments {
    std::string out, mesh, up;
    std::uint32_t resolution = 0;

    [[nodiscard]] bool small() const { return out.empty(); }
    /// The resolution asked for, or one of these.
    [[nodiscard]] std::uint32_t cells(std::uint32_t if_small, std::uint32_t if_drawn) const {
        return small() ? if_small : resolution ? resolution : if_drawn;
    }
    /// The mesh of the file, or a knot; its middle becomes the origin, its longest side 1, and y is up.
    [[nodiscard]] Mesh read_mesh() const {
        Mesh result = mesh.empty() ? knot(small() ? 200 : 600, small() ? 24 : 72) : quadrat::io::read_mesh(mesh);
        if (up == "z")
            for (Vec3d& v : result.vertices) v = {v[1], v[2], v[0]};
        const Vec3d lo = lowest(result), hi = highest(result);
        const Vec3d size = hi - lo, middle = 0.5 * (lo + hi);
        const double scale = 1 / std::max({size[0], size[1], size[2]});
        for (Vec3d& v : result.vertices) v = scale * (v - middle);
        return result;
    }
    Arguments(int count, char** values) {
        if (count > 1) out = values[1];
        if (count > 2) mesh = values[2];
        if (count > 3) up = values[3];
        if (count > 4) resolution = static_cast<std::uint32_t>(std::stoul(values[4]));
    }
};

}  // namespace example
