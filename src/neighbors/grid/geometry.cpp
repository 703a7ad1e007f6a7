// Which cells a set of points gets: rows a little wider than the radius, wider where points are few, and the sorted
// form where most cells would be empty. All choices come from counts.
#include "neighbors/grid/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::neighbors {
namespace {

// Measured on the scenes W1 to W4 (docs/decisions/0032-group-kernel.md).
constexpr double target_per_cell = 6;  // points per cell below which rows get wider than the radius
constexpr double bins_per_radius = 4;
constexpr double min_per_bin = 0.5;

}  // namespace

template <int D, class T>
Geometry<D, T>::Geometry(const T* bounds_lo, const T* bounds_hi, std::size_t n, double radius, unsigned subdivision) {
    QUADRAT_ASSERT(n > 0 && radius > 0);
    const double eps = std::numeric_limits<T>::epsilon();
    double extent[D], volume = 1, magnitude = 0;
    for (int k = 0; k < D; ++k) {
        axes[k].origin = bounds_lo[k];
        extent[k] = static_cast<double>(bounds_hi[k]) - static_cast<double>(bounds_lo[k]);
        magnitude += std::abs(static_cast<double>(bounds_lo[k])) + std::abs(static_cast<double>(bounds_hi[k]));
        volume *= extent[k] / radius + 1;
    }
    slack = static_cast<T>(std::min(32 * eps * magnitude, static_cast<double>(std::numeric_limits<T>::max())));

    // Rows a little wider than the radius, or wide enough for a few points per cell.
    const double per_cell = static_cast<double>(n) / volume;
    double wide = (1 + 16 * eps) / std::max(1u, subdivision);
    if (subdivision == 0 && per_cell < target_per_cell)
        wide = std::max(wide, std::pow(target_per_cell / per_cell, 1.0 / D));
    double bin = 1 / bins_per_radius;
    bin = std::max(bin, min_per_bin / (per_cell * std::pow(wide, D - 1)));
    double wanted[D];
    const auto count_cells = [&] {
        double total = 1;
        for (int k = 0; k < D; ++k) {
            wanted[k] = std::floor(extent[k] / (radius * (k == 0 ? bin : wide))) + 1;
            total *= wanted[k];
        }
        return total;
    };
    const double limit = std::min(4.0 * static_cast<double>(n) + 1024, 0x1p31);
    bool possible = count_cells() <= limit && std::isfinite(volume);
    for (int k = 0; k < D; ++k) possible = possible && wanted[k] < 0x1p22;
    if (!possible) {
        // Empty space prevails: cells that fit the radius, and rows that exist only where points are.
        dense = false;
        wide = (1 + 16 * eps) / std::max(1u, subdivision);
        bin = 1 / bins_per_radius;
        count_cells();
    }
    for (int k = 0; k < D; ++k) {
        const double width = radius * (k == 0 ? bin : wide);
        const double most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
        axes[k].inverse = static_cast<T>(std::clamp(1 / width, least, most));
        edge[k] = static_cast<T>(std::clamp(width, least, most));
        count[k] = dense ? static_cast<std::int64_t>(wanted[k]) : 0;
        axes[k].last = dense ? static_cast<T>(count[k] - 1) : T(0);
    }
}

template <int D, class T>
T Geometry<D, T>::lower(std::int64_t c, int axis) const {
    if (c <= 0) return -std::numeric_limits<T>::infinity();
    return axes[axis].origin + static_cast<T>(c) * edge[axis] - slack;
}

template <int D, class T>
T Geometry<D, T>::upper(std::int64_t c, int axis) const {
    if (c >= (dense ? count[axis] - 1 : std::int64_t{1} << 62)) return std::numeric_limits<T>::infinity();
    return axes[axis].origin + static_cast<T>(c + 1) * edge[axis] + slack;
}

template struct Geometry<2, float>;
template struct Geometry<3, float>;
template struct Geometry<2, double>;
template struct Geometry<3, double>;

}  // namespace quadrat::neighbors
