// HSH figure 4: N objects in a square of 2^13 (10 % of average size 2^10, 25 % of 2^6, the rest of 2^3), then a million
// segments of length up to 2^4, each asked for the objects that it meets. Time against the share of segments that meet
// something, and memory. The paper claims: at least twice as fast as the multilevel hash in all situations, memory
// overhead at most 10 %. Usage: paper_hsh_figure4 [JSON file]
#include <quadrat/broad_phase/multilevel_hash.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>

#include "common/report.hpp"
#include "scene.hpp"
#include "workloads/scenes.hpp"

#if __has_include(<boost/geometry/index/rtree.hpp>)
#define HAVE_RTREE 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <boost/geometry.hpp>
#include <boost/geometry/geometries/box.hpp>
#include <boost/geometry/geometries/point.hpp>
#include <boost/geometry/index/rtree.hpp>
#pragma GCC diagnostic pop
#endif

#include "cells/segment_test.hpp"

#include <cstdint>

namespace {

using namespace quadrat;

struct Outcome {
    std::uint64_t meetings = 0;  ///< segment and object
    std::uint64_t met = 0;       ///< segments that meet at least one
};

template <class Structure>
Outcome ask(const Structure& structure, const std::vector<Segment<2, float>>& segments) {
    Outcome outcome;
    std::vector<std::uint32_t> found;
    for (const auto& s : segments) {
        structure.find(s, found);
        outcome.meetings += found.size();
        outcome.met += !found.empty();
    }
    return outcome;
}

#if HAVE_RTREE
namespace bg = boost::geometry;
using BoostPoint = bg::model::point<float, 2, bg::cs::cartesian>;
using BoostBox = bg::model::box<BoostPoint>;
using Value = std::pair<BoostBox, std::uint32_t>;

class Rtree {
  public:
    void build(const std::vector<Box2f>& boxes) {
        boxes_ = boxes;
        std::vector<Value> values(boxes.size());
        for (std::uint32_t i = 0; i < boxes.size(); ++i) values[i] = {to_boost(boxes[i]), i};
        tree_ = bg::index::rtree<Value, bg::index::rstar<16>>(values);
    }
    void find(const Segment<2, float>& s, std::vector<std::uint32_t>& found) const {
        found.clear();
        for (auto it = tree_.qbegin(bg::index::intersects(to_boost(cells::bounds(s)))); it != tree_.qend(); ++it)
            if (cells::meets(s, boxes_[it->second])) found.push_back(it->second);
    }

  private:
    static BoostBox to_boost(const Box2f& b) { return {{b.lo[0], b.lo[1]}, {b.hi[0], b.hi[1]}}; }
    std::vector<Box2f> boxes_;
    bg::index::rtree<Value, bg::index::rstar<16>> tree_;
};
#endif

}  // namespace

int main(int argc, char** argv) {
    const auto segments = workloads::short_segments<2, float>(1000000, 8192, 16);
    papers::Report report({"objects", "hit_ratio", "hsh_ms", "multilevel_ms", "rtree_ms", "multi/hsh", "hsh_build_ms",
                           "multi_build_ms", "hsh_bytes", "multi_bytes", "memory_ratio"});
    for (const std::size_t n : {10, 30, 100, 200, 400, 700, 1000, 2000, 5000, 20000, 100000}) {
        const auto boxes = hsh::objects(n);
        const std::span<const Box2f> span(boxes);
        HierarchicalHash<2, float> hierarchical;
        MultilevelHash<2, float> multilevel;
        std::vector<double> build[2], query[3];
        Outcome outcome[3];
        for (int round = 0; round < (n <= 5000 ? 3 : 1); ++round) {
            build[0].push_back(papers::milliseconds([&] { hierarchical.build(span); }));
            build[1].push_back(papers::milliseconds([&] { multilevel.build(span); }));
            query[0].push_back(papers::milliseconds([&] { outcome[0] = ask(hierarchical, segments); }));
            query[1].push_back(papers::milliseconds([&] { outcome[1] = ask(multilevel, segments); }));
        }
        outcome[2] = outcome[0];
#if HAVE_RTREE
        Rtree rtree;
        rtree.build(boxes);
        if (n <= 5000) query[2].push_back(papers::milliseconds([&] { outcome[2] = ask(rtree, segments); }));
#endif
        if (outcome[0].meetings != outcome[1].meetings || outcome[0].meetings != outcome[2].meetings) {
            std::fprintf(stderr, "different answers at N = %zu\n", n);
            return 1;
        }
        const double a = papers::median(query[0]), b = papers::median(query[1]);
        const double bytes[2] = {static_cast<double>(hierarchical.stats().bytes),
                                 static_cast<double>(multilevel.stats().bytes)};
        report.row({static_cast<double>(n), static_cast<double>(outcome[0].met) / 1e6, a, b, papers::median(query[2]),
                    b / a, papers::median(build[0]), papers::median(build[1]), bytes[0], bytes[1],
                    bytes[0] / bytes[1]});
    }
    report.write(argc > 1 ? argv[1] : nullptr);
    return 0;
}
