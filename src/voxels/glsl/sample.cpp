// Values, blends, blocks and mipmaps as shader text, in the same order of operations as sampling.hpp, blocks.hpp and
// mipmaps.hpp.
#include <quadrat/voxels/glsl.hpp>
#include <quadrat/voxels/mipmaps.hpp>
#include <quadrat/voxels/qvox.hpp>

#include "voxels/glsl/text.hpp"
#include "voxels/sampling/columns.hpp"

#include <algorithm>
#include <sstream>

namespace quadrat {
namespace {

using voxels::glsl_number;

std::string vector_name(std::uint32_t components) {
    return components == 1 ? "float" : "vec" + std::to_string(components);
}

Error not_in_shaders(const Channel& c, const std::string& what) {
    return Error(ErrorKind::unsupported, "shaders do not read " + what, {.field = c.name});
}

// `uint w` holds the bytes of a scalar from the lowest bit on.
std::string scalar(const Channel& c) {
    switch (c.type) {
        case ValueType::u8:
        case ValueType::boolean:
            return "float(w & 255u)";
        case ValueType::i8:
            return "float(int(w << 24) >> 24)";
        case ValueType::u16:
            return "float(w & 0xffffu)";
        case ValueType::i16:
            return "float(int(w << 16) >> 16)";
        case ValueType::u32:
            return "float(w)";
        case ValueType::i32:
            return "float(int(w))";
        case ValueType::f16:
            return "unpackHalf2x16(w & 0xffffu).x";
        case ValueType::f32:
            return "uintBitsToFloat(w)";
        default:
            throw not_in_shaders(c, std::string("values of ") + name(c.type));
    }
}

// A number that GLSL reads as the same float.
std::string float_text(float v) {
    std::ostringstream s;
    if (!(v - v == 0)) return "uintBitsToFloat(" + glsl_number(std::bit_cast<std::uint32_t>(v)) + ")";
    s.precision(9);
    s << std::scientific << v;
    return s.str();
}

float as_float(ValueType type, const std::uint8_t* at) {
    const auto read = [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        return static_cast<float>(value);
    };
    switch (type) {
        case ValueType::i8:
            return read(std::int8_t{});
        case ValueType::u16:
            return read(std::uint16_t{});
        case ValueType::i16:
            return read(std::int16_t{});
        case ValueType::u32:
            return read(std::uint32_t{});
        case ValueType::i32:
            return read(std::int32_t{});
        case ValueType::f16:
            return read(Half{});
        case ValueType::f32:
            return read(float{});
        default:
            return static_cast<float>(*at);
    }
}

std::string background(const Channel& c, std::uint32_t components) {
    const std::size_t size = size_of(c.type);
    std::string s = vector_name(components) + "(";
    for (std::uint32_t k = 0; k < components; ++k)
        s +=
            (k ? ", " : "") +
            float_text(c.background.size() == size * components ? as_float(c.type, c.background.data() + k * size) : 0);
    return s + ")";
}

template <int D>
const Channel& channel_of(const VoxelGrid<D>& grid, std::string_view wanted) {
    const Channel* c = wanted.empty() ? (grid.channels.empty() ? nullptr : grid.channels.data()) : grid.channel(wanted);
    if (!c) throw Error(ErrorKind::bad_shape, "no such channel", {.field = std::string(wanted)});
    return *c;
}

template <int D, class Get>
std::string ivec(Get&& get) {
    return voxels::glsl_vector<D>("ivec" + std::to_string(D), [&](int a) { return std::to_string(get(a)); });
}

// `ivecD quadrat_floor_div(ivecD p)`: by b, rounded down.
template <int D>
std::string floor_text(std::uint32_t b) {
    const std::string v = "ivec" + std::to_string(D), size = std::to_string(b);
    return v + " quadrat_block(" + v + " p) {\n    " + v + " q = p / " + size + ";\n    return q - " + v +
           "(lessThan(p, q * " + size + "));\n}\n";
}

// `T quadrat_cell(ivecD c, vecD t)`: the blend of the samples around the cell at c of the grid's own domain.
template <int D>
std::string cell_text(const VoxelGrid<D>& grid, const Channel& c, std::uint32_t components) {
    const std::string type = vector_name(components), iv = "ivec" + std::to_string(D), v = "vec" + std::to_string(D);
    const std::string none = background(c, components);
    std::string s =
        type + " quadrat_cell(" + iv + " c, " + v + " t) {\n    " + type + " s[" + std::to_string(1 << D) + "];\n";
    if (grid.block != 0) {
        const std::uint32_t b1 = grid.block + 1;
        s += "    " + iv + " block = quadrat_block(c), at = c - block * " + std::to_string(grid.block) +
             ";\n    int place = quadrat_find(block);\n    if (place < 0) return " + none + ";\n    int k = place * " +
             std::to_string(samples_per_value(grid)) + " + at.x + " + std::to_string(b1) + " * " +
             (D == 2 ? "at.y" : "(at.y + " + std::to_string(b1) + " * at.z)") + ";\n";
        for (std::uint32_t i = 0; i < 1u << D; ++i)
            s += "    s[" + std::to_string(i) + "] = quadrat_value(k + " +
                 std::to_string((i & 1) + (i >> 1 & 1) * b1 + (i >> 2) * b1 * b1) + ");\n";
    } else {
        s += "    for (int i = 0; i < " + std::to_string(1 << D) + "; ++i) {\n        int k = quadrat_find(c + " +
             (D == 2 ? "ivec2(i & 1, i >> 1)" : "ivec3(i & 1, i >> 1 & 1, i >> 2)") + ");\n        s[i] = k < 0 ? " +
             none + " : quadrat_value(k);\n    }\n";
    }
    for (int a = 0; a < D; ++a)
        for (int i = 0; i < 1 << (D - 1 - a); ++i) {
            const std::string x = "s[" + std::to_string(2 * i) + "]", y = "s[" + std::to_string(2 * i + 1) + "]";
            s.append("    s[").append(std::to_string(i)).append("] = ").append(x).append(" + t.").append(1, "xyz"[a]);
            s.append(" * (").append(y).append(" - ").append(x).append(");\n");
        }
    return s + "    return s[0];\n}\n";
}

// `T quadrat_level(vecD x, int level)` and the blend of two levels.
template <int D>
std::string mipmap_text(const VoxelGrid<D>& grid, const std::string& type, const std::string& none) {
    const MipmapLevels<D> levels(grid.mipmap, grid.block);
    const std::string iv = "ivec" + std::to_string(D), v = "vec" + std::to_string(D);
    std::string origins, bases, extents;
    for (std::uint32_t k = 0; k < levels.count(); ++k) {
        Voxel<D> first, flat;
        for (int a = 0; a < D; ++a) first[a] = grid.mipmap.origin[a] >> k;
        static_cast<void>(levels.flatten(k, first, flat));  // the base and one
        const std::string comma = k ? ", " : "";
        origins += comma + ivec<D>([&](int a) { return first[a]; });
        bases += comma + ivec<D>([&](int a) { return flat[a] - 1; });
        extents += comma + ivec<D>([&](int a) { return levels.end(k, a) - flat[a]; });
    }
    const std::string array = iv + "[" + std::to_string(levels.count()) + "](";
    return type + " quadrat_level(" + v + " x, int level) {\n    " + iv + " origins[" + std::to_string(levels.count()) +
           "] = " + array + origins + ");\n    " + iv + " bases[" + std::to_string(levels.count()) + "] = " + array +
           bases + ");\n    " + iv + " extents[" + std::to_string(levels.count()) + "] = " + array + extents +
           ");\n    x = (x + 0.5) * exp2(-float(level)) - 0.5;\n    " + v + " low = floor(x);\n    " + iv +
           " local = " + iv + "(low) - origins[level] + 1;\n    if (any(lessThan(local, " + iv +
           "(0))) || any(greaterThan(local, extents[level]))) return " + none +
           ";\n    return quadrat_cell(bases[level] + local, x - low);\n}\n" + type + " quadrat_sample(" + v +
           " x, float lod) {\n    float l = clamp(lod, 0.0, " + std::to_string(levels.count() - 1) +
           ".0), low = floor(l);\n    " + type +
           " fine = quadrat_level(x, int(low));\n    if (l == low) return fine;\n    " +
           "return fine + (l - low) * (quadrat_level(x, int(low) + 1) - fine);\n}\n";
}

}  // namespace

std::string glsl_value(const Channel& c, std::uint32_t samples) {
    const std::uint32_t components = c.components / std::max(samples, 1u);
    if (components < 1 || components > 4)
        throw not_in_shaders(c, "values of " + std::to_string(components) + " components");
    if (c.buffer.size >= std::size_t{1} << 32) throw not_in_shaders(c, "4 GB of values or more");
    const std::size_t size = size_of(c.type);
    const std::string type = vector_name(components), one = scalar(c);
    std::string s =
        "uniform highp usampler2D quadrat_values;\nfloat quadrat_scalar(uint byte) {\n    uint w = "
        "quadrat_word(quadrat_values, byte >> 2) >> (8u * (byte & 3u));\n    return " +
        one + ";\n}\n" + type + " quadrat_value(int k) {\n    uint at = uint(k) * " + glsl_number(size * components) +
        ";\n    return " + type + "(";
    for (std::uint32_t k = 0; k < components; ++k)
        s += (k ? ", " : "") + std::string("quadrat_scalar(at + ") + glsl_number(k * size) + ")";
    return s + ");\n}\n";
}

template <int D>
std::string glsl_sample(const VoxelGrid<D>& grid, std::string_view wanted) {
    const Channel& c = channel_of(grid, wanted);
    const std::uint32_t samples = samples_per_value(grid), components = c.components / samples;
    std::string s = glsl_find(grid.index);
    if (s.find("uint quadrat_word(") == std::string::npos) s = voxels::glsl_word_text + s;
    s += glsl_value(c, samples);
    if (grid.block != 0) s += floor_text<D>(grid.block);
    s += cell_text(grid, c, components);
    const std::string v = "vec" + std::to_string(D), type = vector_name(components);
    if (grid.mipmap.levels != 0) return s + mipmap_text(grid, type, background(c, components));
    return s + type + " quadrat_sample(" + v + " x) {\n    " + v + " low = floor(x);\n    return quadrat_cell(ivec" +
           std::to_string(D) + "(low), x - low);\n}\n";
}

template <int D>
GlslAtlas glsl_atlas(const VoxelGrid<D>& grid, std::string_view wanted, std::uint32_t largest) {
    const Channel& c = channel_of(grid, wanted);
    if (grid.block == 0) throw not_in_shaders(c, "single voxels by filtering: put them in blocks");
    const std::uint32_t samples = samples_per_value(grid), b1 = grid.block + 1;
    GlslAtlas out;
    out.type = c.type;
    out.components = c.components / samples;
    if ((c.type != ValueType::u8 && c.type != ValueType::f16) ||
        (out.components != 1 && out.components != 2 && out.components != 4))
        throw not_in_shaders(c, std::to_string(out.components) + " components of " + name(c.type) +
                                    " by filtering: only 1, 2 or 4 of u8 or f16");
    // As few columns as make the texture no wider than needed, and no axis longer than it may be.
    const std::uint64_t blocks = std::max(grid.index.values(), 1u), most = largest / b1;
    std::uint64_t count[3] = {std::min(blocks, most), 1, 1};
    if (most != 0) count[1] = std::min((blocks + count[0] - 1) / count[0], most);
    if (most != 0 && D == 3) count[2] = (blocks + count[0] * count[1] - 1) / (count[0] * count[1]);
    if (most == 0 || count[0] * count[1] * count[2] < blocks || count[2] > most)
        throw not_in_shaders(c, std::to_string(blocks) + " blocks in one texture of " + std::to_string(largest));
    out.width = static_cast<std::uint32_t>(count[0] * b1);
    out.height = static_cast<std::uint32_t>(count[1] * b1);
    out.depth = D == 3 ? static_cast<std::uint32_t>(count[2] * b1) : 1;
    const std::size_t texel = size_of(c.type) * out.components;
    out.texels.resize(std::size_t{out.width} * out.height * out.depth * texel);
    for (std::uint64_t k = 0; k < grid.index.values(); ++k)
        for (std::uint32_t row = 0; row < samples / b1; ++row) {
            const std::size_t x = k % count[0] * b1, y = k / count[0] % count[1] * b1 + row % b1,
                              z = k / (count[0] * count[1]) * b1 + row / b1;
            std::memcpy(out.texels.data() + ((z * out.height + y) * out.width + x) * texel,
                        c.buffer.data.get() + (k * samples + std::size_t{row} * b1) * texel, b1 * texel);
        }
    const std::string iv = "ivec" + std::to_string(D), v = "vec" + std::to_string(D),
                      type = vector_name(out.components);
    const std::string scale = c.type == ValueType::u8 ? " * 255.0" : "";
    const std::string parts = out.components == 1 ? ".r" : out.components == 2 ? ".rg" : "";
    const auto number = [](std::uint64_t n) { return std::to_string(n); };
    out.text =
        glsl_find(grid.index) + "uniform highp sampler" + number(D) + "D quadrat_atlas;\n" + floor_text<D>(grid.block) +
        type + " quadrat_filtered(" + v + " x) {\n    " + iv + " block = quadrat_block(" + iv +
        "(floor(x)));\n    int k = quadrat_find(block);\n    if (k < 0) return " + background(c, out.components) +
        ";\n    " + iv + " at = " + iv + "(k % " + number(count[0]) + ", k / " + number(count[0]) + " % " +
        number(count[1]) + (D == 3 ? ", k / " + number(count[0] * count[1]) : std::string()) + ") * " + number(b1) +
        ";\n    " + v + " inner = x - " + v + "(block * " + number(grid.block) +
        ") + 0.5;\n    return texture(quadrat_atlas, (" + v + "(at) + inner) / " + v + "(" + number(out.width) +
        ".0, " + number(out.height) + ".0" + (D == 3 ? ", " + number(out.depth) + ".0" : std::string()) + "))" + parts +
        scale + ";\n}\n";
    return out;
}

template std::string glsl_sample<2>(const VoxelGrid<2>&, std::string_view);
template std::string glsl_sample<3>(const VoxelGrid<3>&, std::string_view);
template GlslAtlas glsl_atlas<2>(const VoxelGrid<2>&, std::string_view, std::uint32_t);
template GlslAtlas glsl_atlas<3>(const VoxelGrid<3>&, std::string_view, std::uint32_t);

}  // namespace quadrat
