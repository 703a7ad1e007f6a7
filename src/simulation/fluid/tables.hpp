// Kernels as tables for unit support, so that every kernel and every support costs the same in the general pair loops,
// and the share of a half-space in a particle's support as a function of its distance: the ghost particles behind a
// flat wall, summed beforehand (Onderik & Durikovic 2008, 3.3, "Boundary Conditions"; Harada et al. 2007).
#pragma once

#include <quadrat/simulation/kernels.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/assert.hpp"

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
/// starts half a spacing in front has its rest density up to the wall. At the rows of that lattice the share is the sum
/// over the ghosts, and its slope twice theirs: the force is the gradient of the energy of compression, to which ghosts
/// have no part of their own, and balances fluid of the same pressure on the other side all the same. Between the rows
/// it is a convex curve (docs/decisions/0081-still-water.md).
struct WallTable {
    Table share, slope;
    WallTable() = default;
    /// spacing in terms of the support; factor: of the kernel.
    WallTable(KernelFunction function, int dimension, double spacing, double factor) {
        QUADRAT_ASSERT(spacing > 0 && factor > 0);
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
        // The lattice in front of the wall has rows at half a spacing, one and a half, and so on.
        std::vector<Node> nodes;
        for (double d = 0.5 * spacing; d < 1 - 0.5 * spacing; d += spacing) {
            const auto [value, derivative] = sum(d);
            nodes.push_back({d, value, 2 * derivative});
        }
        nodes.push_back({1 - 0.5 * spacing, 0, 0});
        share = Table([&](double q) { return std::clamp(between(nodes, 2 * q - 1).value, 0.0, 1.0); });
        slope = Table([&](double q) { return std::max(-between(nodes, 2 * q - 1).slope, 0.0); });
    }

  private:
    struct Node {
        double at, value, slope;
    };
    // A convex curve through all nodes: between two of them the parabola whose tangents are theirs.
    static Node between(const std::vector<Node>& nodes, double d) {
        if (d <= nodes.front().at)
            return {d, nodes.front().value + nodes.front().slope * (d - nodes.front().at), nodes.front().slope};
        if (d >= nodes.back().at) return {d, 0, 0};
        std::size_t k = 0;
        while (nodes[k + 1].at <= d) ++k;
        const Node &l = nodes[k], &r = nodes[k + 1];
        double middle = 0.5 * (l.at + r.at);
        if (r.slope > l.slope) middle = (l.value - r.value + r.slope * r.at - l.slope * l.at) / (r.slope - l.slope);
        middle = std::clamp(middle, l.at + 1e-6, r.at - 1e-6);
        const double height = l.value + l.slope * (middle - l.at);
        // at(t) = (1 - t)^2 l + 2 t (1 - t) middle + t^2 r
        const double a = l.at - 2 * middle + r.at, b = 2 * (middle - l.at), c = l.at - d;
        const double t = std::abs(a) < 1e-12 ? -c / b : (-b + std::sqrt(std::max(b * b - 4 * a * c, 0.0))) / (2 * a);
        const double value = (1 - t) * (1 - t) * l.value + 2 * t * (1 - t) * height + t * t * r.value;
        const double by_t = 2 * (1 - t) * (height - l.value) + 2 * t * (r.value - height);
        return {d, value, by_t / (2 * a * t + b)};
    }
};

}  // namespace quadrat::simulation
