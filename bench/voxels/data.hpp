// The point sets D1-D5 on which sparse grids are measured, sorted by z, y, x:
//   D1 100,000 random pixels of 2048^2     D2 1,000,000 random voxels of 512^3
//   D3 562,911 surface voxels of 512^3     D4 5.9 million surface voxels of 2048^3     D5 glyph pixels of 512^2, some
//   36 %
// The surface is a bumpy sphere; its shell is made as thick as the count needs.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace quadrat::bench {

template <int D>
void sort_in_space(std::vector<Voxel<D>>& v) {
    std::sort(v.begin(), v.end(), [](const Voxel<D>& a, const Voxel<D>& b) {
        for (int k = D - 1; k >= 0; --k)
            if (a[k] != b[k]) return a[k] < b[k];
        return false;
    });
}

template <int D>
std::vector<Voxel<D>> random_set(std::size_t n, int log2_side, std::uint64_t seed) {
    std::mt19937_64 g(seed);
    std::vector<bool> seen(std::size_t{1} << (D * log2_side));
    std::vector<Voxel<D>> out;
    while (out.size() < n) {
        const std::uint64_t k = g() & (seen.size() - 1);
        if (seen[k]) continue;
        seen[k] = true;
        Voxel<D> p;
        for (int a = 0; a < D; ++a) p[a] = static_cast<std::int32_t>(k >> (a * log2_side) & ((1u << log2_side) - 1));
        out.push_back(p);
    }
    sort_in_space<D>(out);
    return out;
}

/// `reach` is half the thickness of the shell that the voxels are taken from, nearest first; 0 means the one for D3 and
/// D4.
inline std::vector<Voxel<3>> surface_set(std::int32_t side, std::size_t count, double reach = 0) {
    constexpr double pi = 3.14159265358979323846;
    const double radius = 0.33 * side, k = 2 * pi * 5 / side, bump = 0.035 * side;
    const auto f = [&](double x, double y, double z) {
        const double u = x - side / 2.0, v = y - side / 2.0, w = z - side / 2.0;
        return std::sqrt(u * u + v * v + w * w) - radius -
               bump * (std::sin(k * u) * std::cos(k * v) + std::sin(k * v) * std::cos(k * w) +
                       std::sin(k * w) * std::cos(k * u));
    };
    if (reach == 0) reach = side > 1000 ? 0.5 : 0.8;
    const double steep = 1 + bump * k * 3.5;
    std::vector<Voxel<3>> voxels;
    std::vector<float> distance;
    for (std::int32_t z = 0; z < side; ++z)
        for (std::int32_t y = 0; y < side; ++y)
            for (std::int32_t x = 0; x < side;) {
                const double here = std::fabs(f(x + .5, y + .5, z + .5));
                if (here > reach * steep + 1) {
                    x += std::max(1, static_cast<int>((here - reach * steep) / steep));
                    continue;
                }
                const double gx = f(x + 1, y + .5, z + .5) - f(x, y + .5, z + .5);
                const double gy = f(x + .5, y + 1, z + .5) - f(x + .5, y, z + .5);
                const double gz = f(x + .5, y + .5, z + 1) - f(x + .5, y + .5, z);
                const double d = here / std::max(std::sqrt(gx * gx + gy * gy + gz * gz), 1e-3);
                if (d < reach) {
                    voxels.push_back({x, y, z});
                    distance.push_back(static_cast<float>(d));
                }
                ++x;
            }
    std::vector<float> sorted = distance;
    const std::size_t nth = std::min(count, sorted.size() - 1);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(nth), sorted.end());
    std::vector<Voxel<3>> out;
    for (std::size_t i = 0; i < voxels.size(); ++i)
        if (distance[i] < sorted[nth]) out.push_back(voxels[i]);
    return out;
}

/// 32 x 32 cells of 16 x 16 pixels with one of 26 shapes of three strokes each: a repetitive pattern, the hard case.
inline std::vector<Voxel<2>> glyph_set(std::uint64_t seed) {
    std::mt19937_64 g(seed);
    std::vector<std::vector<bool>> shapes(26, std::vector<bool>(256));
    for (auto& shape : shapes) {
        std::vector<double> d(256, 1e9);
        double px = 2.0 + static_cast<double>(g() % 11), py = 2.0 + static_cast<double>(g() % 11);
        for (int stroke = 0; stroke < 3; ++stroke) {
            const double qx = 1.0 + static_cast<double>(g() % 13), qy = 1.0 + static_cast<double>(g() % 13);
            for (int t = 0; t <= 40; ++t)
                for (std::size_t k = 0; k < 256; ++k)
                    d[k] = std::min(d[k], std::hypot(static_cast<double>(k & 15) + .5 - px - (qx - px) * t / 40,
                                                     static_cast<double>(k >> 4) + .5 - py - (qy - py) * t / 40));
            px = qx;
            py = qy;
        }
        std::vector<double> s = d;
        std::nth_element(s.begin(), s.begin() + 94, s.end());
        for (std::size_t k = 0; k < 256; ++k) shape[k] = d[k] < s[94];
    }
    std::vector<Voxel<2>> out;
    for (std::int32_t cy = 0; cy < 32; ++cy)
        for (std::int32_t cx = 0; cx < 32; ++cx) {
            const auto& shape = shapes[g() % 26];
            for (std::int32_t k = 0; k < 256; ++k)
                if (shape[static_cast<std::size_t>(k)]) out.push_back({cx * 16 + (k & 15), cy * 16 + (k >> 4)});
        }
    sort_in_space<2>(out);
    return out;
}

}  // namespace quadrat::bench
