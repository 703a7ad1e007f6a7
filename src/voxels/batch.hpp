// Many lookups at once. Three stages run over blocks of positions, one block behind the other: buckets are computed and
// their offsets requested from memory; slots are computed and their tags and values requested; tags are compared. So
// memory is waited for once per block and not once per lookup. Arithmetic is vectorised: remainders by a rounded
// reciprocal and two corrections, exact below 2^22.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include <cstddef>
#include <cstdint>

namespace quadrat::voxels {

/// What an index with offsets of 8 bits and identity matrices needs for its lookups.
struct BatchIndex {
    enum class Check : std::uint8_t { none, tags, bricks };

    Check check = Check::none;
    int brick_shift = 0;  ///< hashed positions are (local + phase) >> shift
    std::uint32_t origin[3] = {}, extent[3] = {}, phase[3] = {};
    std::uint32_t offset_size[3] = {}, table_size[3] = {}, scale[3] = {};
    std::uint32_t slots = 0;
    const std::uint8_t* offsets = nullptr;
    const std::uint8_t* tags = nullptr;  ///< packed bits, or brick records
    std::uint32_t tag_bits = 0, brick_stride = 0;
    std::uint64_t tag_mask = 0;
    std::uint32_t values = 0;            ///< places are below this (bricks)
    const std::uint8_t* data = nullptr;  ///< to prefetch, or null
    std::size_t data_bytes = 0;          ///< of one value
};

/// out[i] = the place of p[i], or 0xffffffff. D in {2, 3}; p is n times D coordinates.
template <int D>
void find_batch(const BatchIndex& index, const std::int32_t* p, std::size_t n, std::uint32_t* out);

}  // namespace quadrat::voxels
