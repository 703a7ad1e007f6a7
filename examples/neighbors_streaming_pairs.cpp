// A histogram of pair distances without a list: each pair comes once and nothing is stored.
#include <quadrat/neighbors.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
    std::vector<quadrat::Vec2d> x;
    for (int i = 0; i < 20000; ++i) x.push_back({{std::fmod(i * 0.618033988749, 1.0), i / 20000.0}});

    const double radius = 0.02;
    quadrat::CellIndex<2, double> cells({.radius = radius});
    cells.build(x);
    std::vector<std::uint64_t> bins(10);
    cells.for_each_pair([&](std::uint32_t i, std::uint32_t j) {
        const double distance = std::hypot(x[i][0] - x[j][0], x[i][1] - x[j][1]);
        ++bins[std::min<std::size_t>(9, static_cast<std::size_t>(10 * distance / radius))];
    });
    std::uint64_t sum = 0;
    for (std::size_t b = 0; b < bins.size(); ++b) {
        std::printf("%.4f .. %.4f  %llu\n", radius * double(b) / 10, radius * double(b + 1) / 10,
                    static_cast<unsigned long long>(bins[b]));
        sum += bins[b];
    }
    return sum == cells.count_pairs() ? 0 : 1;
}
