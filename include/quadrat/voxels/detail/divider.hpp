// Division by a number that stays the same, for lookups: a multiplication and a shift in place of the processor's slow
// division. Machinery of PerfectHash and BlockedVoxels.
//
//     x / d  =  (x * magic) >> 40,   magic = 2^40 / d, rounded up by less than 1
//
//     bits of x * magic    61 ............ 40 | 39 ............ 0
//                          x / d              | what rounding down cuts off
//
// Rounding magic up makes x / d too large by less than x / 2^40 < 2^-18 before it is rounded down. What is missing to
// the next whole number is at least 1 / d >= 2^-16, which is more: the result is exact.
#pragma once

#include <cstdint>

namespace quadrat::voxels {

/// x / d and x mod d, exact for x < 2^22. It does not change, and all calls may run concurrently.
struct Divider {
    /// d.
    std::uint32_t divisor = 1;
    /// 2^40 / d, rounded up.
    std::uint64_t magic = std::uint64_t{1} << 40;

    /// By 1.
    Divider() = default;
    /// By d.
    ///
    /// d: 1 to 2^16; this is not checked.
    explicit Divider(std::uint32_t d) : divisor(d), magic(((std::uint64_t{1} << 40) + d - 1) / d) {}
    /// x / d, rounded down.
    ///
    /// x: below 2^22; this is not checked.
    [[nodiscard]] std::uint32_t quotient(std::uint32_t x) const {
        return static_cast<std::uint32_t>((x * magic) >> 40);
    }
    /// x mod d.
    ///
    /// x: as for quotient().
    [[nodiscard]] std::uint32_t remainder(std::uint32_t x) const { return x - quotient(x) * divisor; }
};

}  // namespace quadrat::voxels
