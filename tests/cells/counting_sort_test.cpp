#include "cells/counting_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <ranges>
#include <vector>

namespace quadrat::cells {
namespace {

TEST(CountingSort, IsAStableSortThatLeavesTheTableOfStarts) {
    for (const std::uint32_t n : {0u, 1u, 7u, 1000u})
        for (const std::uint32_t cells : {1u, 3u, 500u}) {
            std::mt19937 random(n + cells);
            std::vector<std::uint32_t> cell(n), expected(n), order(n + 10, 77u), starts(cells + 1, 12345u);
            for (std::uint32_t& c : cell) c = static_cast<std::uint32_t>(random() % cells);
            std::iota(expected.begin(), expected.end(), 0u);
            std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return cell[a] < cell[b]; });
            starts[0] = 10;
            counting_sort(
                std::span(starts).subspan(1), 10, n, [&](std::uint32_t i) { return cell[i]; },
                [&](std::uint32_t i, std::uint32_t place) { order[place] = i; });
            EXPECT_EQ(std::vector(order.begin() + 10, order.end()), expected);
            EXPECT_EQ(std::count(order.begin(), order.begin() + 10, 77u), 10);
            for (std::uint32_t c = 0; c < cells; ++c)
                for (std::uint32_t p = starts[c]; p < starts[c + 1]; ++p) EXPECT_EQ(cell[order[p]], c);
            EXPECT_EQ(starts[cells], 10 + n);
        }
}

TEST(CountingSort, TakesWideCountersAndThoseInsideOfOtherThings) {
    const std::vector<std::size_t> cell = {2, 0, 2, 1, 0, 2};
    std::vector<std::size_t> ends(4, 99), order(cell.size());
    counting_sort(
        ends, 0, cell.size(), [&](std::size_t i) { return cell[i]; },
        [&](std::size_t i, std::size_t place) { order[place] = i; });
    EXPECT_EQ(order, (std::vector<std::size_t>{1, 4, 3, 0, 2, 5}));
    EXPECT_EQ(ends, (std::vector<std::size_t>{2, 3, 6, 6}));

    struct Slot {
        char name;
        std::uint64_t counter;
    };
    std::vector<Slot> slots = {{'a', 2}, {'b', 0}, {'c', 3}};
    const std::uint64_t far = std::uint64_t{1} << 40;
    EXPECT_EQ(places_from_counts(slots | std::views::transform(&Slot::counter), far), far + 5);
    EXPECT_EQ(slots[0].counter, far);
    EXPECT_EQ(slots[1].counter, far + 2);
    EXPECT_EQ(slots[2].counter, far + 2);
}

}  // namespace
}  // namespace quadrat::cells
