// GSH figure 3: time of the whole process, broad and narrow phase, against the number of voxels as a share of the
// triangles, on 1, 2 and 4 threads; figure 4: loads of voxels with and without group mapping, on tori that a simulation
// squeezed. Also what objects at rest save, and the same contacts by the mesh pipeline (find_contacts). Writes
// figure3.csv, figure4.csv, loads.csv, pipeline.csv.
//   paper_gsh OUT_DIR [DATA_DIR [TORI_START.ply TORI_END.ply]]
// The narrow phase is that of the paper: for each pair of triangles that the hash gives, 15 pairs of features (six of a
// vertex and a face, nine of two edges), features that share a vertex left out, each decided by impact_times().
#include <quadrat/broad_phase/group_hash.hpp>
#include <quadrat/ccd.hpp>
#include <quadrat/executor.hpp>

#include "base/parallel.hpp"
#include "broad_phase/hashes/group_map.hpp"
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
using broad_phase::VoxelOrder;

struct Scene {
    std::string name;
    std::vector<Vec3d> vertices, end;  // at the start and at the end of a step
    std::vector<Triangle> triangles;
    std::size_t resting = 0;  // the first triangles do not move

    // Boxes of the triangles over the step, plus the distance threshold (GSH 3.1).
    [[nodiscard]] std::vector<Box3f> boxes(double threshold) const {
        std::vector<Box3f> all;
        for (const Triangle& t : triangles) {
            Box3f b;
            for (int k = 0; k < 3; ++k) {
                double lo = vertices[t.a][k], hi = lo;
                for (const std::uint32_t v : {t.a, t.b, t.c})
                    for (const Vec3d* p : {&vertices[v], &end[v]}) {
                        lo = std::min(lo, (*p)[k]);
                        hi = std::max(hi, (*p)[k]);
                    }
                b.lo[k] = static_cast<float>(lo - threshold);
                b.hi[k] = static_cast<float>(hi + threshold);
            }
            all.push_back(b);
        }
        return all;
    }
    // Sinks by `motion` during the step.
    void add(const std::vector<Vec3d>& v, const std::vector<Triangle>& t, double motion) {
        const auto base = static_cast<std::uint32_t>(vertices.size());
        vertices.insert(vertices.end(), v.begin(), v.end());
        for (const Vec3d& x : v) end.push_back({{x[0], x[1], x[2] - motion}});
        for (const Triangle& x : t) triangles.push_back({x.a + base, x.b + base, x.c + base});
        if (motion == 0) resting = triangles.size();
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
    s.add(v, t, 0.01);
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
        s.add(v, t, 0.01);
    }
}

// The fifteen tests of the pairs: how many touch during the step.
std::size_t narrow_phase(const Scene& s, const std::vector<Pair>& pairs, Executor* executor) {
    constexpr std::size_t grain = 512;
    return base::parallel_reduce(
        executor, pairs.size(), grain, std::size_t{0},
        [&](std::size_t from, std::size_t to) {
            std::vector<FourPoints> start[2], end[2];
            const auto add = [&](int kind, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
                start[kind].push_back({s.vertices[a], s.vertices[b], s.vertices[c], s.vertices[d]});
                end[kind].push_back({s.end[a], s.end[b], s.end[c], s.end[d]});
            };
            for (std::size_t i = from; i < to; ++i) {
                const Triangle& p = s.triangles[pairs[i].first];
                const Triangle& q = s.triangles[pairs[i].second];
                const std::uint32_t a[3] = {p.a, p.b, p.c}, b[3] = {q.a, q.b, q.c};
                for (int n = 0; n < 3; ++n) {
                    if (a[n] != b[0] && a[n] != b[1] && a[n] != b[2]) add(0, a[n], b[0], b[1], b[2]);
                    if (b[n] != a[0] && b[n] != a[1] && b[n] != a[2]) add(0, b[n], a[0], a[1], a[2]);
                    for (int m = 0; m < 3; ++m) {
                        const std::uint32_t e[2] = {a[n], a[(n + 1) % 3]}, f[2] = {b[m], b[(m + 1) % 3]};
                        if (e[0] != f[0] && e[0] != f[1] && e[1] != f[0] && e[1] != f[1])
                            add(1, e[0], e[1], f[0], f[1]);
                    }
                }
            }
            std::size_t hits = 0;
            for (const int kind : {0, 1}) {
                std::vector<double> times(start[kind].size());
                (void)impact_times(kind == 0 ? ImpactKind::vertex_face : ImpactKind::edge_edge, start[kind], end[kind],
                                   times);
                hits += static_cast<std::size_t>(
                    std::count_if(times.begin(), times.end(), [](double t) { return t <= 1; }));
            }
            return hits;
        },
        [](std::size_t x, std::size_t y) { return x + y; });
}

