// Hash functions of cells: the XOR hash with three large numbers of Teschner et al. 2003 (HSH eq. 1, CI eq. 15), the
// modulo hash of powers of two (Schornbaum 2009, HHG 3.2), Morton keys, and the H-masks of Onderik & Durikovic 2008 (CI
// eq. 16). Everything is unsigned arithmetic modulo 2^64. 19349663 is not a prime (41 * 471943); it is kept because it
// is published.
//
// CI eq. 16 as printed, with h' = h / (2 H + 1), reaches less than h / 2. Here a mask is built from the ratio reach /
// edge: all offsets whose cell can come within `ratio` edges of the home cell, sum max(|s| - 1, 0)^2 <= ratio^2.
#pragma once

#include <quadrat/geometry.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace quadrat::cells {

inline constexpr std::uint64_t hash_factor[3] = {73856093, 19349663, 83492791};

/// HSH eq. 1 without the modulus (n = infinity).
template <int D>
[[nodiscard]] constexpr std::uint64_t xor_hash(const Vec<D, std::int64_t>& cell) {
    std::uint64_t h = 0;
    for (int k = 0; k < D; ++k) h ^= static_cast<std::uint64_t>(cell[k]) * hash_factor[k];
    return h;
}

/// The XOR hash spread over `bits` high-quality bits (Fibonacci hashing); 1 <= bits <= 64. For tables of 2^bits slots:
/// the low bits of the XOR hash alone repeat with the low bits of the coordinates.
[[nodiscard]] constexpr std::uint64_t spread_hash(std::uint64_t h, int bits) {
    return (h * 0x9E3779B97F4A7C15u) >> (64 - bits);
}

/// HHG 3.2: the cell's place in a grid of 2^bits[k] cells per axis that repeats over all of space, x fastest.
template <int D>
[[nodiscard]] constexpr std::uint64_t modulo_hash(const Vec<D, std::int64_t>& cell, const Vec<D, int>& bits) {
    std::uint64_t h = 0;
    int shift = 0;
    for (int k = 0; k < D; ++k) {
        const std::uint64_t mask = (std::uint64_t{1} << bits[k]) - 1;
        h |= (static_cast<std::uint64_t>(cell[k]) & mask) << shift;
        shift += bits[k];
    }
    return h;
}

/// Bits per axis of a 64-bit Morton key.
template <int D>
inline constexpr int morton_bits = D == 2 ? 32 : 21;

namespace detail {

constexpr std::uint64_t spread_by_2(std::uint64_t x) {
    x &= 0xFFFFFFFFu;
    x = (x | x << 16) & 0x0000FFFF0000FFFFu;
    x = (x | x << 8) & 0x00FF00FF00FF00FFu;
    x = (x | x << 4) & 0x0F0F0F0F0F0F0F0Fu;
    x = (x | x << 2) & 0x3333333333333333u;
    return (x | x << 1) & 0x5555555555555555u;
}
constexpr std::uint64_t gather_by_2(std::uint64_t x) {
    x &= 0x5555555555555555u;
    x = (x | x >> 1) & 0x3333333333333333u;
    x = (x | x >> 2) & 0x0F0F0F0F0F0F0F0Fu;
    x = (x | x >> 4) & 0x00FF00FF00FF00FFu;
    x = (x | x >> 8) & 0x0000FFFF0000FFFFu;
    return (x | x >> 16) & 0xFFFFFFFFu;
}
constexpr std::uint64_t spread_by_3(std::uint64_t x) {
    x &= 0x1FFFFFu;
    x = (x | x << 32) & 0x001F00000000FFFFu;
    x = (x | x << 16) & 0x001F0000FF0000FFu;
    x = (x | x << 8) & 0x100F00F00F00F00Fu;
    x = (x | x << 4) & 0x10C30C30C30C30C3u;
    return (x | x << 2) & 0x1249249249249249u;
}
constexpr std::uint64_t gather_by_3(std::uint64_t x) {
    x &= 0x1249249249249249u;
    x = (x | x >> 2) & 0x10C30C30C30C30C3u;
    x = (x | x >> 4) & 0x100F00F00F00F00Fu;
    x = (x | x >> 8) & 0x001F0000FF0000FFu;
    x = (x | x >> 16) & 0x001F00000000FFFFu;
    return (x | x >> 32) & 0x1FFFFFu;
}

}  // namespace detail

/// Interleaves the low morton_bits<D> bits of each coordinate, x lowest: ...z1 y1 x1 z0 y0 x0.
template <int D>
[[nodiscard]] constexpr std::uint64_t morton_encode(const Vec<D, std::uint64_t>& c) {
    if constexpr (D == 2)
        return detail::spread_by_2(c[0]) | detail::spread_by_2(c[1]) << 1;
    else
        return detail::spread_by_3(c[0]) | detail::spread_by_3(c[1]) << 1 | detail::spread_by_3(c[2]) << 2;
}
template <int D>
[[nodiscard]] constexpr Vec<D, std::uint64_t> morton_decode(std::uint64_t key) {
    Vec<D, std::uint64_t> c{};
    for (int k = 0; k < D; ++k) c[k] = D == 2 ? detail::gather_by_2(key >> k) : detail::gather_by_3(key >> k);
    return c;
}

/// All offsets to cells that can hold a point within ratio * edge of some point of the home cell, x fastest. The ratio
/// includes the margin of reach() (cells/predicate.hpp).
template <int D>
[[nodiscard]] std::vector<Vec<D, int>> h_mask(double ratio) {
    const int most = static_cast<int>(std::ceil(ratio));
    std::vector<Vec<D, int>> mask;
    Vec<D, int> s{};
    const auto gap_sq = [](int x) {
        const double gap = std::abs(x) > 1 ? std::abs(x) - 1 : 0;
        return gap * gap;
    };
    for (int z = D == 3 ? -most : 0; z <= (D == 3 ? most : 0); ++z)
        for (int y = -most; y <= most; ++y)
            for (int x = -most; x <= most; ++x) {
                if (gap_sq(x) + gap_sq(y) + gap_sq(z) > ratio * ratio) continue;
                s[0] = x;
                s[1] = y;
                if constexpr (D == 3) s[2] = z;
                mask.push_back(s);
            }
    return mask;
}

}  // namespace quadrat::cells
