#include "base/random.hpp"
#include "support/compare.hpp"
#include "support/scale.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase/kept_pairs.hpp>
#include <quadrat/broad_phase/pair_tracker.hpp>
#include <quadrat/cells/brute_force.hpp>

#include <quadrat/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace {

using namespace quadrat;
using test::same_self_pairs;

TEST(KeptPairs, AreThePairsOfEveryStep) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::calm, 2000);
    KeptPairs<3, float> kept;
    kept.insert(world.boxes());
    BruteForce<3, float> oracle;
    std::vector<Pair> expected, pairs;
    for (int step = 0; step < test::scaled(60, 12, 4); ++step) {
        oracle.build(world.boxes());
        oracle.find_pairs(expected);
        kept.find_pairs(pairs);
        ASSERT_TRUE(same_self_pairs(expected, pairs)) << "step " << step;
        world.step();
        kept.update(world.boxes());
    }
    EXPECT_LT(kept.stats().rebuilds, 10u);  // some boxes leave their fat box at every step
}

TEST(KeptPairs, BoxesThatJumpAreReplacedOneByOneAndManyAllAtOnce) {
    base::SplitMix random(5);
    workloads::MovingBoxes<2, double> world(workloads::BoxScene::sizes, 1000);
    std::vector<Box2d> boxes(world.boxes().begin(), world.boxes().end());
    KeptPairs<2, double> kept;
    kept.insert(boxes);
    BruteForce<2, double> oracle;
    std::vector<Pair> expected, pairs;
    const auto jump = [&](std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) {
            Box2d& box = boxes[random.below(boxes.size())];
            const Box2d& to = boxes[random.below(boxes.size())];
            for (int a = 0; a < 2; ++a) {
                box.hi[a] = to.lo[a] + (box.hi[a] - box.lo[a]);
                box.lo[a] = to.lo[a];
            }
        }
        kept.update(boxes);
        kept.find_pairs(pairs);
        oracle.build(boxes);
        oracle.find_pairs(expected);
        return same_self_pairs(expected, pairs);
    };
    for (int step = 0; step < 60; ++step) ASSERT_TRUE(jump(7)) << step;
    EXPECT_EQ(kept.stats().rebuilds, 1u);
    ASSERT_TRUE(jump(500));
    EXPECT_EQ(kept.stats().rebuilds, 2u);
    boxes[3].lo[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(kept.update(boxes), Error);
    std::vector<Pair> after;
    kept.find_pairs(after);
    EXPECT_EQ(after, pairs);  // an error leaves everything as it was
}

TEST(KeptPairs, TakeVelocitiesAndInfiniteBoxes) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<Box2d> boxes{{{0, 0}, {1, 1}}, {{3, 0}, {4, 1}}, {{-infinity, -1}, {infinity, 0}}};
    KeptPairs<2, double> kept({.margin = 0.01, .horizon = 10});
    kept.insert(boxes);
    const std::vector<Vec2d> velocities{{0.3, 0}, {0, 0}, {0, 0}};
    std::vector<Pair> pairs;
    for (int step = 0; step < 8; ++step) {
        boxes[0].lo[0] += 0.3;
        boxes[0].hi[0] += 0.3;
        kept.update(boxes, velocities);
        kept.find_pairs(pairs);
        EXPECT_EQ(pairs.size(), boxes[0].hi[0] >= 3 ? 3u : 2u);
    }
    EXPECT_EQ(kept.stats().rebuilds, 2u);
}

