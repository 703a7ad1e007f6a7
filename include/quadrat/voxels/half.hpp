// Floats of 16 bits as values: storage alone, nothing is computed with them. A sign, 5 bits of exponent and 10 of the
// fraction, as binary16 of IEEE 754 (2008, section 3.6), NumPy and GPUs have them.
//
//     bit     15     14 .. 10     9 .. 0        exponent 1 .. 30    1.fraction * 2^(exponent - 15)
//             sign   exponent     fraction      exponent 0          0.fraction * 2^-14, with a unit of 2^-24
//                                               exponent 31         infinity, or NaN if the fraction is not 0
//
// The conversions are by hand, so that they give the same bits with and without a processor's own, and on every
// compiler.
#pragma once

#include <bit>
#include <cstdint>

namespace quadrat {

/// A float of 16 bits. Converts from and to float; blends (sampling.hpp) are floats.
///
///     auto voxels = quadrat::SparseVoxels<quadrat::Half>::pack(coordinates, values);
///     const float v = static_cast<float>(voxels.at({12, -3, 40}));
struct Half {
    /// As they stand in files: sign << 15 | exponent << 10 | fraction.
    std::uint16_t bits = 0;

    /// 0.
    Half() = default;
    /// The nearest one, halfway cases to the even one. From 65520 on, which is halfway to 2^16, infinity; up to 2^-25
    /// zero, with the sign kept. NaN stays NaN, with its sign and the upper bits of its fraction, but quiet. Does not
    /// throw.
    ///
    /// value: any.
    explicit Half(float value) : bits(rounded(std::bit_cast<std::uint32_t>(value))) {}
    /// The same number: each of the 2^16 has one in float. NaN keeps its sign and fraction. Does not throw.
    explicit operator float() const {
        const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 15) << 31, exponent = bits >> 10 & 31,
                            fraction = bits & 1023;
        if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
        if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
        const float small = static_cast<float>(fraction) * 0x1p-24f;
        return sign != 0 ? -small : small;
    }
    /// By bits: NaN equals itself, and 0 is not -0.
    [[nodiscard]] friend bool operator==(const Half&, const Half&) = default;

  private:
    [[nodiscard]] static std::uint16_t rounded(std::uint32_t f) {
        const auto sign = static_cast<std::uint16_t>(f >> 16 & 0x8000);
        const std::uint32_t rest = f & 0x7fffffffu;
        if (rest > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00 | (rest >> 13 & 1023));
        if (rest >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00);
        // Below 2^-14 the unit is 2^-24; the whole fraction, with its leading one, is shifted there.
        if (rest < 0x38800000u) {
            const std::uint32_t exponent = rest >> 23, whole = (rest & 0x7fffffu) | 0x800000u;
            if (exponent < 102) return sign;
            const std::uint32_t shift = 126 - exponent, low = whole & ((1u << shift) - 1), half = 1u << (shift - 1);
            const std::uint32_t units = whole >> shift;
            return static_cast<std::uint16_t>(sign | (units + (low > half || (low == half && units % 2 != 0))));
        }
        // A carry out of the fraction goes into the exponent, as it must.
        const std::uint32_t units = (rest - 0x38000000u) >> 13, low = rest & 0x1fffu;
        return static_cast<std::uint16_t>(sign | (units + (low > 0x1000u || (low == 0x1000u && units % 2 != 0))));
    }
};

}  // namespace quadrat
