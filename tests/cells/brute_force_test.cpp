#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/uniform_hash.hpp>
#include <quadrat/error.hpp>
#include <quadrat/neighbors/extended_spatial_hash.hpp>

#include "base/simd.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/properties.hpp"
#include "support/scale.hpp"
#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace quadrat {
namespace {

template <class P>
class BruteForceTest : public testing::Test {};

TYPED_TEST_SUITE(BruteForceTest, test::Kinds);

TYPED_TEST(BruteForceTest, PairsOfHostileBoxesOnEveryTarget) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto& scene : workloads::hostile_boxes<D, T>()) {
        const std::span<const Box<D, T>> boxes(scene.boxes);
        const auto expected = test::oracle_pairs(boxes);
        const auto half = boxes.size() / 2;
        const auto between = test::oracle_pairs(boxes.first(half), boxes.subspan(half));
        base::for_each_simd_target([&] {
            BruteForce<D, T> brute;
            brute.build(boxes);
            std::vector<Pair> pairs;
            brute.find_pairs(pairs);
            EXPECT_EQ(pairs, expected) << scene.name;
            std::vector<Pair> streamed;
            brute.for_each_pair([&](Pair p) { streamed.push_back(p); });
            EXPECT_EQ(streamed, expected) << scene.name;
            brute.find_pairs(boxes.first(half), boxes.subspan(half), pairs);
            EXPECT_EQ(pairs, between) << scene.name;
        });
    }
}

TYPED_TEST(BruteForceTest, NeighboursOfHostilePointsOnEveryTarget) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto& scene : workloads::hostile_points<D, T>()) {
        const std::span<const Vec<D, T>> points(scene.points);
        const auto expected = test::oracle_neighbors(points, scene.radius);
        const auto half = points.size() / 2;
        const auto between = test::oracle_neighbors(points.first(half), points.subspan(half), scene.radius);
        base::for_each_simd_target([&] {
            BruteForce<D, T> brute;
            brute.build(points);
            NeighborList list;
            brute.find_neighbors(scene.radius, list);
            EXPECT_EQ(test::to_rows(list), expected) << scene.name;
            brute.find_neighbors(points.first(half), points.subspan(half), scene.radius, list);
            EXPECT_EQ(test::to_rows(list), between) << scene.name;
        });
    }
}

TEST(BruteForce, SameForAnyNumberOfThreads) {
    const workloads::MovingBoxes<3, float> boxes(workloads::BoxScene::sizes, test::scaled(3000, 1500));
    const workloads::MovingPoints<3, float> points(workloads::PointScene::uniform, test::scaled(3000, 1500));
    std::vector<Pair> expected;
    BruteForce<3, float> serial;
    serial.build(boxes.boxes());
    serial.find_pairs(expected);
    EXPECT_TRUE(test::same_self_pairs(test::oracle_pairs(boxes.boxes()), expected));
    NeighborList list;
    serial.build(points.points());
    serial.find_neighbors(points.radius(), list);
    const auto rows = test::to_rows(list);
    for (const unsigned threads : {2u, 7u}) {
        ThreadExecutor pool(threads);
        BruteForce<3, float> brute({.executor = &pool});
        brute.build(boxes.boxes());
        std::vector<Pair> pairs;
        brute.find_pairs(pairs);
        EXPECT_EQ(pairs, expected);
        brute.build(points.points());
        brute.find_neighbors(points.radius(), list);
        EXPECT_EQ(test::to_rows(list), rows);
    }
}

TEST(BruteForce, BadInputLeavesItAsItWas) {
    BruteForce<2, float> brute;
    const std::vector<Box2f> good = {{{0, 0}, {1, 1}}, {{1, 1}, {2, 2}}};
    std::vector<Box2f> bad = good;
    bad[1].hi[0] = 0;
    brute.build(std::span<const Box2f>(good));
    EXPECT_THROW(brute.build(std::span<const Box2f>(bad)), Error);
    std::vector<Pair> pairs;
    brute.find_pairs(pairs);
    EXPECT_EQ(pairs, (std::vector<Pair>{{0, 1}}));
    NeighborList list;
    EXPECT_THROW(brute.find_neighbors({}, {}, 0.f, list), Error);
}

