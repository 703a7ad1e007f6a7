// The paper's own hash grids: how they grow, shrink, and choose a grid for a box.
#include "broad_phase/loose/dynamic_grids.hpp"

#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace quadrat;
using broad_phase::DynamicGrids;

Box3f cube(float at, float size) {
    return {{at, at, at}, {at + size, at + size, at + size}};
}

TEST(DynamicGrids, GrowAtAnEighthAndShrinkWithoutOscillation) {
    constexpr std::uint32_t n = 5000;
    DynamicGrids<3, float> grids{HashGridOptions{}};
    grids.reserve_slots(n);
    std::uint32_t i = 0;
    for (; i < 512; ++i) grids.insert(i, cube(float(i) * 0.7f, 1));
    EXPECT_EQ(grids.cells(), 16u * 16 * 16);  // 512 are an eighth of 4096
    grids.insert(i++, cube(0, 1));
    EXPECT_EQ(grids.cells(), 32u * 32 * 32);
    // Around the border nothing changes any more.
    for (int round = 0; round < 100; ++round) {
        for (int k = 0; k < 50; ++k) grids.erase(--i);
        EXPECT_EQ(grids.cells(), 32u * 32 * 32);
        for (int k = 0; k < 50; ++k, ++i) grids.insert(i, cube(float(i), 1));
        EXPECT_EQ(grids.cells(), 32u * 32 * 32);
    }
    for (; i < n; ++i) grids.insert(i, cube(float(i) * 0.3f, 1));
    EXPECT_EQ(grids.cells(), 64u * 64 * 64);
    while (i > 3) grids.erase(--i);
    EXPECT_EQ(grids.cells(), 4u * 4 * 4);  // the paper's grids keep their size; these go back to the least
    EXPECT_EQ(grids.size(), 3u);
    std::uint64_t tests = 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    grids.for_each_pair(tests, [&](std::uint32_t a, std::uint32_t b) { pairs.insert(std::minmax(a, b)); });
    EXPECT_EQ(pairs.size(), 2u);  // cubes of 1 at 0, 0.7 and 1.4
}

TEST(DynamicGrids, AreMadeOnDemandOnePerFactor) {
    for (const double factor : {1.5, 2.0, 4.0}) {
        DynamicGrids<3, float> grids{HashGridOptions{.factor = factor}};
        grids.reserve_slots(100);
        std::uint32_t count = 0;
        for (double size = 1; size < 5000; size *= factor) grids.insert(count++, cube(0.123f, float(size)));
        EXPECT_LE(grids.grids(), count + 1);  // a box may touch three cells of its own class and go to the next
        EXPECT_GE(grids.grids() + 2, count);
        // Much larger boxes next to tiny ones make two grids more, not all between.
        const std::size_t before = grids.grids();
        grids.insert(count++, cube(0, 1e20f));
        grids.insert(count++, cube(0, 1e-20f));
        EXPECT_EQ(grids.grids(), before + 2);
    }
}

TEST(DynamicGrids, AnObjectMovesOnlyWhenItsCellChanges) {
    DynamicGrids<3, float> grids{HashGridOptions{}};
    grids.reserve_slots(1);
    grids.insert(0, cube(10.0f, 1));
    const std::int32_t level = grids.level(0);
    EXPECT_FALSE(grids.move(0, cube(10.0f, 1)));
    EXPECT_FALSE(grids.move(0, cube(10.01f, 1)));
    EXPECT_TRUE(grids.move(0, cube(20, 1)));
    EXPECT_EQ(grids.level(0), level);
    EXPECT_TRUE(grids.move(0, cube(20, 100)));
    EXPECT_GT(grids.level(0), level);
    EXPECT_EQ(grids.box(0), cube(20, 100));
}

TEST(DynamicGrids, KeepTheirCellsWhenCleared) {
    const workloads::MovingBoxes<3, float> world(workloads::BoxScene::sizes, 3000);
    DynamicGrids<3, float> grids{HashGridOptions{}};
    grids.reserve_slots(3000);
    const auto fill = [&] {
        for (std::uint32_t i = 0; i < 3000; ++i) grids.insert(i, world.boxes()[i]);
        std::uint64_t tests = 0;
        std::size_t pairs = 0;
        grids.for_each_pair(tests, [&](std::uint32_t, std::uint32_t) { ++pairs; });
        return pairs;
    };
    const std::size_t pairs = fill(), cells = grids.cells();
    grids.clear();
    EXPECT_EQ(grids.size(), 0u);
    EXPECT_EQ(fill(), pairs);
    EXPECT_EQ(grids.cells(), cells);
    grids.clear();
    grids.clear();  // twice without use: nothing is kept
    EXPECT_EQ(grids.cells(), 0u);
}

}  // namespace
