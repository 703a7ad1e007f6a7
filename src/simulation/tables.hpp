// Kernels as tables for unit support, so that every kernel and every support costs the same in the general pair loops,
// and the share of a half-space in a particle's support as a function of its distance: the ghost particles behind a
// flat wall, summed beforehand (Onderik & Durikovic 2008, 3.3, "Boundary Conditions"; Harada et al. 2007).
#pragma once

#include <quadrat/simulation/kernels.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace quadrat::simulation {

/// A function of q in [0, 1) by linear interpolation; 0 from 1 on.
class Table {
  public:
    static constexpr int bins = 4096;
    Table() : at_(bins + 2, 0.0f) {}
    template <class Fn>
    explicit Table(Fn&& fn) : Table() {
        for (int i = 0; i < bins; ++i) at_[static_cast<std::size_t>(i)] = static_cast<float>(fn(double(i) / bins));
    }
    [[nodiscard]] float operator()(float q) const {
        if (!(q < 1.0f)) return 0;
        const float t = q * bins;
        const auto i = static_cast<int>(t);
        const float f = t - static_cast<float>(i);
        const float* const a = at_.data() + i;
        return a[0] + f * (a[1] - a[0]);
    }

  private:
    std::vector<float> at_;
};

/// W, W'/r and the Laplacian for support 1. For support h divide by h^D, h^(D+2), h^(D+2).
struct KernelTable {
    Table value, slope, laplacian;
    KernelTable() = default;
    /// `factor` multiplies everything.
    KernelTable(KernelFunction function, int dimension, double factor) {
        const Kernel k(function, dimension, 1);
        constexpr double tiny = 0.5 / Table::bins;  // where a kernel has no value at 0 the first bin stands for it
        value = Table([&](double q) { return factor * k.value(std::max(q, q == 0 ? first(k, tiny) : q)); });
        slope = Table([&](double q) { return factor * k.derivative(std::max(q, tiny)) / std::max(q, tiny); });
        laplacian = Table([&](double q) { return factor * k.laplacian(std::max(q, q == 0 ? first(k, tiny) : q)); });
    }

  private:
    // 0, or a small radius where W(0) or its Laplacian is infinite.
    static double first(const Kernel& k, double tiny) {
        return std::isfinite(k.value(0)) && std::isfinite(k.laplacian(0)) ? 0 : tiny;
    }
};

/// For a plane at distance d = (2 q - 1) h of a particle: how much of W lies behind it, and -h times the derivative by
/// d.
struct WallTable {
    Table share, slope;
    WallTable() = default;
    WallTable(KernelFunction function, int dimension) {
        const Kernel k(function, dimension, 1);
        // The integral of W over the plane at distance d.
        const auto across = [&](double d) {
            const double rest = 1 - d * d;
            if (rest <= 0) return 0.0;
            const double edge = std::sqrt(rest);
            constexpr int n = 64;
            double sum = 0;
            for (int i = 0; i < n; ++i) {
                const double s = (i + 0.5) / n * edge;
                sum += k.value(std::sqrt(d * d + s * s)) * (dimension == 2 ? 2.0 : 6.283185307179586 * s) * edge / n;
            }
            return sum;
        };
        constexpr int n = Table::bins;
        std::vector<double> behind(n + 1, 0.0);
        for (int i = n - 1; i >= 0; --i)
            behind[static_cast<std::size_t>(i)] =
                behind[static_cast<std::size_t>(i) + 1] + across(2 * (i + 0.5) / n - 1) * 2 / n;
        const double whole = behind[0];
        share = Table([&](double q) { return behind[static_cast<std::size_t>(q * n + 0.5)] / whole; });
        slope = Table([&](double q) { return across(2 * q - 1) / whole; });
    }
};

}  // namespace quadrat::simulation
