// GSH figure 3: time of the broad phase against the number of voxels as a share of the triangles; figure 4: loads of
// voxels with and without group mapping. Writes figure3.csv, figure4.csv, loads.csv.
//   paper_gsh OUT_DIR [DATA_DIR]
#include <quadrat/broad_phase/group_hash.hpp>

#include "io/by_ending.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace quadrat;

struct Scene {
    std::string name;
    std::vector<Vec3d> vertices;
    std::vector<Triangle> triangles;

    // Boxes of the triangles over a step of `motion`, plus the distance threshold (GSH 3.1).
    [[nodiscard]] std::vector<Box3f> boxes(double motion, double threshold) const {
        std::vector<Box3f> all;
        for (const Triangle& t : triangles) {
            Box3f b;
            for (int k = 0; k < 3; ++k) {
                const double lo = std::min({vertices[t.a][k], vertices[t.b][k], vertices[t.c][k]});
                const double hi = std::max({vertices[t.a][k], vertices[t.b][k], vertices[t.c][k]});
                b.lo[k] = static_cast<float>(lo - (k == 2 ? motion : 0) - threshold);
                b.hi[k] = static_cast<float>(hi + threshold);
            }
            all.push_back(b);
        }
        return all;
    }
    void add(const std::vector<Vec3d>& v, const std::vector<Triangle>& t) {
        const auto base = static_cast<std::uint32_t>(vertices.size());
        vertices.insert(vertices.end(), v.begin(), v.end());
        for (const Triangle& x : t) triangles.push_back({x.a + base, x.b + base, x.c + base});
    }
};

// A square cloth of 2 n^2 triangles, draped over the origin and folded at the rim.
void add_cloth(Scene& s, std::uint32_t n, double size, double height) {
    std::vector<Vec3d> v;
    std::vector<Triangle> t;
    for (std::uint32_t i = 0; i <= n; ++i)
        for (std::uint32_t j = 0; j <= n; ++j) {
            const double x = (i / double(n) - 0.5) * size, y = (j / double(n) - 0.5) * size;
            const double r = std::hypot(x, y), a = std::atan2(y, x);
            const double hang = std::max(0.0, r - 0.45 * size / 2);
            const double shrink = r > 0 ? (r - 0.8 * hang) / r : 1;
            const double fold = 1 + 0.25 * std::min(1.0, 4 * hang / size) * std::sin(9 * a);
            v.push_back({{x * shrink * fold, y * shrink * fold, height - hang}});
            if (i && j) {
                const std::uint32_t d = i * (n + 1) + j;
                t.push_back({d, d - 1, d - n - 1});
                t.push_back({d - 1, d - n - 2, d - n - 1});
            }
        }
    s.add(v, t);
}

// Tori of 800 triangles each, squeezed together: a heap that is pressed to half its height.
void add_tori(Scene& s, int count) {
    for (int n = 0; n < count; ++n) {
        std::vector<Vec3d> v;
        std::vector<Triangle> t;
        const double lean = 0.5 * std::sin(2.0 * n), turn = 1.3 * n;
        for (std::uint32_t i = 0; i < 20; ++i)
            for (std::uint32_t k = 0; k < 20; ++k) {
                const double a = 2 * M_PI * i / 20, b = 2 * M_PI * k / 20, r = 1 + 0.4 * std::cos(b);
                const double x = r * std::cos(a), y = r * std::sin(a), z = 0.4 * std::sin(b);
                const double lx = x * std::cos(lean) - z * std::sin(lean), lz = x * std::sin(lean) + z * std::cos(lean);
                v.push_back({{lx * std::cos(turn) - y * std::sin(turn) + 0.7 * (n % 2),
                              lx * std::sin(turn) + y * std::cos(turn), 0.5 * (lz + 0.8 * (n / 2))}});
                const auto at = [](std::uint32_t p, std::uint32_t q) { return (p % 20) * 20 + q % 20; };
                t.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1)});
                t.push_back({at(i, k), at(i + 1, k + 1), at(i, k + 1)});
            }
        s.add(v, t);
    }
}

