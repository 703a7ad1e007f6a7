// UniformHash and HierarchicalHash held against the oracle; MultilevelHash has the same test beside its module.
#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/uniform_hash.hpp>
#include <quadrat/error.hpp>

#include "base/random.hpp"
#include "cells/hash.hpp"
#include "cells/segment_test.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/properties.hpp"
#include "support/scale.hpp"
#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

namespace quadrat {
namespace {

template <class P>
class HashStructures : public testing::Test {};

TYPED_TEST_SUITE(HashStructures, test::Kinds);

using Table = HierarchicalHashOptions::Table;

/// All the ways to set up the hierarchical hash.
std::vector<HierarchicalHashOptions> variants() {
    return {{},
            {.table = Table::fixed},
            {.table = Table::fixed, .length = 7},
            {.table_per_class = true},
            {.smallest = 0.5, .levels = 3},
            {.smallest = 1, .levels = 1, .table = Table::fixed, .length = 50, .table_per_class = true}};
}

template <class Structure, class Boxes>
std::vector<Pair> pairs_of(Structure& structure, const Boxes& boxes) {
    structure.build(boxes);
    std::vector<Pair> pairs, streamed;
    structure.find_pairs(pairs);
    structure.for_each_pair([&](Pair p) { streamed.push_back(p); });
    EXPECT_EQ(pairs, streamed);
    return pairs;
}

TYPED_TEST(HashStructures, PairsOfHostileBoxes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    UniformHash<D, T> uniform;
    UniformHash<D, T> coarse({.cell_size = 2.5});
    std::vector<HierarchicalHash<D, T>> hierarchical;
    for (const auto& options : variants()) hierarchical.emplace_back(options);
    for (const auto& scene : workloads::hostile_boxes<D, T>()) {
        const std::span<const Box<D, T>> boxes(scene.boxes);
        const auto expected = test::oracle_pairs(boxes);
        EXPECT_TRUE(test::same_self_pairs(expected, pairs_of(uniform, boxes))) << scene.name;
        EXPECT_TRUE(test::same_self_pairs(expected, pairs_of(coarse, boxes))) << scene.name;
        for (std::size_t v = 0; v < hierarchical.size(); ++v)
            EXPECT_TRUE(test::same_self_pairs(expected, pairs_of(hierarchical[v], boxes))) << scene.name << " " << v;
        const auto half = boxes.size() / 2;
        std::vector<Pair> pairs;
        uniform.find_pairs(boxes.first(half), boxes.subspan(half), pairs);
        EXPECT_TRUE(test::same_pairs(test::oracle_pairs(boxes.first(half), boxes.subspan(half)), pairs)) << scene.name;
    }
}

TYPED_TEST(HashStructures, PairsOfTheSharedScenes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    UniformHash<D, T> uniform;
    HierarchicalHash<D, T> hierarchical;
    for (const char* name : {"B1", "B2", "B3", "B4", "B6"}) {
        workloads::MovingBoxes<D, T> world(*workloads::box_scene(name), 1500);
        for (int step = 0; step < 2; ++step, world.step()) {
            const auto expected = test::oracle_pairs(world.boxes());
            EXPECT_TRUE(test::same_self_pairs(expected, pairs_of(uniform, world.boxes()))) << name;
            EXPECT_TRUE(test::same_self_pairs(expected, pairs_of(hierarchical, world.boxes()))) << name;
        }
    }
}

TYPED_TEST(HashStructures, QueriesFindWhatALoopFinds) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    base::SplitMix random(3);
    std::vector<HierarchicalHash<D, T>> hierarchical;
    for (const auto& options : variants()) hierarchical.emplace_back(options);
    for (const auto& scene : workloads::hostile_boxes<D, T>()) {
        for (auto& h : hierarchical) h.build(std::span<const Box<D, T>>(scene.boxes));
        for (int i = 0; i < 40; ++i) {
            Segment<D, T> s;
            for (int k = 0; k < D; ++k) {
                s.a[k] = static_cast<T>(random.uniform(-3, 12));
                s.b[k] = s.a[k] + static_cast<T>(random.uniform(-1, 1) * (i % 4 == 0 ? 1e6 : i % 4));
            }
            // Corners of boxes, too: exact touching.
            if (i % 5 == 0 && !scene.boxes.empty())
                for (int k = 0; k < D; ++k)
                    if (const T x = scene.boxes[random.below(scene.boxes.size())].hi[k]; std::abs(x) < 1e30) s.a[k] = x;
            const Box<D, T> box = cells::bounds(s);
            const Box<D, T> point{s.a, s.a};
            std::vector<std::uint32_t> by_box, by_segment, by_point;
            for (std::uint32_t o = 0; o < scene.boxes.size(); ++o) {
                if (test::oracle_overlap(scene.boxes[o], box)) by_box.push_back(o);
                if (test::oracle_overlap(scene.boxes[o], point)) by_point.push_back(o);
                if (cells::meets(s, scene.boxes[o])) by_segment.push_back(o);
            }
            for (const auto& h : hierarchical) {
                std::vector<std::uint32_t> found;
                const auto sorted = [&] {
                    std::sort(found.begin(), found.end());
                    return found;
                };
                h.find(box, found);
                EXPECT_EQ(sorted(), by_box) << scene.name;
                h.find(s.a, found);
                EXPECT_EQ(sorted(), by_point) << scene.name;
                h.find(s, found);
                EXPECT_EQ(sorted(), by_segment) << scene.name;
            }
        }
    }
}

TYPED_TEST(HashStructures, NeighboursOfHostilePoints) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    UniformHash<D, T> uniform;
    for (const auto& scene : workloads::hostile_points<D, T>()) {
        const std::span<const Vec<D, T>> points(scene.points);
        const auto expected = test::oracle_neighbors(points, scene.radius);
        NeighborList list;
        uniform.find_neighbors(points, scene.radius, list);
        EXPECT_TRUE(test::same_rows(expected, test::to_rows(list))) << scene.name;
        const auto half = points.size() / 2;
        uniform.find_neighbors(points.first(half), points.subspan(half), scene.radius, list);
        EXPECT_TRUE(test::same_rows(test::oracle_neighbors(points.first(half), points.subspan(half), scene.radius),
                                    test::to_rows(list)))
            << scene.name;
        for (const int levels : {1, 2, 4}) {
            HierarchicalHash<D, T> hierarchical({.particle_levels = levels});
            hierarchical.find_neighbors(points, scene.radius, list);
            EXPECT_TRUE(test::same_rows(expected, test::to_rows(list))) << scene.name << " " << levels;
        }
    }
}

