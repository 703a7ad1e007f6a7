// One packed grid of an older one and what was edited since, values as bytes. Machinery of EditableVoxels.
#pragma once

#include <quadrat/voxels/voxel_grid.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace quadrat::voxels {

/// What was edited since a grid was packed. Owns nothing.
template <int D>
struct Edits {
    /// A bit for each place of the grid, set for those whose position is erased; empty if none is.
    std::span<const std::uint64_t> erased;
    /// Positions that were added: none is in the grid, erased or not, and no two are equal.
    std::span<const Voxel<D>> added;
    /// Their values in the edited channel, one after another.
    std::span<const std::byte> rows;
    /// Where the values of the edited channel begin. Of a grid without channels, null.
    const void* edited = nullptr;
    /// Bytes of one of them.
    std::size_t value_bytes = 1;
    /// What they are, for a grid without channels.
    ValueType type = ValueType::bytes;
    std::uint32_t components = 1;
};

/// A grid and the name of its edited channel.
template <int D>
struct Repacked {
    VoxelGrid<D> grid;
    std::string channel;
};

/// The positions that are left and those that were added, with all channels, transform and notes of the grid. Where a
/// channel has no value for an added position, it gets the channel's background. A grid without channels, which has no
/// positions either, gets one with the name "values". Throws what VoxelIndex::build throws.
///
/// options: how the index is built; its value_bytes is not looked at.
template <int D>
[[nodiscard]] Repacked<D> repacked(const VoxelGrid<D>& packed, const Edits<D>& edits, VoxelOptions options);

}  // namespace quadrat::voxels
