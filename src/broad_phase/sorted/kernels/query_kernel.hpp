// The vector code of queries: boxes and segments against one sorted grid.
#pragma once

#include "base/array.hpp"
#include "base/assert.hpp"
#include "base/kinds.hpp"
#include "broad_phase/sorted/sorted_grid.hpp"

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>

namespace quadrat::broad_phase {

/// Entries that a query appends to; only the first `count` mean something.
struct Found {
    base::Array<std::uint32_t> entries;
    std::size_t count = 0;
};

/// What a query writes: ids for the caller, or positions in the grid for a further test.
enum class Entry { id, position };

/// The vector code of query_kernel.cpp for one kind.
template <int D, class T>
struct QueryKernel {
    std::uint64_t (*box)(const GridView<D, T>& grid, const Box<D, T>& box, Entry entry, Found& out);
    std::uint64_t (*segment)(const GridView<D, T>& grid, const Box<D, T>& box, const Segment<D, T>& segment, Found& ids,
                             Found& open);
};
[[nodiscard]] const base::PerKind<QueryKernel>& query_kernels();

/// Appends the boxes of `grid` that overlap `box`; infinite bounds are legal. Returns the number of tests.
template <int D, class T>
std::uint64_t overlapping(const GridView<D, T>& grid, const Box<D, T>& box, Entry entry, Found& out) {
    QUADRAT_ASSERT(out.count <= out.entries.size());
    return query_kernels().get<D, T>().box(grid, box, entry, out);
}

/// Of the boxes of `grid` that overlap `box`: appends the ids of those that hold an end of the segment, which meet it
/// (cells::meets), to `ids`, and the positions of the others to `open`. Returns the number of tests.
template <int D, class T>
std::uint64_t overlapping(const GridView<D, T>& grid, const Box<D, T>& box, const Segment<D, T>& segment, Found& ids,
                          Found& open) {
    QUADRAT_ASSERT(ids.count <= ids.entries.size() && open.count <= open.entries.size());
    return query_kernels().get<D, T>().segment(grid, box, segment, ids, open);
}

}  // namespace quadrat::broad_phase
