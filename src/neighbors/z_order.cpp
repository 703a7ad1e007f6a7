// The Z curve (Morton order) of points: the bits of the cell numbers interleaved, x lowest.
#include <quadrat/neighbors.hpp>

#include "base/assert.hpp"
#include "cells/clamped_axis.hpp"
#include "cells/counting_sort.hpp"
#include "cells/validate.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace quadrat {
namespace {

/// Bit k of x goes to bit D k:
///
///     x        ... x3 x2 x1 x0                in 2D, D = 2:   ... 0 x3 0 x2 0 x1 0 x0
///                                             in 3D, D = 3:   ... 0 0 x2 0 0 x1 0 0 x0
///
/// so x | y << 1 | z << 2 of three spread cells is  ... z1 y1 x1 z0 y0 x0.
template <int D>
constexpr std::uint64_t spread(std::uint64_t x) {
    std::uint64_t result = 0;
    for (int bit = 0; bit < 64 / D; ++bit) result |= (x >> bit & 1) << (D * bit);
    return result;
}

/// spread() of every byte: a cell is spread byte by byte.
template <int D>
constexpr std::array<std::uint64_t, 256> spread_bytes = [] {
    std::array<std::uint64_t, 256> table{};
    for (std::uint64_t b = 0; b < 256; ++b) table[b] = spread<D>(b);
    return table;
}();

/// The codes of all points, in cells of `edge`, or larger ones where the extent needs more bits than there are.
template <int D, class T>
std::vector<std::uint64_t> codes_of(std::span<const Vec<D, T>> points, T edge) {
    QUADRAT_ASSERT(!points.empty());
    Vec<D, T> lo = points[0], hi = points[0];
    for (const Vec<D, T>& p : points)
        for (int k = 0; k < D; ++k) lo[k] = std::min(lo[k], p[k]), hi[k] = std::max(hi[k], p[k]);
    constexpr double most = static_cast<double>((std::uint64_t{1} << (63 / D)) - 1);
    double width = static_cast<double>(edge);
    for (int k = 0; k < D; ++k)
        width = std::max(width, (static_cast<double>(hi[k]) - static_cast<double>(lo[k])) / most);
    std::vector<std::uint64_t> codes(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
        for (int k = 0; k < D; ++k) {
            const double q = (static_cast<double>(points[i][k]) - static_cast<double>(lo[k])) / width;
            const auto cell = cells::clamped_cell<std::uint64_t>(q, most);
            for (int b = 0; b * 8 < 64 / D; ++b) codes[i] |= spread_bytes<D>[cell >> (8 * b) & 255] << (8 * b * D) << k;
        }
    return codes;
}

}  // namespace

namespace detail {

template <int D, class T>
std::vector<std::uint32_t> z_order(std::span<const Vec<D, T>> points, T edge) {
    cells::check_radius(edge, "edge");
    cells::check_count(points.size());
    cells::check_points(points);
    std::vector<std::uint32_t> order(points.size()), other(points.size());
    std::iota(order.begin(), order.end(), 0u);
    if (points.empty()) return order;
    // Least significant byte first; bytes that are the same everywhere are passed over.
    const std::vector<std::uint64_t> key = codes_of(points, edge);
    std::uint64_t varying = 0;
    for (const std::uint64_t c : key) varying |= c ^ key[0];
    for (unsigned digit = 0; digit < 64; digit += 8) {
        if ((varying >> digit & 255) == 0) continue;
        std::array<std::uint32_t, 256> at{};
        for (const std::uint64_t c : key) ++at[c >> digit & 255];
        cells::places_from_counts(at, 0);
        for (const std::uint32_t i : order) other[at[key[i] >> digit & 255]++] = i;
        order.swap(other);
    }
    return order;
}

template std::vector<std::uint32_t> z_order(std::span<const Vec<2, float>>, float);
template std::vector<std::uint32_t> z_order(std::span<const Vec<3, float>>, float);
template std::vector<std::uint32_t> z_order(std::span<const Vec<2, double>>, double);
template std::vector<std::uint32_t> z_order(std::span<const Vec<3, double>>, double);

}  // namespace detail
}  // namespace quadrat
