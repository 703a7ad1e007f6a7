// The builders of the index (build/): each turns positions into the tables of one layout. For this room alone.
#pragma once

#include "base/assert.hpp"
#include "voxels/hash/build.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/index/state.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace quadrat::voxels {

/// An index in the making: its parts but for the shape and the table of the hash.
template <int D>
struct Draft {
    PerfectHash<D> hash;
    IndexParts<D> parts;
};

/// More bits than any index has: no limit.
inline constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();

/// Bits above the payload: tables, and the values of empty slots.
template <int D>
[[nodiscard]] std::uint64_t overhead_bits(const Draft<D>& draft, std::size_t entries, std::size_t value_bytes) {
    std::uint64_t bytes = 0;
    const auto add = [&](std::uint64_t size) { bytes += size > table_padding ? size - table_padding : 0; };
    for (const Buffer& b : draft.parts.tables) add(b.size);
    if (is_hashed(draft.parts.layout)) add(draft.hash.offsets().size());
    if (draft.parts.layout == Layout::voxel) bytes += (draft.hash.slots() - entries) * value_bytes;
    return 8 * bytes;
}

/// An encoding that needs nothing of the hash, and its bits beside it.
struct PlainEncoding {
    Encoding encoding;
    std::uint64_t bits;
};
/// Those that may be possible, smallest first: position tags of so many bits always are.
[[nodiscard]] std::vector<PlainEncoding> plain_encodings(std::uint64_t cells, std::uint64_t slots,
                                                         std::uint64_t position_bits);
/// Bits of a position tag: fields are read as a part of 64 bits, so those above 56 take all.
template <int D>
[[nodiscard]] std::uint32_t position_tag_bits(const std::array<std::uint32_t, D>& extent);
/// Bits that no index of the voxel layout can go below, offsets apart; with tags of buckets or without.
template <int D>
[[nodiscard]] std::uint64_t least_plain_bits(const Domain<D>& domain, std::uint64_t entries) {
    return plain_encodings(domain.cells(), entries, position_tag_bits<D>(domain.extent)).front().bits;
}
/// Bits of offsets that a hash has at least: compact ones of full cubes were seen with 1.3 bits per entry.
[[nodiscard]] inline std::uint64_t least_offset_bits(std::uint64_t entries, const VoxelOptions& options) {
    if (options.offset_bits != 8) return 0;
    return entries * (options.construction == Construction::compact ? 1 : 4);
}

/// What the hash of an index is built with. `short_tags` is their granule, or 0 where no tags of buckets are wanted.
[[nodiscard]] inline PerfectHashOptions hash_options(const VoxelOptions& options, int short_tags) {
    PerfectHashOptions h;
    h.construction = options.construction;
    h.coherence = options.coherence;
    h.seed = options.seed;
    h.offset_bits = options.offset_bits;
    h.short_tags = short_tags;
    h.unique_tags = short_tags != 0;
    h.executor = options.executor;
    h.watch = options.watch;
    return h;
}

/// Whether random matrices may be taken where the identity fails. They need n / 3 buckets or more and have no tags of
/// buckets, so that they never win against keys.
enum class Spread : std::uint8_t { never, allowed };

/// The hash of an index of at most so many bits. Throws Error{too_large} if its offsets alone would take more.
template <int D>
[[nodiscard]] PerfectHash<D> limited_hash(std::span<const Voxel<D>> keys, const PerfectHashOptions& options,
                                          std::uint64_t most_bits, Spread spread, PerfectHashReport* report) {
    const auto width = static_cast<std::uint64_t>(D * (options.offset_bits > 0 ? options.offset_bits : 8));
    HashVariant variant{.identity_only = spread == Spread::never};
    if (most_bits == any_size) {  // asked for by name: rather large than refused
        variant.covering_buckets = std::uint64_t{1} << 20;
    } else {
        variant.most_buckets = most_bits / width + 1;
    }
    return HashBuild<D>::build(keys, options, variant, report);
}

template <int D>
struct Builders {
    /// The voxel layout, in the encoding asked for or the smallest exact one. Throws Error{too_large} or
    /// Error{unsupported} if none takes at most `most_bits` above the payload.
    [[nodiscard]] static Draft<D> voxels(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                         std::uint64_t most_bits, Spread spread, PerfectHashReport* report);
    /// Throws Error{unsupported} if bricks are too few for their domain, and Error{too_large} as voxels() does.
    [[nodiscard]] static Draft<D> bricks(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                         std::uint64_t most_bits, PerfectHashReport* report);
    [[nodiscard]] static Draft<D> bits(std::span<const Voxel<D>> positions);
    [[nodiscard]] static Draft<D> keys(std::span<const Voxel<D>> positions);
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