TEST(HashScenes, NeighboursOfTheSharedScenes) {
    for (const char* name : {"W1", "W2", "W3", "shell", "clustered"}) {
        const workloads::MovingPoints<3, float> world(*workloads::point_scene(name), test::scaled(2000, 1000, 500));
        const auto expected = test::oracle_neighbors(world.points(), world.radius());
        NeighborList list;
        UniformHash<3, float>().find_neighbors(world.points(), world.radius(), list);
        EXPECT_TRUE(test::same_rows(expected, test::to_rows(list))) << name;
        HierarchicalHash<3, float>().find_neighbors(world.points(), world.radius(), list);
        EXPECT_TRUE(test::same_rows(expected, test::to_rows(list))) << name;
    }
}

TEST(HashScenes, SameForAnyNumberOfThreads) {
    const workloads::MovingBoxes<3, float> boxes(workloads::BoxScene::sizes, 10000);
    const workloads::MovingPoints<3, float> points(workloads::PointScene::sparse, 20000);
    std::vector<Pair> uniform_pairs, hierarchical_pairs, pairs;
    NeighborList uniform_list, hierarchical_list, list;
    UniformHash<3, float> uniform;
    HierarchicalHash<3, float> hierarchical;
    uniform.build(boxes.boxes());
    uniform.find_pairs(uniform_pairs);
    hierarchical.build(boxes.boxes());
    hierarchical.find_pairs(hierarchical_pairs);
    EXPECT_TRUE(test::same_self_pairs(uniform_pairs, hierarchical_pairs));
    uniform.find_neighbors(points.points(), points.radius(), uniform_list);
    hierarchical.find_neighbors(points.points(), points.radius(), hierarchical_list);
    for (const unsigned threads : {2u, 7u}) {
        ThreadExecutor pool(threads);
        UniformHash<3, float> u({.executor = &pool});
        HierarchicalHash<3, float> h({.executor = &pool});
        u.build(boxes.boxes());
        u.find_pairs(pairs);
        EXPECT_EQ(pairs, uniform_pairs);
        h.build(boxes.boxes());
        h.find_pairs(pairs);
        EXPECT_EQ(pairs, hierarchical_pairs);
        u.find_neighbors(points.points(), points.radius(), list);
        EXPECT_EQ(test::to_rows(list), test::to_rows(uniform_list));
        h.find_neighbors(points.points(), points.radius(), list);
        EXPECT_EQ(test::to_rows(list), test::to_rows(hierarchical_list));
        EXPECT_EQ(h.stats().tests, hierarchical.stats().tests);
    }
}

