// Lookups in a shader: the text of a GLSL ES 3.0 function and the tables as texels of 32 bits.
//
//     word of a table   w = 2048 y + x        texel (x, y) of a texture that is 2048 wide
//
//     std::string shader = "#version 300 es\nprecision highp int;\n" + quadrat::glsl_find(index) + my_main;
//     for (const quadrat::GlslTable& t : quadrat::glsl_tables(index))
//         upload("quadrat_" + t.name, quadrat::glsl_texture_width, t.words);  // R32UI, nearest, no mipmaps
#pragma once

#include <quadrat/voxels/voxel_index.hpp>

#include <string>
#include <vector>

namespace quadrat {

/// `int quadrat_find(ivec3 p)` (ivec2 in two dimensions): the place of p's value in the channels, or -1, for every
/// layout and encoding. It reads textures of R32UI named quadrat_NAME, one for each of glsl_tables(), and declares
/// their samplers; sizes and bounds of the index are constants in the text, so that it serves this index alone. The
/// text has no #version line and no main(), and expects `precision highp int` before it in a fragment shader. All its
/// names begin with `quadrat_`.
///
/// Gives what VoxelIndex::find() gives, with -1 for absent: if constrained, a position that is not stored gives any
/// place within the bounding box. Channels are the caller's own textures, as are blocks and mipmaps, which it does not
/// know. Throws Error{unsupported} for matrices other than the identity, and for bits and domain bits over more than
/// 2^32 positions.
template <int D>
[[nodiscard]] std::string glsl_find(const VoxelIndex<D>& index);

/// Texels of a row, a power of two that every implementation of GLSL ES 3.0 allows.
inline constexpr std::uint32_t glsl_texture_width = 2048;

/// A table as rows of glsl_texture_width texels.
struct GlslTable {
    /// offsets, tags, bits, ranks or bricks; in the shader with `quadrat_` before it.
    std::string name;
    /// The texels, row by row; a whole number of rows, so that the height is words.size() / glsl_texture_width.
    std::vector<std::uint32_t> words;
};

/// The tables that glsl_find() reads, as copies: one or two of them, O(index.bytes()). None for an index that was
/// never built. A table of more rows than the largest texture has does not fit the shader; this is not checked.
template <int D>
[[nodiscard]] std::vector<GlslTable> glsl_tables(const VoxelIndex<D>& index);

/// A table as 32-bit words, padded with zeros to whole rows: byte 0 is the lowest byte of word 0. For values, too,
/// whose word w the shader reads by `texelFetch(t, ivec2(w & 2047, w >> 11), 0)`. No bytes give no words.
[[nodiscard]] std::vector<std::uint32_t> glsl_words(std::span<const std::uint8_t> table);

}  // namespace quadrat
