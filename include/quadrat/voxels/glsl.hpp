// Lookups in a shader: the text of a GLSL ES 3.0 function and the tables as texels of 32 bits.
//
//     word of a table   w = 2048 y + x        texel (x, y) of a texture that is 2048 wide
//
//     std::string shader = "#version 300 es\nprecision highp int;\n" + quadrat::glsl_find(index) + my_main;
//     for (const quadrat::GlslTable& t : quadrat::glsl_tables(index))
//         upload("quadrat_" + t.name, quadrat::glsl_texture_width, t.words);  // R32UI, nearest, no mipmaps
#pragma once

#include <quadrat/voxels/sparse_voxels.hpp>

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
/// place within the bounding box. Of blocks and mipmaps it finds blocks and flattened positions: glsl_sample() knows
/// them. Throws Error{unsupported} for matrices other than the identity, and for bits and domain bits over more than
/// 2^32 positions.
template <int D>
[[nodiscard]] std::string glsl_find(const VoxelIndex<D>& index);

/// The values of a channel as a function: `T quadrat_value(int k)` with T float, vec2, vec3 or vec4 gives sample k, as
/// find_sample() numbers them: the place that quadrat_find() gives, or in blocks place * samples_per_value() + which.
/// It reads `uniform highp usampler2D quadrat_values`, a texture of R32UI with glsl_words() of the channel's buffer,
/// and calls quadrat_word(), so the text goes behind that of glsl_find(). Whole numbers beyond 2^24 are rounded;
/// booleans are 0 and 1. Throws Error{unsupported} for types of 64 bits, bytes, more than four components, and 4 GB of
/// values.
///
/// samples: samples_per_value() of the grid.
[[nodiscard]] std::string glsl_value(const Channel& channel, std::uint32_t samples = 1);

/// Everything that a shader needs to sample a grid of any kind as the library does: the texts of glsl_find() and
/// glsl_value(), and
///
///     T quadrat_sample(vec3 x)                 plain voxels and blocks: blends the 2^D samples around x
///     T quadrat_sample(vec3 x, float lod)      mipmaps, in blocks or not: blends the two levels nearest to lod
///
/// (vec2 in two dimensions), x in the unit of the grid. What is not stored is the background of the channel, or zero.
/// Gives what sample(), BlockedVoxels::sample and MipmapVoxels::sample give, in float: x should be below 2^20. Throws
/// as glsl_find() and glsl_value() do, and Error{bad_shape} if the grid has no such channel.
///
/// channel: a name; empty, the default, for the first one.
template <int D>
[[nodiscard]] std::string glsl_sample(const VoxelGrid<D>& grid, std::string_view channel = {});

/// The samples of a grid of blocks as a texture that the GPU filters by itself: blocks beside each other, each with its
/// borders, so that one read with GL_LINEAR blends inside a block.
struct GlslAtlas {
    /// `T quadrat_filtered(vec3 x)`, and all that it needs: it reads `uniform highp sampler3D quadrat_atlas` (sampler2D
    /// in two dimensions) and the tables of the index. T as in glsl_value().
    std::string text;
    /// The texture: texels in x, y and z (1 in two dimensions).
    std::uint32_t width = 1, height = 1, depth = 1;
    /// u8 for R8, RG8 and RGBA8, f16 for R16F, RG16F and RGBA16F, by components.
    ValueType type = ValueType::u8;
    std::uint32_t components = 1;
    /// width * height * depth texels, x fastest.
    std::vector<std::uint8_t> texels;
};
/// The atlas of a channel. Filtering has the precision of the GPU, 8 bits of weight as a rule; u8 are given as 0 to
/// 255, not 0 to 1. Throws Error{unsupported} unless the grid is in blocks and the channel has 1, 2 or 4 components of
/// u8 or f16, or if the blocks do not fit; Error{bad_shape} if there is no such channel. A mipmap has its flattened
/// domain.
///
/// largest: texels on an edge of the texture. Default: 2048, which most allow; at least 256 are sure for 3D textures.
template <int D>
[[nodiscard]] GlslAtlas glsl_atlas(const VoxelGrid<D>& grid, std::string_view channel = {},
                                   std::uint32_t largest = 2048);

/// `int quadrat_slot(ivec3 p)` (ivec2 in two dimensions): the slot of p in the table of a bare hash, as
/// PerfectHash::place gives it, or -1 outside of its domain; for any matrices, and from three dimensions into two, too
/// (section 7.2 of the paper). It reads `uniform highp usampler2D quadrat_offsets`, a texture of R32UI with
/// glsl_words() of PerfectHash::offsets(). The slot is the index in a texture of the program's own: for a hash into two
/// dimensions, texel (slot mod table_size(0), slot div table_size(0)).
template <int D, int E>
[[nodiscard]] std::string glsl_slot(const PerfectHash<D, E>& hash);

/// Texels of a row, a power of two that every implementation of GLSL ES 3.0 allows.
inline constexpr std::uint32_t glsl_texture_width = 2048;

/// A table as rows of glsl_texture_width texels.
struct GlslTable {
    /// offsets, tags, bits, ranks, bricks or keys; in the shader with `quadrat_` before it.
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
