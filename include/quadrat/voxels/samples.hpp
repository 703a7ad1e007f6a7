// The samples of a grid of any kind, one by one: plain voxels, blocks with borders, mipmaps (level 0). For tools that
// read files; programs that know their type use SparseVoxels, BlockedVoxels and MipmapVoxels.
#pragma once

#include <quadrat/voxels/mipmaps.hpp>

namespace quadrat {

/// Samples of one value of a channel: 1, or (b + 1)^D in blocks.
template <int D>
[[nodiscard]] std::uint32_t samples_per_value(const VoxelGrid<D>& grid) {
    if (grid.block == 0) return 1;
    const std::uint32_t b1 = grid.block + 1;
    return D == 3 ? b1 * b1 * b1 : b1 * b1;
}

inline constexpr std::uint64_t no_sample = ~std::uint64_t{0};

/// The number of the sample at p in the channels of the grid, counted in samples, or no_sample. In blocks, samples that
/// were not stored may be found as well: they hold the background.
template <int D>
[[nodiscard]] std::uint64_t find_sample(const VoxelGrid<D>& grid, const Voxel<D>& p);

/// Every stored sample with its number, by z, y, x. In blocks, samples that equal the background in all channels are
/// left out. Throws Error{unsupported} if the encoding is constrained.
template <int D>
[[nodiscard]] std::vector<std::pair<Voxel<D>, std::uint64_t>> sorted_samples(const VoxelGrid<D>& grid);

}  // namespace quadrat
