// The rows of a grid that a box can meet, for the kernels that are compiled once per Highway target (base/simd.hpp):
// include it after hwy/highway.h and before HWY_BEFORE_NAMESPACE.
#include "broad_phase/sorted/grid_shape.hpp"

#include <algorithm>

#if defined(QUADRAT_BROAD_PHASE_ROW_RANGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUADRAT_BROAD_PHASE_ROW_RANGE_INL
#undef QUADRAT_BROAD_PHASE_ROW_RANGE_INL
#else
#define QUADRAT_BROAD_PHASE_ROW_RANGE_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {

/// Calls visit(row) for the rows of cells [lo - reach, hi] of each axis but x.
template <int D, class T, class Visit>
HWY_INLINE void for_each_row(const GridShape<D, T>& shape, const T (&lo)[D], const T (&hi)[D], Visit&& visit) {
    std::int32_t first[D], last[D];
    for (int k = 1; k < D; ++k) {
        const Axis<T>& axis = shape.axis[k];
        first[k] = axis.cell(lo[k]) - axis.reach;
        last[k] = axis.cell(hi[k]);
        if (!axis.wrapped()) {
            first[k] = std::max(0, first[k]);
        } else if (last[k] - first[k] >= axis.count) {
            first[k] = 0;
            last[k] = axis.count - 1;
        }
    }
    if constexpr (D == 2) {
        for (std::int32_t y = first[1]; y <= last[1]; ++y) visit(static_cast<std::uint32_t>(y & shape.axis[1].mask));
    } else {
        for (std::int32_t z = first[2]; z <= last[2]; ++z) {
            const auto base = static_cast<std::uint32_t>((z & shape.axis[2].mask) * shape.axis[1].count);
            for (std::int32_t y = first[1]; y <= last[1]; ++y)
                visit(base + static_cast<std::uint32_t>(y & shape.axis[1].mask));
        }
    }
}

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
