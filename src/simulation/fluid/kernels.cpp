// Closed forms of the smoothing kernels and their derivatives. Onderik & Durikovic 2008, eq. 10 and 18, corrected as
// the public header says; each is checked against its integral and against differences in
// tests/simulation/kernels_test.cpp.
#include <quadrat/simulation/kernels.hpp>

#include <cmath>
#include <numbers>

namespace quadrat {
namespace {

constexpr double pi = std::numbers::pi;

double scale_of(KernelFunction function, int dimension, double h) {
    const bool flat = dimension == 2;
    switch (function) {
        case KernelFunction::poly6:
            return flat ? 4 / (pi * std::pow(h, 8)) : 315 / (64 * pi * std::pow(h, 9));
        case KernelFunction::spiky:
            return flat ? 10 / (pi * std::pow(h, 5)) : 15 / (pi * std::pow(h, 6));
        case KernelFunction::viscosity:
            return flat ? 40 / (pi * std::pow(h, 5)) : 15 / (2 * pi * std::pow(h, 3));
        case KernelFunction::wendland_c2:
            return flat ? 7 / (pi * h * h) : 21 / (2 * pi * h * h * h);
        case KernelFunction::cubic_spline:
            return flat ? 40 / (7 * pi * h * h) : 8 / (pi * h * h * h);
    }
    return 0;
}

}  // namespace

Kernel::Kernel(KernelFunction function, int dimension, double support)
    : function_(function), dimension_(dimension), h_(support), scale_(scale_of(function, dimension, support)) {}

double Kernel::value(double r) const {
    const double h = h_;
    if (!(r < h)) return 0;
    const double q = r / h;
    switch (function_) {
        case KernelFunction::poly6:
            return scale_ * std::pow(h * h - r * r, 3);
        case KernelFunction::spiky:
            return scale_ * std::pow(h - r, 3);
        case KernelFunction::viscosity:
            if (dimension_ == 2)
                return scale_ * (h * r * r / 4 - r * r * r / 9 - h * h * h / 6 * std::log(q) - 5 * h * h * h / 36);
            return scale_ * (-q * q * q / 2 + q * q + 1 / (2 * q) - 1);
        case KernelFunction::wendland_c2:
            return scale_ * std::pow(1 - q, 4) * (1 + 4 * q);
        case KernelFunction::cubic_spline:
            return scale_ * (q < 0.5 ? 1 - 6 * q * q * (1 - q) : 2 * std::pow(1 - q, 3));
    }
    return 0;
}

double Kernel::derivative(double r) const {
    const double h = h_;
    if (!(r < h)) return 0;
    const double q = r / h;
    switch (function_) {
        case KernelFunction::poly6:
            return -6 * scale_ * r * std::pow(h * h - r * r, 2);
        case KernelFunction::spiky:
            return -3 * scale_ * (h - r) * (h - r);
        case KernelFunction::viscosity:
            if (dimension_ == 2) return scale_ * (h * r / 2 - r * r / 3 - h * h * h / (6 * r));
            return scale_ / h * (-1.5 * q * q + 2 * q - 1 / (2 * q * q));
        case KernelFunction::wendland_c2:
            return -20 * scale_ / h * q * std::pow(1 - q, 3);
        case KernelFunction::cubic_spline:
            return scale_ / h * (q < 0.5 ? -12 * q + 18 * q * q : -6 * (1 - q) * (1 - q));
    }
    return 0;
}

double Kernel::laplacian(double r) const {
    const double h = h_;
    if (!(r < h)) return 0;
    const double q = r / h;
    const double d = dimension_ - 1;
    switch (function_) {
        case KernelFunction::poly6: {
            const double s = h * h - r * r;
            return -6 * scale_ * s * ((1 + d) * s - 4 * r * r);
        }
        case KernelFunction::spiky:
            return scale_ * (6 * (h - r) - 3 * d * (h - r) * (h - r) / r);
        case KernelFunction::viscosity:
            return dimension_ == 2 ? scale_ * (h - r) : scale_ / (h * h) * 6 * (1 - q);
        case KernelFunction::wendland_c2:
            return -20 * scale_ / (h * h) * ((1 + d) * std::pow(1 - q, 3) - 3 * q * (1 - q) * (1 - q));
        case KernelFunction::cubic_spline:
            return scale_ / (h * h) *
                   (q < 0.5 ? -12 * (1 + d) + 18 * q * (2 + d) : 12 * (1 - q) - 6 * d * (1 - q) * (1 - q) / q);
    }
    return 0;
}

}  // namespace quadrat
