// Interface tension as a force between particles of one phase: they repel each other when near and attract each other
// when farther apart, F(q) ~ q (1 - q)^2 (a - q) with q = r / h. The pairs that a plane through a lattice at rest cuts
// are worth the tension: that gives the factor. It is the gradient of an energy, which eq. 9 of Onderik & Durikovic
// 2008 is not: that shook drops apart (docs/decisions/0085-phases-of-any-density.md). After Tartakovsky & Meakin 2005,
// "Modeling of surface tension and contact angles with smoothed particle hydrodynamics".
#pragma once

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {

class Cohesion {
  public:
    /// Of particles of a volume and a support.
    Cohesion(float volume, double support, int dimension) {
        const double edge = std::pow(double{volume}, 1.0 / dimension);
        double first = 0, second = 0;
        lattice(support, dimension, edge, [&](double, double q) {
            first += std::pow(q, 2) * std::pow(1 - q, 2);
            second += std::pow(q, 3) * std::pow(1 - q, 2);
        });
        // With all of it a lattice would feel nothing, but particles would then hold on to their places as in a solid;
        // with less they press each other together, and pressure lets them flow.
        const double a = first > 0 ? 0.5 * second / first : 0;
        const auto integral = [a](double q) {
            return q * q * (a / 2 + q * (-(2 * a + 1) / 3 + q * ((a + 2) / 4 - q / 5)));
        };
        double cut = 0;  // energy of what a plane cuts, per area, for a factor of 1
        lattice(support, dimension, edge, [&](double across, double q) {
            if (across > 0) cut += across / std::pow(edge, dimension) * support * (integral(1) - integral(q));
        });
        turn_ = static_cast<float>(a);
        factor_ = cut < 0 ? static_cast<float>(-2 / (cut * support)) : 0;
    }

    /// Force over distance, for a tension of 1.
    [[nodiscard]] float operator()(float q) const {
        const float rest = std::max(1 - q, 0.0f);
        return factor_ * rest * rest * (turn_ - q);
    }

    /// The two constants of it: factor (1 - q)^2 (turn - q).
    [[nodiscard]] float factor() const { return factor_; }
    [[nodiscard]] float turn() const { return turn_; }

  private:
    // Calls fn(distance across a plane, r / h) for all neighbours on a lattice.
    template <class Fn>
    static void lattice(double support, int dimension, double edge, Fn&& fn) {
        const int reach = static_cast<int>(support / edge) + 1, deep = dimension == 3 ? reach : 0;
        for (int z = -deep; z <= deep; ++z)
            for (int y = -reach; y <= reach; ++y)
                for (int x = -reach; x <= reach; ++x) {
                    const double q = edge * std::sqrt(x * x + y * y + z * z) / support;
                    if (q > 0 && q < 1) fn(edge * x, q);
                }
    }

    float turn_, factor_;
};

}  // namespace quadrat::simulation
