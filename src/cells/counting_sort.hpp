// The counting sort by cell that the sorted grids are made of: count the members of each cell, turn counts into places,
// put each member at the next place of its cell. Stable, so the order inside a cell is the order given.
//
// What it leaves in the counters is a gift: the end of each cell, which is where the next cell begins. A table of
// starts with one entry more than there are cells therefore passes `starts + 1` as its counters:
//
//   starts     [first] [ c0 ] [ c1 ] [ c2 ]        counters of cells 0, 1, 2 are starts[1], [2], [3]
//   counted            [  2 ] [  0 ] [  3 ]
//   places             [  0 ] [  2 ] [  2 ]        begin of each cell while members are put
//   afterwards [  0  ] [  2 ] [  2 ] [  5 ]        cell c is [starts[c], starts[c + 1])
//
// Counters are unsigned, of 32 bits or more; members and places are numbers of the same type.
#pragma once

#include "base/assert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace quadrat::cells {

template <class Counters>
using CounterOf = std::ranges::range_value_t<Counters>;

/// Each count becomes the sum of `first` and the counts before it; returns the sum of all.
template <class Counters = std::span<std::uint32_t>>
CounterOf<Counters> places_from_counts(Counters&& counts, CounterOf<Counters> first) {
    static_assert(std::is_unsigned_v<CounterOf<Counters>> && sizeof(CounterOf<Counters>) >= sizeof(unsigned));
    for (CounterOf<Counters>& c : counts) {
        const CounterOf<Counters> members = c;
        c = first;
        first += members;
    }
    return first;
}

/// Calls put(i, place) for each i in [0, n) in order; places run from `first` on, cell by cell. cell_of(i) is below
/// counters.size(). Counters need no value before; afterwards each is the end of its cell.
template <class CellOf, class Put, class Counters = std::span<std::uint32_t>>
void counting_sort(Counters&& counters, CounterOf<Counters> first, CounterOf<Counters> n, CellOf&& cell_of, Put&& put) {
    using Counter = CounterOf<Counters>;
    std::fill(counters.begin(), counters.end(), Counter{0});
    for (Counter i = 0; i < n; ++i) {
        QUADRAT_ASSERT(static_cast<std::size_t>(cell_of(i)) < counters.size());
        ++counters[cell_of(i)];
    }
    const Counter end = places_from_counts(counters, first);
    QUADRAT_ASSERT(end == first + n);
    for (Counter i = 0; i < n; ++i) put(i, counters[cell_of(i)]++);
    QUADRAT_ASSERT(counters.empty() || counters.back() == end);
    static_cast<void>(end);
}

}  // namespace quadrat::cells
