// The lookup of every layout and encoding as shader text. GLSL ES 3.0 has no 64-bit integers, no bitCount and no
// buffers, so tables are textures of 32-bit words, positions of bits are split in two, and bits are counted by hand.
// The numbers of the index stand in the text as constants.
#include <quadrat/voxels/glsl.hpp>

#include <quadrat/error.hpp>

#include "voxels/index/estimates.hpp"
#include "voxels/index/state.hpp"

#include <algorithm>

namespace quadrat {
namespace {

constexpr const char* word_text =
    R"(uint quadrat_word(highp usampler2D t, uint w) { return texelFetch(t, ivec2(int(w & 2047u), int(w >> 11)), 0).r; }
)";

// Bit i * width may lie beyond 2^32: the upper 16 bits of i count in steps of 2048 * width words.
constexpr const char* field_text = R"(// `bits` bits at bit i * width + shift of a table
uint quadrat_field(highp usampler2D t, uint i, uint bits, uint shift, uint width) {
    uint low = (i & 0xffffu) * width + shift;
    uint word = (low >> 5) + (i >> 16) * width * 2048u, at = low & 31u;
    uint v = quadrat_word(t, word) >> at;
    if (at + bits > 32u) v |= quadrat_word(t, word + 1u) << (32u - at);
    return bits == 32u ? v : v & ((1u << bits) - 1u);
}
)";

constexpr const char* hash_text = R"(uint quadrat_hash(uvec3 p, uint k) {
    uint v = p.x * 0x9E3779B1u ^ p.y * 0x85EBCA77u ^ p.z * 0xC2B2AE3Du;
    v += k * 0x27D4EB2Fu; v ^= v >> 15; v *= 0x2C1B3C6Du; v ^= v >> 12; v *= 0x297A2D39u;
    return v >> 24;
}
)";

constexpr const char* count_text = R"(uint quadrat_count(uint v) {
    v -= (v >> 1) & 0x55555555u;
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    return (((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}
)";

// `k` is the bit's position.
constexpr const char* bits_text = R"(    uint word = quadrat_word(quadrat_bits, k >> 5);
    if ((word >> (k & 31u) & 1u) == 0u) return -1;
    uint at = quadrat_word(quadrat_ranks, k >> 9) + quadrat_count(word & ((1u << (k & 31u)) - 1u));
    for (uint w = k >> 9 << 4; w < k >> 5; ++w) at += quadrat_count(quadrat_word(quadrat_bits, w));
)";

// A record begins at a byte; its mask is two words.
constexpr const char* brick_text = R"(    uint low = quadrat_bytes(byte), high = quadrat_bytes(byte + 4u);
    uint word = bit < 32u ? low : high;
    if ((word >> (bit & 31u) & 1u) == 0u) return -1;
    uint at = quadrat_bytes(byte + 8u) + quadrat_count(word & ((1u << (bit & 31u)) - 1u));
    if (bit >= 32u) at += quadrat_count(low);
)";

constexpr const char* bytes_text = R"(uint quadrat_bytes(uint byte) {
    uint at = (byte & 3u) * 8u, v = quadrat_word(quadrat_bricks, byte >> 2) >> at;
    return at == 0u ? v : v | quadrat_word(quadrat_bricks, (byte >> 2) + 1u) << (32u - at);
}
)";

std::string number(std::uint64_t v) {
    return std::to_string(v) + "u";
}

template <int D, class Get>
std::string vector_of(Get&& get) {
    std::string s = "uvec" + std::to_string(D) + "(";
    for (int a = 0; a < D; ++a) s += (a ? ", " : "") + get(a);
    return s + ")";
}

template <int D, class Get>
std::string constants(Get&& get) {
    return vector_of<D>([&](int a) { return number(get(a)); });
}

/// The index of `v` in a table, x fastest.
template <int D, class Get>
std::string flat(const std::string& v, Get&& size) {
    const std::string inner = D == 2 ? v + ".y" : "(" + v + ".y + " + number(size(1)) + " * " + v + ".z)";
    return v + ".x + " + number(size(0)) + " * " + inner;
}

