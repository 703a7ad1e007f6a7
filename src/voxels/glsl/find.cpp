// The lookup of every layout and encoding as shader text. GLSL ES 3.0 has no 64-bit integers, no bitCount and no
// buffers, so tables are textures of 32-bit words, positions of bits are split in two, and bits are counted by hand.
// The numbers of the index stand in the text as constants.
#include <quadrat/voxels/glsl.hpp>

#include <quadrat/error.hpp>

#include "voxels/glsl/text.hpp"
#include "voxels/index/estimates.hpp"
#include "voxels/index/state.hpp"

#include <algorithm>

namespace quadrat {
namespace {

constexpr const char* hash_text = R"(uint quadrat_hash(uvec3 p, uint k) {
    uint v = p.x * 0x9E3779B1u ^ p.y * 0x85EBCA77u ^ p.z * 0xC2B2AE3Du;
    v += k * 0x27D4EB2Fu; v ^= v >> 15; v *= 0x2C1B3C6Du; v ^= v >> 12; v *= 0x297A2D39u;
    return v >> 24;
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

// Keys have up to 63 bits: pairs of words, the low one first. A lookup is that of voxels/index/key_code.hpp; heads are
// passed by counting zeros word by word, and low parts are compared one by one up to eight of them.
constexpr const char* keys_text = R"(uvec2 quadrat_mul(uint a, uint b) {
    uint al = a & 0xffffu, ah = a >> 16, bl = b & 0xffffu, bh = b >> 16;
    uint ll = al * bl, lh = al * bh, hl = ah * bl, mid = (ll >> 16) + (lh & 0xffffu) + (hl & 0xffffu);
    return uvec2((ll & 0xffffu) | mid << 16, ah * bh + (lh >> 16) + (hl >> 16) + (mid >> 16));
}
uvec2 quadrat_add(uvec2 a, uvec2 b) {
    uint low = a.x + b.x;
    return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
uvec2 quadrat_shift(uvec2 a, uint by) {
    if (by == 0u) return a;
    if (by >= 32u) return uvec2(by == 32u ? a.y : a.y >> (by - 32u), 0u);
    return uvec2(a.x >> by | a.y << (32u - by), a.y >> by);
}
uint quadrat_at(highp usampler2D t, uvec2 bit, uint bits) {
    if (bits == 0u) return 0u;
    uint word = bit.x >> 5 | bit.y << 27, at = bit.x & 31u, v = quadrat_word(t, word) >> at;
    if (at + bits > 32u) v |= quadrat_word(t, word + 1u) << (32u - at);
    return bits == 32u ? v : v & ((1u << bits) - 1u);
}
uvec2 quadrat_low(uvec2 bit, uint i, uint low) {
    uvec2 at = quadrat_add(bit, quadrat_mul(i, low));
    if (low <= 32u) return uvec2(quadrat_at(quadrat_keys, at, low), 0u);
    return uvec2(quadrat_at(quadrat_keys, at, 32u), quadrat_at(quadrat_keys, quadrat_add(at, uvec2(32u, 0u)), low - 32u));
}
int quadrat_find_key(uvec2 key, uint low, uint rank_bits) {
    uint bucket = quadrat_shift(key, low + 6u).x, head = quadrat_shift(key, low).x & 63u;
    uvec2 rank = quadrat_mul(bucket, rank_bits);
    uint begin = quadrat_at(quadrat_ranks, rank, rank_bits);
    uint count = quadrat_at(quadrat_ranks, quadrat_add(rank, uvec2(rank_bits, 0u)), rank_bits) - begin;
    if (count == 0u) return -1;
    uvec2 record = quadrat_add(quadrat_mul(bucket, 64u), quadrat_mul(begin, low + 1u));
    uint width = 0u, first = 0u, last = 0u;
    for (uint c = count; c != 0u; c >>= 1) ++width;
    if (width * 64u <= 64u + count) {
        if (head != 0u) first = quadrat_at(quadrat_keys, quadrat_add(record, uvec2((head - 1u) * width, 0u)), width);
        last = quadrat_at(quadrat_keys, quadrat_add(record, uvec2(head * width, 0u)), width);
    } else {
        uint bit = 0u, left = head, word = 0u;
        while (left != 0u) {
            word = quadrat_at(quadrat_keys, quadrat_add(record, uvec2(bit, 0u)), 32u);
            uint zeros = 32u - quadrat_count(word);
            if (zeros < left) { left -= zeros; bit += 32u; continue; }
            for (; left != 0u; ++bit, word >>= 1) left -= 1u - (word & 1u);
        }
        first = last = bit - head;
        while (last < count && quadrat_at(quadrat_keys, quadrat_add(record, uvec2(head + last, 0u)), 1u) != 0u) ++last;
    }
    uvec2 lows = quadrat_add(record, uvec2(64u + count, 0u)), wanted = key;
    wanted.y = low >= 32u ? (low == 32u ? 0u : key.y & ((1u << (low - 32u)) - 1u)) : 0u;
    if (low < 32u) wanted.x &= (1u << low) - 1u;
    while (last - first > 8u) {
        uint middle = first + (last - first) / 2u;
        uvec2 v = quadrat_low(lows, middle, low);
        if (v.y < wanted.y || (v.y == wanted.y && v.x <= wanted.x)) first = middle; else last = middle;
    }
    for (; first < last; ++first)
        if (quadrat_low(lows, first, low) == wanted) return int(begin + first);
    return -1;
}
)";

using voxels::glsl_number;

std::string number(std::uint64_t v) {
    return glsl_number(v);
}
template <int D, class Get>
std::string vector_of(Get&& get) {
    return voxels::glsl_vector<D>("uvec" + std::to_string(D), get);
}
template <int D, class Get>
std::string constants(Get&& get) {
    return voxels::glsl_constants<D>(get);
}
template <int D, class Get>
std::string flat(const std::string& v, Get&& size) {
    return voxels::glsl_flat<D>(v, size);
}

// The key of p, and the lookup.
template <int D>
std::string keys_body(const VoxelIndex<D>& index) {
    const auto extent = [&](int a) { return number(index.extent()[static_cast<std::size_t>(a)]); };
    // x + ex (y + ey z): the inner sum has up to 42 bits.
    std::string s = D == 2 ? "    uvec2 inner = uvec2(p.y, 0u);\n"
                           : "    uvec2 inner = quadrat_add(quadrat_mul(p.z, " + extent(1) + "), uvec2(p.y, 0u));\n";
    s += "    uvec2 key = quadrat_mul(inner.x, " + extent(0) + ");\n    key.y += inner.y * " + extent(0) + ";\n";
    s += "    key = quadrat_add(key, uvec2(p.x, 0u));\n";
    return s + "    return quadrat_find_key(key, " + number(static_cast<unsigned>(index.tag_bits())) + ", " +
           number(static_cast<unsigned>(voxels::bits_for(std::uint64_t{index.entries()} + 1))) + ");\n";
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
        case Encoding::bucket_tag:
            return head + "    return quadrat_field(quadrat_tags, slot, " + tag_bits + ", 0u, " + tag_bits +
                   ") == (bucket & " + mask + ") ? int(slot) : -1;\n";
        case Encoding::automatic:
            break;
    }
    throw Error(ErrorKind::unsupported, "an index that is built has a certain encoding", {.field = "encoding"});
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
    const bool keys = index.layout() == Layout::keys, voxel = !bits && !brick && !keys;
    const Encoding encoding = index.encoding();
    if (voxels::is_hashed(index.layout()) && !index.hash().identity())
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
    if (voxel || brick) sampler("quadrat_offsets");
    if (voxel && encoding != Encoding::constrained && !domain_bits) sampler("quadrat_tags");
    if (domain_bits) sampler("quadrat_bits");
    if (bits || keys) sampler("quadrat_ranks");
    if (brick) sampler("quadrat_bricks");
    if (keys) sampler("quadrat_keys");
    s += voxels::glsl_word_text;
    if (voxel || brick) s += voxels::glsl_field_text;
    if (voxel && encoding == Encoding::position_hash) s += hash_text;
    if (!voxel) s += voxels::glsl_count_text;
    if (brick) s += bytes_text;
    if (keys) s += keys_text;
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
        s += keys ? keys_body(index) : brick ? brick_body(index) : voxel_body(index, bit);
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
