// Each kernel integrates to 1, its derivatives are those of the function, and it ends at its support.
#include <quadrat/simulation/kernels.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace {

using quadrat::Kernel;
using quadrat::KernelFunction;

struct Case {
    KernelFunction function;
    int dimension;
    double support;
};

class Kernels : public testing::TestWithParam<Case> {};

TEST_P(Kernels, IntegratesToOne) {
    const Case c = GetParam();
    const Kernel w(c.function, c.dimension, c.support);
    const int n = 200000;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        const double r = (i + 0.5) / n * c.support;
        const double shell = c.dimension == 2 ? 2 * std::numbers::pi * r : 4 * std::numbers::pi * r * r;
        sum += w.value(r) * shell * c.support / n;
    }
    EXPECT_NEAR(sum, 1, 1e-6);
}

TEST_P(Kernels, DerivativesAreThoseOfTheFunction) {
    const Case c = GetParam();
    const Kernel w(c.function, c.dimension, c.support);
    const double e = 1e-5 * c.support;
    for (const double q : {0.1, 0.2, 0.35, 0.45, 0.55, 0.7, 0.85, 0.95}) {
        const double r = q * c.support;
        const double first = (w.value(r + e) - w.value(r - e)) / (2 * e);
        const double second = (w.derivative(r + e) - w.derivative(r - e)) / (2 * e);
        const double scale = w.value(0.05 * c.support);
        EXPECT_NEAR(w.derivative(r), first, 1e-6 * scale / c.support) << q;
        EXPECT_NEAR(w.laplacian(r), second + (c.dimension - 1) / r * first, 1e-5 * scale / (c.support * c.support))
            << q;
    }
}

TEST_P(Kernels, EndsAtItsSupport) {
    const Case c = GetParam();
    const Kernel w(c.function, c.dimension, c.support);
    const double scale = w.value(0.05 * c.support);
    EXPECT_NEAR(w.value(c.support * (1 - 1e-9)), 0, 1e-7 * scale);
    EXPECT_EQ(w.value(c.support), 0);
    EXPECT_EQ(w.value(2 * c.support), 0);
    EXPECT_EQ(w.derivative(c.support), 0);
    EXPECT_EQ(w.laplacian(c.support), 0);
    for (int i = 1; i < 100; ++i) EXPECT_LE(w.derivative(i * 0.01 * c.support), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn([] {
                             std::vector<Case> all;
                             for (const auto f :
                                  {KernelFunction::poly6, KernelFunction::spiky, KernelFunction::viscosity,
                                   KernelFunction::wendland_c2, KernelFunction::cubic_spline})
                                 for (const int d : {2, 3})
                                     for (const double h : {0.05, 1.0, 3.0}) all.push_back({f, d, h});
                             return all;
                         }()));

// The printed constants of eq. 10 and 18, with the corrections.
TEST(KernelConstants, OfThePaper) {
    const double pi = std::numbers::pi;
    const double h = 0.7, r = 0.3;
    EXPECT_NEAR(Kernel(KernelFunction::poly6, 3, h).laplacian(r),
                945 / (32 * pi * std::pow(h, 9)) * (h * h - r * r) * (7 * r * r - 3 * h * h), 1e-9);
    EXPECT_NEAR(Kernel(KernelFunction::spiky, 3, h).derivative(r), -45 / (pi * std::pow(h, 6)) * (h - r) * (h - r),
                1e-9);
    EXPECT_NEAR(Kernel(KernelFunction::viscosity, 3, h).laplacian(r), 45 / (pi * std::pow(h, 6)) * (h - r), 1e-9);
    EXPECT_NEAR(Kernel(KernelFunction::viscosity, 2, h).laplacian(r), 40 / (pi * std::pow(h, 5)) * (h - r), 1e-9);
    EXPECT_NEAR(Kernel(KernelFunction::spiky, 2, h).derivative(r), -30 / (pi * std::pow(h, 5)) * (h - r) * (h - r),
                1e-9);
}

}  // namespace