/// `bucket` and `slot` of `key`, which is declared.
template <int D>
std::string place(const PerfectHash<D>& h) {
    const std::string uvec = "uvec" + std::to_string(D);
    const auto offset_size = [&](int a) { return h.offset_size(a); };
    const auto table_size = [&](int a) { return h.table_size(a); };
    const int bits = h.offset_bits();
    std::string s = "    " + uvec + " q = key % " + constants<D>(offset_size) + ";\n";
    s += "    uint bucket = " + flat<D>("q", offset_size) + ";\n";
    s += "    " + uvec + " phi = " + vector_of<D>([&](int a) {
             return "quadrat_field(quadrat_offsets, bucket, " + number(static_cast<unsigned>(bits)) + ", " +
                    number(static_cast<unsigned>(a * bits)) + ", " + number(static_cast<unsigned>(D * bits)) + ")";
         }) +
         ";\n";
    s += "    " + uvec + " c = (key + phi * " + constants<D>([&](int a) { return h.scale(a); }) + ") % " +
         constants<D>(table_size) + ";\n";
    return s + "    uint slot = " + flat<D>("c", table_size) + ";\n";
}

/// Returns -1 unless the position tag in the slot is p's.
template <int D>
std::string compare_position(const VoxelIndex<D>& index) {
    const auto total = static_cast<unsigned>(index.tag_bits());
    std::string low = "0u", high = "0u";
    unsigned shift = 0;
    for (int a = 0; a < D; ++a) {
        const unsigned bits = static_cast<unsigned>(
            voxels::bits_for(std::uint64_t{index.extent()[static_cast<std::size_t>(a)]} + (a == D - 1)));
        const std::string axis = std::string("p.") + "xyz"[a];
        if (shift < 32) low += " | " + axis + " << " + number(shift);
        if (shift < 32 && shift + bits > 32) high += " | " + axis + " >> " + number(32 - shift);
        if (shift >= 32) high += " | " + axis + " << " + number(shift - 32);
        shift += bits;
    }
    const auto differs = [&](unsigned bits, unsigned at, const std::string& wanted) {
        return "    if (quadrat_field(quadrat_tags, slot, " + number(bits) + ", " + number(at) + ", " + number(total) +
               ") != (" + wanted + ")) return -1;\n";
    };
    return differs(std::min(total, 32u), 0, low) + (total > 32 ? differs(total - 32, 32, high) : "");
}

template <int D>
std::string voxel_body(const VoxelIndex<D>& index, const std::string& bit) {
    const std::string head = "    uvec" + std::to_string(D) + " key = p;\n" + place(index.hash());
    const std::string tag_bits = number(static_cast<unsigned>(index.tag_bits()));
    const std::string mask = number(index.tag_bits() >= 32 ? 0xffffffffu : (1u << index.tag_bits()) - 1);
    switch (index.encoding()) {
        case Encoding::constrained:
            return head + "    return int(slot);\n";
        case Encoding::domain_bit:
            return bit + "    if ((quadrat_word(quadrat_bits, k >> 5) >> (k & 31u) & 1u) == 0u) return -1;\n" + head +
                   "    return int(slot);\n";
        case Encoding::position_tag:
            return head + compare_position(index) + "    return int(slot);\n";
        case Encoding::position_hash:
            return head + "    uint tag = quadrat_field(quadrat_tags, slot, 16u, 0u, 16u);\n    return quadrat_hash(" +
                   (D == 3 ? "p" : "uvec3(p, 0u)") + ", tag & 255u) == tag >> 8 ? int(slot) : -1;\n";
        default:
            return head + "    return quadrat_field(quadrat_tags, slot, " + tag_bits + ", 0u, " + tag_bits +
                   ") == (bucket & " + mask + ") ? int(slot) : -1;\n";
    }
}

template <int D>
std::string brick_body(const VoxelIndex<D>& index) {
    const std::string uvec = "uvec" + std::to_string(D);
    const unsigned shift = voxels::brick_shift<D>, low = (1u << shift) - 1;
    const auto tag_bits = static_cast<unsigned>(index.tag_bits());
    const unsigned mask = tag_bits >= 32 ? 0xffffffffu : (1u << tag_bits) - 1;
    std::string s = "    " + uvec + " moved = p + " +
                    constants<D>([&](int a) { return static_cast<std::uint32_t>(index.origin()[a]) & low; }) +
                    ", key = moved >> " + number(shift) + ", inner = moved & " + number(low) + ";\n";
    s += "    uint bit = inner.x | inner.y << " + number(shift) + (D == 3 ? " | inner.z << " + number(2 * shift) : "") +
         ";\n" + place(index.hash());
    s += "    uint byte = slot * " + number(voxels::BrickRecords::stride_for(tag_bits)) + ";\n";
    s += "    if (((quadrat_bytes(byte + 12u) ^ bucket) & " + number(mask) + ") != 0u) return -1;\n";
    return s + brick_text + "    return int(at);\n";
}

}  // namespace

