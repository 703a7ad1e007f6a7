// Lookups in a shader: the text of a GLSL ES 3.0 function and the tables as texels of 32 bits.
#pragma once

#include <quadrat/voxels/voxel_index.hpp>

#include <string>
#include <vector>

namespace quadrat {

/// `int quadrat_find(ivec3 p)` (ivec2 in two dimensions): the place of p's value in the channels, or -1, for every
/// layout and encoding. It reads textures of R32UI named quadrat_NAME, one for each of glsl_tables(). Throws
/// Error{unsupported} for matrices other than the identity, and for bits over more than 2^32 positions.
template <int D>
[[nodiscard]] std::string glsl_find(const VoxelIndex<D>& index);

inline constexpr std::uint32_t glsl_texture_width = 2048;

/// A table as rows of glsl_texture_width texels.
struct GlslTable {
    std::string name;  ///< offsets, tags, bits, ranks or bricks; in the shader with `quadrat_` before it
    std::vector<std::uint32_t> words;
};

/// The tables that glsl_find() reads.
template <int D>
[[nodiscard]] std::vector<GlslTable> glsl_tables(const VoxelIndex<D>& index);

/// A table as 32-bit words, padded with zeros to whole rows.
[[nodiscard]] std::vector<std::uint32_t> glsl_words(std::span<const std::uint8_t> table);

}  // namespace quadrat
