// What the tests of CellIndex share: points anywhere in a box, and lists with shifts as sets.
#pragma once

#include <quadrat/neighbors.hpp>

#include "base/random.hpp"

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace quadrat::test {

/// Point, neighbour and the shift of the image.
using Entry = std::tuple<std::uint32_t, std::uint32_t, int, int, int>;

template <int D, class T>
std::vector<Vec<D, T>> random_points(std::size_t n, double lo, double hi, std::uint64_t seed) {
    base::SplitMix random(seed);
    std::vector<Vec<D, T>> points(n);
    for (auto& p : points)
        for (int k = 0; k < D; ++k) p[k] = static_cast<T>(random.uniform(lo, hi));
    return points;
}

inline std::multiset<Entry> entries_of(const NeighborList& list) {
    std::multiset<Entry> all;
    for (std::uint32_t i = 0; i < list.size(); ++i)
        for (std::size_t e = 0; e < list[i].size(); ++e) {
            const Shift s = list.shifts(i)[e];
            all.insert({i, list[i][e], s[0], s[1], s[2]});
        }
    return all;
}
template <int D, class T>
std::multiset<Entry> entries_of(const CellIndex<D, T>& index) {
    NeighborList list;
    index.find_neighbors(list, {.shifts = true});
    return entries_of(list);
}

}  // namespace quadrat::test
