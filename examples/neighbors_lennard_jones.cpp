// Lennard-Jones forces and energy without a list: every row is used while it is in the cache, on all threads, and the
// energy has the same bits for any number of them.
#include <quadrat/neighbors.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
    std::vector<quadrat::Vec3d> x;
    for (int k = 0; k < 12; ++k)
        for (int j = 0; j < 12; ++j)
            for (int i = 0; i < 12; ++i) x.push_back({{1.2 * i, 1.2 * j, 1.2 * k}});
    x[100][0] += 0.1;

    const auto threads = quadrat::make_executor(2);
    const auto box = quadrat::Periodic<3, double>::orthorhombic({{14.4, 14.4, 14.4}});
    quadrat::CellIndex<3, double> cells({.radius = 2.5, .periodic = box, .executor = threads.get()});
    cells.build(x);
    std::vector<quadrat::Vec3d> force(x.size());
    const double energy = cells.sum_rows(0.0,
                                         [&](double& sum, const quadrat::NeighborRow<3, double>& row) {
                                             quadrat::Vec3d f{};
                                             for (std::uint32_t e = 0; e < row.padded;
                                                  ++e) {  // what is padded is infinitely far away and adds nothing
                                                 const double s = 1 / row.distances_sq[e], s3 = s * s * s;
                                                 sum += 2 * (s3 * s3 - s3);
                                                 for (int k = 0; k < 3; ++k)
                                                     f[k] += (24 * s3 - 48 * s3 * s3) * s * row.delta[k][e];
                                             }
                                             force[row.home] = f;
                                         },
                                         {.vectors = true});
    quadrat::Vec3d total{};
    for (const quadrat::Vec3d& f : force)
        for (int k = 0; k < 3; ++k) total[k] += f[k];
    std::printf("energy %.6f per particle; force on the one that was moved %.3f, on all together %.1e\n",
                energy / double(x.size()), force[100][0], total[0]);
    return force[100][0] < 0 && std::abs(total[0]) < 1e-9 ? 0 : 1;
}
