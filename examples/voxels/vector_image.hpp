// A black and white picture with sharp edges at any magnification, after PSH 7.1: each cell of a grid has two bits, its
// main colour and whether an edge passes through; where one does, a perfect hash holds two oriented lines, and
//     colour(x, y) = main xor (l1(x, y) > 0 and l2(x, y) > 0).
// The second bit is the domain bit of the hash, which therefore needs no tags.
#pragma once

#include <quadrat/voxels.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace example {

using quadrat::Vec2d;

/// A convex polygon, counterclockwise; a picture is the union of many.
using Polygon = std::vector<Vec2d>;

/// Two lines a x + b y + c > 0 in 8 bits a coefficient; x and y run from -1 to 1 within the cell.
struct Lines {
    std::int8_t a[2], b[2], c[2];

    [[nodiscard]] double distance(int i, double x, double y) const {
        return (a[i] * x + b[i] * y) / 126.0 + c[i] / 84.0;
    }
};

class VectorImage {
  public:
    /// The union of polygons over cells [0, width) x [0, height).
    VectorImage(std::span<const Polygon> polygons, int width, int height) : width_(width), height_(height) {
        std::vector<std::vector<std::uint32_t>> near(count());
        for (std::size_t k = 0; k < polygons.size(); ++k) {
            Vec2d lo = polygons[k][0], hi = lo;
            for (const Vec2d& p : polygons[k])
                for (int i = 0; i < 2; ++i) {
                    lo[i] = std::min(lo[i], p[i]);
                    hi[i] = std::max(hi[i], p[i]);
                }
            for (int y = std::max(0, static_cast<int>(lo[1])); y <= std::min(height - 1, static_cast<int>(hi[1])); ++y)
                for (int x = std::max(0, static_cast<int>(lo[0])); x <= std::min(width - 1, static_cast<int>(hi[0]));
                     ++x)
                    near[at(x, y)].push_back(static_cast<std::uint32_t>(k));
        }
        main_.resize(count());
        edge_.resize(count());
        std::vector<quadrat::Voxel<2>> cells;
        std::vector<Lines> lines;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                if (const auto& list = near[at(x, y)]; !list.empty()) fit(polygons, list, x, y, cells, lines);
        hashed_ = quadrat::SparseVoxels<Lines, 2>::pack(cells, lines,
                                                        {.layout = quadrat::Layout::voxel,
                                                         .encoding = quadrat::Encoding::constrained,
                                                         .construction = quadrat::Construction::compact});
    }

    /// How much of a pixel of this width (in cells) around (x, y) is inside, from the distance to the edges (Loop &
    /// Blinn 2005).
    [[nodiscard]] double coverage(double x, double y, double pixel) const {
        const int cx = static_cast<int>(std::floor(x)), cy = static_cast<int>(std::floor(y));
        if (cx < 0 || cy < 0 || cx >= width_ || cy >= height_) return 0;
        const std::size_t k = at(cx, cy);
        if (!edge_[k]) return main_[k];
        const Lines& l = *hashed_.find({cx, cy});
        const double u = 2 * (x - cx) - 1, v = 2 * (y - cy) - 1;
        const double d = std::min(l.distance(0, u, v), l.distance(1, u, v));
        const double inside = std::clamp(0.5 + d / (2 * pixel), 0.0, 1.0);
        return main_[k] ? 1 - inside : inside;
    }

