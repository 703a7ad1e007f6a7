// Smoothing kernels and their derivatives, normalised in 2D and 3D (Onderik & Durikovic 2008, eq. 10 and 18; Wendland
// 1995; Monaghan 1992). Corrections to the paper: the viscosity kernel's factor is 15 / (2 pi h^3), and the Laplacian
// of poly6 needs 945 / (32 pi h^9). In 2D the viscosity kernel is the function with the paper's linear Laplacian 40 /
// (pi h^5) (h - r).
#pragma once

#include <cstdint>

namespace quadrat {

enum class KernelFunction : std::uint8_t { poly6, spiky, viscosity, wendland_c2, cubic_spline };

/// W(r, h) with support h in D dimensions. All are 0 from r = h on.
class Kernel {
  public:
    /// dimension is 2 or 3, support > 0.
    Kernel(KernelFunction function, int dimension, double support);

    [[nodiscard]] double value(double r) const;
    /// dW/dr; the gradient is this times the unit vector.
    [[nodiscard]] double derivative(double r) const;
    /// The Laplacian: d2W/dr2 + (D - 1) / r dW/dr.
    [[nodiscard]] double laplacian(double r) const;
    [[nodiscard]] double support() const { return h_; }

  private:
    KernelFunction function_;
    int dimension_;
    double h_;
    double scale_;
};

}  // namespace quadrat
