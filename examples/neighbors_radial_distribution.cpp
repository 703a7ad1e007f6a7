// The histogram of all distances up to a radius, the raw form of a radial distribution: every pair once, nothing
// stored.
#include <quadrat/neighbors.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

struct Histogram {
    std::array<std::uint64_t, 10> count{};
    friend Histogram operator+(Histogram a, const Histogram& b) {
        for (std::size_t k = 0; k < a.count.size(); ++k) a.count[k] += b.count[k];
        return a;
    }
};

int main() {
    const float radius = 2;
    std::vector<quadrat::Vec3f> x;
    for (int k = 0; k < 16; ++k)
        for (int j = 0; j < 16; ++j)
            for (int i = 0; i < 16; ++i) x.push_back({{float(i), float(j), float(k)}});

    const auto box = quadrat::Periodic<3, float>::orthorhombic({{16, 16, 16}});
    quadrat::CellIndex<3, float> cells({.radius = radius, .periodic = box});
    cells.build(x);
    const Histogram all =
        cells.sum_rows(Histogram{},
                       [&](Histogram& sum, const quadrat::NeighborRow<3, float>& row) {
                           for (std::uint32_t e = 0; e < row.count; ++e)
                               ++sum.count[static_cast<std::size_t>(std::sqrt(row.distances_sq[e]) / radius * 9)];
                       },
                       {.half = true});
    for (std::size_t k = 0; k < all.count.size(); ++k)
        std::printf("%.2f %llu\n", double(radius) * double(k) / 9, static_cast<unsigned long long>(all.count[k]));
    // Every particle has 6 neighbours at 1, 12 at 1.41, 8 at 1.73, 6 at 2; each pair is counted once.
    const auto n = x.size() / 2;
    return all.count[4] == 6 * n && all.count[6] == 12 * n && all.count[7] == 8 * n && all.count[9] == 6 * n ? 0 : 1;
}
