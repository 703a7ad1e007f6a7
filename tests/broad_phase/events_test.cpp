// PairEvents beside sets of pairs that are compared by the book: every step, thread count and target, crowds whose rows
// overflow, slots that change their object.
#include "base/simd.hpp"
#include "support/scale.hpp"
#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

namespace quadrat::events_test {
namespace {

using Grid = HashGridHierarchy<3, float>;
using Names = std::set<std::array<std::uint32_t, 4>>;  // slots and generations

Names names(std::span<const IdPair> pairs) {
    Names set;
    for (const auto& [a, b] : pairs) {
        EXPECT_LT(a.slot, b.slot);
        EXPECT_TRUE(set.insert({a.slot, b.slot, a.generation, b.generation}).second) << "twice";
    }
    return set;
}

Names names_of(const Grid& grid, std::span<const Pair> pairs) {
    std::vector<IdPair> ids;
    for (const Pair& p : pairs) ids.push_back({grid.id(p.first), grid.id(p.second)});
    return names(ids);
}

Names without(const Names& a, const Names& b) {
    Names rest;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
    return rest;
}

/// Finds the events of a step and compares them with the pairs of this and the last one.
void check(const Grid& grid, PairEvents& events, Names& before) {
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    const Names now = names_of(grid, pairs);
    grid.find_events(events);
    EXPECT_TRUE(names(events.begun()) == without(now, before));
    EXPECT_TRUE(names(events.ended()) == without(before, now));
    EXPECT_TRUE(names_of(grid, events.persisting()) == without(now, without(now, before)));
    EXPECT_EQ(events.stats().pairs, pairs.size());
    before = now;
}

TEST(PairEvents, AreTheDifferencesOfSteps) {
    for (const auto scene : {workloads::BoxScene::equal, workloads::BoxScene::mix, workloads::BoxScene::clustered}) {
        workloads::MovingBoxes<3, float> world(scene, test::scaled(5000, 2000, 800));
        Grid grid;
        PairEvents events;
        Names before;
        grid.insert(world.boxes());
        for (int step = 0; step < 6; ++step) {
            check(grid, events, before);
            world.step();
            grid.update(world.boxes());
        }
        check(grid, events, before);
        events.clear();
        EXPECT_TRUE(events.begun().empty() && events.ended().empty() && events.persisting().empty());
        before.clear();
        check(grid, events, before);
    }
}

// Seven partners fit a row: here one box has hundreds, which come and go.
TEST(PairEvents, OfCrowds) {
    Grid grid;
    PairEvents events;
    Names before;
    std::vector<Box3f> boxes(300);
    std::uint32_t seed = 1;
    grid.insert(boxes);
    for (int step = 0; step < 30; ++step) {
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            seed = seed * 1664525 + 1013904223;
            const float at = static_cast<float>(seed >> 24) * (step % 5 == 4 ? 1.0f : 0.05f);
            boxes[i] = {{at, 0, 0}, {at + (i % 3 == 0 ? 3.0f : 0.5f), 1, 1}};
        }
        grid.update(boxes);
        check(grid, events, before);
    }
}

TEST(PairEvents, KnowObjectsThatUsedOneSlot) {
    const Box3f cube{{0, 0, 0}, {1, 1, 1}};
    for (const std::size_t others : {2u, 12u}) {  // rows with room, and too full
        Grid grid;
        PairEvents events;
        Names before;
        std::vector<Id> ids;
        grid.insert(std::vector<Box3f>(others, cube), ids);
        ids.push_back(grid.insert(cube));
        check(grid, events, before);
        for (const std::size_t gone : {std::size_t{0}, others}) {
            grid.erase(ids[gone]);
            const Id again = grid.insert(cube);
            ASSERT_EQ(again.slot, ids[gone].slot);
            check(grid, events, before);
            EXPECT_EQ(events.begun().size(), others);
            EXPECT_EQ(events.ended().size(), others);
            for (const auto& [a, b] : events.ended()) EXPECT_TRUE(a == ids[gone] || b == ids[gone]);
            for (const auto& [a, b] : events.begun()) EXPECT_TRUE(a == again || b == again);
            check(grid, events, before);
            EXPECT_TRUE(events.begun().empty() && events.ended().empty());
            ids[gone] = again;
        }
        grid.clear();
        grid.insert(std::vector<Box3f>(others, cube));
        check(grid, events, before);
        EXPECT_EQ(events.ended().size(), others * (others + 1) / 2);
    }
}

TEST(PairEvents, AreTheSameBytesForAnyThreadCountAndTarget) {
    const std::size_t n = test::scaled(40'000, 20'000, 18'000);
    std::vector<IdPair> begun, ended;
    std::vector<Pair> persisting;
    const auto run = [&](Executor* executor, bool first) {
        workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, n);
        Grid grid({.executor = executor});
        PairEvents events;
        grid.insert(world.boxes());
        grid.find_events(events);
        world.step();
        grid.update(world.boxes());
        grid.find_events(events);
        if (first) {
            begun.assign(events.begun().begin(), events.begun().end());
            ended.assign(events.ended().begin(), events.ended().end());
            persisting.assign(events.persisting().begin(), events.persisting().end());
            EXPECT_FALSE(begun.empty() || ended.empty() || persisting.empty());
        }
        EXPECT_TRUE(std::ranges::equal(begun, events.begun()));
        EXPECT_TRUE(std::ranges::equal(ended, events.ended()));
        EXPECT_TRUE(std::ranges::equal(persisting, events.persisting()));
    };
    run(nullptr, true);
    for (const unsigned threads : {2u, 7u}) run(make_executor(threads).get(), false);
    base::for_each_simd_target([&] { run(nullptr, false); });
}

TEST(PairEvents, ForgetWhenTheyAreTooMany) {
    Grid grid({.max_bytes = 30 * sizeof(Pair)});
    PairEvents events;
    grid.insert(std::vector<Box3f>(8, Box3f{}));
    grid.find_events(events);
    EXPECT_EQ(events.begun().size(), 28u);
    const Id one_more = grid.insert(Box3f{});
    const Error e = test::thrown_by([&] { grid.find_events(events); });
    EXPECT_EQ(e.kind(), ErrorKind::too_large);
    EXPECT_TRUE(events.begun().empty() && events.ended().empty() && events.persisting().empty());
    EXPECT_EQ(events.stats().pairs, 0u);
    grid.erase(one_more);
    grid.find_events(events);  // what was known before is forgotten
    EXPECT_EQ(events.begun().size(), 28u);
    EXPECT_TRUE(events.ended().empty() && events.persisting().empty());
}

}  // namespace
}  // namespace quadrat::events_test
