#include "broad_phase/sorted/grid_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::broad_phase {
namespace {

// Records of one slab should fit into the second level cache beside their bin counters; small sets have smaller slabs,
// so that tasks which share them sort little twice.
constexpr std::size_t records_per_slab = 8192, least_records_per_slab = 2048, small_slabs = 128;
constexpr std::size_t max_slabs = 1024;  // the open buffers of the partition stay in the second level cache too
constexpr double largest_count = 1 << 22;

}  // namespace

template <int D, class T>
GridShape<D, T> GridShape<D, T>::fitting(const GridDemand<D, T>& demand, Overflow overflow) {
    constexpr double eps = std::numeric_limits<T>::epsilon();
    const double budget = std::max(64.0, 2.0 * static_cast<double>(demand.objects));
    double extent[D], edge[D], wanted[D];
    for (int k = 0; k < D; ++k) {
        // Half the difference of the halves cannot overflow; the sum may, and is then cut off.
        extent[k] = std::min(2 * (double(demand.last_corner[k]) / 2 - double(demand.first_corner[k]) / 2),
                             double(std::numeric_limits<T>::max()));
        const double magnitude =
            std::max(std::abs(double(demand.first_corner[k])), std::abs(double(demand.last_corner[k])));
        // The margin keeps boxes of the largest size within reach in spite of rounding, of their own coordinates and of
        // distances from the origin; if it does not, they are misfits, which costs time and never a pair.
        edge[k] = double(demand.largest[k]) * (1 + 0x1p-9) + 8 * eps * extent[k] + eps * magnitude;
        edge[k] = std::max({edge[k], extent[k] / largest_count, double(std::numeric_limits<T>::denorm_min())});
        wanted[k] = std::floor(extent[k] / edge[k]) + 1;
    }
    // Share the budget of cells: the axes that need few cells get them all, the others split what is left evenly.
    double allowed[D];
    {
        int order[D];
        for (int k = 0; k < D; ++k) order[k] = k;
        std::sort(order, order + D,
                  [&](int a, int b) { return wanted[a] < wanted[b] || (wanted[a] == wanted[b] && a < b); });
        double left = budget;
        for (int i = 0; i < D; ++i) {
            const double share = std::pow(left, 1.0 / (D - i));
            allowed[order[i]] = std::max(1.0, std::min(wanted[order[i]], std::floor(share)));
            left /= allowed[order[i]];
        }
    }

    GridShape<D, T> shape;
    for (int k = 0; k < D; ++k) {
        Axis<T>& axis = shape.axis[k];
        axis.origin = demand.first_corner[k];
        if (wanted[k] > allowed[k] && overflow == Overflow::wrap && k > 0 && allowed[k] >= 4) {
            axis.count = 1 << static_cast<int>(std::log2(allowed[k]));
            axis.mask = axis.count - 1;
            axis.last = T(1 << 30);
        } else {
            if (wanted[k] > allowed[k]) edge[k] = std::max(edge[k], extent[k] / allowed[k] * (1 + 0x1p-20));
            axis.count = static_cast<std::int32_t>(std::floor(extent[k] / edge[k])) + 1;
            axis.last = T(axis.count - 1);
        }
        // Finer bins and finer coordinates are parts of a cell: there must be room for their inverse too.
        constexpr double power = sizeof(T) == 4 ? 0x1p64 : 0x1p512, room = sizeof(T) == 4 ? 0x1p-96 : 0x1p-960;
        if (edge[k] < room) axis.scale = T(power);
        axis.inverse = T(1 / (edge[k] * double(axis.scale)));
    }
    // Finer bins along x while there is budget: they trim the ranges of candidates.
    for (double cells = double(shape.axis[0].count) *
                        [&] {
                            double rows = 1;
                            for (int k = 1; k < D; ++k) rows *= shape.axis[k].count;
                            return rows;
                        }();
         cells * 2 <= budget && shape.axis[0].reach < 8; cells *= 2) {
        Axis<T>& x = shape.axis[0];
        x.inverse *= 2;
        x.reach *= 2;
        x.count *= 2;
        x.last = T(x.count - 1);
    }
    shape.rows = static_cast<std::uint32_t>(shape.axis[D - 1].count);
    if constexpr (D == 3) shape.rows *= static_cast<std::uint32_t>(shape.axis[1].count);
    const std::size_t slabs = std::clamp<std::size_t>(
        std::max(std::min(demand.objects / least_records_per_slab, small_slabs), demand.objects / records_per_slab), 1,
        max_slabs);
    while ((shape.rows >> shape.slab_shift) > slabs) ++shape.slab_shift;
    shape.slabs = (shape.rows + shape.rows_per_slab() - 1) >> shape.slab_shift;
    return shape;
}

template struct GridShape<2, float>;
template struct GridShape<3, float>;
template struct GridShape<2, double>;
template struct GridShape<3, double>;

}  // namespace quadrat::broad_phase
