// What rests: pairs, queries, edits and cost, beside brute force. Sequences of edits by chance are in edits_test.cpp.
#include "base/random.hpp"
#include "base/simd.hpp"
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/scale.hpp"
#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace quadrat::resting_test {
namespace {

using test::same_self_pairs;

template <int D, class T>
std::vector<Pair> pairs_of_awake(std::span<const Box<D, T>> boxes, const std::vector<bool>& asleep) {
    std::vector<Pair> pairs = test::oracle_pairs(boxes);
    std::erase_if(pairs, [&](const Pair& p) { return asleep[p.first] && asleep[p.second]; });
    return pairs;
}

template <class K>
class Resting : public testing::Test {};
TYPED_TEST_SUITE(Resting, test::Kinds);

TYPED_TEST(Resting, OnlyPairsWithSomethingAwake) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const std::size_t n = test::scaled(6000, 3000, 1500);
    for (const auto scene : {workloads::BoxScene::equal, workloads::BoxScene::mix})
        for (const std::uint32_t awake_share : {2u, 100u}) {
            workloads::MovingBoxes<D, T> world(scene, n);
            std::vector<Box<D, T>> boxes(world.boxes().begin(), world.boxes().end());
            HashGridHierarchy<D, T> grid;
            std::vector<Id> ids, still, moving;
            grid.insert(world.boxes(), ids);
            std::vector<bool> asleep(n, false);
            for (std::uint32_t i = 0; i < n; ++i) {
                asleep[i] = i % awake_share != 0;
                (asleep[i] ? still : moving).push_back(ids[i]);
            }
            grid.rest(still);
            EXPECT_EQ(grid.stats().resting, still.size());
            std::vector<Pair> pairs;
            std::vector<std::uint32_t> hits;
            for (int round = 0; round < 3; ++round) {
                world.step();
                std::vector<Box<D, T>> moved;
                for (const Id id : moving) moved.push_back(boxes[id.slot] = world.boxes()[id.slot]);
                if (round == 1)  // entries of what rests may be anything
                    grid.update(world.boxes());
                else
                    grid.move(moving, moved);
                const auto expected = pairs_of_awake(std::span<const Box<D, T>>(boxes), asleep);
                base::for_each_simd_target([&] {
                    grid.find_pairs(pairs);
                    EXPECT_TRUE(same_self_pairs(expected, pairs)) << round;
                });
                std::vector<Pair> streamed;
                grid.for_each_pair([&](const Pair& p) { streamed.push_back(p); });
                EXPECT_TRUE(streamed == pairs);
                grid.find(boxes[1], hits);
                std::sort(hits.begin(), hits.end());
                std::vector<std::uint32_t> overlapping;
                for (std::uint32_t i = 0; i < n; ++i)
                    if (test::oracle_overlap(boxes[i], boxes[1])) overlapping.push_back(i);
                EXPECT_EQ(hits, overlapping);
            }
            grid.wake(still);
            EXPECT_EQ(grid.stats().resting, 0u);
            grid.find_pairs(pairs);
            EXPECT_TRUE(same_self_pairs(test::oracle_pairs(std::span<const Box<D, T>>(boxes)), pairs));
        }
}

// Few awake among many at rest, with filters on both: groups and masks by chance, and some that meet nothing.
TYPED_TEST(Resting, FewAwakeWithFilters) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const std::size_t n = test::scaled(4000, 2000, 1000);
    const workloads::MovingBoxes<D, T> world(workloads::BoxScene::equal, n);
    HashGridHierarchy<D, T> grid;
    std::vector<Id> ids, still;
    grid.insert(world.boxes(), ids);
    std::vector<bool> asleep(n);
    std::vector<Filter> filters(n);
    base::SplitMix random(7);
    for (std::size_t i = 0; i < n; ++i) {
        asleep[i] = i % 20 != 0;
        if (asleep[i]) still.push_back(ids[i]);
        filters[i] = {static_cast<std::uint32_t>(random.below(4)), static_cast<std::uint32_t>(random.below(8))};
        grid.set_filter(ids[i], filters[i]);
    }
    grid.rest(still);
    grid.update(world.boxes());
    const std::vector<Pair> unfiltered = pairs_of_awake(world.boxes(), asleep);
    std::vector<Pair> pairs;
    const auto expect_filtered = [&] {
        std::vector<Pair> expected = unfiltered;
        std::erase_if(expected, [&](const Pair& p) {
            const Filter &a = filters[p.first], &b = filters[p.second];
            return (a.group & b.mask) == 0 || (b.group & a.mask) == 0;
        });
        EXPECT_GT(expected.size(), 0u);
        EXPECT_LT(expected.size(), unfiltered.size());
        grid.find_pairs(pairs);
        EXPECT_TRUE(same_self_pairs(expected, pairs));
    };
    expect_filtered();
    // What changes its filter where it rests is seen, without an update.
    const auto with_rest =
        std::find_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return asleep[p.first] || asleep[p.second]; });
    ASSERT_NE(with_rest, pairs.end());
    const Pair changed = *with_rest;
    const std::uint32_t at_rest = asleep[changed.first] ? changed.first : changed.second;
    filters[at_rest] = {.group = 0, .mask = 0};
    grid.set_filter(ids[at_rest], filters[at_rest]);
    expect_filtered();
    EXPECT_EQ(std::count(pairs.begin(), pairs.end(), changed), 0);
}