double milliseconds(auto&& fn) {
    const auto begin = std::chrono::steady_clock::now();
    fn();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// The best of a few runs of the broad phase, and the narrow phase once: it is many times as long.
struct Times {
    double broad = 1e300, narrow = 1e300;
    std::size_t pairs = 0, hits = 0;
};

template <class Hash>
Times whole_process(const Scene& scene, const std::vector<Box3f>& boxes, Hash& hash, Executor* executor, int runs) {
    Times best;
    std::vector<Pair> pairs;
    for (int r = 0; r < runs; ++r) {
        const double broad = milliseconds([&] {
            hash.update(boxes);
            hash.find_pairs(pairs);
        });
        best.broad = std::min(best.broad, broad);
    }
    best.narrow = milliseconds([&] { best.hits = narrow_phase(scene, pairs, executor); });
    best.pairs = pairs.size();
    return best;
}

std::FILE* create(const std::string& path, const char* head) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (!file) {
        std::fprintf(stderr, "cannot write %s\n", path.c_str());
        std::exit(1);
    }
    std::fprintf(file, "%s\n", head);
    return file;
}

void figure_3(const Scene& scene, std::FILE* out) {
    const std::vector<Box3f> boxes = scene.boxes(0.005);
    for (const unsigned threads : {1u, 2u, 4u}) {
        const auto executor = make_executor(threads);
        for (const std::uint32_t group : {1u, 2u, 3u, 4u, 8u})
            for (const double share : {0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0})
                for (const VoxelOrder order : {VoxelOrder::mixed, VoxelOrder::by_cell}) {
                    if (group != 3 && share != 0.2) continue;
                    if (threads > 1 && (group != 3 || order != VoxelOrder::mixed)) continue;
                    broad_phase::GroupMap<3, float> hash(
                        {.group_size = group, .voxels_per_object = share, .executor = executor.get()}, order);
                    hash.insert(boxes);
                    const Times t = whole_process(scene, boxes, hash, executor.get(), 3);
                    const GroupHashStats s = hash.stats();
                    std::fprintf(out, "%s,%zu,%u,%u,%.2f,%s,%.3f,%.3f,%.3f,%zu,%zu,%llu,%llu\n", scene.name.c_str(),
                                 boxes.size(), threads, group, share, order == VoxelOrder::mixed ? "mixed" : "by_cell",
                                 t.broad + t.narrow, t.broad, t.narrow, t.pairs, t.hits,
                                 static_cast<unsigned long long>(hash.compared()),
                                 static_cast<unsigned long long>(s.tests));
                }
    }
}

void figure_4(const Scene& scene, std::FILE* four, std::FILE* loads) {
    const std::vector<Box3f> boxes = scene.boxes(0.005);
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
                     load[0], std::count_if(load.begin(), load.end(), [](std::uint32_t l) { return l > 150; }), mean,
                     deviation);
        for (std::size_t r = 0; r < std::min<std::size_t>(load.size(), 100); ++r)
            std::fprintf(loads, "%s,%u,%zu,%u\n", scene.name.c_str(), group, r, load[r]);
    }
}

