// Sizes of the two tables of a perfect hash (Lefebvre & Hoppe 2006, section 4.1). Tables need not be cubes: among
// nearly cubic shapes the one with the fewest cells is taken. Sizes are odd, since data on a grid of some power of two
// is common and a table that shares its period packs badly; the two sizes of one axis are coprime, and m mod r is not 1
// or r - 1, which the paper found unpromising.
#pragma once

#include "base/assert.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

namespace quadrat::voxels {

using Sizes = std::array<std::uint32_t, 3>;

/// Of a table on one axis: a hash keeps 16 bits.
inline constexpr std::uint32_t largest_size = 65535;

[[nodiscard]] inline std::uint64_t product(const Sizes& s) {
    return std::uint64_t{s[0]} * s[1] * s[2];
}

/// Of a modulo m; the two are coprime. 0 for m = 1.
[[nodiscard]] inline std::uint32_t inverse(std::uint32_t a, std::uint32_t m) {
    QUADRAT_ASSERT(m != 0 && std::gcd(a, m) == 1);
    std::int64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1;
    while (r1 != 0) {
        const std::int64_t q = r0 / r1;
        r0 = std::exchange(r1, r0 - q * r1);
        t0 = std::exchange(t1, t0 - q * t1);
    }
    return static_cast<std::uint32_t>((t0 % m + m) % m);
}

/// Which axes of a table are thin: where the domain is thinner than the table would be, the table has its extent there
/// and the offset table one bucket, so that both have their room on the other axes. Floors, strips and poles would
/// otherwise use a single row of the offset table.
///
///     extent 20000 x 20000 x 4, 101,000 slots:   table 155 x 163 x 4 and offsets 137 x 123 x 1,
///                                                not 39 x 49 x 53 and 25 x 27 x 25
struct Folding {
    Sizes thin{};  ///< the extent on thin axes, 0 on the others
    int wide = 3;  ///< axes that are not thin, at least one

    /// Slots for each combination of the other axes.
    [[nodiscard]] double cells() const {
        double n = 1;
        for (const std::uint32_t e : thin) n *= e ? e : 1;
        return n;
    }
};
/// Of a table of `cells` over a domain; an extent of 0 is never thin.
[[nodiscard]] Folding folding(int dims, std::uint64_t cells, const Sizes& extent);

/// The smallest table of at least `cells`, nearly square or cubic on the axes that are not thin; `variant` > 0 gives
/// other shapes, a little larger.
[[nodiscard]] Sizes table_sizes(int dims, std::uint64_t cells, unsigned variant, const Sizes& extent);

/// The offset table of at least (or at most, if `below`) `cells` for a table of size `table`, folded as it is. If
/// `extent` is not zero, every axis holds table * offset >= extent where a shape near the wanted size allows it.
[[nodiscard]] Sizes offset_sizes(int dims, std::uint64_t cells, const Sizes& table, const Folding& fold,
                                 const Sizes& extent, bool below);

}  // namespace quadrat::voxels
