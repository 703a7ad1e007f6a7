// SPH-style densities from a full neighbour list: build, search, loop; then the same object again after a step.
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
    quadrat::NeighborList near;
    std::vector<float> density(x.size());
    for (int step = 0; step < 3; ++step) {
        step == 0 ? cells.build(x) : static_cast<void>(cells.update(x));
        cells.find_neighbors(near, {.distances = quadrat::DistanceKind::squared});
        for (std::uint32_t i = 0; i < near.size(); ++i) {
            density[i] = 1;
            for (const float d_sq : near.distances<float>(i))
                density[i] += std::pow(1 - d_sq / (radius * radius), 3.0f);
        }
        std::printf("step %d: %llu neighbours, density of the middle %.3f\n", step,
                    static_cast<unsigned long long>(near.entries()), static_cast<double>(density[4210]));
        for (auto& p : x) p[2] -= 0.05f * density[0];
    }
    return near[0].size() == 10 ? 0 : 1;  // a corner of the lattice sees ten others
}