double best_of(int runs, auto&& fn) {
    double best = 1e300;
    for (int i = 0; i < runs; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        fn();
        best =
            std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s OUT_DIR [DATA_DIR]\n", argv[0]);
        return 2;
    }
    const std::string out = argv[1];
    std::filesystem::create_directories(out);
    std::vector<Scene> scenes;
    const std::string bunny = std::string(argc > 2 ? argv[2] : "") + "/meshes/stanford-bunny.obj";
    if (argc > 2 && std::filesystem::exists(bunny)) {
        Scene s{.name = "cloth and bunny", .vertices = {}, .triangles = {}};
        const io::Mesh m = io::read_mesh(bunny);
        double extent = 0;
        for (const Vec3d& v : m.vertices)
            extent = std::max({extent, std::fabs(v[0]), std::fabs(v[1]), std::fabs(v[2])});
        std::vector<Vec3d> scaled = m.vertices;
        for (Vec3d& v : scaled) v = {{v[0] / extent, -v[2] / extent, v[1] / extent}};
        s.add(scaled, m.triangles);
        add_cloth(s, 103, 4, 1.05);
        scenes.push_back(std::move(s));
    }
    Scene cloth{.name = "cloth", .vertices = {}, .triangles = {}};
    add_cloth(cloth, 100, 4, 1);
    scenes.push_back(cloth);
    for (const int n : {14, 7}) {
        Scene s{.name = std::to_string(n) + " tori", .vertices = {}, .triangles = {}};
        add_tori(s, n);
        scenes.push_back(std::move(s));
    }

    std::FILE* three = std::fopen((out + "/figure3.csv").c_str(), "w");
    std::FILE* four = std::fopen((out + "/figure4.csv").c_str(), "w");
    std::FILE* loads = std::fopen((out + "/loads.csv").c_str(), "w");
    if (!three || !four || !loads) return 1;
    std::fprintf(three, "scene,triangles,group_size,voxel_share,order,ms,pairs,compared,tests\n");
    std::fprintf(four, "scene,triangles,group_size,voxels,max_load,over_150,mean_load,deviation\n");
    std::fprintf(loads, "scene,group_size,rank,load\n");
    for (const Scene& scene : scenes) {
        const std::vector<Box3f> boxes = scene.boxes(0.01, 0.005);
        std::vector<Pair> pairs;
        for (const std::uint32_t group : {1u, 2u, 3u, 4u, 8u})
            for (const double share : {0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0})
                for (const VoxelOrder order : {VoxelOrder::mixed, VoxelOrder::by_cell}) {
                    if (group != 3 && share != 0.2) continue;
                    GroupHash<3, float> hash({.group_size = group, .voxels_per_object = share, .order = order});
                    hash.insert(boxes);
                    const double ms = best_of(3, [&] {
                        hash.update(boxes);
                        hash.find_pairs(pairs);
                    });
                    const GroupHashStats s = hash.stats();
                    std::fprintf(three, "%s,%zu,%u,%.2f,%s,%.3f,%zu,%llu,%llu\n", scene.name.c_str(), boxes.size(),
                                 group, share, order == VoxelOrder::mixed ? "mixed" : "by_cell", ms, pairs.size(),
                                 static_cast<unsigned long long>(s.compared), static_cast<unsigned long long>(s.tests));
                }
        for (const std::uint32_t group : {1u, 2u, 3u, 4u, 8u}) {
            GroupHash<3, float> hash({.group_size = group});
            hash.insert(boxes);
            std::vector<std::uint32_t> load = hash.voxel_loads();
            std::sort(load.rbegin(), load.rend());
            double mean = 0, square = 0;
            for (const std::uint32_t l : load) mean += l, square += double(l) * l;
            mean /= double(load.size());
            const double deviation = std::sqrt(std::max(0.0, square / double(load.size()) - mean * mean));
            std::fprintf(four, "%s,%zu,%u,%zu,%u,%td,%.2f,%.2f\n", scene.name.c_str(), boxes.size(), group, load.size(),
                         load[0], std::count_if(load.begin(), load.end(), [](std::uint32_t l) { return l > 150; }),
                         mean, deviation);
            for (std::size_t r = 0; r < std::min<std::size_t>(load.size(), 100); ++r)
                std::fprintf(loads, "%s,%u,%zu,%u\n", scene.name.c_str(), group, r, load[r]);
        }
    }
    std::fclose(three);
    std::fclose(four);
    std::fclose(loads);
}
