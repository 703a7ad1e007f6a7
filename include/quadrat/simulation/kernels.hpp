// Smoothing kernels and their derivatives, normalised in 2D and 3D (Onderik & Durikovic 2008, eq. 10 and 18; Wendland
// 1995; Monaghan 1992). Corrections to the paper: the viscosity kernel's factor is 15 / (2 pi h^3), and the Laplacian
// of poly6 needs 945 / (32 pi h^9). In 2D the viscosity kernel is the function with the paper's linear Laplacian 40 /
// (pi h^5) (h - r).
//
// The simulation uses tables of these; the closed forms here are for set-up, tests and those who write a solver of
// their own.
#pragma once

#include <cstdint>

namespace quadrat {

/// Which smoothing function, up to its factor, with q = r / h:
///
///     poly6         (h^2 - r^2)^3         density and colour in the paper
///     spiky         (h - r)^3             pressure in the paper: its slope does not vanish at 0
///     viscosity     3D: -q^3 / 2 + q^2 + 1 / (2 q) - 1; infinite at 0, with a Laplacian that is never negative
///     wendland_c2   (1 - q)^4 (1 + 4 q)   the default of a scene
///     cubic_spline  1 - 6 q^2 (1 - q) below q = 1/2, from there on 2 (1 - q)^3
enum class KernelFunction : std::uint8_t { poly6, spiky, viscosity, wendland_c2, cubic_spline };

/// W(r, h) with support h in D dimensions: its integral over space is 1, in units of 1 / length^D. All, and
/// their derivatives, are 0 from r = h on. A plain value: const members may be called concurrently, and each takes some
/// arithmetic.
///
///     const Kernel w(KernelFunction::wendland_c2, 3, 0.04);
///     const double slope = w.derivative(0.02);  // negative: W falls with the distance
class Kernel {
  public:
    /// Nothing is checked.
    ///
    /// dimension: 2 or 3.
    /// support: the radius h, above 0, in the unit of length of r.
    Kernel(KernelFunction function, int dimension, double support);

    /// W at a distance r >= 0. Infinite for the viscosity kernel at 0. 0 for NaN, as are the next two.
    [[nodiscard]] double value(double r) const;
    /// dW/dr; the gradient is this times the unit vector.
    [[nodiscard]] double derivative(double r) const;
    /// The Laplacian: d2W/dr2 + (D - 1) / r dW/dr. Where that has no limit at r = 0, as for spiky, it is infinite
    /// there.
    [[nodiscard]] double laplacian(double r) const;
    /// The h that it was made with.
    [[nodiscard]] double support() const { return h_; }

  private:
    KernelFunction function_;
    int dimension_;
    double h_;
    double scale_;  // the factor that makes the integral 1
};

}  // namespace quadrat
