// Fixed-radius neighbour lists (and the 16 nearest) of W1-W4: quadrat, nanoflann, CGAL's kd-tree, one after the other
// in each round; all lists are checked by the checksum of docs/neighbors.md. Writes a JSON array to argv[1], a table to
// stdout. Also writes the points for rivals in Python. Usage: rivals OUT.json POINTS_PREFIX [points] [rounds]
#include <quadrat/neighbors.hpp>

#include "base/scenes.hpp"

#include <CGAL/Fuzzy_sphere.h>
#include <CGAL/Kd_tree.h>
#include <CGAL/Search_traits_3.h>
#include <CGAL/Search_traits_adapter.h>
#include <CGAL/Simple_cartesian.h>
#include <CGAL/property_map.h>
#include <nanoflann.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using Points = std::vector<quadrat::Vec3f>;

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
std::uint64_t mix(std::uint64_t x) {
    std::uint64_t z = x + 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}
struct Sum {
    std::uint64_t entries = 0, checksum = 0;
    void add(std::uint64_t i, std::uint64_t j) { ++entries, checksum += mix(i << 32 | j); }
};

struct Cloud {
    const Points& p;
    std::size_t kdtree_get_point_count() const { return p.size(); }
    float kdtree_get_pt(std::size_t i, std::size_t k) const { return p[i].v[k]; }
    template <class B>
    bool kdtree_get_bbox(B&) const {
        return false;
    }
};
using Nano = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Cloud>, Cloud, 3>;

using Lists = std::vector<std::vector<std::uint32_t>>;
Sum sum_of(const Lists& lists) {
    Sum s;
    for (std::size_t i = 0; i < lists.size(); ++i)
        for (const std::uint32_t j : lists[i]) s.add(i, j);
    return s;
}

void nanoflann_lists(const Points& p, float r, Lists& out) {
    const Cloud cloud{p};
    Nano tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    tree.buildIndex();
    out.resize(p.size());
    std::vector<std::pair<std::uint32_t, float>> found;
    nanoflann::SearchParams params;
    params.sorted = false;
    // nanoflann compares with <; the next float after r*r makes it <=.
    const float r_sq = std::nextafter(r * r, 1e30f);
    for (std::size_t i = 0; i < p.size(); ++i) {
        found.clear();
        tree.radiusSearch(p[i].v, r_sq, found, params);
        out[i].clear();
        for (const auto& f : found)
            if (f.first != i) out[i].push_back(f.first);
    }
}
void nanoflann_nearest(const Points& p, std::size_t k, Lists& out) {
    const Cloud cloud{p};
    Nano tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    tree.buildIndex();
    out.resize(p.size());
    std::vector<std::uint32_t> index(k + 1);
    std::vector<float> distance(k + 1);
    for (std::size_t i = 0; i < p.size(); ++i) {
        const std::size_t n = tree.knnSearch(p[i].v, k + 1, index.data(), distance.data());
        out[i].clear();
        for (std::size_t e = 0; e < n; ++e)
            if (index[e] != i && out[i].size() < k) out[i].push_back(index[e]);
    }
}

using Kernel = CGAL::Simple_cartesian<float>;
using Tagged = std::pair<Kernel::Point_3, std::uint32_t>;
using Traits =
    CGAL::Search_traits_adapter<Tagged, CGAL::First_of_pair_property_map<Tagged>, CGAL::Search_traits_3<Kernel>>;
void cgal_lists(const Points& p, float r, Lists& out) {
    std::vector<Tagged> tagged;
    for (std::uint32_t i = 0; i < p.size(); ++i) tagged.push_back({{p[i][0], p[i][1], p[i][2]}, i});
    CGAL::Kd_tree<Traits> tree(tagged.begin(), tagged.end());
    tree.build();
    out.resize(p.size());
    std::vector<Tagged> found;
    for (std::uint32_t i = 0; i < p.size(); ++i) {
        found.clear();
        tree.search(std::back_inserter(found), CGAL::Fuzzy_sphere<Traits>(tagged[i], r, 0.0f));
        out[i].clear();
        for (const Tagged& f : found)
            if (f.second != i) out[i].push_back(f.second);
    }
}

