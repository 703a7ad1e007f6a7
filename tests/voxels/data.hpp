// Point sets for the tests of voxels: random, surfaces, glyphs, and shapes that are hard for a perfect hash.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace quadrat::test {

template <int D>
struct VoxelLess {
    bool operator()(const Voxel<D>& a, const Voxel<D>& b) const {
        for (int k = D - 1; k >= 0; --k)
            if (a[k] != b[k]) return a[k] < b[k];
        return false;
    }
};

template <int D>
std::vector<Voxel<D>> random_voxels(std::size_t n, std::int32_t lo, std::int32_t side, std::uint64_t seed = 1) {
    std::mt19937_64 g(seed);
    std::set<Voxel<D>, VoxelLess<D>> seen;
    std::vector<Voxel<D>> out;
    while (out.size() < n) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) p[a] = lo + static_cast<std::int32_t>(g() % static_cast<std::uint64_t>(side));
        if (seen.insert(p).second) out.push_back(p);
    }
    return out;
}

inline std::vector<Voxel<3>> sphere_voxels(std::int32_t radius) {
    std::vector<Voxel<3>> out;
    for (std::int32_t z = -radius - 1; z <= radius + 1; ++z)
        for (std::int32_t y = -radius - 1; y <= radius + 1; ++y)
            for (std::int32_t x = -radius - 1; x <= radius + 1; ++x)
                if (std::fabs(std::sqrt(static_cast<double>(x * x + y * y + z * z)) - radius) < 0.6)
                    out.push_back({x, y, z});
    return out;
}

/// Repeated 16 x 16 cells with a pattern, the paper's hard case.
inline std::vector<Voxel<2>> glyph_voxels(std::int32_t side) {
    std::vector<Voxel<2>> out;
    for (std::int32_t y = 0; y < side; ++y)
        for (std::int32_t x = 0; x < side; ++x) {
            const std::int32_t u = x % 16, v = y % 16, c = (x / 16 * 7 + y / 16 * 3) % 5;
            if ((u + v + c) % 7 < 2 || u == c + 3) out.push_back({x, y});
        }
    return out;
}

}  // namespace quadrat::test
