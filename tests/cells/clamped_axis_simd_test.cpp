// The clamped quantiser: monotone, inside its grid for any coordinate, and the same in vector code on every SIMD
// target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/clamped_axis_simd_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/simd.hpp"
#include "cells/clamped_axis-inl.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#ifndef QUADRAT_CLAMPED_AXIS_TEST_COORDINATES
#define QUADRAT_CLAMPED_AXIS_TEST_COORDINATES
namespace quadrat::cells {

/// Cell borders and their neighbours, random ones, and whatever a float can be but NaN; ascending, a multiple of 64.
template <class T>
std::vector<T> coordinates(T origin, T edge) {
    constexpr T infinity = std::numeric_limits<T>::infinity(), largest = std::numeric_limits<T>::max();
    std::vector<T> x{-infinity, -largest, -1, T(-0.0), 0, std::numeric_limits<T>::denorm_min(), 1, largest, infinity};
    std::mt19937 random(7);
    std::uniform_real_distribution<double> cell(-5, 105);
    for (int k = 0; k < 400; ++k) {
        const T border = origin + static_cast<T>(k) * edge;
        x.insert(x.end(), {std::nextafter(border, -infinity), border, std::nextafter(border, infinity),
                           static_cast<T>(double(origin) + cell(random) * double(edge))});
    }
    while (x.size() % 64 != 0) x.push_back(origin);
    std::sort(x.begin(), x.end());
    return x;
}

}  // namespace quadrat::cells
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::cells::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class Axis>
void Check(const Axis& axis, T edge) {
    const hn::ScalableTag<T> d;
    const hn::Rebind<std::int32_t, decltype(d)> d32;
    const std::vector<T> x = coordinates(axis.origin, edge);
    std::vector<std::int32_t> cell(x.size());
    for (std::size_t i = 0; i < x.size(); i += hn::Lanes(d))
        hn::StoreU(cells_on(d, axis, hn::LoadU(d, x.data() + i)), d32, cell.data() + i);
    for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(cell[i], axis.cell(x[i])) << hwy::TargetName(HWY_TARGET) << " x " << x[i];
}

void CheckAll() {
    for (const double edge : {0.25, 0.1, 3.7})
        for (const double origin : {0.0, -17.3, 1e6}) {
            Check<float>(ClampedAxis<float>{float(origin), float(1 / edge), 99}, float(edge));
            Check<double>(ClampedAxis<double>{origin, 1 / edge, 99}, edge);
            Check<float>(ScaledAxis<float>{float(origin), 4, float(0.25 / edge), 99}, float(edge));
            Check<double>(ScaledAxis<double>{origin, 4, 0.25 / edge, 99}, edge);
        }
}

}  // namespace
}  // namespace quadrat::cells::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::cells {
namespace {

HWY_EXPORT(CheckAll);

TEST(ClampedAxis, VectorCodeGivesTheCellsOfTheScalarCode) {
    base::for_each_simd_target([] { HWY_DYNAMIC_DISPATCH(CheckAll)(); });
}

TEST(ClampedAxis, IsMonotoneAndInsideTheGrid) {
    const ClampedAxis<float> axis{-17.3f, 10, 99};
    std::int32_t before = 0;
    for (const float x : coordinates(axis.origin, 0.1f)) {
        const std::int32_t cell = axis.cell(x);
        ASSERT_GE(cell, before) << x;
        ASSERT_LE(cell, 99) << x;
        before = cell;
    }
    EXPECT_EQ(before, 99);
    EXPECT_EQ(axis.cell(std::numeric_limits<float>::quiet_NaN()), 0);
    EXPECT_EQ(clamped_cell<std::int64_t>(1e30, 0x1p62), std::int64_t{1} << 62);
    EXPECT_EQ(clamped_cell<std::int64_t>(-1e30, 0x1p62), 0);
}

TEST(ClampedAxis, ScaleReachesCellsWhoseInverseIsInfinite) {
    constexpr float edge = 0x1p-140f;
    const ScaledAxis<float> axis{0, 0x1p64f, 0x1p76f, 1000};
    for (int k = 0; k < 100; ++k) EXPECT_EQ(axis.cell(static_cast<float>(k) * edge), k);
}

}  // namespace
}  // namespace quadrat::cells
#endif
