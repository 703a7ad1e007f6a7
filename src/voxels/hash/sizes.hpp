// Sizes of the two tables of a perfect hash (Lefebvre & Hoppe 2006, section 4.1). Tables need not be cubes: among
// nearly cubic shapes the one with the fewest cells is taken. Sizes are odd, since data on a grid of some power of two
// is common and a table that shares its period packs badly; the two sizes of one axis are coprime, and m mod r is not 1
// or r - 1, which the paper found unpromising.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace quadrat::voxels {

using Sizes = std::array<std::uint32_t, 3>;

[[nodiscard]] inline std::uint64_t product(const Sizes& s) {
    return std::uint64_t{s[0]} * s[1] * s[2];
}

/// Of a modulo m; the two are coprime.
[[nodiscard]] inline std::uint32_t inverse(std::uint32_t a, std::uint32_t m) {
    std::int64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1;
    while (r1 != 0) {
        const std::int64_t q = r0 / r1;
        r0 = std::exchange(r1, r0 - q * r1);
        t0 = std::exchange(t1, t0 - q * t1);
    }
    return static_cast<std::uint32_t>((t0 % m + m) % m);
}

/// The smallest nearly square or cubic table of at least `cells`; `variant` > 0 gives other shapes, a little larger.
[[nodiscard]] Sizes table_sizes(int dims, std::uint64_t cells, unsigned variant);

/// The offset table of at least (or at most, if `below`) `cells` for a table of size `table`. If `extent` is not zero,
/// every axis holds table * offset >= extent where a shape near the wanted size allows it.
[[nodiscard]] Sizes offset_sizes(int dims, std::uint64_t cells, const Sizes& table, const Sizes& extent, bool below);

}  // namespace quadrat::voxels