TYPED_TEST(Resting, TheSameBytesForAnyNumberOfThreads) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const std::size_t n = test::scaled(60'000, 24'000, 18'000);
    workloads::MovingBoxes<D, T> world(workloads::BoxScene::equal, n);
    std::vector<Pair> first, between;
    for (const unsigned threads : {1u, 2u, 7u}) {
        const auto executor = make_executor(threads);
        HashGridHierarchy<D, T> grid({.executor = executor.get()}), other({.executor = executor.get()});
        std::vector<Id> ids;
        grid.insert(world.boxes(), ids);
        other.insert(world.boxes().first(n / 2));
        grid.rest(std::span<const Id>(ids).first(n / 2));
        grid.update(world.boxes());
        std::vector<Pair> pairs, both;
        grid.find_pairs(pairs);
        find_pairs(grid, other, both);
        if (threads == 1) {
            first = pairs;
            between = both;
        }
        EXPECT_FALSE(pairs.empty());
        EXPECT_FALSE(both.empty());
        EXPECT_TRUE(pairs == first) << threads;
        EXPECT_TRUE(both == between) << threads;
    }
}

// A step in which little moves makes few tests, and does not sort what rests again.
TEST(RestingRules, CostsNoTests) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, 50'000);
    HashGridHierarchy<3, float> grid;
    std::vector<Id> ids, still, moving;
    grid.insert(world.boxes(), ids);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    const std::uint64_t all = grid.stats().tests;
    std::vector<Box3f> boxes;
    for (std::uint32_t i = 0; i < ids.size(); ++i) (i % 100 == 0 ? moving : still).push_back(ids[i]);
    for (const Id id : moving) boxes.push_back(world.boxes()[id.slot]);
    grid.rest(still);
    grid.move(moving, boxes);
    grid.find_pairs(pairs);
    EXPECT_LT(grid.stats().tests * 8, all);
    EXPECT_EQ(grid.stats().loose, 0u);
}

TEST(RestingRules, HalfSpacesAndInfiniteBoxes) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    HashGridHierarchy<2, float> grid;
    const Id floor = grid.insert(HalfSpace<2, float>{{{0, 1}}, 0});
    const Id wall = grid.insert(Box2f{{{-infinity, -infinity}}, {{0, infinity}}});
    const Id body = grid.insert(Box2f{{{-1, -1}}, {{1, 1}}});
    const auto count = [&] {
        std::vector<Pair> pairs;
        grid.find_pairs(pairs);
        return pairs.size();
    };
    EXPECT_EQ(count(), 3u);
    grid.rest(std::vector<Id>{floor, wall});
    EXPECT_EQ(count(), 2u);
    grid.update(std::vector<Box2f>{{}, {}, {{{5, 5}}, {{6, 6}}}});
    EXPECT_EQ(count(), 0u);
    grid.update(std::vector<Box2f>{{}, {}, {{{-1, -1}}, {{6, 6}}}});
    EXPECT_EQ(count(), 2u);
    grid.rest(std::vector<Id>{body});
    EXPECT_EQ(count(), 0u);
    grid.wake(std::vector<Id>{floor});
    EXPECT_EQ(count(), 2u);
    grid.move(body, Box2f{{{-1, -1}}, {{1, 1}}});
    EXPECT_FALSE(grid.resting(body));
    EXPECT_EQ(count(), 3u);
}

TEST(BatchEdits, NameTheBadOneAndChangeNothing) {
    HashGridHierarchy<3, float> grid;
    const Box3f cube{{0, 0, 0}, {1, 1, 1}};
    std::vector<Id> ids;
    grid.insert(std::vector<Box3f>(5, cube), ids);
    ASSERT_EQ(ids.size(), 5u);
    const auto where = [&](ErrorKind kind, auto&& call) {
        const Error e = test::thrown_by(call);
        EXPECT_EQ(e.kind(), kind);
        return e.where().index;
    };
    const std::vector<Id> twice{ids[1], ids[3], ids[1]}, bad{ids[0], Id{}};
    EXPECT_EQ(where(ErrorKind::stale_id, [&] { grid.erase(twice); }), 2u);
    EXPECT_EQ(where(ErrorKind::stale_id, [&] { grid.erase(bad); }), 1u);
    EXPECT_EQ(where(ErrorKind::stale_id, [&] { grid.rest(bad); }), 1u);
    EXPECT_EQ(where(ErrorKind::stale_id, [&] { grid.wake(bad); }), 1u);
    EXPECT_EQ(where(ErrorKind::stale_id, [&] { grid.move(bad, std::vector<Box3f>(2, cube)); }), 1u);
    where(ErrorKind::bad_shape, [&] { grid.move(ids, std::vector<Box3f>(2, cube)); });
    std::vector<Box3f> boxes(5, cube);
    boxes[3].lo[1] = 2;
    EXPECT_EQ(where(ErrorKind::bad_value, [&] { grid.move(ids, boxes); }), 3u);
    EXPECT_EQ(grid.size(), 5u);
    EXPECT_EQ(grid.stats().resting, 0u);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    EXPECT_EQ(pairs.size(), 10u);
    grid.erase(std::vector<Id>{ids[4], ids[0]});
    EXPECT_EQ(grid.size(), 3u);
    grid.find_pairs(pairs);
    EXPECT_EQ(pairs.size(), 3u);
}

// One box among many does not sort the many again.
TEST(BatchEdits, AFewOfThemAreLoose) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, 20'000);
    HashGridHierarchy<3, float> grid;
    std::vector<Id> ids, come;
    grid.insert(world.boxes(), ids);
    grid.insert(world.boxes().first(3), come);
    EXPECT_EQ(grid.stats().loose, 3u);
    EXPECT_EQ(come[0].slot, 20'000u);
    grid.move(std::vector<Id>{ids[5]}, world.boxes().first(1));
    EXPECT_EQ(grid.stats().loose, 4u);
    grid.insert(world.boxes().first(5000), come);
    EXPECT_EQ(grid.stats().loose, 0u);
    EXPECT_EQ(grid.size(), 25'003u);
}

}  // namespace
}  // namespace quadrat::resting_test