template <int D>
std::string glsl_find(const VoxelIndex<D>& index) {
    const bool bits = index.layout() == Layout::bits, brick = index.layout() == Layout::brick;
    const bool voxel = !bits && !brick;
    const Encoding encoding = index.encoding();
    if (!bits && !index.hash().identity())
        throw Error(ErrorKind::unsupported, "shaders read hashes with identity matrices", {.field = "matrices"});
    std::uint64_t cells = 1;
    for (const std::uint32_t e : index.extent()) cells *= e;
    const bool domain_bits = bits || (voxel && encoding == Encoding::domain_bit);
    if (domain_bits && cells > (std::uint64_t{1} << 32))
        throw Error(ErrorKind::unsupported, "shaders count bits of domains up to 2^32 positions", {.field = "domain"});

    const std::string dims = std::to_string(D), uvec = "uvec" + dims;
    std::string s = "// quadrat: " + std::to_string(index.entries()) + " entries, " + name(index.layout()) +
                    (voxel ? std::string(", ") + name(encoding) : "") + "\n";
    const auto sampler = [&](const char* name) { s += std::string("uniform highp usampler2D ") + name + ";\n"; };
    if (!bits) sampler("quadrat_offsets");
    if (voxel && encoding != Encoding::constrained && !domain_bits) sampler("quadrat_tags");
    if (domain_bits) sampler("quadrat_bits");
    if (bits) sampler("quadrat_ranks");
    if (brick) sampler("quadrat_bricks");
    s += word_text;
    if (!bits) s += field_text;
    if (voxel && encoding == Encoding::position_hash) s += hash_text;
    if (!voxel) s += count_text;
    if (brick) s += bytes_text;
    s += "int quadrat_find(ivec" + dims + " position) {\n";
    if (index.entries() == 0) return s + "    return -1;\n}\n";
    s += "    " + uvec + " p = " + uvec + "(position) - " +
         constants<D>([&](int a) { return static_cast<std::uint32_t>(index.origin()[a]); }) + ";\n";
    const auto extent = [&](int a) { return index.extent()[static_cast<std::size_t>(a)]; };
    s += "    if (any(greaterThanEqual(p, " + constants<D>(extent) + "))) return -1;\n";
    const std::string bit = "    uint k = " + flat<D>("p", extent) + ";\n";
    if (bits)
        s += bit + bits_text + "    return int(at);\n";
    else
        s += brick ? brick_body(index) : voxel_body(index, bit);
    return s + "}\n";
}

template <int D>
std::vector<GlslTable> glsl_tables(const VoxelIndex<D>& index) {
    const auto parts = voxels::IndexFiles<D>::parts(index);
    std::vector<GlslTable> out;
    for (std::size_t t = 0; t < voxels::table_count; ++t)
        if (const Buffer& b = parts.tables[t]; b.size != 0)
            out.push_back({voxels::table_names[t], glsl_words({b.data.get(), b.size})});
    return out;
}

std::vector<std::uint32_t> glsl_words(std::span<const std::uint8_t> table) {
    const std::size_t words = (table.size() + 3) / 4;
    std::vector<std::uint32_t> out((words + glsl_texture_width - 1) / glsl_texture_width * glsl_texture_width);
    if (!table.empty()) std::memcpy(out.data(), table.data(), table.size());
    return out;
}

template std::string glsl_find<2>(const VoxelIndex<2>&);
template std::string glsl_find<3>(const VoxelIndex<3>&);
template std::vector<GlslTable> glsl_tables<2>(const VoxelIndex<2>&);
template std::vector<GlslTable> glsl_tables<3>(const VoxelIndex<3>&);

}  // namespace quadrat
