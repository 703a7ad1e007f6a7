// Kernels as tables for unit support, so that every kernel and every support costs the same in the general pair loops,
// and the share of a half-space in a particle's support as a function of its distance: the ghost particles behind a
// flat wall, summed beforehand (Onderik & Durikovic 2008, 3.3, "Boundary Conditions"; Harada et al. 2007).
#pragma once

#include <quadrat/simulation/kernels.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
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

/// For a plane at distance d = (2 q - 1) h of a particle: how much of its support ghosts on a lattice behind the plane
/// fill, and -h times the derivative by d. Their first layer is half a spacing behind, so that a lattice of fluid that
/// starts half a spacing in front has its rest density up to the wall.
struct WallTable {
    Table share, slope;
    WallTable() = default;
    /// spacing in terms of the support; factor: of the kernel.
    WallTable(KernelFunction function, int dimension, double spacing, double factor) {
        const Kernel k(function, dimension, 1);
        const double volume = factor * (dimension == 2 ? spacing * spacing : spacing * spacing * spacing);
        const int reach = static_cast<int>(1 / spacing) + 1;
        const auto sum = [&](double d) {
            double value = 0, derivative = 0;
            for (double z = d + 0.5 * spacing; z < 1; z += spacing) {
                if (z <= -1) continue;
                for (int x = -reach; x <= reach; ++x)
                    for (int y = dimension == 2 ? 0 : -reach; y <= (dimension == 2 ? 0 : reach); ++y) {
                        const double r = std::sqrt(z * z + spacing * spacing * (x * x + y * y));
                        value += volume * k.value(r);
                        if (r > 0) derivative += volume * k.derivative(r) * z / r;
                    }
            }
            return std::pair(value, derivative);
        };
        share = Table([&](double q) { return std::clamp(sum(2 * q - 1).first, 0.0, 1.0); });
        slope = Table([&](double q) { return std::max(-sum(2 * q - 1).second, 0.0); });
    }
};

}  // namespace quadrat::simulation
