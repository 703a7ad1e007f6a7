// Lookups in a shader: the text of a GLSL ES 3.0 function and the tables as texels of 32 bits.
#pragma once

#include <quadrat/voxels/voxel_index.hpp>

#include <string>
#include <vector>

namespace quadrat {

/// `int quadrat_find(ivec3 p)` (ivec2 in two dimensions): the place of p's value in the channels, or -1. It reads
/// `quadrat_offsets` and `quadrat_tags`, textures of R32UI that are `glsl_texture_width` wide and hold the words of
/// glsl_words(). Throws Error{unsupported} for layouts other than `voxel` and for domain bits and position tags.
template <int D>
[[nodiscard]] std::string glsl_find(const VoxelIndex<D>& index);

inline constexpr std::uint32_t glsl_texture_width = 2048;

/// A table as 32-bit words, padded with zeros to whole rows.
[[nodiscard]] std::vector<std::uint32_t> glsl_words(std::span<const std::uint8_t> table);

}  // namespace quadrat
