// Positions of a domain as numbers, and what encodings share when they read a file. For this room alone.
#pragma once

#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "voxels/index/estimates.hpp"
#include "voxels/index/state.hpp"

#include <array>
#include <cstdint>

namespace quadrat::voxels {

template <int D>
using LocalOf = std::array<std::uint32_t, D>;

[[nodiscard]] inline Error bad_part(const char* field, const char* what) {
    return Error(ErrorKind::bad_format, what, {.field = field});
}

/// The number of a position in the domain, x fastest.
template <int D>
[[nodiscard]] std::uint64_t linear(const LocalOf<D>& local, const LocalOf<D>& extent) {
    for (std::size_t a = 0; a < D; ++a) QUADRAT_ASSERT(local[a] < extent[a]);
    std::uint64_t k = local[D - 1];
    for (std::size_t a = D - 1; a-- > 0;) k = k * extent[a] + local[a];
    return k;
}

/// fn(local, its number) for every position of the domain, x fastest.
template <int D, class Fn>
void for_each_cell(const LocalOf<D>& extent, Fn&& fn) {
    std::uint64_t cells = 1;
    for (const std::uint32_t e : extent) cells *= e;
    LocalOf<D> local{};
    for (std::uint64_t k = 0; k < cells; ++k) {
        fn(local, k);
        for (std::size_t a = 0; a < D && ++local[a] == extent[a]; ++a)
            if (a + 1 < D) local[a] = 0;
    }
}

/// fn(first position of a row) for every row along x of a box, its ends included, by z and y.
template <int D, class Fn>
void for_each_row(const LocalOf<D>& low, const LocalOf<D>& high, Fn&& fn) {
    for (std::size_t a = 0; a < D; ++a) QUADRAT_ASSERT(low[a] <= high[a]);
    LocalOf<D> at = low;
    for (std::size_t a = 0; a < D;) {
        fn(at);
        for (a = 1; a < D && at[a]++ == high[a]; ++a) at[a] = low[a];
    }
}

/// Bits of each axis in a position tag. The last axis has room for one more, so that all ones are nobody's tag.
///
///     3D, extents 100, 100, 100:   zzzzzzz yyyyyyy xxxxxxx      x lowest, 7 bits each
template <int D>
[[nodiscard]] std::array<std::uint32_t, D> axis_bits(const LocalOf<D>& extent) {
    std::array<std::uint32_t, D> bits;
    for (std::size_t a = 0; a < D; ++a)
        bits[a] = static_cast<std::uint32_t>(bits_for(std::uint64_t{extent[a]} + (a == D - 1)));
    return bits;
}

/// One bit for each position of the domain in whole words of 64, x lowest and fastest.
[[nodiscard]] inline std::uint64_t domain_bit_bytes(std::uint64_t cells) {
    return (cells + 63) / 64 * 8 + table_padding;
}

}  // namespace quadrat::voxels
