// Vectors of 16 bytes for the first steps of a lookup, for detail/narrow_hash.hpp and detail/domain_box.hpp alone.
//
// Nothing here depends on the -m flags of the program that includes it: inline code that did would have two
// definitions in a program whose files are compiled with different flags. Arithmetic is written with the vector types
// of g++ and clang, which give the best instructions of the flags for the same text; the five steps that these have no
// word for are instructions that every x86-64 has. Other processors have no lanes: lookups use tables there.
//
// A vector is written from its lowest lane on, which is the one at the lowest address:
//
//     byte     0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15
//     U16x8    lane 0  lane 1  lane 2  lane 3  lane 4  lane 5  lane 6  lane 7
//     U32x4    lane 0          lane 1          lane 2          lane 3
//     U64x2    lane 0                          lane 1
//
// Arithmetic is modulo 2^16 or 2^32 in each lane unless a function says otherwise; a comparison gives all ones in the
// lanes where it holds, and zeros elsewhere.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace quadrat::voxels {

#if defined(__x86_64__)
/// Whether this processor has what is below; code that uses it asks first.
inline constexpr bool have_lanes = true;

// U: without sign, I: with sign; bits of a lane x lanes.
using U8x16 = std::uint8_t __attribute__((vector_size(16)));
using U16x8 = std::uint16_t __attribute__((vector_size(16)));
using I16x8 = std::int16_t __attribute__((vector_size(16)));
using I32x4 = std::int32_t __attribute__((vector_size(16)));
using U32x4 = std::uint32_t __attribute__((vector_size(16)));
using U64x2 = std::uint64_t __attribute__((vector_size(16)));

/// The 16 bytes at `row`, which is aligned to 16. The copy is one load; it is the way to read one type as another.
template <class V, class T>
[[nodiscard]] inline V load_row(const T* row) {
    V v;
    std::memcpy(&v, __builtin_assume_aligned(row, 16), 16);
    return v;
}

/// The eight bytes at `from`, which need not be aligned; the rest is zero.
[[nodiscard]] inline U64x2 load_half(const void* from) {
    std::uint64_t low;
    std::memcpy(&low, from, 8);
    return U64x2{low, 0};
}

/// x y z 0, or x y 0 0. Reads the coordinates of the position and no byte more, since a position may be the last of an
/// array.
template <int D>
[[nodiscard]] inline U32x4 load_position(const std::int32_t* p) {
    U64x2 v = load_half(p);
    if constexpr (D == 3) v[1] = static_cast<std::uint32_t>(p[2]);
    return reinterpret_cast<U32x4>(v);
}

/// Eight bytes as eight lanes: each with a byte of zeros above it. For the offsets of a bucket, which are three of
/// them; the padding of the table makes the others readable.
///
///     bytes  a b c d e f g h   ->   a 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0
[[nodiscard]] inline U16x8 load_widened(const std::uint8_t* from) {
    // Numbers from 16 on are the zeros of the second vector.
    return reinterpret_cast<U16x8>(__builtin_shufflevector(reinterpret_cast<U8x16>(load_half(from)), U8x16{}, 0, 16, 1,
                                                           17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
}

/// The four signed lanes twice, in 16 bits; what does not fit becomes the nearest that does, -2^15 or 2^15 - 1. So what
/// is far away cannot be taken for something near: extents of NarrowHash are at most 2^15 - 1, and both ends are
/// outside, the lower one read without sign.
///
///     x y z 0   ->   x y z 0 x y z 0
[[nodiscard]] inline U16x8 saturated_twice(U32x4 v) {
    return reinterpret_cast<U16x8>(_mm_packs_epi32(reinterpret_cast<__m128i>(v), reinterpret_cast<__m128i>(v)));
}
/// a - b, or 0 where b is larger, without sign. It is 0 where a <= b, which is the comparison without sign that SSE2
/// lacks.
[[nodiscard]] inline U16x8 subtract_to_zero(U16x8 a, U16x8 b) {
    return reinterpret_cast<U16x8>(_mm_subs_epu16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}
/// x, or x - d where x is not below d; both are below 2^15. If x is below 2 d this is x mod d.
[[nodiscard]] inline U16x8 reduced(U16x8 x, U16x8 d) {
    const auto less = reinterpret_cast<I16x8>(x - d);
    // >> 15: all ones where negative, and d is added again.
    return reinterpret_cast<U16x8>(less) + (reinterpret_cast<U16x8>(less >> 15) & d);
}
/// The upper 16 of the 32 bits of each product, without sign: a b / 2^16, rounded down. With a reciprocal as b it is
/// the quotient of detail/narrow_hash.hpp.
[[nodiscard]] inline U16x8 multiply_high(U16x8 a, U16x8 b) {
    return reinterpret_cast<U16x8>(_mm_mulhi_epu16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}
/// a0 b0 + a1 b1 + a2 b2 + a3 b3 of signed lanes; lanes 4 to 7 do not count. Exact where all lanes are below 2^15 and
/// the sum is below 2^32.
[[nodiscard]] inline std::uint32_t dot_of_four(U16x8 a, U16x8 b) {
    // Lanes of 32 bits: a0 b0 + a1 b1, a2 b2 + a3 b3, and two more; then the second is added to the first.
    const __m128i pairs = _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32(pairs, 1))));
}
/// The top bit of each byte, that of byte 0 lowest: of a comparison, 0xffff if it holds in all lanes.
template <class V>
[[nodiscard]] inline std::uint32_t top_bits(V v) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(v)));
}
#else
/// No lanes here: nothing else is declared.
inline constexpr bool have_lanes = false;
#endif

}  // namespace quadrat::voxels
