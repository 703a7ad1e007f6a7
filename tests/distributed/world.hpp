// What the tests share: every rank makes the whole input from a seed and keeps a part, and the answers of all ranks are
// put together on every rank, to be compared with that of one.
#pragma once

#include <quadrat/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace quadrat::test {

[[nodiscard]] inline int rank() {
    int r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    return r;
}
[[nodiscard]] inline int ranks() {
    int p;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    return p;
}

/// How an input lies on the ranks before anything has moved.
enum class Share { blocks, strided, last_rank };
inline constexpr Share shares[] = {Share::blocks, Share::strided, Share::last_rank};

template <class V>
struct Part {
    std::vector<V> items;
    std::vector<std::uint64_t> ids;
};
template <class V>
[[nodiscard]] Part<V> part_of(std::span<const V> all, Share share) {
    Part<V> part;
    const auto P = static_cast<std::size_t>(ranks()), me = static_cast<std::size_t>(rank());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t home = share == Share::blocks ? i * P / all.size() : share == Share::strided ? i % P : P - 1;
        if (home != me) continue;
        part.items.push_back(all[i]);
        part.ids.push_back(i);
    }
    return part;
}

/// The items of all ranks, on every rank.
template <class V>
[[nodiscard]] std::vector<V> all_of(const std::vector<V>& mine) {
    const int bytes = static_cast<int>(mine.size() * sizeof(V));
    std::vector<int> counts(static_cast<std::size_t>(ranks())), starts(counts.size());
    MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    int total = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
        starts[r] = total;
        total += counts[r];
    }
    std::vector<V> all(static_cast<std::size_t>(total) / sizeof(V));
    MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), starts.data(), MPI_BYTE, MPI_COMM_WORLD);
    return all;
}

/// Holds if all ranks together have exactly the expected items; both in any order.
template <class V>
[[nodiscard]] testing::AssertionResult same_on_all(std::vector<V> expected, const std::vector<V>& mine) {
    std::vector<V> all = all_of(mine);
    std::sort(all.begin(), all.end());
    std::sort(expected.begin(), expected.end());
    if (all == expected) return testing::AssertionSuccess();
    const auto twice = std::adjacent_find(all.begin(), all.end()) != all.end();
    return testing::AssertionFailure() << all.size() << " on all ranks, expected " << expected.size()
                                       << (twice ? ", some twice" : "");
}

}  // namespace quadrat::test
