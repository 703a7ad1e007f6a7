// Lennard-Jones energy of particles in a periodic box, from a half list with vectors.
#include <quadrat/neighbors.hpp>

#include <cstdio>
#include <vector>

int main() {
    const double side = 12;
    std::vector<quadrat::Vec3d> x;
    for (int k = 0; k < 10; ++k)
        for (int j = 0; j < 10; ++j)
            for (int i = 0; i < 10; ++i) x.push_back({{1.2 * i, 1.2 * j, 1.2 * k}});

    quadrat::CellIndex<3, double> cells(
        {.radius = 2.5, .periodic = quadrat::Periodic<3, double>::orthorhombic({{side, side, side}})});
    cells.build(x);
    quadrat::NeighborList near;
    cells.find_neighbors(near,
                         {.half = true, .distances = quadrat::DistanceKind::squared, .vectors = true, .shifts = true});
    double energy = 0;
    for (std::uint32_t i = 0; i < near.size(); ++i)
        for (const double d_sq : near.distances<double>(i)) {
            const double s = 1 / (d_sq * d_sq * d_sq);
            energy += 4 * (s * s - s);
        }
    std::printf("%llu pairs, energy %.6f per particle\n", static_cast<unsigned long long>(near.entries()),
                energy / double(x.size()));
    // Every particle of a periodic lattice is alike: 32 neighbours within 2.5, half of them in a half list.
    return near.entries() == 16 * x.size() ? 0 : 1;
}
