// What a loop over neighbours is handed, row by row, while it is still in the first-level cache:
// CellIndex::for_each_row and sum_rows.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>

namespace quadrat {

/// A point and its neighbours, side by side in arrays that begin at a multiple of 64 bytes. Good until the function
/// that was handed it returns.
///
/// Behind `count` neighbours stand entries up to `padded`, a multiple of 16, that add nothing to a sum over powers of
/// the distance: their index is that of the home, their squared distance infinite, their vector zero. A loop to
/// `padded` needs no rest for vector code, and compilers turn it into such.
template <int D, class T>
struct NeighborRow {
    std::uint32_t home = 0;
    std::uint32_t count = 0, padded = 0;
    const std::uint32_t* indices = nullptr;
    /// Squared distances, in the unit of the coordinates, squared: what the squared radius was compared with.
    const T* distances_sq = nullptr;
    /// x_j - x_home by axis, with images x_j + shift - x_home. Null unless NeighborOptions::vectors asks for them.
    const T* delta[D] = {};
};

namespace detail {

/// Rows of some homes, of chunk number `chunk`.
template <int D, class T>
using LoopSink = void(void* context, std::size_t chunk, const NeighborRow<D, T>* rows, std::size_t count);

/// Homes in a chunk. It decides how sums are rounded, and so does not depend on the threads.
inline constexpr std::size_t loop_chunk = 2048;

}  // namespace detail
}  // namespace quadrat
