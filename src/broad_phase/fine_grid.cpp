#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/fine_grid.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "broad_phase/fine_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// FineAxis, lane by lane, as 32-bit integers.
HWY_INLINE auto quantised(hn::ScalableTag<float>, hn::Vec<hn::ScalableTag<float>> t) {
    return hn::ConvertTo(hn::ScalableTag<std::int32_t>(), t);
}
HWY_INLINE auto quantised(hn::ScalableTag<double> d, hn::Vec<hn::ScalableTag<double>> t) {
    return hn::DemoteTo(hn::Rebind<std::int32_t, decltype(d)>(), t);
}

template <bool Negative, class T>
HWY_INLINE std::size_t fine_column(const FineAxis<T>& axis, const T* x, std::size_t n, std::uint16_t* to) {
    const hn::ScalableTag<T> d;
    const hn::Rebind<std::uint32_t, decltype(d)> wide;
    const hn::Rebind<std::uint16_t, decltype(d)> narrow;
    const auto origin = hn::Set(d, axis.origin), inverse = hn::Set(d, axis.inverse), limit = hn::Set(d, axis.limit);
    std::size_t i = 0;
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
        const auto t = hn::Mul(hn::Sub(hn::LoadU(d, x + i), origin), inverse);
        auto q = hn::TruncateTo(narrow, hn::BitCast(wide, quantised(d, hn::Min(hn::Max(t, hn::Zero(d)), limit))));
        if constexpr (Negative) q = hn::Sub(hn::Zero(narrow), q);
        hn::StoreU(q, narrow, to + i);
    }
    for (; i < n; ++i) {
        const std::uint16_t q = axis(x[i]);
        to[i] = Negative ? static_cast<std::uint16_t>(-q) : q;
    }
    return n;
}

template <int D, class T>
void FineColumns(const FineGrid<D, T>& fine, const T* const (&lo)[D], const T* const (&hi)[D], std::size_t n,
                 std::uint16_t* const (&column)[2 * D]) {
    for (int k = 0; k < D; ++k) {
        fine_column<false>(fine.axis[k], lo[k], n, column[2 * k]);
        fine_column<true>(fine.axis[k], hi[k], n, column[2 * k + 1]);
    }
}

#define QUADRAT_KERNEL(D, T, S)                                                                                    \
    void FineColumns##S(const FineGrid<D, T>& fine, const T* const(&lo)[D], const T* const(&hi)[D], std::size_t n, \
                        std::uint16_t* const(&column)[2 * D]) {                                                    \
        FineColumns(fine, lo, hi, n, column);                                                                      \
    }
QUADRAT_KERNEL(2, float, 2f)
QUADRAT_KERNEL(3, float, 3f)
QUADRAT_KERNEL(2, double, 2d)
QUADRAT_KERNEL(3, double, 3d)
#undef QUADRAT_KERNEL

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {
namespace {

// The largest power of two that is not above x, and at least 1.
double power_below(double x) {
    return x < 2 ? 1 : std::ldexp(1.0, std::ilogb(x));
}

constexpr double most = 32767;          // a larger difference would look negative
constexpr double most_units = 1 << 30;  // of an axis

}  // namespace

template <int D, class T>
FineGrid<D, T> make_fine(const GridShape<D, T>& shape, std::size_t objects) {
    FineGrid<D, T> fine;
    for (int k = 0; k < D; ++k) {
        const Axis<T>& axis = shape.axis[k];
        // Rows next to each other and boxes of two cells: three cells at most lie between two corners.
        double units = power_below(most / 3);
        if (k == 0) {
            // Four times as long as eight homes usually are.
            const double bins_per_object =
                static_cast<double>(shape.cells()) / static_cast<double>(std::max<std::size_t>(1, objects));
            const double span =
                std::min(32 * bins_per_object + 4 * axis.reach, double(axis.count)) + 2 * axis.reach + 2;
            units = std::min(4096.0, power_below(most / span));
            fine.longest = static_cast<std::int32_t>(most / units) - axis.reach - 2;
        }
        units = std::min(units, power_below(most_units / (double(axis.count) + 1)));
        while (units > 1 && !(double(axis.inverse) * units < double(std::numeric_limits<T>::max()))) units /= 2;
        fine.axis[k] = {axis.origin, T(double(axis.inverse) * units), T(double(axis.count) * units)};
    }
    return fine;
}

#define QUADRAT_DISPATCH(D, T, S)                                                                                \
    HWY_EXPORT(FineColumns##S);                                                                                  \
    template <>                                                                                                  \
    void fine_columns(const FineGrid<D, T>& fine, const T* const(&lo)[D], const T* const(&hi)[D], std::size_t n, \
                      std::uint16_t* const(&column)[2 * D]) {                                                    \
        HWY_DYNAMIC_DISPATCH(FineColumns##S)(fine, lo, hi, n, column);                                           \
    }                                                                                                            \
    template FineGrid<D, T> make_fine(const GridShape<D, T>&, std::size_t);
QUADRAT_DISPATCH(2, float, 2f)
QUADRAT_DISPATCH(3, float, 3f)
QUADRAT_DISPATCH(2, double, 2d)
QUADRAT_DISPATCH(3, double, 3d)
#undef QUADRAT_DISPATCH

}  // namespace quadrat::broad_phase
#endif
