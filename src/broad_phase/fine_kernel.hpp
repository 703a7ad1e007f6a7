// Pairs inside one grid by its fine coordinates (fine_grid.hpp).
#pragma once

#include "broad_phase/pair_kernel.hpp"

namespace quadrat::broad_phase {

/// As pairs_within, for a grid that has fine coordinates and no filters.
template <int D, class T>
std::uint64_t fine_pairs_within(const GridView<D, T>& grid, std::uint32_t row_begin, std::uint32_t row_end,
                                PairBuffer& out);

}  // namespace quadrat::broad_phase
