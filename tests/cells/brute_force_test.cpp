#include <quadrat/cells/brute_force.hpp>
#include <quadrat/error.hpp>

#include "base/simd.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/properties.hpp"
#include "support/scale.hpp"
#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace quadrat
