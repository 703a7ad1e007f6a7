// The numbers of HHG 3.1, and that these grids stay below them.
#include "workloads/memory_model.hpp"
#include "broad_phase/loose/dynamic_grids.hpp"

#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

namespace {

using namespace quadrat;
using namespace quadrat::broad_phase;
using namespace quadrat::workloads;

TEST(HashGridMemoryModel, GivesTheNumbersOfThePaper) {
    EXPECT_EQ(outer_cells(128, 128, 128), 96'776u);
    EXPECT_EQ(paper_bytes(128, 128, 128, 25'000, 256), 67'183'564u);
    // Every object in a cell of its own: "82 MB".
    EXPECT_EQ(paper_bytes(128, 128, 128, 100'000, 256) >> 20, 82u);
    // Shares of outer cells in percent, as printed: 33, 18, 9.1, 4.6.
    const auto percent = [](std::uint64_t n) {
        return 100.0 * static_cast<double>(outer_cells(n, n, n)) / static_cast<double>(n * n * n);
    };
    EXPECT_NEAR(percent(16), 33, 0.5);
    EXPECT_NEAR(percent(32), 18, 0.5);
    EXPECT_NEAR(percent(64), 9.1, 0.05);
    EXPECT_NEAR(percent(128), 4.6, 0.05);
}

TEST(HashGridMemoryModel, OuterCellsAreThoseOnTheBorder) {
    for (const auto& [x, y, z] : {std::array{2, 2, 2}, std::array{3, 4, 5}, std::array{16, 8, 4}}) {
        std::uint64_t count = 0;
        for (int i = 0; i < x; ++i)
            for (int j = 0; j < y; ++j)
                for (int k = 0; k < z; ++k)
                    count += i == 0 || j == 0 || k == 0 || i == x - 1 || j == y - 1 || k == z - 1;
        EXPECT_EQ(outer_cells(std::uint64_t(x), std::uint64_t(y), std::uint64_t(z)), count);
    }
}

// The example of 3.1 with real objects: 100,000 in 128^3 cells.
TEST(HashGridMemoryModel, TheseGridsTakeLess) {
    const workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, 100'000);
    DynamicGrids<3, float> grids{HashGridOptions{}};
    grids.reserve_slots(100'000);
    for (std::uint32_t i = 0; i < 100'000; ++i) grids.insert(i, world.boxes()[i]);
    EXPECT_EQ(grids.cells(), 128u * 128 * 128);
    EXPECT_LT(grids.bytes(), paper_bytes(128, 128, 128, 25'000, 256) / 4);
}

}  // namespace
