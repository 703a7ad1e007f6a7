// Rules that results alone do not show, or show in few inputs: which cells and grids objects go to, when everything is
// sorted again, which of equal answers is given, who may be asked while a search runs.
#include "broad_phase/loose/dynamic_grids.hpp"
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/scale.hpp"
#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace quadrat::rules_test {
namespace {

using broad_phase::DynamicGrids;
using test::same_self_pairs;

// Points have no size that says which cells they fit: after a large first box, in a small part of space, at many
// distances from each other, all at one place but a few.
TEST(HashGridPoints, OfAnyNumberCostTheSame) {
    std::mt19937_64 random(3);
    const auto number = [&](double to) { return static_cast<float>(std::uniform_real_distribution<>(0, to)(random)); };
    for (int kind = 0; kind < 5; ++kind)
        for (const std::uint32_t n : {2000u, 16'000u}) {
            DynamicGrids<3, float> grids{HashGridOptions{}};
            grids.reserve_slots(n + 1);
            if (kind == 0) grids.insert(n, {{-1000, -1000, -1001}, {1000, 1000, -1000}});
            std::vector<Vec3f> at(n);
            for (std::uint32_t i = 0; i < n; ++i) {
                const double side = kind == 1 ? 1e-3 : kind == 2 ? 1e20 : 100;
                for (int k = 0; k < 3; ++k) at[i][k] = number(side);
                if (kind == 3) at[i][2] = 7;  // in a plane
                if (kind == 4 && i % 4 == 0) at[i] = {{1e6f * number(1), 0, 0}};
                grids.insert(i, {at[i], at[i]});
            }
            std::uint64_t tests = 0, pairs = 0;
            grids.for_each_pair(tests, [&](std::uint32_t, std::uint32_t) { ++pairs; });
            EXPECT_LT(tests, 12 * n) << kind;
            tests = 0;
            for (std::uint32_t i = 1; i < n; i += n / 200) {
                bool found = false;
                tests += grids.for_each_overlap({at[i], at[i]}, [&](std::uint32_t s) { found = found || s == i; });
                EXPECT_TRUE(found);
            }
            EXPECT_LT(tests, 200 * 40u) << kind << ' ' << n;
        }
}

TEST(HashGridPoints, MayAllBeAtOnePlace) {
    constexpr std::uint32_t n = 100'000;
    DynamicGrids<2, double> grids{HashGridOptions{}};
    grids.reserve_slots(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(i / 2) * 1e-300;  // pairs of equal ones, all in one cell
        grids.insert(i, {{{x, -0.0}}, {{x, 0.0}}});
    }
    std::uint64_t tests = 0, pairs = 0;
    grids.for_each_pair(tests, [&](std::uint32_t a, std::uint32_t b) { pairs += a / 2 == b / 2; });
    EXPECT_EQ(pairs, n / 2);
    EXPECT_LT(tests, 4 * n);
}

// Trap 4: a box of size 1 from just below 0 touches three cells of size 1, whatever its size is rounded to. The first
// box makes the edges of all cells powers of two.
TEST(HashGridLevels, ComeFromCellsAndNotFromSizes) {
    std::mt19937_64 random(1);
    std::size_t wrong = 0;
    for (int set = 0; set < test::scaled(4000, 1000); ++set) {
        HashGridHierarchy<2, double> grid({.update = UpdateStrategy::individual, .factor = 4, .all_pairs_below = 0});
        std::vector<Box2d> boxes{{{{100, 100}}, {{100.5, 100.5}}}};  // 0.5 sqrt(4) = 1
        const std::size_t count = 2 + random() % 4;
        while (boxes.size() <= count) {
            Box2d box;
            for (int k = 0; k < 2; ++k) {
                const double corner = static_cast<double>(random() % 4) - 1;
                box.lo[k] =
                    random() % 3 == 0 ? corner : corner - std::ldexp(1.0, -static_cast<int>(54 + random() % 10));
                if (corner >= 1 && random() % 2) box.lo[k] = std::nextafter(corner, -9);
                box.hi[k] = corner + 1;
                if (random() % 4 == 0) box.hi[k] = std::nextafter(box.hi[k], 9);
            }
            boxes.push_back(box);
        }
        for (const Box2d& box : boxes) grid.insert(box);
        std::vector<Pair> pairs;
        grid.find_pairs(pairs);
        if (!same_self_pairs(test::oracle_pairs(std::span<const Box2d>(boxes)), pairs)) ++wrong;
    }
    EXPECT_EQ(wrong, 0u);
}

// HHG 3.3, 3.8 and figure 19: cells per axis of a new grid; it grows when objects are more than cells / 8.
TEST(HashGridCells, BeginAsTheOptionSays) {
    for (const std::uint32_t cells : {4u, 8u, 16u, 64u}) {
        DynamicGrids<3, float> grids{HashGridOptions{.initial_cells = cells}};
        grids.reserve_slots(1);
        grids.insert(0, {{0, 0, 0}, {1, 1, 1}});
        EXPECT_EQ(grids.cells(), std::size_t{cells} * cells * cells);
    }
    DynamicGrids<3, float> grids{HashGridOptions{.initial_cells = 4, .min_cells = 8}};
    grids.reserve_slots(1);
    grids.insert(0, {{0, 0, 0}, {1, 1, 1}});
    EXPECT_EQ(grids.cells(), 512u);  // the larger of the two
}

// HHG 3.7, for objects that come one by one: far apart, so that grids would test next to nothing.
TEST(HashGridThreshold, HoldsForSingleInserts) {
    for (const std::uint32_t n : {1u, 2u, 32u, 33u, 100u, 101u}) {
        HashGridHierarchy<3, float> grid({.all_pairs_below = 100});
        for (std::uint32_t i = 0; i < n; ++i) {
            const float x = 1013 * static_cast<float>(i), y = 3331 * static_cast<float>(i * i % 997);
            grid.insert(Box3f{{x, y, -y}, {x + 1, y + 1, 1 - y}});
        }
        std::vector<Pair> pairs;
        grid.find_pairs(pairs);
        EXPECT_TRUE(pairs.empty());
        if (n <= 100) {
            EXPECT_GE(grid.stats().tests, std::uint64_t{n} * (n - 1) / 2) << n;
        } else {
            EXPECT_LT(grid.stats().tests, std::uint64_t{n} * (n - 1) / 8) << n;
        }
    }
}

// A quarter of the objects and 1024 more may be loose; the next edit sorts everything.
TEST(HashGridEdits, SortAgainWhenManyAreLoose) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, 4000);
    HashGridHierarchy<3, float> grid;
    std::vector<Id> ids;
    grid.insert(world.boxes(), ids);
    std::size_t most = 0, edits = 0;
    for (std::size_t i = 0; i < ids.size() && (edits == 0 || grid.stats().loose != 0); ++i, ++edits) {
        grid.move(ids[i], world.boxes()[i]);
        most = std::max(most, grid.stats().loose);
    }
    // A move leaves a record and makes a loose object: two for one edit.
    EXPECT_EQ(most, (4000 / 4 + 1024) / 2);
    EXPECT_EQ(edits, most + 1);
    EXPECT_EQ(grid.stats().loose, 0u);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    EXPECT_TRUE(same_self_pairs(test::oracle_pairs(world.boxes()), pairs));
}

