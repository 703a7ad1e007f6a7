#include "cells/quantiser.hpp"

#include "base/random.hpp"
#include "cells/hash.hpp"
#include "cells/predicate.hpp"
#include "support/oracle.hpp"
#include "support/properties.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace quadrat::cells {
namespace {

/// floor(x / edge) by the definition in 128-bit integers, for x and edge that are multiples of 2^-40 below 2^23.
std::int64_t reference(double x, double edge) {
    const auto fixed = [](double v) { return static_cast<__int128>(v * 0x1p40); };
    const __int128 a = fixed(x), b = fixed(edge);
    __int128 q = a / b;
    if (q * b > a) --q;
    return static_cast<std::int64_t>(q);
}

TEST(Quantiser, KnownValues) {
    const AxisQuantiser unit(1.0);
    EXPECT_EQ(unit(0.0), 0);
    EXPECT_EQ(unit(-0.0), 0);
    EXPECT_EQ(unit(0.999), 0);
    EXPECT_EQ(unit(1.0), 1);
    EXPECT_EQ(unit(-1e-9), -1);
    EXPECT_EQ(unit(-1.0), -1);
    EXPECT_EQ(unit(-1.0000001), -2);
    EXPECT_EQ(unit(std::numeric_limits<double>::denorm_min()), 0);
    EXPECT_EQ(unit(-std::numeric_limits<double>::denorm_min()), -1);
    EXPECT_EQ(unit(0x1p61), std::int64_t{1} << 61);
    EXPECT_EQ(unit(-0x1p61), -(std::int64_t{1} << 61));
    EXPECT_EQ(unit(0x1p62), max_cell);
    EXPECT_EQ(unit(1e308), max_cell);
    EXPECT_EQ(unit(-1e308), -max_cell);
    EXPECT_EQ(unit(std::numeric_limits<double>::infinity()), max_cell);
    EXPECT_EQ(unit(-std::numeric_limits<double>::infinity()), -max_cell);
    // 0.3 / 0.1 rounds to 3 in double, but the double 0.3 is less than three times the double 0.1.
    EXPECT_EQ(AxisQuantiser(0.1)(0.3), 2);
    EXPECT_EQ(AxisQuantiser(0.1)(-0.3), -3);
    // A tiny negative number in a huge cell, where the product with the inverse underflows.
    EXPECT_EQ(AxisQuantiser(0x1p100)(-0x1p-1060), -1);
    EXPECT_EQ(AxisQuantiser(0x1p-1074)(0x1p-1073), 2);
    EXPECT_EQ(AxisQuantiser(0x1p-1074)(1.0), max_cell);
    const AxisQuantiser endless(std::numeric_limits<double>::infinity());
    EXPECT_EQ(endless(-1e308), 0);
    EXPECT_EQ(endless(1e308), 0);
}

TEST(Quantiser, ExactFloor) {
    base::SplitMix random(3);
    for (int i = 0; i < 200000; ++i) {
        const double edge = static_cast<double>(1 + random.below(std::uint64_t{1} << (1 + random.below(45)))) * 0x1p-40;
        const double x = (random.next() & 1 ? 1 : -1) *
                         static_cast<double>(random.below(std::uint64_t{1} << (1 + random.below(52)))) * 0x1p-40;
        ASSERT_EQ(AxisQuantiser(edge)(x), reference(x, edge)) << x << " / " << edge;
        // Multiples of the edge and their neighbours: the hard cases.
        const double multiple = std::floor(x / edge) * edge;
        if (std::abs(multiple) < 0x1p12) {
            ASSERT_EQ(AxisQuantiser(edge)(multiple), reference(multiple, edge)) << multiple << " / " << edge;
        }
    }
}

TEST(Quantiser, ExactAboveTwoToThe53) {
    // 3 * 2^60 + 1 in steps of 3/2: x = 3 (2^60 + k) 2^-1 would need 63 bits, so take x with few bits and edges with
    // many.
    const double edge = 1 + 0x1p-52;
    // floor(2^60 / (1 + 2^-52)) = 2^60 - 2^8 + floor(2^8 / (1 + 2^52)) ... = 2^60 - 2^8 exactly plus a positive
    // remainder.
    EXPECT_EQ(AxisQuantiser(edge)(0x1p60), (std::int64_t{1} << 60) - 256);
    EXPECT_EQ(AxisQuantiser(edge)(-0x1p60), -(std::int64_t{1} << 60) + 255);
}

TEST(Quantiser, Monotone) {
    base::SplitMix random(5);
    for (const double edge : {1e-300, 0.1, 1.0, 0.830953717, 1e20}) {
        const AxisQuantiser quantise(edge);
        for (int i = 0; i < 20000; ++i) {
            const double x = random.uniform(-1, 1) * std::ldexp(edge, static_cast<int>(random.below(70)) - 4);
            const double y = std::nextafter(x, 1e308);
            ASSERT_LE(quantise(x), quantise(y));
        }
    }
}

TEST(Quantiser, CoarserCellsNest) {
    base::SplitMix random(7);
    for (int i = 0; i < 20000; ++i) {
        const double x = random.uniform(-1e6, 1e6);
        for (int k = 0; k < 20; k += 3)
            ASSERT_EQ(coarser(AxisQuantiser(0.3)(x), k), AxisQuantiser(std::ldexp(0.3, k))(x)) << x;
    }
    EXPECT_EQ(coarser(-1, 5), -1);
}

TEST(Quantiser, SizeClassIsTheFirstThatFits) {
    base::SplitMix random(11);
    for (int i = 0; i < 20000; ++i) {
        std::int64_t lo = static_cast<std::int64_t>(random.next()) >> (2 + random.below(62));
        std::int64_t hi = static_cast<std::int64_t>(random.next()) >> (2 + random.below(62));
        if (lo > hi) std::swap(lo, hi);
        const int k = size_class(lo, hi);
        ASSERT_LE((hi >> k) - (lo >> k), 1);
        if (k > 0) {
            ASSERT_GT((hi >> (k - 1)) - (lo >> (k - 1)), 1);
        }
    }
    EXPECT_LE(size_class(-max_cell, max_cell), 62);
    // The box of docs/concepts.md: its size rounds to 1, yet it touches three unit cells.
    const AxisQuantiser unit(1.0);
    EXPECT_EQ(size_class(unit(-1e-9), unit(1.0)), 1);
}

// The published constants; a change breaks every stored hash.
TEST(Hash, Golden) {
    EXPECT_EQ(xor_hash<3>({1, 2, 3}), 0x8C58A46u);
    EXPECT_EQ(xor_hash<3>({-1, -2, -3}), 0xFFFFFFFFF73A75BAu);
    EXPECT_EQ(xor_hash<2>({4, 0}), 0x119BD174u);
    EXPECT_EQ(xor_hash<2>({5, 1}), 0x1725854Eu);
    EXPECT_EQ(xor_hash<3>({std::int64_t{1} << 40, -(std::int64_t{1} << 40), 7}), 0xBE4B3C0022D5FE01u);
    EXPECT_EQ(spread_hash(xor_hash<3>({1, 2, 3}), 20), 0xA2828u);
}

TEST(Hash, MasksKnownSizes) {
    EXPECT_EQ(h_mask<3>(1.0).size(), 27u);
    EXPECT_EQ(h_mask<2>(1.0).size(), 9u);
    // Ratio 2: of 5^2 cells all can hold a neighbour (corner gap sqrt 2); of 5^3 too (sqrt 3).
    EXPECT_EQ(h_mask<2>(2.0).size(), 25u);
    EXPECT_EQ(h_mask<3>(2.0).size(), 125u);
    // Ratio 3: the corners of 7^2 have a gap of 2 sqrt 2 < 3, those of 7^3 2 sqrt 3 > 3.
    EXPECT_EQ(h_mask<2>(3.0).size(), 49u);
    EXPECT_EQ(h_mask<3>(3.0).size(), 343u - 8u);
}

TEST(Hash, MasksLoseNoNeighbour) {
    base::SplitMix random(9);
    for (const int parts : {1, 2, 3, 5}) {
        const float radius = 0.1f;
        const double edge = reach(radius) / parts;
        const Quantiser<3> quantiser(edge);
        std::set<std::tuple<int, int, int>> mask;
        for (const auto& s : h_mask<3>(reach(radius) / edge)) mask.emplace(s[0], s[1], s[2]);
        for (int i = 0; i < 100000; ++i) {
            Vec3f p, q;
            for (int k = 0; k < 3; ++k) {
                p[k] = static_cast<float>(random.uniform(-1, 1));
                q[k] = p[k] + static_cast<float>(random.uniform(-0.11, 0.11));
            }
            if (!test::oracle_near(p, q, radius)) continue;
            const auto a = quantiser.cell(p), b = quantiser.cell(q);
            ASSERT_TRUE(mask.count(
                {static_cast<int>(b[0] - a[0]), static_cast<int>(b[1] - a[1]), static_cast<int>(b[2] - a[2])}));
        }
    }
}

template <class T>
void near_test_agrees_with_the_oracle() {
    base::SplitMix random(13);
    int near = 0;
    for (int i = 0; i < 50000; ++i) {
        const int exponent = static_cast<int>(random.below(2 * std::numeric_limits<T>::max_exponent - 10)) -
                             std::numeric_limits<T>::max_exponent;
        const T radius = static_cast<T>(std::ldexp(random.uniform(1, 2), exponent));
        if (!(radius > 0) || !(radius <= std::numeric_limits<T>::max())) continue;
        Vec<3, T> p, q;
        for (int k = 0; k < 3; ++k) {
            p[k] = static_cast<T>(std::ldexp(random.uniform(-1, 1), exponent + 1));
            q[k] = static_cast<T>(std::ldexp(random.uniform(-1, 1), exponent + 1));
        }
        ASSERT_EQ(NearTest<T>(radius)(p, q), test::oracle_near(p, q, radius)) << radius;
        near += NearTest<T>(radius)(p, q);
    }
    EXPECT_GT(near, 1000);
}

TEST(Predicate, NearTestAgreesWithTheOracle) {
    near_test_agrees_with_the_oracle<float>();
    near_test_agrees_with_the_oracle<double>();
}

TEST(Predicate, RadiiBeyondTheRangeOfTheirSquare) {
    EXPECT_TRUE(NearTest<float>(1e-30f)(Vec3f{0, 0, 0}, Vec3f{1e-30f, 0, 0}));
    EXPECT_FALSE(NearTest<float>(1e-30f)(Vec3f{0, 0, 0}, Vec3f{1.1e-30f, 0, 0}));
    EXPECT_FALSE(NearTest<float>(1e30f)(Vec3f{0, 0, 0}, Vec3f{1.1e30f, 0, 0}));
    EXPECT_TRUE(NearTest<float>(1e30f)(Vec3f{0, 0, 0}, Vec3f{0.9e30f, 0, 0}));
    EXPECT_FALSE(NearTest<double>(1e308)(Vec3d{-1e308, 0, 0}, Vec3d{1e308, 0, 0}));
}

}  // namespace
}  // namespace quadrat::cells