TEST(BruteForce, AgreesWithTheOracleOnAnything) {
    test::check("pairs equal the oracle's", [] {
        const auto boxes = *test::boxes<3, float>(3);
        BruteForce<3, float> brute;
        brute.build(std::span<const Box3f>(boxes));
        std::vector<Pair> pairs;
        brute.find_pairs(pairs);
        RC_ASSERT(pairs == test::oracle_pairs(std::span<const Box3f>(boxes)));
    });
}

ErrorKind kind_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& e) {
        return e.kind();
    }
    return ErrorKind::stopped;
}

TEST(BruteForce, SaysWhatItHoldsAndRefusesTheOther) {
    const std::vector<Box2f> boxes(3, Box2f{{{0, 0}}, {{1, 1}}});
    const std::vector<Vec2f> points(4, Vec2f{{1, 2}});
    BruteForce<2, float> all;
    std::vector<Pair> pairs;
    NeighborList list;
    all.find_pairs(pairs);
    all.find_neighbors(1.0f, list);
    EXPECT_TRUE(pairs.empty());
    EXPECT_EQ(list.size(), 0u);
    all.build(std::span<const Box2f>(boxes));
    EXPECT_EQ(all.stats().objects, 3u);
    EXPECT_GE(all.stats().bytes, sizeof(Box2f) * 3);
    EXPECT_EQ(kind_of([&] { all.find_neighbors(1.0f, list); }), ErrorKind::bad_shape);
    all.build(std::span<const Vec2f>(points));
    EXPECT_EQ(kind_of([&] { all.find_pairs(pairs); }), ErrorKind::bad_shape);
    EXPECT_EQ(kind_of([&] { all.for_each_pair([](const Pair&) {}); }), ErrorKind::bad_shape);
}

// 12 entries in 4 rows: 80 bytes.
TEST(NeighborLimits, HoldInEveryStructure) {
    const std::vector<Vec2f> points(4, Vec2f{{1, 2}});
    const std::span<const Vec2f> view(points);
    for (const std::size_t most : {std::size_t{79}, std::size_t{80}}) {
        const ErrorKind expected = most < 80 ? ErrorKind::too_large : ErrorKind::stopped;
        NeighborList list;
        const auto check = [&](const std::function<void()>& call) {
            EXPECT_EQ(kind_of(call), expected) << most;
            EXPECT_EQ(list.size(), most < 80 ? 0u : 4u) << most;
        };
        BruteForce<2, float> all({.max_bytes = most});
        all.build(view);
        check([&] { all.find_neighbors(1.0f, list); });
        UniformHash<2, float> uniform({.max_bytes = most});
        check([&] { uniform.find_neighbors(view, 1.0f, list); });
        HierarchicalHash<2, float> hierarchical({.max_bytes = most});
        check([&] { hierarchical.find_neighbors(view, 1.0f, list); });
        ExtendedSpatialHash<2, float> extended({.radius = 1, .max_bytes = most});
        extended.build(view);
        check([&] { extended.find_neighbors(list); });
    }
}

TEST(UniformHash, HasNoNeighboursBeforeItIsBuilt) {
    const std::vector<Vec2f> queries(2, Vec2f{{1, 2}});
    const UniformHash<2, float> hash;
    NeighborList list;
    EXPECT_TRUE(list.offsets().empty());
    hash.find_neighbors(list);
    EXPECT_EQ(list.size(), 0u);
    EXPECT_EQ(list.offsets().size(), 1u);
    hash.find_neighbors(queries, list);
    EXPECT_EQ(list.size(), 2u);
    EXPECT_EQ(list.stats().entries, 0u);
}

}  // namespace
}  // namespace quadrat
