// One round of fixed-radius neighbour lists (and the 16 nearest) of W1-W4: quadrat, nanoflann, CGAL's kd-tree, one
// after the other. Appends a line of JSON per scene and method to argv[1], with the checksum of
// docs/reference/neighbors.md, and writes the points for the rivals in Python. Usage: rivals OUT.jsonl POINTS_PREFIX
// [points]
#include <quadrat/neighbors.hpp>

#include "workloads/scenes.hpp"

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
    std::FILE* json = std::fopen(argv[1], "a");
    if (!json) return 1;
    using quadrat::workloads::PointOrder;
    using quadrat::workloads::PointScene;
    struct Case {
        const char* name;
        PointScene scene;
        PointOrder order;
    };
    for (const Case& c :
         {Case{"W1-shuffled", PointScene::lattice, PointOrder::shuffled},
          Case{"W1-z", PointScene::lattice, PointOrder::z_order}, Case{"W2", PointScene::uniform, PointOrder::shuffled},
          Case{"W3", PointScene::sparse, PointOrder::shuffled},
          Case{"W4-step", PointScene::moving, PointOrder::shuffled}}) {
        quadrat::workloads::MovingPoints<3, float> scene(c.scene, n, c.order);
        const float r = scene.radius();
        quadrat::CellIndex<3, float> index({.radius = r});
        quadrat::NeighborList list;
        index.build(scene.points());
        index.find_neighbors(list);
        const auto report = [&](const std::string& name, const char* method, double ms, const Sum& sum) {
            std::fprintf(json,
                         "{\"scene\": \"%s\", \"method\": \"%s\", \"ms\": %.3f, \"entries\": %llu, \"checksum\": "
                         "\"%016llx\"}\n",
                         name.c_str(), method, ms, static_cast<unsigned long long>(sum.entries),
                         static_cast<unsigned long long>(sum.checksum));
            std::fflush(json);
        };
        const auto quadrat_sum = [&] {
            Sum sum;
            for (std::size_t i = 0; i < list.size(); ++i)
                for (const std::uint32_t j : list[i]) sum.add(i, j);
            return sum;
        };
        // quadrat has five steps of its own, so that its time is not that of one lucky or unlucky moment. The points
        // of W4 move before each; its rivals get the last of them.
        std::vector<double> times;
        for (int turn = 0; turn < 5; ++turn) {
            if (c.scene == PointScene::moving) scene.step();
            const double start = now();
            c.scene == PointScene::moving ? static_cast<void>(index.update(scene.points()))
                                          : index.build(scene.points());
            index.find_neighbors(list);
            times.push_back(now() - start);
        }
        std::sort(times.begin(), times.end());
        report(c.name, "quadrat", times[2], quadrat_sum());
        const Points p(scene.points().begin(), scene.points().end());
        char radius[32];
        std::snprintf(radius, sizeof radius, "%.9g", static_cast<double>(r));
        save(std::string(argv[2]) + c.name + "_" + radius + ".f32", p);
        Lists lists;
        const auto timed = [&](const std::string& name, const char* method, auto&& run) {
            lists.clear();
            const double start = now();
            run();
            const double ms = now() - start;
            report(name, method, ms, sum_of(lists));
        };
        timed(c.name, "nanoflann", [&] { nanoflann_lists(p, r, lists); });
        timed(c.name, "cgal", [&] { cgal_lists(p, r, lists); });
        if (c.scene != PointScene::uniform) continue;
        index.find_nearest(16, list);
        const double start = now();
        index.build(p);
        index.find_nearest(16, list);
        report("W2-k16", "quadrat", now() - start, quadrat_sum());
        timed("W2-k16", "nanoflann", [&] { nanoflann_nearest(p, 16, lists); });
    }
    std::fclose(json);
}