    /// Two bits a cell, the offset table, and six bytes a slot.
    [[nodiscard]] std::size_t bytes() const {
        return count() / 4 + hashed_.index().bytes() + hashed_.values().size() * sizeof(Lines);
    }
    [[nodiscard]] const quadrat::SparseVoxels<Lines, 2>& hashed() const { return hashed_; }
    [[nodiscard]] double wrong_samples() const {
        return wrong_ / std::max(1.0, static_cast<double>(hashed_.size()) * samples * samples);
    }
    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }

  private:
    static constexpr int samples = 12;

    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
    }
    [[nodiscard]] std::size_t at(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
    }

    // The two lines among the polygons' own edges, with signs and a main colour, that agree with the union at most
    // samples.
    void fit(std::span<const Polygon> polygons, const std::vector<std::uint32_t>& list, int cx, int cy,
             std::vector<quadrat::Voxel<2>>& cells, std::vector<Lines>& lines) {
        using Bits = std::array<bool, samples * samples>;
        const auto sample = [](int i) { return (2 * i + 1.0) / samples - 1; };
        Bits wanted{};
        int inside = 0;
        for (std::size_t s = 0; s < wanted.size(); ++s) {
            const double x = cx + (sample(static_cast<int>(s) % samples) + 1) / 2,
                         y = cy + (sample(static_cast<int>(s) / samples) + 1) / 2;
            for (const std::uint32_t k : list) {
                const Polygon& p = polygons[k];
                bool in = true;
                for (std::size_t i = 0; i < p.size() && in; ++i) {
                    const Vec2d &a = p[i], &b = p[(i + 1) % p.size()];
                    in = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) >= 0;
                }
                wanted[s] = wanted[s] || in;
            }
            inside += wanted[s];
        }
        main_[at(cx, cy)] = 2 * inside > samples * samples;
        if (inside == 0 || inside == samples * samples) return;
        struct Side {
            std::int8_t a, b, c;
            Bits positive;
        };
        std::vector<Side> sides;
        for (const std::uint32_t k : list)
            for (std::size_t i = 0; i < polygons[k].size(); ++i) {
                const Vec2d &p = polygons[k][i], &q = polygons[k][(i + 1) % polygons[k].size()];
                const double dx = q[0] - p[0], dy = q[1] - p[1], l = std::hypot(dx, dy);
                const double a = -dy / l, b = dx / l, c = -2 * (a * (p[0] - cx - 0.5) + b * (p[1] - cy - 0.5));
                if (std::fabs(c) >= 1.5) continue;
                Side side{static_cast<std::int8_t>(std::lround(126 * a)),
                          static_cast<std::int8_t>(std::lround(126 * b)),
                          static_cast<std::int8_t>(std::lround(84 * c)),
                          {}};
                for (const int sign : {1, -1}) {
                    Side s{static_cast<std::int8_t>(sign * side.a),
                           static_cast<std::int8_t>(sign * side.b),
                           static_cast<std::int8_t>(sign * side.c),
                           {}};
                    for (std::size_t j = 0; j < s.positive.size(); ++j)
                        s.positive[j] = (s.a * sample(static_cast<int>(j) % samples) +
                                         s.b * sample(static_cast<int>(j) / samples)) /
                                                126.0 +
                                            s.c / 84.0 >
                                        0;
                    sides.push_back(s);
                }
                if (sides.size() > 24) break;
            }
        int best = samples * samples + 1;
        Lines chosen{};
        bool main = false;
        for (std::size_t i = 0; i < sides.size(); ++i)
            for (std::size_t j = i; j < sides.size(); ++j) {
                int same = 0;
                for (std::size_t s = 0; s < wanted.size(); ++s)
                    same += (sides[i].positive[s] && sides[j].positive[s]) == wanted[s];
                const int wrong = samples * samples - std::max(same, samples * samples - same);
                if (wrong >= best) continue;
                best = wrong;
                main = 2 * same < samples * samples;
                chosen = {{sides[i].a, sides[j].a}, {sides[i].b, sides[j].b}, {sides[i].c, sides[j].c}};
            }
        if (best > samples * samples) return;  // a corner that no edge line describes
        main_[at(cx, cy)] = main;
        edge_[at(cx, cy)] = true;
        wrong_ += best;
        cells.push_back({cx, cy});
        lines.push_back(chosen);
    }

    int width_, height_;
    std::vector<bool> main_, edge_;
    quadrat::SparseVoxels<Lines, 2> hashed_;
    double wrong_ = 0;
};

}  // namespace example
