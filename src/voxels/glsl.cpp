#include <quadrat/voxels/glsl.hpp>

#include <quadrat/error.hpp>

namespace quadrat {
namespace {

template <class Get>
std::string vector_of(const char* type, int dims, Get&& get) {
    std::string s = type + std::to_string(dims) + "(";
    for (int a = 0; a < dims; ++a) s += (a ? ", " : "") + get(a);
    return s + ")";
}

}  // namespace

template <int D>
std::string glsl_find(const VoxelIndex<D>& index) {
    const auto encoding = index.encoding();
    const PerfectHash<D>& h = index.hash();
    if (index.layout() != Layout::voxel || encoding == Encoding::domain_bit || encoding == Encoding::position_tag ||
        !h.identity())
        throw Error(ErrorKind::unsupported,
                    "shaders read the voxel layout with bucket tags or position hashes, or constrained; pack it so",
                    {.field = "layout"});
    const auto number = [](auto v) { return std::to_string(v) + "u"; };
    const auto u = [&](auto&& get) { return vector_of("uvec", D, [&](int a) { return number(get(a)); }); };
    const std::string uvec = "uvec" + std::to_string(D), ivec = "ivec" + std::to_string(D);
    std::string s = "// quadrat: " + std::to_string(index.entries()) + " entries, encoding " + name(encoding) + "\n";
    s += "uniform highp usampler2D quadrat_offsets;\n";
    if (encoding != Encoding::constrained) s += "uniform highp usampler2D quadrat_tags;\n";
    s += "// `bits` bits from field `i` of a table of fields without gaps; 64-bit positions from two 32-bit halves.\n"
         "uint quadrat_word(highp usampler2D t, uint w) { return texelFetch(t, ivec2(int(w & 2047u), int(w >> 11)), "
         "0).r; }\n"
         "uint quadrat_field(highp usampler2D t, uint i, uint bits, uint shift, uint width) {\n"
         "    uint low = (i & 0xffffu) * width + shift, high = (i >> 16) * width;\n"
         "    uint word = (low >> 5) + high * 2048u, at = low & 31u;\n"
         "    uint v = quadrat_word(t, word) >> at;\n"
         "    if (at + bits > 32u) v |= quadrat_word(t, word + 1u) << (32u - at);\n"
         "    return bits == 32u ? v : v & ((1u << bits) - 1u);\n"
         "}\n";
    if (encoding == Encoding::position_hash)
        s += "uint quadrat_hash(uvec3 p, uint k) {\n"
             "    uint v = p.x * 0x9E3779B1u ^ p.y * 0x85EBCA77u ^ p.z * 0xC2B2AE3Du;\n"
             "    v += k * 0x27D4EB2Fu; v ^= v >> 15; v *= 0x2C1B3C6Du; v ^= v >> 12; v *= 0x297A2D39u;\n"
             "    return v >> 24;\n"
             "}\n";
    s += "int quadrat_find(" + ivec + " position) {\n";
    s += "    " + uvec + " p = " + uvec + "(position - " +
         vector_of("ivec", D, [&](int a) { return std::to_string(index.origin()[a]); }) + ");\n";
    s += "    if (any(greaterThanEqual(p, " + u([&](int a) { return index.extent()[static_cast<std::size_t>(a)]; }) +
         "))) return -1;\n";
    s += "    " + uvec + " q = p % " + u([&](int a) { return h.offset_size(a); }) + ";\n";
    s += "    uint bucket = q.x + " + number(h.offset_size(0)) + " * " +
         (D == 2 ? std::string("q.y") : "(q.y + " + number(h.offset_size(1)) + " * q.z)") + ";\n";
    const std::string bits = number(h.offset_bits()), width = number(h.offset_bits() * D);
    s += "    " + uvec + " phi = " +
         vector_of("uvec", D,
                   [&](int a) {
                       return "quadrat_field(quadrat_offsets, bucket, " + bits + ", " + number(a * h.offset_bits()) +
                              ", " + width + ")";
                   }) +
         ";\n";
    s += "    " + uvec + " c = (p + phi * " + u([&](int a) { return h.scale(a); }) + ") % " +
         u([&](int a) { return h.table_size(a); }) + ";\n";
    s += "    uint slot = c.x + " + number(h.table_size(0)) + " * " +
         (D == 2 ? std::string("c.y") : "(c.y + " + number(h.table_size(1)) + " * c.z)") + ";\n";
    const std::string tag_bits = number(index.tag_bits());
    if (encoding == Encoding::bucket_tag) {
        s +=
            "    if (quadrat_field(quadrat_tags, slot, " + tag_bits + ", 0u, " + tag_bits + ") != bucket) return -1;\n";
    } else if (encoding == Encoding::position_hash) {
        s += "    uint tag = quadrat_field(quadrat_tags, slot, 16u, 0u, 16u);\n";
        s += std::string("    if (quadrat_hash(") + (D == 3 ? "p" : "uvec3(p, 0u)") +
             ", tag & 255u) != tag >> 8) return -1;\n";
    }
    s += "    return int(slot);\n}\n";
    return s;
}

std::vector<std::uint32_t> glsl_words(std::span<const std::uint8_t> table) {
    const std::size_t words = (table.size() + 3) / 4;
    std::vector<std::uint32_t> out((words + glsl_texture_width - 1) / glsl_texture_width * glsl_texture_width);
    if (!table.empty()) std::memcpy(out.data(), table.data(), table.size());
    return out;
}

template std::string glsl_find<2>(const VoxelIndex<2>&);
template std::string glsl_find<3>(const VoxelIndex<3>&);

}  // namespace quadrat
