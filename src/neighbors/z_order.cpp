// The Z curve (Morton order) of points: the bits of the cell numbers interleaved, x lowest.
#include <quadrat/neighbors.hpp>

#include "cells/validate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace quadrat {
namespace {

/// Bit k of x goes to bit D k.
template <int D>
std::uint64_t spread(std::uint64_t x) {
    std::uint64_t result = 0;
    for (int bit = 0; bit < 64 / D; ++bit) result |= (x >> bit & 1) << (D * bit);
    return result;
}

}  // namespace

template <int D, class T>
std::vector<std::uint32_t> z_order(std::span<const Vec<D, T>> points, T edge) {
    cells::check_radius(edge, "edge");
    cells::check_count(points.size());
    cells::check_points(points);
    const std::size_t n = points.size();
    std::vector<std::uint32_t> order(n), other(n);
    std::iota(order.begin(), order.end(), 0u);
    if (n == 0) return order;
    Vec<D, T> lo = points[0], hi = points[0];
    for (const Vec<D, T>& p : points)
        for (int k = 0; k < D; ++k) lo[k] = std::min(lo[k], p[k]), hi[k] = std::max(hi[k], p[k]);
    // As many bits per axis as fit; cells get larger where the extent needs more.
    constexpr double most = static_cast<double>((std::uint64_t{1} << (63 / D)) - 1);
    double width = static_cast<double>(edge);
    for (int k = 0; k < D; ++k)
        width = std::max(width, (static_cast<double>(hi[k]) - static_cast<double>(lo[k])) / most);
    std::vector<std::uint64_t> key(n);
    std::uint64_t varying = 0;
    std::vector<std::uint64_t> byte_spread(256);
    for (std::uint64_t b = 0; b < 256; ++b) byte_spread[b] = spread<D>(b);
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t code = 0;
        for (int k = 0; k < D; ++k) {
            const double q = (static_cast<double>(points[i][k]) - static_cast<double>(lo[k])) / width;
            const auto cell = static_cast<std::uint64_t>(std::clamp(q, 0.0, most));
            for (int b = 0; b * 8 < 64 / D; ++b) code |= byte_spread[cell >> (8 * b) & 255] << (8 * b * D) << k;
        }
        key[i] = code;
        varying |= code ^ key[0];
    }
    for (unsigned digit = 0; digit < 64; digit += 8) {
        if ((varying >> digit & 255) == 0) continue;
        std::array<std::uint32_t, 256> at{};
        for (const std::uint64_t c : key) ++at[c >> digit & 255];
        std::uint32_t sum = 0;
        for (std::uint32_t& a : at) sum += std::exchange(a, sum);
        for (const std::uint32_t i : order) other[at[key[i] >> digit & 255]++] = i;
        order.swap(other);
    }
    return order;
}

template std::vector<std::uint32_t> z_order(std::span<const Vec<2, float>>, float);
template std::vector<std::uint32_t> z_order(std::span<const Vec<3, float>>, float);
template std::vector<std::uint32_t> z_order(std::span<const Vec<2, double>>, double);
template std::vector<std::uint32_t> z_order(std::span<const Vec<3, double>>, double);

}  // namespace quadrat