// What is at rest hashed once or every step, and the contacts of the same step by the mesh pipeline.
void structures(const Scene& scene, std::FILE* out) {
    const std::vector<Box3f> boxes = scene.boxes(0.005);
    const std::span<const Box3f> all(boxes);
    for (const unsigned threads : {1u, 2u, 4u}) {
        const auto executor = make_executor(threads);
        const auto print = [&](const char* what, double ms, std::size_t hits) {
            std::fprintf(out, "%s,%zu,%u,%s,%.3f,%zu\n", scene.name.c_str(), boxes.size(), threads, what, ms, hits);
        };
        for (const bool rests : {false, true}) {
            if (rests && scene.resting == 0) continue;
            GroupHash<3, float> hash({.executor = executor.get()});
            if (rests) {
                hash.insert_static(all.first(scene.resting));
                hash.insert(all.subspan(scene.resting));
            } else {
                hash.insert(all);
            }
            const Times t = whole_process(scene, boxes, hash, executor.get(), 3);
            print(rests ? "GSH by cell, static once" : "GSH by cell", t.broad + t.narrow, t.hits);
        }
        const MovingMesh mesh{.triangles = scene.triangles, .start = scene.vertices, .end = scene.end};
        double best = 1e300;
        std::size_t contacts = 0;
        for (int r = 0; r < 3; ++r)
            best = std::min(best,
                            milliseconds([&] { contacts = find_contacts(mesh, {.executor = executor.get()}).size(); }));
        print("find_contacts", best, contacts);
        best = 1e300;
        for (int r = 0; r < 3; ++r)
            best = std::min(best, milliseconds([&] { (void)earliest_time(mesh, 1, {.executor = executor.get()}); }));
        print("earliest_time", best, contacts > 0);
    }
}

std::vector<Scene> make_scenes(int argc, char** argv) {
    std::vector<Scene> scenes;
    const std::string bunny = std::string(argc > 2 ? argv[2] : "") + "/meshes/stanford-bunny.obj";
    if (argc > 2 && std::filesystem::exists(bunny)) {
        Scene s{.name = "cloth and bunny", .vertices = {}, .end = {}, .triangles = {}};
        const io::Mesh m = io::read_mesh(bunny);
        double extent = 0;
        for (const Vec3d& v : m.vertices)
            extent = std::max({extent, std::fabs(v[0]), std::fabs(v[1]), std::fabs(v[2])});
        std::vector<Vec3d> scaled = m.vertices;
        for (Vec3d& v : scaled) v = {{v[0] / extent, -v[2] / extent, v[1] / extent}};
        s.add(scaled, m.triangles, 0);
        add_cloth(s, 103, 4, 1.05);
        scenes.push_back(std::move(s));
    }
    Scene cloth{.name = "cloth", .vertices = {}, .end = {}, .triangles = {}};
    add_cloth(cloth, 100, 4, 1);
    scenes.push_back(cloth);
    if (argc > 4) {
        const io::Mesh start = io::read_mesh(argv[3]), end = io::read_mesh(argv[4]);
        scenes.push_back(
            {.name = "squeezed tori", .vertices = start.vertices, .end = end.vertices, .triangles = start.triangles});
    }
    Scene heap{.name = "heap of 14 tori", .vertices = {}, .end = {}, .triangles = {}};
    add_tori(heap, 14);
    scenes.push_back(std::move(heap));
    return scenes;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s OUT_DIR [DATA_DIR [TORI_START.ply TORI_END.ply]]\n", argv[0]);
        return 2;
    }
    const std::string out = argv[1];
    std::filesystem::create_directories(out);
    std::FILE* three = create(out + "/figure3.csv",
                              "scene,triangles,threads,group_size,voxel_share,order,ms,broad_ms,narrow_ms,pairs,hits,"
                              "compared,tests");
    std::FILE* four =
        create(out + "/figure4.csv", "scene,triangles,group_size,voxels,max_load,over_150,mean_load,deviation");
    std::FILE* loads = create(out + "/loads.csv", "scene,group_size,rank,load");
    std::FILE* pipeline = create(out + "/pipeline.csv", "scene,triangles,threads,structure,ms,contacts");
    for (const Scene& scene : make_scenes(argc, argv)) {
        figure_3(scene, three);
        figure_4(scene, four, loads);
        structures(scene, pipeline);
    }
    for (std::FILE* file : {three, four, loads, pipeline}) std::fclose(file);
}
