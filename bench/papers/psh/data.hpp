// The data of PSH's tables, or stand-ins with the same domain and number of entries where the originals cannot be had:
// outlines for the vector images, repeated letters for the text, shells of a bumpy ball for the surfaces.
#pragma once

#include "bench/voxels/data.hpp"
#include "io/mesh/mesh.hpp"

#include <map>
#include <random>
#include <set>
#include <vector>

namespace psh {

using quadrat::Voxel;

/// Cells of a square grid in the order in which pens pass them, until there are n.
class Pens {
  public:
    Pens(std::int32_t side, std::size_t n, std::uint64_t seed)
        : side_(side), n_(n), seen_(static_cast<std::size_t>(side) * static_cast<std::size_t>(side)), random_(seed) {}

    [[nodiscard]] bool full() const { return cells_.size() >= n_; }
    [[nodiscard]] double chance(double lo, double hi) {
        return lo + (hi - lo) * static_cast<double>(random_() >> 11) * 0x1p-53;
    }
    void visit(double x, double y) {
        const auto i = static_cast<std::int32_t>(std::floor(x)), j = static_cast<std::int32_t>(std::floor(y));
        if (full() || i < 0 || j < 0 || i >= side_ || j >= side_) return;
        auto taken = seen_[static_cast<std::size_t>(j) * static_cast<std::size_t>(side_) + static_cast<std::size_t>(i)];
        if (taken) return;
        taken = true;
        cells_.push_back({i, j});
    }
    /// A closed curve around a centre.
    void loop(double cx, double cy, double radius) {
        double a[4], b[4];
        for (int k = 0; k < 4; ++k) {
            a[k] = chance(-0.25, 0.25);
            b[k] = chance(0, 6.28);
        }
        const int steps = static_cast<int>(40 * radius) + 20;
        for (int i = 0; i < steps; ++i) {
            const double t = 6.283185307 * i / steps;
            double r = radius;
            for (int k = 0; k < 4; ++k) r += radius * a[k] * std::sin((k + 2) * t + b[k]);
            visit(cx + r * std::cos(t), cy + r * std::sin(t));
        }
    }
    void branch(double x, double y, double angle, double length) {
        for (double t = 0; t < length; t += 0.2) visit(x + t * std::cos(angle), y + t * std::sin(angle));
        if (length < 3 || full()) return;
        for (const double turn : {chance(0.2, 0.7), -chance(0.2, 0.7)})
            branch(x + length * std::cos(angle), y + length * std::sin(angle), angle + turn,
                   length * chance(0.65, 0.88));
    }
    [[nodiscard]] std::vector<Voxel<2>> take() {
        quadrat::bench::sort_in_space<2>(cells_);
        return std::move(cells_);
    }

  private:
    std::int32_t side_;
    std::size_t n_;
    std::vector<bool> seen_;
    std::vector<Voxel<2>> cells_;
    std::mt19937_64 random_;
};

inline std::vector<Voxel<2>> outlines(std::int32_t side, std::size_t n, double smallest, double largest,
                                      std::uint64_t seed) {
    Pens pens(side, n, seed);
    while (!pens.full()) pens.loop(pens.chance(0, side), pens.chance(0, side), pens.chance(smallest, largest));
    return pens.take();
}

/// The edges of a mesh seen along z: outlines first, the others until there are n.
inline std::vector<Voxel<2>> drawing(const quadrat::io::Mesh& mesh, std::int32_t side, std::size_t n) {
    double lo[2] = {1e300, 1e300}, hi[2] = {-1e300, -1e300};
    for (const auto& v : mesh.vertices)
        for (int k = 0; k < 2; ++k) {
            lo[k] = std::min(lo[k], v[k]);
            hi[k] = std::max(hi[k], v[k]);
        }
    const double scale = 0.96 * side / std::max(hi[0] - lo[0], hi[1] - lo[1]);
    const auto at = [&](std::uint32_t v, int k) {
        return 0.5 * side + scale * (mesh.vertices[v][k] - 0.5 * (lo[k] + hi[k]));
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, int>
        edges;  // bit 0: of a face seen from above, bit 1: from below
    for (const auto& t : mesh.triangles) {
        const double area = (at(t.b, 0) - at(t.a, 0)) * (at(t.c, 1) - at(t.a, 1)) -
                            (at(t.b, 1) - at(t.a, 1)) * (at(t.c, 0) - at(t.a, 0));
        for (const auto& [a, b] : {std::pair(t.a, t.b), std::pair(t.b, t.c), std::pair(t.c, t.a)})
            edges[std::minmax(a, b)] |= area > 0 ? 1 : 2;
    }
    Pens pens(side, n, 6);
    for (const bool outline : {true, false})
        for (const auto& [edge, faces] : edges) {
            if ((faces == 3) != outline) continue;
            for (double s = 0; s <= 1; s += 1.0 / 64)
                pens.visit(at(edge.first, 0) + s * (at(edge.second, 0) - at(edge.first, 0)),
                           at(edge.first, 1) + s * (at(edge.second, 1) - at(edge.first, 1)));
        }
    return pens.take();
}

/// 81 shapes far apart, as in the font of figure 5.
inline std::vector<Voxel<2>> font(std::int32_t side, std::size_t n) {
    Pens pens(side, n, 4);
    while (!pens.full())
        for (int k = 0; k < 81; ++k)
            pens.loop(side * (k % 9 + 0.5) / 9 + pens.chance(-9, 9), side * (k / 9 + 0.5) / 9 + pens.chance(-9, 9),
                      pens.chance(8, 28));
    return pens.take();
}

inline std::vector<Voxel<2>> tree(std::int32_t side, std::size_t n) {
    Pens pens(side, n, 5);
    while (!pens.full())
        pens.branch(side * pens.chance(0, 1), side * pens.chance(0, 0.8), pens.chance(1, 2.1),
                    side * pens.chance(0.04, 0.1));
    return pens.take();
}

/// Repeated letters, then cells beside them until there are n.
inline std::vector<Voxel<2>> text(std::size_t n) {
    std::vector<Voxel<2>> cells = quadrat::bench::glyph_set(3);
    std::set<std::pair<std::int32_t, std::int32_t>> seen;
    for (const auto& p : cells) seen.insert({p[0], p[1]});
    for (std::size_t i = 0; cells.size() < n; i += 7)
        if (const Voxel<2> q = {cells[i][0] + 1, cells[i][1]}; q[0] < 512 && seen.insert({q[0], q[1]}).second)
            cells.push_back(q);
    cells.resize(n);
    quadrat::bench::sort_in_space<2>(cells);
    return cells;
}

}  // namespace psh
