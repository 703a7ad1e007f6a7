#include "cells/counting_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
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

}  // namespace
}  // namespace quadrat::cells
