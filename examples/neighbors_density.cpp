// SPH-style densities in one pass: nothing is stored but the densities.
#include <quadrat/neighbors.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
    const float radius = 2;
    std::vector<quadrat::Vec3f> x;
    for (int k = 0; k < 20; ++k)
        for (int j = 0; j < 20; ++j)
            for (int i = 0; i < 20; ++i) x.push_back({{float(i), float(j), float(k)}});

    quadrat::CellIndex<3, float> cells({.radius = radius});
    cells.build(x);
    std::vector<float> density(x.size());
    cells.for_each_row([&](const quadrat::NeighborRow<3, float>& row) {
        float sum = 1;  // the point itself
        for (std::uint32_t e = 0; e < row.count; ++e) {
            const float w = 1 - row.distances_sq[e] / (radius * radius);
            sum += w * w * w;
        }
        density[row.home] = sum;
    });
    std::printf("density of the middle %.3f, of a corner %.3f\n", double(density[4210]), double(density[0]));
    // 6 neighbours at 1, 12 at the root of 2, 8 at the root of 3, 6 at the radius itself.
    const double expected = 1 + 6 * 0.421875 + 12 * 0.125 + 8 * 0.015625;
    return std::abs(double(density[4210]) - expected) < 1e-4 ? 0 : 1;
}
