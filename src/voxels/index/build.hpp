// The builders of the index: each turns positions into the tables of one layout. For this room alone.
#pragma once

#include "base/assert.hpp"
#include "voxels/index/state.hpp"

#include <cstdint>
#include <cstring>
#include <span>

namespace quadrat::voxels {

/// An index in the making: its parts but for the shape and the table of the hash.
template <int D>
struct Draft {
    PerfectHash<D> hash;
    IndexParts<D> parts;
};

/// What the hash of an index is built with.
[[nodiscard]] inline PerfectHashOptions hash_options(const VoxelOptions& options, int short_tags) {
    PerfectHashOptions h;
    h.construction = options.construction;
    h.coherence = options.coherence;
    h.seed = options.seed;
    h.offset_bits = options.offset_bits;
    h.short_tags = short_tags;
    h.executor = options.executor;
    h.watch = options.watch;
    return h;
}

template <int D>
struct Builders {
    /// The voxel layout, in the encoding asked for or the smallest exact one.
    [[nodiscard]] static Draft<D> voxels(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                         PerfectHashReport* report);
    /// Throws Error{unsupported} if bricks are too few for their domain.
    [[nodiscard]] static Draft<D> bricks(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                         PerfectHashReport* report);
    [[nodiscard]] static Draft<D> bits(std::span<const Voxel<D>> positions);
    /// The tags of position hashes, for a draft of the voxel layout whose hash and domain are made. Throws
    /// Error{unsupported} if the data is too sparse.
    static void position_hashes(std::span<const Voxel<D>> positions, Draft<D>& draft);
};

/// The position relative to the corner of the hash's domain, where it lies.
template <int D>
[[nodiscard]] std::array<std::uint32_t, D> local_in(const PerfectHash<D>& hash, const Voxel<D>& p) {
    std::array<std::uint32_t, D> local;
    const bool inside = hash.inside(p, local);
    QUADRAT_ASSERT(inside);
    static_cast<void>(inside);
    return local;
}

}  // namespace quadrat::voxels
