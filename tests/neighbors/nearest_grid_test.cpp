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

std::vector<std::uint32_t> entries_of_new(const std::vector<Vec<3, float>>& points, std::uint32_t k) {
    CellIndex<3, float> index({.radius = 0.1f});
    index.build(points);
    return entries(index, k);
}

TEST(NearestGrid, IsMadeOnceForARadius) {
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

TEST(NearestGrid, FollowsThePoints) {
    std::vector<Vec<3, float>> points = cloud(1, 3000);
    CellIndex<3, float> index({.radius = 0.1f});
    index.build(points);
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

TEST(NearestGrid, ServesManyThreads) {
    const std::vector<Vec<3, float>> points = cloud(5, 2000);
    CellIndex<3, float> index({.radius = 0.1f});
    index.build(points);
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