// The smaller slot, in whichever store it is and in whichever order the stores are asked.
TEST(HashGridTies, GoToTheSmallerSlot) {
    const Box3f wall{{1, 0, 0}, {2, 1, 1}};
    const Ray<3, float> ray{{0, 0.5f, 0.5f}, {1, 0, 0}, 10};
    for (const std::uint32_t bulk : {0u, 1u, 2u, 700u}) {
        HashGridHierarchy<3, float> grid;
        std::vector<Id> ids;
        grid.insert(std::vector<Box3f>(bulk, wall), ids);
        for (int i = 0; i < 3; ++i) ids.push_back(grid.insert(wall));
        const auto expect = [&](std::uint32_t slot) {
            EXPECT_EQ(grid.closest_hit(ray)->slot, slot) << bulk;
            EXPECT_EQ(grid.nearest({{0, 0.5f, 0.5f}})->slot, slot) << bulk;
            EXPECT_EQ(grid.nearest({{1.5f, 0.5f, 0.5f}})->slot, slot) << bulk;  // inside all of them
        };
        expect(0);
        grid.move(ids[0], wall);  // loose from now on
        expect(0);
        grid.erase(ids[0]);
        expect(1);
        if (ids.size() > 3) {
            grid.move(ids[1], Box3f{{1.25f, 0, 0}, {2, 1, 1}});
            EXPECT_EQ(grid.closest_hit(ray)->slot, 2u);
            EXPECT_EQ(grid.nearest({{0, 0.5f, 0.5f}})->slot, 2u);
        }
        EXPECT_EQ(grid.insert(wall).slot, 0u);
        expect(0);
    }
}