void save(const std::string& path, const Points& p) {
    std::FILE* f = std::fopen(path.c_str(), "wb");
    if (!f) return;
    std::fwrite(p.data(), sizeof(p[0]), p.size(), f);
    std::fclose(f);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const std::size_t n = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1000000;
    const int rounds = argc > 4 ? std::atoi(argv[4]) : 3;
    std::FILE* json = std::fopen(argv[1], "w");
    if (!json) return 1;
    std::fprintf(json, "[");
    std::printf("| scene | method | median ms | entries | checksum |\n|---|---|---|---|---|\n");
    using quadrat::base::PointOrder;
    using quadrat::base::PointScene;
    struct Case {
        const char* name;
        PointScene scene;
        PointOrder order;
    };
    bool first = true, agree = true;
    for (const Case& c :
         {Case{"W1-shuffled", PointScene::lattice, PointOrder::shuffled},
          Case{"W1-z", PointScene::lattice, PointOrder::z_order}, Case{"W2", PointScene::uniform, PointOrder::shuffled},
          Case{"W3", PointScene::sparse, PointOrder::shuffled},
          Case{"W4-step", PointScene::moving, PointOrder::shuffled}}) {
        quadrat::base::MovingPoints<3, float> scene(c.scene, n, c.order);
        const float r = scene.radius();
        quadrat::CellIndex<3, float> index({.radius = r});
        quadrat::NeighborList list;
        index.build(scene.points());
        index.find_neighbors(list);
        Points p(scene.points().begin(), scene.points().end());
        if (c.scene == PointScene::moving) {
            scene.step();
            p.assign(scene.points().begin(), scene.points().end());
        }
        save(std::string(argv[2]) + c.name + "_" + std::to_string(r) + ".f32", p);
        Lists nano, cgal, near;
        std::map<std::string, std::vector<double>> ms;
        std::map<std::string, Sum> sums;
        for (int round = 0; round < rounds; ++round) {
            const auto timed = [&](const char* method, const std::function<void()>& run) {
                const double start = now();
                run();
                ms[method].push_back(now() - start);
            };
            timed("quadrat", [&] {
                c.scene == PointScene::moving ? static_cast<void>(index.update(p)) : index.build(p);
                index.find_neighbors(list);
            });
            if (round > 0 && rounds > 1 && round + 1 < rounds) continue;
            timed("nanoflann", [&] { nanoflann_lists(p, r, nano); });
            timed("cgal", [&] { cgal_lists(p, r, cgal); });
        }
        Sum mine;
        for (std::size_t i = 0; i < list.size(); ++i)
            for (const std::uint32_t j : list[i]) mine.add(i, j);
        sums["quadrat"] = mine, sums["nanoflann"] = sum_of(nano), sums["cgal"] = sum_of(cgal);
        if (c.order == PointOrder::shuffled && c.scene == PointScene::uniform) {
            const double a = now();
            index.find_nearest(16, list);
            const double b = now();
            nanoflann_nearest(p, 16, nano);
            const double d = now();
            ms["quadrat 16 nearest"].push_back(b - a);
            ms["nanoflann 16 nearest"].push_back(d - b);
        }
        for (auto& [method, times] : ms) {
            std::sort(times.begin(), times.end());
            const double median = times[times.size() / 2];
            const Sum s = sums[method];
            std::printf("| %s | %s | %.1f | %llu | %016llx |\n", c.name, method.c_str(), median,
                        static_cast<unsigned long long>(s.entries), static_cast<unsigned long long>(s.checksum));
            std::fprintf(json,
                         "%s\n{\"scene\": \"%s\", \"method\": \"%s\", \"ms\": %.3f, \"entries\": %llu, \"checksum\": "
                         "\"%016llx\"}",
                         first ? "" : ",", c.name, method.c_str(), median, static_cast<unsigned long long>(s.entries),
                         static_cast<unsigned long long>(s.checksum));
            first = false;
            if (s.entries && s.checksum != mine.checksum) agree = false;
        }
    }
    std::fprintf(json, "\n]\n");
    std::fclose(json);
    std::printf(
        "\nchecksums %s\n",
        agree ? "agree" : "differ (fused or reordered arithmetic in a rival rounds pairs at distance r differently)");
    return 0;
}
