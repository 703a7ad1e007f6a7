// cells/clamped_axis.hpp, one coordinate per lane, for files that are compiled once per Highway target (base/simd.hpp):
// include it after hwy/highway.h and before HWY_BEFORE_NAMESPACE. Multiplications are not fused, so the cells are those
// of the scalar code
#include "cells/clamped_axis.hpp"

#if defined(QUADRAT_CELLS_CLAMPED_AXIS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUADRAT_CELLS_CLAMPED_AXIS_INL
#undef QUADRAT_CELLS_CLAMPED_AXIS_INL
#else
#define QUADRAT_CELLS_CLAMPED_AXIS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::cells::HWY_NAMESPACE {

/// A vector of 32-bit integers: each t clamped to [0, last] and truncated. t is not NaN.
template <class D, class V>
HWY_INLINE auto clamped_cells(D d, V t, V last) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::Rebind<std::int32_t, D> d32;
    const V clamped = hn::Min(hn::Max(t, hn::Zero(d)), last);
    if constexpr (sizeof(hn::TFromD<D>) == 4)
        return hn::ConvertTo(d32, clamped);
    else
        return hn::DemoteTo(d32, clamped);
}

/// The places of x, a different axis in each lane if need be: the arguments are vectors of what the axes hold.
template <class V>
HWY_INLINE V places_on(V x, V origin, V inverse) {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::Mul(hn::Sub(x, origin), inverse);
}
template <class V>
HWY_INLINE V places_on(V x, V origin, V scale, V inverse) {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::Mul(hn::Mul(hn::Sub(x, origin), scale), inverse);
}

/// ClampedAxis::cell and ScaledAxis::cell of each lane.
template <class D, class V, class T>
HWY_INLINE auto cells_on(D d, const ClampedAxis<T>& axis, V x) {
    namespace hn = hwy::HWY_NAMESPACE;
    return clamped_cells(d, places_on(x, hn::Set(d, axis.origin), hn::Set(d, axis.inverse)), hn::Set(d, axis.last));
}
template <class D, class V, class T>
HWY_INLINE auto cells_on(D d, const ScaledAxis<T>& axis, V x) {
    namespace hn = hwy::HWY_NAMESPACE;
    const V t = places_on(x, hn::Set(d, axis.origin), hn::Set(d, axis.scale), hn::Set(d, axis.inverse));
    return clamped_cells(d, t, hn::Set(d, axis.last));
}

}  // namespace quadrat::cells::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