// What reports may ask anything that is const, with threads, and searches in it find the same.
TEST(HashGridWatch, ReportMayAskTheStructure) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::mix, test::scaled(40'000, 20'000, 18'000));
    for (const bool own : {false, true})
        for (const unsigned threads : {1u, 2u, 7u}) {
            const std::unique_ptr<Executor> executor =
                own ? std::make_unique<ThreadExecutor>(threads) : make_executor(threads);
            const HashGridHierarchy<3, float>* asked = nullptr;
            std::vector<Pair> inside, pairs;
            std::size_t bytes = 0, hits = 0;
            int depth = 0;
            double last = 0;
            const auto report = [&](double part) {
                if (depth != 0) return;
                depth = 1;
                EXPECT_LE(last, part);
                last = part;
                bytes = asked->stats().bytes;
                std::vector<std::uint32_t> found;
                asked->find(world.boxes()[5], found);
                hits += found.size();
                if (inside.empty()) asked->find_pairs(inside);
                depth = 0;
            };
            HashGridHierarchy<3, float> grid({.executor = executor.get(), .watch = {.stop = {}, .report = report}});
            asked = &grid;
            grid.insert(world.boxes());
            grid.find_pairs(pairs);
            EXPECT_TRUE(inside == pairs) << threads;
            EXPECT_EQ(last, 1.0);
            EXPECT_GT(bytes, 0u);
            EXPECT_GT(hits, 0u);
            last = 0;
            grid.for_each_chunk([](std::span<const Pair>) {});
            EXPECT_EQ(last, 1.0);
        }
}

// A bulk update ends when it is asked to, and leaves everything as it was.
TEST(HashGridStop, EndsUpdates) {
    for (const std::size_t n : {std::size_t{2000}, test::scaled<std::size_t>(300'000, 20'000)}) {
        workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, n);
        StopSource stop;
        HashGridHierarchy<3, float> grid({.watch = {.stop = stop, .report = {}}}), same;
        grid.insert(world.boxes());
        same.insert(world.boxes());
        stop.request_stop();
        world.step();
        EXPECT_EQ(test::thrown_by([&] { grid.update(world.boxes()); }).kind(), ErrorKind::stopped);
        EXPECT_EQ(test::thrown_by([&] { grid.insert(world.boxes()); }).kind(), ErrorKind::stopped);
        EXPECT_EQ(grid.size(), n);
        std::vector<std::uint32_t> found, expected;
        for (std::uint32_t i = 0; i < n; i += 7) {  // pairs would be stopped, queries are not
            grid.find(world.boxes()[i], found);
            same.find(world.boxes()[i], expected);
            EXPECT_EQ(found, expected) << i;
        }
    }
}

// Pairs of two sets that take all of max_bytes, and one byte more than there are.
TEST(HashGridBytes, OfTwoSetsMayBeFull) {
    const std::vector<Box3f> cubes(20, Box3f{{0, 0, 0}, {1, 1, 1}});
    for (const std::size_t missing : {0u, 1u}) {
        HashGridHierarchy<3, float> a({.max_bytes = 400 * sizeof(Pair) - missing}), b;
        a.insert(std::span<const Box3f>(cubes));
        b.insert(std::span<const Box3f>(cubes));
        std::vector<Pair> found;
        if (missing == 0) {
            find_pairs(a, b, found);
            EXPECT_EQ(found.size(), 400u);
        } else {
            EXPECT_EQ(test::thrown_by([&] { find_pairs(a, b, found); }).kind(), ErrorKind::too_large);
            EXPECT_TRUE(found.empty());
        }
    }
}

}  // namespace
}  // namespace quadrat::rules_test
