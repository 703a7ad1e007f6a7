// Pairs inside one grid by its fine coordinates (fine_grid.hpp), slab by slab.
#pragma once

#include "base/kinds.hpp"
#include "broad_phase/sorted/fine_window.hpp"
#include "broad_phase/sorted/kernels/pair_kernel.hpp"

namespace quadrat::broad_phase {

/// The vector code of fine_kernel.cpp for one kind.
template <int D, class T>
struct FineKernel {
    std::uint64_t (*pairs_of_slab)(FineWindow<D, T>& window, std::uint32_t slab, PairBuffer& out);
};
[[nodiscard]] const base::PerKind<FineKernel>& fine_kernels();

/// Appends the overlapping pairs of the rows of a slab with themselves and the rows that follow them in the half
/// stencil (HHG 3.6, figure 17), each once with first < second. Returns the number of box tests made.
template <int D, class T>
std::uint64_t fine_pairs_of_slab(FineWindow<D, T>& window, std::uint32_t slab, PairBuffer& out) {
    window.move_to(slab);
    return fine_kernels().get<D, T>().pairs_of_slab(window, slab, out);
}

}  // namespace quadrat::broad_phase
