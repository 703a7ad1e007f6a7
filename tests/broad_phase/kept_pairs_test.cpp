#include "base/scenes.hpp"
#include "support/compare.hpp"

#include <quadrat/broad_phase/kept_pairs.hpp>
#include <quadrat/broad_phase/pair_tracker.hpp>
#include <quadrat/cells/brute_force.hpp>

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace quadrat;
using test::same_self_pairs;

TEST(KeptPairs, AreThePairsOfEveryStep) {
    base::MovingBoxes<3, float> world(base::BoxScene::calm, 2000);
    KeptPairs<3, float> kept;
    kept.insert(world.boxes());
    BruteForce<3, float> oracle;
    std::vector<Pair> expected, pairs;
    for (int step = 0; step < 25; ++step) {
        oracle.build(world.boxes());
        oracle.find_pairs(expected);
        kept.find_pairs(pairs);
        ASSERT_TRUE(same_self_pairs(expected, pairs)) << "step " << step;
        world.step();
        kept.update(world.boxes());
    }
    EXPECT_GT(kept.rebuilds(), 1u);   // something left its fat box
    EXPECT_LT(kept.rebuilds(), 26u);  // but not at every step
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
    EXPECT_EQ(kept.rebuilds(), 2u);
}

TEST(PairTracker, TellsWhatBeganWentOnAndEnded) {
    base::MovingBoxes<2, float> world(base::BoxScene::sizes, 800);
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