TEST(KeptPairs, BadVelocitiesAreNamedAndChangeNothing) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (const std::size_t n : {10u, 1000u}) {
        std::vector<Box3f> rest;
        for (std::size_t i = 0; i < n; ++i) rest.push_back({{2.f * float(i), 0, 0}, {2.f * float(i) + 1, 1, 1}});
        KeptPairs<3, float> kept({.horizon = 1});
        kept.insert(rest);
        auto moved = rest;
        moved[7] = moved[1];
        moved[9] = moved[2];
        std::vector<Vec3f> velocities(n, Vec3f{0, 0, 0});
        velocities[9][1] = nan;
        std::vector<Pair> pairs;
        try {
            kept.update(moved, velocities);
            FAIL();
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_value);
            EXPECT_EQ(e.where().index, 9u);
            EXPECT_EQ(e.where().field, "velocities");
        }
        kept.find_pairs(pairs);
        EXPECT_TRUE(pairs.empty());
        velocities[9][1] = infinity;  // swept to the end of the world
        for (int step = 0; step < 3; ++step) {
            kept.update(moved, velocities);
            kept.find_pairs(pairs);
            EXPECT_TRUE(same_self_pairs({{1, 7}, {2, 9}}, pairs));
        }
        KeptPairs<3, float> unswept;  // without a horizon velocities mean nothing
        unswept.insert(rest);
        unswept.update(moved, velocities);
        unswept.find_pairs(pairs);
        EXPECT_TRUE(same_self_pairs({{1, 7}, {2, 9}}, pairs));
    }
}

// Boxes that grew and shrank again lie in fat boxes that are far too large: their pairs must not gather.
TEST(KeptPairs, MemoryDoesNotGrowWithWhatWasOnceLarge) {
    const std::size_t n = 4096;
    std::vector<Box2f> small;
    for (std::size_t i = 0; i < n; ++i) {
        const float x = 3 * static_cast<float>(i % 64), y = 3 * static_cast<float>(i / 64);
        small.push_back({{x, y}, {x + 1, y + 1}});
    }
    KeptPairs<2, float> kept;
    kept.insert(small);
    std::vector<Pair> pairs;
    for (std::size_t first = 0; first < n; first += 32) {
        std::vector<Box2f> boxes = small;
        for (std::size_t i = first; i < first + 32; ++i) boxes[i] = {{-10, -10}, {300, 300}};
        kept.update(boxes);
        kept.find_pairs(pairs);
        EXPECT_EQ(pairs.size(), 32 * (n - 32) + 32 * 31 / 2);
        kept.update(small);
        kept.find_pairs(pairs);
        EXPECT_TRUE(pairs.empty());
        EXPECT_LT(kept.stats().candidates, 6 * 32 * n);
    }
}

TEST(KeptPairs, PairsOfSingleLeaversCountForTheLimit) {
    std::vector<Box2f> boxes;
    for (int i = 0; i < 1000; ++i) boxes.push_back({{3.f * float(i), 0}, {3.f * float(i) + 1, 1}});
    KeptPairs<2, float> kept({.max_bytes = 500 * sizeof(Pair)});
    kept.insert(boxes);
    const std::vector<Box2f> before = boxes;
    boxes[7] = {{0, 0}, {3000, 1}};
    try {
        kept.update(boxes);
        FAIL() << "accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::too_large);
    }
    EXPECT_LE(kept.stats().candidates, 500u);
    std::vector<Pair> pairs;
    kept.find_pairs(pairs);
    EXPECT_TRUE(pairs.empty());
    boxes[7] = {{0, 0}, {30, 1}};
    kept.update(boxes);
    kept.find_pairs(pairs);
    EXPECT_EQ(pairs.size(), 10u);
}

TEST(PairTracker, TellsWhatBeganWentOnAndEnded) {
    workloads::MovingBoxes<2, float> world(workloads::BoxScene::sizes, 800);
    HashGridHierarchy<2, float> grid;
    grid.insert(world.boxes());
    PairTracker tracker;
    std::set<Pair> before;
    std::vector<Pair> pairs;
    for (int step = 0; step < 5; ++step) {
        grid.find_pairs(pairs);
        tracker.update(pairs);
        const std::set<Pair> now(pairs.begin(), pairs.end());
        for (const Pair p : tracker.begun()) EXPECT_TRUE(now.count(p) && !before.count(p));
        for (const Pair p : tracker.persisting()) EXPECT_TRUE(now.count(p) && before.count(p));
        for (const Pair p : tracker.ended()) EXPECT_TRUE(!now.count(p) && before.count(p));
        EXPECT_EQ(tracker.begun().size() + tracker.persisting().size(), now.size());
        EXPECT_EQ(tracker.ended().size() + tracker.persisting().size(), before.size());
        before = now;
        world.step();
        grid.update(world.boxes());
    }
}

}  // namespace
