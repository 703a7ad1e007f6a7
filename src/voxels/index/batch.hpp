// Many lookups at once. Three stages run over blocks of positions, one block behind the other: buckets are computed and
// their offsets requested from memory; slots are computed and their tags and values requested; tags are compared. So
// memory is waited for once per block and not once per lookup. Arithmetic is vectorised: remainders by a rounded
// reciprocal and two corrections, exact below 2^22.
#pragma once

#include <quadrat/voxels/detail/fast_find.hpp>

#include "base/assert.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace quadrat::voxels {

/// What an index with offsets of 8 bits and identity matrices needs for its lookups.
struct BatchIndex {
    enum class Check : std::uint8_t { none, tags, bricks };

    Check check = Check::none;
    std::uint32_t brick_shift = 0;  ///< hashed positions are (local + phase) >> shift
    std::uint32_t origin[3] = {}, extent[3] = {}, phase[3] = {};
    std::uint32_t offset_size[3] = {1, 1, 1}, table_size[3] = {1, 1, 1}, scale[3] = {};
    const std::uint8_t* offsets = nullptr;
    PackedTags tags;
    BrickRecords bricks;
    const std::uint8_t* data = nullptr;  ///< to prefetch, or null
    std::size_t data_bytes = 0;          ///< of one value
};

/// True if find_batch can look up in this hash.
template <int D>
[[nodiscard]] bool batchable(const PerfectHash<D>& hash) {
    return hash.entries() != 0 && hash.identity() && hash.offset_bits() == 8;
}

/// Lookups in a batchable hash over positions, nothing checked: encodings fill in how they tell positions apart.
template <int D>
[[nodiscard]] BatchIndex batch_of(const PerfectHash<D>& hash, const Voxel<D>& origin,
                                  const std::array<std::uint32_t, D>& extent) {
    QUADRAT_ASSERT(batchable(hash));
    BatchIndex x;
    for (int a = 0; a < D; ++a) {
        x.origin[a] = static_cast<std::uint32_t>(origin[a]);
        x.extent[a] = extent[static_cast<std::size_t>(a)];
        x.offset_size[a] = hash.offset_size(a);
        x.table_size[a] = hash.table_size(a);
        x.scale[a] = hash.scale(a);
    }
    x.offsets = hash.offsets().data();
    return x;
}

/// out[i] = the place of p[i], or 0xffffffff. D in {2, 3}; p is n times D coordinates.
template <int D>
void find_batch(const BatchIndex& index, const std::int32_t* p, std::size_t n, std::uint32_t* out);

}  // namespace quadrat::voxels
