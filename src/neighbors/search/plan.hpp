// A batch of groups, planned together: the bounding boxes of up to sixteen groups of homes in one row of cells, and for
// every row of cells near them the bins that can hold neighbours, one lane per group. Planned alone, a group waits for
// its own square roots; together they keep the vector units busy.
#pragma once

#include "base/kinds.hpp"
#include "neighbors/grid/grid.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::neighbors {

/// A row of cells near some homes.
template <class T>
struct RowOfCells {
    T lo[2], hi[2];     ///< borders along y and z; infinite where there is none
    std::size_t table;  ///< of its first bin in the grid's starts
    std::int64_t first_bin;
    std::uint32_t number, bins, shift;
    std::uint32_t end;  ///< position after its last point
};

template <class T>
struct Batch {
    static constexpr unsigned most = 16;

    alignas(64) T lo[3][most], hi[3][most];  ///< boxes of the groups
    alignas(64) T longest[most];             ///< how far their neighbours may be
    std::uint32_t first[most + 1];           ///< group g is the homes first[g] .. first[g + 1]
    unsigned count;
};

/// Bins [from, to) of one row, as positions in the grid's starts, for each group of a batch.
struct BinRanges {
    alignas(64) std::uint32_t from[16], to[16];
};

template <int D, class T>
struct Planner {
    unsigned most_homes;  ///< in a group, at most max_group: more share the culling, fewer leave less to compare
    /// Fills lo and hi from the homes' coordinates; lanes without a group keep what they held.
    void (*boxes)(Batch<T>&, const T* const* homes);
    /// For each row of a dense grid: the bins within reach of the boxes; from == to where the row is too far away. What
    /// lanes without a group get means nothing.
    void (*ranges)(const Batch<T>&, const Geometry<D, T>&, const RowOfCells<T>* rows, std::size_t count,
                   BinRanges* out);
};

/// The best for this processor.
[[nodiscard]] const base::PerKind<Planner>& vector_planners();

}  // namespace quadrat::neighbors
