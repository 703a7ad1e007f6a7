// Integers of 128, 256 and 384 bits, two's complement, straight-line code: what the coefficients of one query fit into
// when its coordinates, scaled to integers, have at most 122 bits. No branches, no allocation; nothing is checked, the
// sizes are the caller's promise (coefficients.cpp counts the bits). base/bigint.hpp has integers of any size, which
// allocate and loop: queries that do not fit here, and what is not in the way of every query, take those
// (docs/decisions/0050 and 0053).
#pragma once

#include <cstdint>

namespace quadrat::ccd {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

struct Int256 {
    UInt128 lo = 0;
    UInt128 hi = 0;  ///< the sign is its top bit

    friend Int256 operator+(const Int256& a, const Int256& b) {
        const UInt128 low = a.lo + b.lo;
        return {low, a.hi + b.hi + (low < a.lo ? 1u : 0u)};
    }
    friend Int256 operator-(const Int256& a, const Int256& b) {
        return {a.lo - b.lo, a.hi - b.hi - (a.lo < b.lo ? 1u : 0u)};
    }
    [[nodiscard]] bool negative() const { return static_cast<Int128>(hi) < 0; }
    /// Rounded, with a relative error of at most 3 2^-53; zero and the sign are exact.
    [[nodiscard]] double to_double() const {
        const bool minus = negative();
        const Int256 m = minus ? Int256{} - *this : *this;
        const double x = static_cast<double>(m.hi) * 0x1p128 + static_cast<double>(m.lo);
        return minus ? -x : x;
    }
};

struct Int384 {
    UInt128 lo = 0;
    UInt128 mid = 0;
    UInt128 hi = 0;

    friend Int384 operator+(const Int384& a, const Int384& b) {
        const UInt128 low = a.lo + b.lo;
        const unsigned carry = low < a.lo ? 1 : 0;
        const UInt128 half = a.mid + b.mid;
        const UInt128 middle = half + carry;
        return {low, middle, a.hi + b.hi + (half < a.mid ? 1u : 0u) + (middle < half ? 1u : 0u)};
    }
    friend Int384 operator-(const Int384& a, const Int384& b) {
        const unsigned borrow = a.lo < b.lo ? 1 : 0;
        const UInt128 half = a.mid - b.mid;
        return {a.lo - b.lo, half - borrow, a.hi - b.hi - (a.mid < b.mid ? 1u : 0u) - (half < borrow ? 1u : 0u)};
    }
    [[nodiscard]] bool negative() const { return static_cast<Int128>(hi) < 0; }
    /// As Int256::to_double.
    [[nodiscard]] double to_double() const {
        const bool minus = negative();
        const Int384 m = minus ? Int384{} - *this : *this;
        const double x = m.hi != 0 ? static_cast<double>(m.hi) * 0x1p256 + static_cast<double>(m.mid) * 0x1p128
                                   : static_cast<double>(m.mid) * 0x1p128 + static_cast<double>(m.lo);
        return minus ? -x : x;
    }
};

inline Int256 unsigned_product(UInt128 a, UInt128 b) {
    const auto a0 = static_cast<std::uint64_t>(a), a1 = static_cast<std::uint64_t>(a >> 64);
    const auto b0 = static_cast<std::uint64_t>(b), b1 = static_cast<std::uint64_t>(b >> 64);
    const UInt128 low = UInt128{a0} * b0;
    const UInt128 cross = UInt128{a1} * b0 + static_cast<std::uint64_t>(low >> 64);  // < 2^128
    const UInt128 other = UInt128{a0} * b1 + static_cast<std::uint64_t>(cross);
    return {other << 64 | static_cast<std::uint64_t>(low),
            UInt128{a1} * b1 + static_cast<std::uint64_t>(cross >> 64) + static_cast<std::uint64_t>(other >> 64)};
}

/// As two's complement, a negative number is short of 2^128: what the unsigned product has too much is subtracted.
inline Int256 product(Int128 a, Int128 b) {
    const auto ua = static_cast<UInt128>(a);
    const auto ub = static_cast<UInt128>(b);
    Int256 r = unsigned_product(ua, ub);
    r.hi -= (a < 0 ? ub : 0) + (b < 0 ? ua : 0);
    return r;
}

inline Int384 product(const Int256& a, Int128 b) {
    const Int256 low = unsigned_product(a.lo, static_cast<UInt128>(b));
    const Int256 high = product(static_cast<Int128>(a.hi), b);
    const Int384 sum = Int384{low.lo, low.hi, 0} + Int384{0, high.lo, high.hi};
    return sum - Int384{0, b < 0 ? a.lo : 0, 0};
}

}  // namespace quadrat::ccd
