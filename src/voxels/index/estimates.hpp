// What an index would take, from counts alone, and small helpers of the sparsity encodings (Lefebvre & Hoppe 2006,
// section 5). The room `sampling` uses estimate_bytes() to choose the size of blocks.
#pragma once

#include <quadrat/voxels/voxel_index.hpp>

#include "voxels/hash/domain.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace quadrat::voxels {

/// h_k of section 5 in 8 bits, the same in C++ and in the shader. The formula in the paper is infinite on the axes.
[[nodiscard]] inline std::uint32_t position_hash(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t k) {
    std::uint32_t v = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ z * 0xC2B2AE3Du;
    v += k * 0x27D4EB2Fu;
    v ^= v >> 15;
    v *= 0x2C1B3C6Du;
    v ^= v >> 12;
    v *= 0x297A2D39u;
    return v >> 24;
}

template <int D>
[[nodiscard]] std::uint32_t hash_local(const std::array<std::uint32_t, D>& p, std::uint32_t k) {
    return position_hash(p[0], p[1], D == 3 ? p[D - 1] : 0, k);
}

/// Bricks of 64 positions that hold at least one of the positions.
template <int D>
[[nodiscard]] std::uint64_t count_bricks(std::span<const Voxel<D>> positions);

/// The chance that every slot finds a parameter k of 256 with an 8-bit h_k of its own, when `cells` positions of the
/// domain share `slots` slots (the appendix of the paper, with its missing square root).
[[nodiscard]] double position_hash_chance(double cells, double slots);
/// Sweeps over more positions of the domain take many seconds, and more of them in one slot cannot be told apart by 256
/// functions of 256 values: neither builders nor files go beyond. Walks over position hashes are bounded by both.
inline constexpr std::uint64_t most_hashed_cells = std::uint64_t{1} << 28, most_cells_per_slot = 1u << 12;
/// True where position hashes are allowed and not hopeless.
[[nodiscard]] inline bool position_hashes_may_be(std::uint64_t cells, std::uint64_t slots) {
    return cells <= most_hashed_cells && cells / slots <= most_cells_per_slot &&
           position_hash_chance(static_cast<double>(cells), static_cast<double>(slots)) > 1e-6;
}

/// Bits above the payload that each layout would take, estimated from counts; infinite where it is not possible.
struct LayoutBits {
    double voxel = 0, brick = 0, bits = 0, keys = 0;
    /// What Layout::automatic would take, as far as estimates tell.
    double automatic = 0;
    std::uint64_t bricks = 0;  ///< that hold a position
};
template <int D>
[[nodiscard]] LayoutBits layout_bits(std::span<const Voxel<D>> positions, const VoxelOptions& options);

/// Bytes of what VoxelIndex::build would make of the positions, values of empty slots included.
template <int D>
[[nodiscard]] std::uint64_t estimate_bytes(std::span<const Voxel<D>> positions, const VoxelOptions& options);

}  // namespace quadrat::voxels
