// HSH figure 5: a million points in a 2D square of 2^20; all neighbours within r of each, for growing r. The paper
// claims that the hierarchical hash is competitive with uniform hashing while the largest neighbour count is below 5,
// at 10-25 % more memory, and that a KD-tree is best for denser sets. CellIndex is what this library answers with by
// default. Usage: paper_hsh_figure5 [JSON file]
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/uniform_hash.hpp>
#include <quadrat/neighbors/cell_index.hpp>

#include "base/random.hpp"
#include "common/report.hpp"

#if __has_include(<nanoflann.hpp>)
#define HAVE_NANOFLANN 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <nanoflann.hpp>
#pragma GCC diagnostic pop
#endif

#include <cmath>
#include <cstdint>

namespace {

using namespace quadrat;

#if HAVE_NANOFLANN
struct Cloud {
    const std::vector<Vec2f>& points;
    [[nodiscard]] std::size_t kdtree_get_point_count() const { return points.size(); }
    [[nodiscard]] float kdtree_get_pt(std::size_t i, std::size_t k) const { return points[i][static_cast<int>(k)]; }
    template <class Bounds>
    bool kdtree_get_bbox(Bounds&) const {
        return false;
    }
};
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Cloud>, Cloud, 2, std::uint32_t>;

/// Build and all neighbours; returns the number of entries. The tree tests d < r, so the radius is widened by a hair.
std::uint64_t by_tree(const std::vector<Vec2f>& points, float radius) {
    const Cloud cloud{points};
    Tree tree(2, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    std::uint64_t entries = 0;
    std::vector<std::pair<std::uint32_t, float>> found;
    nanoflann::SearchParams parameters;
    parameters.sorted = false;
    for (const Vec2f& p : points)
        entries += tree.radiusSearch(p.v, std::nextafter(radius * radius, 1e30f), found, parameters) - 1;
    return entries;
}
#endif

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t n = 1000000;
    base::SplitMix random(5);
    std::vector<Vec2f> points(n);
    for (auto& p : points)
        for (int k = 0; k < 2; ++k) p[k] = static_cast<float>(random.uniform() * 0x1p20);
    const std::span<const Vec2f> span(points);
    papers::Report report({"radius", "mean_neighbors", "max_neighbors", "hsh_ms", "uniform_ms", "kdtree_ms",
                           "cell_index_ms", "uniform/hsh", "hsh_bytes", "uniform_bytes", "memory_ratio"});
    for (const float radius : {60.f, 200.f, 400.f, 600.f, 1000.f, 1600.f}) {
        NeighborList list;
        std::uint64_t entries[4] = {};
        std::size_t most = 0;
        std::vector<double> time[4];
        double bytes[2] = {};
        HierarchicalHash<2, float> hierarchical;
        UniformHash<2, float> uniform;
        for (int round = 0; round < 2; ++round) {
            time[0].push_back(papers::milliseconds([&] { hierarchical.find_neighbors(span, radius, list); }));
            entries[0] = list.entries();
            bytes[0] = static_cast<double>(hierarchical.stats().bytes);
            time[1].push_back(papers::milliseconds([&] { uniform.find_neighbors(span, radius, list); }));
            entries[1] = list.entries();
            bytes[1] = static_cast<double>(uniform.stats().bytes);
            time[2].push_back(papers::milliseconds([&] {
                CellIndex<2, float> index({.radius = radius});
                index.build(span);
                index.find_neighbors(list);
            }));
            entries[2] = list.entries();
        }
        for (std::size_t i = 0; i < list.size(); ++i) most = std::max(most, list[i].size());
        entries[3] = entries[0];
#if HAVE_NANOFLANN
        time[3].push_back(papers::milliseconds([&] { entries[3] = by_tree(points, radius); }));
#endif
        // The tree's own rounding may differ in the last place.
        const double off = std::abs(static_cast<double>(entries[3]) - static_cast<double>(entries[0]));
        if (entries[0] != entries[1] || entries[0] != entries[2] || off > 1e-5 * static_cast<double>(entries[0]) + 4) {
            std::fprintf(stderr, "different answers at r = %g\n", static_cast<double>(radius));
            return 1;
        }
        const auto best = [](const std::vector<double>& t) {
            return t.empty() ? 0 : *std::min_element(t.begin(), t.end());
        };
        report.row({static_cast<double>(radius), static_cast<double>(entries[0]) / n, static_cast<double>(most),
                    best(time[0]), best(time[1]), best(time[3]), best(time[2]), best(time[1]) / best(time[0]), bytes[0],
                    bytes[1], bytes[0] / bytes[1]});
    }
    report.write(argc > 1 ? argv[1] : nullptr);
    return 0;
}
