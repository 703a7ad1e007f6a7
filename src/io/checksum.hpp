// The checksum of a set of pairs, in any order: the sum modulo 2^64 of a mix of every pair. Anyone can repeat it in a
// few lines of any language, so that two programs can compare millions of pairs by 16 hex digits.
#pragma once

#include "base/random.hpp"

#include <quadrat/geometry.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace quadrat::io {

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
    return base::SplitMix(x).next();
}

[[nodiscard]] constexpr std::uint64_t mix_pair(std::uint32_t a, std::uint32_t b) {
    return mix(std::uint64_t{a} << 32 | b);
}

[[nodiscard]] constexpr std::uint64_t checksum(std::span<const Pair> pairs) {
    std::uint64_t sum = 0;
    for (const Pair& p : pairs) sum += mix_pair(p.first, p.second);
    return sum;
}

/// 16 hex digits.
[[nodiscard]] inline std::string hex16(std::uint64_t value) {
    std::string text(16, '0');
    for (std::size_t k = 16; k-- > 0; value >>= 4) text[k] = "0123456789abcdef"[value & 15];
    return text;
}

}  // namespace quadrat::io
