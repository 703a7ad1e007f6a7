// The cells of find_nearest are kept between calls: they must follow the points, and serve many threads.
#include <quadrat/neighbors/cell_index.hpp>

#include "neighbors/grid/grid.hpp"
#include "neighbors/nearest/kept.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace quadrat {
namespace {

std::vector<Vec<3, float>> cloud(unsigned seed, std::size_t n) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> place(0, 1);
    std::vector<Vec<3, float>> points(n);
    for (auto& p : points) p = {{place(random), place(random), place(random)}};
    return points;
}

std::vector<std::uint32_t> entries(const CellIndex<3, float>& index, std::uint32_t k) {
    NeighborList list;
    index.find_nearest(k, list);
    list.compact();
    return {list.indices().begin(), list.indices().end()};
}

// In an open world, and in a periodic one, where the images are kept, too.
class NearestGrid : public ::testing::TestWithParam<bool> {
  protected:
    [[nodiscard]] static CellIndex<3, float> index_of(const std::vector<Vec<3, float>>& points) {
        const auto box = Periodic<3, float>::orthorhombic({{1, 1, 1}});
        CellIndex<3, float> index({.radius = 0.1f, .periodic = GetParam() ? box : Periodic<3, float>{}});
        index.build(points);
        return index;
    }
    [[nodiscard]] static std::vector<std::uint32_t> entries_of_new(const std::vector<Vec<3, float>>& points,
                                                                   std::uint32_t k) {
        return entries(index_of(points), k);
    }
};
INSTANTIATE_TEST_SUITE_P(Worlds, NearestGrid, ::testing::Bool(),
                         [](const auto& world) { return world.param ? "periodic" : "open"; });

TEST(NearestKept, IsMadeOnceForARadius) {
    neighbors::Kept<neighbors::Grid<2, float>, float> kept;
    int made = 0;
    const auto make = [&] {
        ++made;
        return neighbors::Grid<2, float>();
    };
    const auto first = kept.get(1, make);
    EXPECT_EQ(kept.get(1, make), first);
    EXPECT_EQ(made, 1);
    const auto second = kept.get(2, make);
    EXPECT_NE(second, first);
    EXPECT_EQ(made, 2);
    kept.drop();
    EXPECT_EQ(kept.bytes(), 0u);
    (void)kept.get(2, make);
    EXPECT_EQ(made, 3);
}

TEST_P(NearestGrid, FollowsThePoints) {
    std::vector<Vec<3, float>> points = cloud(1, 3000);
    CellIndex<3, float> index = index_of(points);
    const std::uint64_t before = index.stats().bytes;
    EXPECT_EQ(entries(index, 5), entries_of_new(points, 5));
    EXPECT_GT(index.stats().bytes, before);
    const std::uint64_t tests = index.stats().tests;
    EXPECT_EQ(entries(index, 5), entries_of_new(points, 5));
    EXPECT_EQ(index.stats().tests, tests);
    EXPECT_EQ(entries(index, 9), entries_of_new(points, 9));

    points = cloud(2, 3000);
    index.update(points);
    EXPECT_EQ(entries(index, 9), entries_of_new(points, 9));
    points = cloud(3, 500);
    index.build(points);
    EXPECT_EQ(entries(index, 9), entries_of_new(points, 9));
    const std::vector<Vec<3, float>> more = cloud(4, 500);
    index.insert(more);
    points.insert(points.end(), more.begin(), more.end());
    EXPECT_EQ(entries(index, 9), entries_of_new(points, 9));
    index.erase(std::vector<std::uint32_t>{0});
    for (const std::uint32_t j : entries(index, 9)) ASSERT_NE(j, 0u);
}

TEST_P(NearestGrid, ServesManyThreads) {
    const std::vector<Vec<3, float>> points = cloud(5, 2000);
    CellIndex<3, float> index = index_of(points);
    const std::vector<std::uint32_t> expected[2] = {entries_of_new(points, 3), entries_of_new(points, 8)};
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (unsigned round = 0; round < 10; ++round) {
                const unsigned which = (t + round) % 2;
                wrong[t] += entries(index, which ? 8 : 3) != expected[which];
            }
        });
    for (std::thread& t : threads) t.join();
    for (const int w : wrong) EXPECT_EQ(w, 0);
}

}  // namespace
}  // namespace quadrat
