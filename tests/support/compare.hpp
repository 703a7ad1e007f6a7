// Results compared as sets; a failure prints the sizes and the first difference, not a million numbers.
#pragma once

#include <quadrat/geometry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::test {

/// One row of neighbours per point, in any order.
using Rows = std::vector<std::vector<std::uint32_t>>;

/// Holds if `actual` is the expected set with nothing twice. Both may be in any order.
[[nodiscard]] testing::AssertionResult same_pairs(std::vector<Pair> expected, std::vector<Pair> actual);

/// As above for pairs within one set; each must have first < second.
[[nodiscard]] testing::AssertionResult same_self_pairs(std::vector<Pair> expected, std::vector<Pair> actual);

/// Holds if each row is the expected set with nothing twice.
[[nodiscard]] testing::AssertionResult same_rows(const Rows& expected, const Rows& actual);

/// Rows of anything that has size() and gives a range of indices by [i], such as NeighborList.
template <class List>
[[nodiscard]] Rows to_rows(const List& list) {
    Rows rows(list.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = list[static_cast<std::uint32_t>(i)];
        rows[i].assign(row.begin(), row.end());
    }
    return rows;
}

}  // namespace quadrat::test
