// A double taken apart into whole numbers, for everything exact in this module:
//
//     bit       63     62 .. 52    51 .. 0
//               sign   exponent e  fraction f
//     value     (2^52 + f) * 2^(e - 1075), or f * 2^(1 - 1075) where e is 0 (denormal)
#pragma once

#include "base/assert.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace quadrat::ccd {

/// x is mantissa * 2^(exponent - 1075); the mantissa has the sign, and the exponent is at least 1.
struct DoubleParts {
    std::int64_t mantissa;
    int exponent;
};

/// x: finite.
[[nodiscard]] inline DoubleParts split(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const int e = static_cast<int>(bits >> 52 & 0x7ff);
    QUADRAT_ASSERT(e != 0x7ff);
    auto m = static_cast<std::int64_t>(bits & 0xfffffffffffffull);
    if (e != 0) m |= std::int64_t{1} << 52;
    return {bits >> 63 != 0 ? -m : m, std::max(e, 1)};
}

/// The exponent of the lowest bit of x != 0.
[[nodiscard]] inline int lowest_bit(double x) {
    const DoubleParts parts = split(x);
    QUADRAT_ASSERT(parts.mantissa != 0);
    return parts.exponent - 1075 + std::countr_zero(static_cast<std::uint64_t>(parts.mantissa));
}

}  // namespace quadrat::ccd
