// The vector code of the broad phase: pairs inside one sorted grid, and pairs between two grids. The other kernels are
// few_homes (the same where homes lie far apart), fine_kernel (pairs of a grid by fine coordinates), query_kernel
// (boxes and segments against a grid) and record_kernel (bulk updates). They are called by the room `sorted` alone; the
// rest of the broad phase asks a GridSet.
#pragma once

#include "base/assert.hpp"
#include "base/kinds.hpp"
#include "broad_phase/sorted/pair_buffer.hpp"
#include "broad_phase/sorted/sorted_grid.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::broad_phase {

/// Homes are few where there are so many times as many boxes to be met: they lie far apart.
inline constexpr std::size_t few_homes = 8;

/// The vector code of pair_kernel.cpp for one kind.
template <int D, class T>
struct PairKernel {
    std::uint64_t (*within)(const GridView<D, T>& grid, std::uint32_t row_begin, std::uint32_t row_end,
                            PairBuffer& out);
    std::uint64_t (*between)(const GridView<D, T>& homes, std::size_t begin, std::size_t end,
                             const GridView<D, T>& grid, bool ordered, PairBuffer& out);
};
[[nodiscard]] const base::PerKind<PairKernel>& pair_kernels();

/// The code of few_homes.cpp for one kind: as `between`, not ordered.
template <int D, class T>
struct FewHomesKernel {
    std::uint64_t (*between)(const GridView<D, T>& homes, std::size_t begin, std::size_t end,
                             const GridView<D, T>& grid, PairBuffer& out);
};
[[nodiscard]] const base::PerKind<FewHomesKernel>& few_homes_kernels();

/// Appends the overlapping pairs of rows [row_begin, row_end) with themselves and the rows that follow them in the half
/// stencil (HHG 3.6, figure 17), each once with first < second. Returns the number of box tests made.
template <int D, class T>
std::uint64_t pairs_within(const GridView<D, T>& grid, std::uint32_t row_begin, std::uint32_t row_end,
                           PairBuffer& out) {
    QUADRAT_ASSERT(row_begin <= row_end && row_end <= grid.shape.rows);
    return pair_kernels().get<D, T>().within(grid, row_begin, row_end, out);
}

/// Appends the overlapping pairs of the boxes at [begin, end) of `homes` with the boxes of `grid`. ordered: smaller id
/// first, otherwise the home's id first. The two grids hold different objects.
template <int D, class T>
std::uint64_t pairs_between(const GridView<D, T>& homes, std::size_t begin, std::size_t end, const GridView<D, T>& grid,
                            bool ordered, PairBuffer& out) {
    QUADRAT_ASSERT(begin <= end && end <= homes.size);
    if (grid.records && !ordered && homes.size <= grid.size / few_homes)
        return few_homes_kernels().get<D, T>().between(homes, begin, end, grid, out);
    return pair_kernels().get<D, T>().between(homes, begin, end, grid, ordered, out);
}

}  // namespace quadrat::broad_phase
