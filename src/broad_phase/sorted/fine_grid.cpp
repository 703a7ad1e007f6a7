#include "broad_phase/sorted/fine_grid.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::broad_phase {
namespace {

// The largest power of two that is not above x, and at least 1.
double power_below(double x) {
    return x < 2 ? 1 : std::ldexp(1.0, std::ilogb(x));
}

constexpr double most = 32767;          // a larger difference would look negative in 16 bits
constexpr double most_units = 1 << 30;  // of an axis: what 32-bit integers hold with room for a sum

}  // namespace

template <int D, class T>
FineGrid<D, T> FineGrid<D, T>::of(const GridShape<D, T>& shape, std::size_t objects) {
    QUADRAT_ASSERT(!shape.wrapped() && shape.cells() != 0);
    FineGrid<D, T> fine;
    for (int k = 0; k < D; ++k) {
        const Axis<T>& axis = shape.axis[k];
        // Rows next to each other and boxes of two cells: three cells at most lie between two corners.
        double units = power_below(most / 3);
        if (k == 0) {
            // Twice as long as the homes of a group usually are (homes_at_once in fine_kernel.cpp).
            const double bins_per_object =
                static_cast<double>(shape.cells()) / static_cast<double>(std::max<std::size_t>(1, objects));
            const double span =
                std::min(26 * bins_per_object + 4 * axis.reach, double(axis.count)) + 2 * axis.reach + 2;
            units = std::min(4096.0, power_below(most / span));
            fine.longest = static_cast<std::int32_t>(most / units) - axis.reach - 2;
        }
        units = std::min(units, power_below(most_units / (double(axis.count) + 1)));
        while (units > 1 && !(double(axis.inverse) * units < double(std::numeric_limits<T>::max()))) units /= 2;
        fine.axis[k] = {{axis.origin, axis.scale, T(double(axis.inverse) * units), T(double(axis.count) * units)}};
    }
    return fine;
}

template struct FineGrid<2, float>;
template struct FineGrid<3, float>;
template struct FineGrid<2, double>;
template struct FineGrid<3, double>;

}  // namespace quadrat::broad_phase
