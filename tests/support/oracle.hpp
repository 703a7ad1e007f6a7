// Answers by plain loops over all pairs, written independently of the library: no SIMD, no shared predicate. Tests hold
// every structure, BruteForce included, against these.
#pragma once

#include "support/compare.hpp"

#include <quadrat/geometry.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::test {

template <int D, class T>
[[nodiscard]] bool oracle_overlap(const Box<D, T>& a, const Box<D, T>& b) {
    bool apart = false;
    for (int k = 0; k < D; ++k) apart = apart || a.hi[k] < b.lo[k] || b.hi[k] < a.lo[k];
    return !apart;
}

/// dx dx + dy dy + dz dz <= r r in T, each operation rounded, from left to right. When r leaves [2^-60, 2^60] the
/// differences and r are first multiplied by the power of two that brings r into [1, 2).
template <int D, class T>
[[nodiscard]] bool oracle_near(const Vec<D, T>& a, const Vec<D, T>& b, T radius) {
    int exponent = 0;
    if (radius < T(0x1p-60) || radius > T(0x1p60)) exponent = std::ilogb(radius);
    const volatile T r = exponent ? std::ldexp(radius, -exponent) : radius;
    volatile T sum = 0;
    for (int k = 0; k < D; ++k) {
        const volatile T difference = a[k] - b[k];
        const volatile T scaled = exponent ? std::ldexp(difference, -exponent) : difference;
        const volatile T square = scaled * scaled;
        sum = k == 0 ? square : sum + square;
    }
    const volatile T limit = r * r;
    return sum <= limit;
}

template <int D, class T>
[[nodiscard]] std::vector<Pair> oracle_pairs(std::span<const Box<D, T>> boxes) {
    std::vector<Pair> pairs;
    for (std::uint32_t i = 0; i < boxes.size(); ++i)
        for (std::uint32_t j = i + 1; j < boxes.size(); ++j)
            if (oracle_overlap(boxes[i], boxes[j])) pairs.push_back({i, j});
    return pairs;
}

template <int D, class T>
[[nodiscard]] std::vector<Pair> oracle_pairs(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b) {
    std::vector<Pair> pairs;
    for (std::uint32_t i = 0; i < a.size(); ++i)
        for (std::uint32_t j = 0; j < b.size(); ++j)
            if (oracle_overlap(a[i], b[j])) pairs.push_back({i, j});
    return pairs;
}

template <int D, class T>
[[nodiscard]] Rows oracle_neighbors(std::span<const Vec<D, T>> points, T radius) {
    Rows rows(points.size());
    for (std::uint32_t i = 0; i < points.size(); ++i)
        for (std::uint32_t j = 0; j < points.size(); ++j)
            if (i != j && oracle_near(points[i], points[j], radius)) rows[i].push_back(j);
    return rows;
}

/// Row q holds the points near query q; nothing is left out for having the same position.
template <int D, class T>
[[nodiscard]] Rows oracle_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points, T radius) {
    Rows rows(queries.size());
    for (std::uint32_t q = 0; q < queries.size(); ++q)
        for (std::uint32_t j = 0; j < points.size(); ++j)
            if (oracle_near(queries[q], points[j], radius)) rows[q].push_back(j);
    return rows;
}

}  // namespace quadrat::test
