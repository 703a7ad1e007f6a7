// Pairs inside one grid by its fine coordinates (fine_grid.hpp), slab by slab.
#pragma once

#include "broad_phase/fine_window.hpp"
#include "broad_phase/pair_kernel.hpp"

namespace quadrat::broad_phase {

/// Appends the overlapping pairs of the rows of a slab with themselves and the rows that follow them in the half
/// stencil (HHG 3.6, figure 17), each once with first < second. Returns the number of box tests made.
template <int D, class T>
std::uint64_t fine_pairs_of_slab(FineWindow<D, T>& window, std::uint32_t slab, PairBuffer& out);

}  // namespace quadrat::broad_phase
