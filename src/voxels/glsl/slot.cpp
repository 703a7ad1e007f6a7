// A bare perfect hash as shader text, any matrices and three dimensions into two (Lefebvre & Hoppe 2006, section 7.2).
// Products of a coefficient and a coordinate exceed 32 bits, so both are reduced first: sizes are at most 2^16.
#include <quadrat/voxels/glsl.hpp>

#include "voxels/glsl/text.hpp"

namespace quadrat {
namespace {

using voxels::glsl_number;

// One axis of h0 or h1 of `p`, below `size`.
template <int D, class Coefficient>
std::string axis(std::uint32_t size, bool identity, int row, Coefficient&& coefficient) {
    if (identity) return std::string("p.") + "xyz"[row] + " % " + glsl_number(size);
    std::string sum;
    for (int b = 0; b < D; ++b)
        if (const std::uint32_t m = coefficient(b) % size; m != 0)
            sum += (sum.empty() ? "" : " + ") + std::string("p.") + "xyz"[b] + " % " + glsl_number(size) + " * " +
                   glsl_number(m) + " % " + glsl_number(size);
    return "(" + (sum.empty() ? "0u" : sum) + ") % " + glsl_number(size);
}

}  // namespace

template <int D, int E>
std::string glsl_slot(const PerfectHash<D, E>& h) {
    const std::string dims = std::to_string(D), uvec = "uvec" + dims;
    std::string s = "uniform highp usampler2D quadrat_offsets;\n";
    s += std::string(voxels::glsl_word_text) + voxels::glsl_field_text + "int quadrat_slot(ivec" + dims +
         " position) {\n";
    if (h.entries() == 0) return s + "    return -1;\n}\n";
    s += "    " + uvec + " p = " + uvec + "(position) - " +
         voxels::glsl_constants<D>([&](int a) { return static_cast<std::uint32_t>(h.origin()[a]); }) + ";\n";
    s += "    if (any(greaterThanEqual(p, " +
         voxels::glsl_constants<D>([&](int a) { return h.extent()[static_cast<std::size_t>(a)]; }) + "))) return -1;\n";
    const std::string vec = "uvec" + std::to_string(E), bits = glsl_number(static_cast<unsigned>(h.offset_bits()));
    s += "    " + vec + " q = " +
         voxels::glsl_vector<E>(vec,
                                [&](int a) {
                                    return axis<D>(h.offset_size(a), h.identity(), a,
                                                   [&](int b) { return h.offset_matrix(a, b); });
                                }) +
         ";\n";
    s += "    uint bucket = " + voxels::glsl_flat<E>("q", [&](int a) { return h.offset_size(a); }) + ";\n";
    s += "    " + vec + " phi = " +
         voxels::glsl_vector<E>(vec,
                                [&](int a) {
                                    return "quadrat_field(quadrat_offsets, bucket, " + bits + ", " +
                                           glsl_number(static_cast<unsigned>(a * h.offset_bits())) + ", " +
                                           glsl_number(static_cast<unsigned>(E * h.offset_bits())) + ")";
                                }) +
         ";\n";
    s += "    " + vec + " c = (" +
         voxels::glsl_vector<E>(vec,
                                [&](int a) {
                                    return axis<D>(h.table_size(a), h.identity(), a,
                                                   [&](int b) { return h.table_matrix(a, b); });
                                }) +
         " + phi * " + voxels::glsl_constants<E>([&](int a) { return h.scale(a); }) + ") % " +
         voxels::glsl_constants<E>([&](int a) { return h.table_size(a); }) + ";\n";
    return s + "    return int(" + voxels::glsl_flat<E>("c", [&](int a) { return h.table_size(a); }) + ");\n}\n";
}

template std::string glsl_slot<2, 2>(const PerfectHash<2, 2>&);
template std::string glsl_slot<3, 3>(const PerfectHash<3, 3>&);
template std::string glsl_slot<3, 2>(const PerfectHash<3, 2>&);

}  // namespace quadrat
