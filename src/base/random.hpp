// Random numbers that are the same on every machine, for sampling, scattering and test data; and a hash of text.
#pragma once

#include "base/assert.hpp"

#include <cstdint>
#include <string_view>

namespace quadrat::base {

/// The finaliser of SplitMix64: every bit of x decides about every bit of the answer.
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// Steele, Lea & Flood 2014. Any seed is a good seed.
class SplitMix {
  public:
    explicit constexpr SplitMix(std::uint64_t seed) : state_(seed) {}

    constexpr std::uint64_t next() { return scramble(state_ += 0x9E3779B97F4A7C15u); }
    /// In [0, 1), a multiple of 2^-53.
    constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    constexpr double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }
    /// In [0, bound); bound > 0. The bias of the modulus is below 2^-32 for any bound below 2^32.
    constexpr std::uint64_t below(std::uint64_t bound) {
        QUADRAT_ASSERT(bound > 0);
        return next() % bound;
    }

  private:
    std::uint64_t state_;
};

inline constexpr std::uint64_t fnv_start = 0xCBF29CE484222325u, fnv_prime = 0x100000001B3u;

/// FNV-1a with 64 bits, of Fowler, Noll and Vo. `before`: the hash of what stands before the text, if something does.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t before = fnv_start) {
    for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * fnv_prime;
    return before;
}
static_assert(fnv1a("foobar") == 0x85944171F73967E8u, "the authors' own example");

}  // namespace quadrat::base
