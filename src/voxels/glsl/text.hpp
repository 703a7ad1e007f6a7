// The room of shader text: small pieces that several functions are made of. For this room alone.
#pragma once

#include <cstdint>
#include <string>

namespace quadrat::voxels {

/// `uint quadrat_word(t, w)`: word w of a table.
inline constexpr const char* glsl_word_text =
    R"(uint quadrat_word(highp usampler2D t, uint w) { return texelFetch(t, ivec2(int(w & 2047u), int(w >> 11)), 0).r; }
)";

/// `uint quadrat_field(t, i, bits, shift, width)`: `bits` bits at bit i * width + shift of a table. Bit i * width may
/// lie beyond 2^32: the upper 16 bits of i count in steps of 2048 * width words.
inline constexpr const char* glsl_field_text =
    R"(uint quadrat_field(highp usampler2D t, uint i, uint bits, uint shift, uint width) {
    uint low = (i & 0xffffu) * width + shift;
    uint word = (low >> 5) + (i >> 16) * width * 2048u, at = low & 31u;
    uint v = quadrat_word(t, word) >> at;
    if (at + bits > 32u) v |= quadrat_word(t, word + 1u) << (32u - at);
    return bits == 32u ? v : v & ((1u << bits) - 1u);
}
)";

/// `uint quadrat_count(v)`: bits that are set.
inline constexpr const char* glsl_count_text = R"(uint quadrat_count(uint v) {
    v -= (v >> 1) & 0x55555555u;
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    return (((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}
)";

[[nodiscard]] inline std::string glsl_number(std::uint64_t v) {
    return std::to_string(v) + "u";
}

/// "uvec3(get(0), get(1), get(2))" with any type of vector.
template <int D, class Get>
[[nodiscard]] std::string glsl_vector(const std::string& type, Get&& get) {
    std::string s = type + "(";
    for (int a = 0; a < D; ++a) s += (a ? ", " : "") + get(a);
    return s + ")";
}

/// Constants of a vector of unsigned numbers.
template <int D, class Get>
[[nodiscard]] std::string glsl_constants(Get&& get) {
    return glsl_vector<D>("uvec" + std::to_string(D), [&](int a) { return glsl_number(get(a)); });
}

/// The index of `v` in a table, x fastest.
template <int D, class Get>
[[nodiscard]] std::string glsl_flat(const std::string& v, Get&& size) {
    const std::string inner = D == 2 ? v + ".y" : "(" + v + ".y + " + glsl_number(size(1)) + " * " + v + ".z)";
    return v + ".x + " + glsl_number(size(0)) + " * " + inner;
}

}  // namespace quadrat::voxels
