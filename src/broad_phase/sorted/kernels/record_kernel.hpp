// The vector code of a bulk update: boxes to cells before the sort, records to arrays after it.
#pragma once

#include "base/kinds.hpp"
#include "broad_phase/sorted/grid_shape.hpp"

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace quadrat::broad_phase {

/// An index as wide as a coordinate, so that both have the same number of vector lanes.
template <class T>
using Lane = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// A box on its way from the caller's array to its place in a grid.
template <int D, class T>
struct Record {
    Box<D, T> box;
    std::uint32_t id;
    std::uint32_t key;  ///< bin within the slab
};

/// Boxes are given to cells in blocks of so many.
inline constexpr std::size_t cell_block = 64;
inline constexpr std::uint32_t no_slab = std::numeric_limits<std::uint32_t>::max();

/// Where the boxes of a block belong.
struct BlockCells {
    alignas(64) std::uint32_t slab[cell_block];  ///< no_slab: in no grid so far
    alignas(64) std::uint32_t key[cell_block];   ///< bin within the slab
};

/// Fits into cells: not infinite, and in double not so large that there would be no cell for it.
template <int D, class T>
[[nodiscard]] inline bool regular(const Box<D, T>& box) {
    constexpr T limit = sizeof(T) == 8 ? T(1e299L) : std::numeric_limits<T>::infinity();
    bool ok = true;
    for (int k = 0; k < D; ++k) {
        const T size = box.hi[k] - box.lo[k];
        ok &= size >= 0;
        ok &= size < limit;
    }
    return ok;
}

/// The vector code of record_kernel.cpp for one kind.
template <int D, class T>
struct RecordKernel {
    std::size_t (*assign)(const GridShape<D, T>& shape, std::uint32_t first_slab, const Box<D, T>* boxes,
                          BlockCells& cells);
    void (*unpack)(const Record<D, T>* records, std::size_t n, T* const (&lo)[D], T* const (&hi)[D], Lane<T>* id);
};
[[nodiscard]] const base::PerKind<RecordKernel>& record_kernels();

/// Gives the regular boxes of a block that have no slab yet and fit into the grid their slab, counted from first_slab,
/// and key. Reads cell_block boxes. Returns how many have no slab now.
template <int D, class T>
std::size_t assign_cells(const GridShape<D, T>& shape, std::uint32_t first_slab, const Box<D, T>* boxes,
                         BlockCells& cells) {
    return record_kernels().get<D, T>().assign(shape, first_slab, boxes, cells);
}

/// Takes n records apart. Writes n elements of each array.
template <int D, class T>
void unpack(const Record<D, T>* records, std::size_t n, T* const (&lo)[D], T* const (&hi)[D], Lane<T>* id) {
    record_kernels().get<D, T>().unpack(records, n, lo, hi, id);
}

}  // namespace quadrat::broad_phase