// HSH figure 3, with n = infinity and classes of 1, 2 and 4: object A over the four cells of class 2 around (4, 4), and
// object B over the four cells of class 0 around (6, 1). The figure writes cells by their lower left corner; (5, O)
// reads (5, 0).
TEST(HierarchicalHash, KeysOfFigure3) {
    const std::vector<Box2f> boxes = {{{1.5f, 1.6f}, {6.5f, 6.4f}}, {{5.5f, 0.5f}, {6.5f, 1.5f}}};
    HierarchicalHash<2, float> hash({.smallest = 1, .levels = 3});
    hash.build(std::span<const Box2f>(boxes));
    // h at class c of the cell with this corner.
    const auto h = [](int c, std::int64_t x, std::int64_t y) { return cells::xor_hash<2>({x >> c, y >> c}); };
    const auto h2 = [&](int x, int y) { return h(2, x, y); };
    const auto h1 = [&](int x, int y) { return h2(x, y) + h(1, x, y); };
    const auto h0 = [&](int x, int y) { return h1(x, y) + h(0, x, y); };
    struct Row {
        std::uint64_t key;
        bool has_children;
        std::vector<std::uint32_t> objects;
    };
    std::vector<Row> figure = {{h2(0, 0), false, {0}}, {h2(4, 0), true, {0}},  {h2(0, 4), false, {0}},
                               {h2(4, 4), false, {0}}, {h1(4, 0), true, {}},   {h1(6, 0), true, {}},
                               {h0(5, 1), false, {1}}, {h0(5, 0), false, {1}}, {h0(6, 1), false, {1}},
                               {h0(6, 0), false, {1}}};
    std::sort(figure.begin(), figure.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
    const auto cells = hash.cells();
    ASSERT_EQ(cells.size(), figure.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        EXPECT_EQ(cells[i].key, figure[i].key) << i;
        EXPECT_EQ(cells[i].has_children, figure[i].has_children) << i;
        EXPECT_EQ(cells[i].objects, figure[i].objects) << i;
    }
    // The same keys as numbers: 73856093 (x) and 19349663 (y) times the cell's coordinates, added up from class 2.
    EXPECT_EQ(h2(4, 0), 73856093u);
    EXPECT_EQ(h1(6, 0), 73856093u + 3u * 73856093u);
    EXPECT_EQ(h0(5, 1), 73856093u + 2u * 73856093u + ((5u * 73856093u) ^ 19349663u));
    std::vector<std::uint32_t> found;
    hash.find(Vec2f{5.5f, 0.75f}, found);  // P meets B (and visits A's cell)
    EXPECT_EQ(found, (std::vector<std::uint32_t>{1}));
    hash.find(Vec2f{3.f, 5.f}, found);  // Q meets A
    EXPECT_EQ(found, (std::vector<std::uint32_t>{0}));
}

TEST(HierarchicalHash, MovingElementsAreFoundAllAlongTheirPath) {
    const std::vector<Box2d> start = {{{0, 0}, {1, 1}}, {{50, 0}, {51, 1}}};
    const std::vector<Box2d> end = {{{100, 0}, {101, 1}}, {{50, 40}, {51, 41}}};
    HierarchicalHash<2, double> hash;
    hash.build(std::span<const Box2d>(start), std::span<const Box2d>(end));
    std::vector<Pair> pairs;
    hash.find_pairs(pairs);
    EXPECT_EQ(pairs, (std::vector<Pair>{{0, 1}}));
    std::vector<std::uint32_t> found;
    hash.find(Vec2d{70, 0.5}, found);
    EXPECT_EQ(found, (std::vector<std::uint32_t>{0}));
    EXPECT_THROW(hash.build(std::span<const Box2d>(start), std::span<const Box2d>(end).first(1)), Error);
}

TEST(HierarchicalHash, BadInputLeavesItAsItWas) {
    HierarchicalHash<2, float> hash;
    const std::vector<Box2f> good = {{{0, 0}, {1, 1}}, {{1, 1}, {2, 2}}};
    std::vector<Box2f> bad = good;
    bad[1].lo[1] = std::numeric_limits<float>::quiet_NaN();
    hash.build(std::span<const Box2f>(good));
    EXPECT_THROW(hash.build(std::span<const Box2f>(bad)), Error);
    std::vector<Pair> pairs;
    hash.find_pairs(pairs);
    EXPECT_EQ(pairs, (std::vector<Pair>{{0, 1}}));
    EXPECT_THROW((HierarchicalHash<2, float>({.levels = 63})), Error);
    EXPECT_THROW((HierarchicalHash<2, float>({.smallest = -1})), Error);
}

TEST(HierarchicalHash, AgreesWithTheOracleOnAnything) {
    test::check("pairs equal the oracle's", [] {
        const auto boxes = *test::boxes<2, float>(3);
        for (const auto& options : variants()) {
            HierarchicalHash<2, float> hash(options);
            hash.build(std::span<const Box2f>(boxes));
            std::vector<Pair> pairs;
            hash.find_pairs(pairs);
            std::sort(pairs.begin(), pairs.end());
            RC_ASSERT(pairs == test::oracle_pairs(std::span<const Box2f>(boxes)));
        }
    });
}

}  // namespace
}  // namespace quadrat
