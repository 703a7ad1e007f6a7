// Boost's R-tree, bulk loaded at each step and asked for each box; CGAL's box intersection, which has no state.
#include "peer.hpp"

#include "cells/segment_test.hpp"

#include <CGAL/Box_intersection_d/Box_d.h>
#include <CGAL/box_intersection_d.h>
#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <boost/iterator/function_output_iterator.hpp>

namespace {

using quadrat::Box3f;
using quadrat::Pair;
namespace bg = boost::geometry;
namespace bgi = boost::geometry::index;
using Point = bg::model::point<float, 3, bg::cs::cartesian>;
using BgBox = bg::model::box<Point>;
using Value = std::pair<BgBox, std::uint32_t>;

BgBox to_boost(const Box3f& b) {
    return {{b.lo[0], b.lo[1], b.lo[2]}, {b.hi[0], b.hi[1], b.hi[2]}};
}

class Boost : public Peer {
  public:
    void setup(std::span<const Box3f> boxes) override { load(boxes); }
    void step(std::span<const Box3f> boxes, std::vector<Pair>& pairs) override {
        load(boxes);
        pairs.clear();
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            tree_.query(bgi::intersects(values_[i].first), boost::make_function_output_iterator([&](const Value& v) {
                            if (i < v.second) pairs.push_back({i, v.second});
                        }));
    }
    long query(std::span<const Box3f> queries) override {
        long hits = 0;
        for (const Box3f& q : queries)
            tree_.query(bgi::intersects(to_boost(q)),
                        boost::make_function_output_iterator([&](const Value&) { ++hits; }));
        return hits;
    }

    long query(std::span<const Segment3f> segments) override {
        long hits = 0;
        for (const Segment3f& s : segments) {
            const auto test = [&](const Value& v) {
                const Point &lo = v.first.min_corner(), &hi = v.first.max_corner();
                const Box3f box{{lo.get<0>(), lo.get<1>(), lo.get<2>()}, {hi.get<0>(), hi.get<1>(), hi.get<2>()}};
                hits += quadrat::cells::meets(s, box);
            };
            tree_.query(bgi::intersects(to_boost(quadrat::cells::bounds(s))),
                        boost::make_function_output_iterator(test));
        }
        return hits;
    }

  private:
    void load(std::span<const Box3f> boxes) {
        values_.resize(boxes.size());
        for (std::uint32_t i = 0; i < boxes.size(); ++i) values_[i] = {to_boost(boxes[i]), i};
        tree_ = Tree(values_);
    }
    using Tree = bgi::rtree<Value, bgi::quadratic<16>>;
    std::vector<Value> values_;
    Tree tree_;
};

class Cgal : public Peer {
    using CgalBox = CGAL::Box_intersection_d::Box_d<float, 3>;

  public:
    void setup(std::span<const Box3f>) override {}
    void step(std::span<const Box3f> boxes, std::vector<Pair>& pairs) override {
        boxes_.clear();
        for (const Box3f& b : boxes) {
            float lo[3] = {b.lo[0], b.lo[1], b.lo[2]}, hi[3] = {b.hi[0], b.hi[1], b.hi[2]};
            boxes_.emplace_back(lo, hi);
        }
        const auto first = boxes_.empty() ? 0 : boxes_.front().id();
        pairs.clear();
        CGAL::box_self_intersection_d(boxes_.begin(), boxes_.end(), [&](const CgalBox& x, const CgalBox& y) {
            const auto a = static_cast<std::uint32_t>(x.id() - first), b = static_cast<std::uint32_t>(y.id() - first);
            pairs.push_back({std::min(a, b), std::max(a, b)});
        });
    }

  private:
    std::vector<CgalBox> boxes_;
};

}  // namespace

std::unique_ptr<Peer> make_boost() {
    return std::make_unique<Boost>();
}
std::unique_ptr<Peer> make_cgal() {
    return std::make_unique<Cgal>();
}
