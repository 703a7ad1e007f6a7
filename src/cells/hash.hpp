// Hash functions of cells: the XOR hash with three large numbers of Teschner et al. 2003 (HSH eq. 1, CI eq. 15), and
// the H-masks of Onderik & Durikovic 2008 (CI eq. 16). Everything is unsigned arithmetic modulo 2^64. 19349663 is not a
// prime (41 * 471943); it is kept because it is published.
//
// CI eq. 16 as printed, with h' = h / (2 H + 1), reaches less than h / 2. Here a mask is built from the ratio reach /
// edge: all offsets whose cell can come within `ratio` edges of the home cell, sum max(|s| - 1, 0)^2 <= ratio^2.
#pragma once

#include <quadrat/geometry.hpp>

#include "base/assert.hpp"

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
    QUADRAT_ASSERT(bits >= 1 && bits <= 64);
    return (h * 0x9E3779B97F4A7C15u) >> (64 - bits);
}

/// All offsets to cells that can hold a point within ratio * edge of some point of the home cell, x fastest. The ratio
/// includes the margin of reach() (cells/predicate.hpp).
template <int D>
[[nodiscard]] std::vector<Vec<D, int>> h_mask(double ratio) {
    QUADRAT_ASSERT(ratio > 0 && ratio < 1024);
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
