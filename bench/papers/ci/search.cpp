// Onderik & Durikovic 2008, the searching part of Table I (1600 particles, m = 0.0012 kg, rho = 1000, h = 0.05: all
// pairs, spatial hashing, cell indexing) and the sweep over the subdivision H. Two states stand for the dam break: the
// column at the start and the layer at the end. Usage: paper_ci_search OUT_DIR
#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/uniform_hash.hpp>
#include <quadrat/neighbors.hpp>
#include <quadrat/neighbors/extended_spatial_hash.hpp>

#include "base/random.hpp"
#include "neighbors/index_seam.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace quadrat;
using Points = std::vector<Vec3f>;

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
template <class Fn>
double median_ms(int runs, Fn&& fn) {
    std::vector<double> times;
    fn();
    for (int k = 0; k < runs; ++k) {
        const double start = now();
        fn();
        times.push_back(now() - start);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

/// nx * ny * nz particles, each of volume m / rho, jittered.
Points block(int nx, int ny, int nz) {
    const double d = std::cbrt(0.0012 / 1000);
    base::SplitMix random(2008);
    Points p;
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i)
                p.push_back({{static_cast<float>(d * (i + random.uniform(-0.1, 0.1))),
                              static_cast<float>(d * (j + random.uniform(-0.1, 0.1))),
                              static_cast<float>(d * (k + random.uniform(-0.1, 0.1)))}});
    return p;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string out = argc > 1 ? argv[1] : ".";
    const float h = 0.05f;
    struct State {
        const char* name;
        Points points;
    };
    const State states[] = {{"column", block(8, 10, 20)}, {"layer", block(40, 20, 2)}};
    std::FILE* table = std::fopen((out + "/table1.md").c_str(), "w");
    std::FILE* json = std::fopen((out + "/ci.json").c_str(), "w");
    if (!table || !json) return 1;
    std::fprintf(json, "{\"table\": [");
    const auto both = [&](const std::string& line) {
        std::fputs(line.c_str(), stdout);
        std::fputs(line.c_str(), table);
    };
    both(
        "| 1600 particles | all pairs ms | spatial hashing ms | extended hashing ms | cell indexing ms | all pairs / "
        "hashing | hashing / indexing | entries |\n|---|---|---|---|---|---|---|---|\n");
    both("| paper, mean of three cases (2008, 1.7 GHz) | 1950 | 433 | - | 263 | 4.5 | 1.6 | - |\n");
    char line[256];
    bool first = true;
    for (const State& s : states) {
        NeighborList list;
        BruteForce<3, float> brute;
        const double all = median_ms(51, [&] {
            brute.build(s.points);
            brute.find_neighbors(h, list);
        });
        const std::uint64_t entries = list.entries();
        UniformHash<3, float> hash;
        const double hashing = median_ms(51, [&] { hash.find_neighbors(s.points, h, list); });
        bool same = list.entries() == entries;
        ExtendedSpatialHash<3, float> extended({.radius = h});
        const double extending = median_ms(51, [&] {
            extended.build(s.points);
            extended.find_neighbors(list);
        });
        same = same && list.entries() == entries;
        CellIndex<3, float> index({.radius = h});
        const double indexing = median_ms(51, [&] {
            index.build(s.points);
            index.find_neighbors(list);
        });
        same = same && list.entries() == entries;
        std::snprintf(line, sizeof line, "| %s | %.3f | %.3f | %.3f | %.3f | %.1f | %.1f | %llu%s |\n", s.name, all,
                      hashing, extending, indexing, all / hashing, hashing / indexing,
                      static_cast<unsigned long long>(entries), same ? "" : " DIFFERENT");
        both(line);
        std::fprintf(json,
                     "%s\n{\"state\": \"%s\", \"all_pairs\": %.4f, \"spatial_hashing\": %.4f, \"extended\": %.4f, "
                     "\"cell_indexing\": %.4f}",
                     first ? "" : ",", s.name, all, hashing, extending, indexing);
        first = false;
        if (!same) return 1;
    }
    std::fprintf(json, "],\n\"sweep\": [");
    both("\n| H | cell indexing ms (column of 102400) | extended hashing ms |\n|---|---|---|\n");
    const Points many = block(32, 40, 80);
    first = true;
    for (unsigned H = 1; H <= 5; ++H) {
        NeighborList list;
        CellIndex<3, float> index({.radius = h});
        neighbors::IndexSeam<3, float>::subdivide(index, H);
        const double indexing = median_ms(3, [&] {
            index.build(many);
            index.find_neighbors(list);
        });
        ExtendedSpatialHash<3, float> extended({.radius = h, .subdivision = H});
        const double extending = median_ms(1, [&] {
            extended.build(many);
            extended.find_neighbors(list);
        });
        std::snprintf(line, sizeof line, "| %u | %.1f | %.1f |\n", H, indexing, extending);
        both(line);
        std::fprintf(json, "%s\n{\"H\": %u, \"cell_indexing\": %.3f, \"extended\": %.3f}", first ? "" : ",", H,
                     indexing, extending);
        first = false;
    }
    std::fprintf(json, "]}\n");
    std::fclose(json);
    std::fclose(table);
}
