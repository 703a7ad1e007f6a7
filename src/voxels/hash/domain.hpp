// What every construction asks of its positions first: how many they may be, their bounding box, within the 21 bits
// that an axis may span, and the error that names two equal ones.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

#include "base/assert.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace quadrat::voxels {

inline constexpr std::uint32_t largest_extent = 1u << 21;  ///< of a domain on one axis
inline constexpr std::size_t most_entries = std::size_t{1} << 27;

/// Bits to write 0 .. values - 1; at least 1.
[[nodiscard]] inline int bits_for(std::uint64_t values) {
    int bits = 1;
    while (bits < 63 && (std::uint64_t{1} << bits) < values) ++bits;
    return bits;
}

template <int D>
struct Domain {
    Voxel<D> origin = {};
    std::array<std::uint32_t, D> extent = {};

    [[nodiscard]] std::array<std::uint32_t, D> local(const Voxel<D>& p) const {
        std::array<std::uint32_t, D> l;
        for (int a = 0; a < D; ++a) l[a] = static_cast<std::uint32_t>(p[a]) - static_cast<std::uint32_t>(origin[a]);
        return l;
    }
    [[nodiscard]] std::uint64_t cells() const {
        std::uint64_t n = 1;
        for (const std::uint32_t e : extent) n *= e;
        return n;
    }
};

/// The bounding box of at least one position. Throws Error{bad_value} with index and axis if it is too large.
template <int D>
[[nodiscard]] Domain<D> bounding_box(std::span<const Voxel<D>> positions) {
    QUADRAT_ASSERT(!positions.empty());
    Voxel<D> lo = positions[0], hi = positions[0];
    for (const Voxel<D>& p : positions)
        for (int a = 0; a < D; ++a) {
            lo[a] = std::min(lo[a], p[a]);
            hi[a] = std::max(hi[a], p[a]);
        }
    Domain<D> domain{lo, {}};
    for (int a = 0; a < D; ++a) {
        const std::int64_t span = std::int64_t{hi[a]} - lo[a] + 1;
        if (span > largest_extent) {
            std::uint64_t i = 0;
            while (positions[i][a] != hi[a]) ++i;
            throw Error(ErrorKind::bad_value,
                        "coordinate " + std::to_string(hi[a]) + " is " + std::to_string(span - 1) +
                            " from the smallest, " + std::to_string(lo[a]) +
                            "; positions may span at most 2^21 cells on an axis",
                        {.index = i, .column = static_cast<std::uint64_t>(a)});
        }
        domain.extent[static_cast<std::size_t>(a)] = static_cast<std::uint32_t>(span);
    }
    return domain;
}

/// True if a is before b by z, y, x: the order of rows of a grid.
template <int D>
[[nodiscard]] bool by_z_y_x(const Voxel<D>& a, const Voxel<D>& b) {
    for (int k = D - 1; k >= 0; --k)
        if (a[k] != b[k]) return a[k] < b[k];
    return false;
}

/// positions[later] is the same as one before it.
template <int D>
[[noreturn]] void throw_duplicate(std::span<const Voxel<D>> positions, std::size_t later) {
    QUADRAT_ASSERT(later != 0 && later < positions.size());
    std::size_t first = 0;
    while (!(positions[first] == positions[later])) ++first;
    std::string text;
    for (int a = 0; a < D; ++a) text += (a ? ", " : "(") + std::to_string(positions[later][a]);
    throw Error(ErrorKind::duplicate, "position " + text + ") is the same as that of row " + std::to_string(first),
                {.index = later});
}

}  // namespace quadrat::voxels
