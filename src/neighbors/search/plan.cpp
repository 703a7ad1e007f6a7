// The vector code of plan.hpp. A row of cells at lateral distance g from a box can only hold neighbours within
// sqrt(r^2 - g^2) of it along x.
#include "neighbors/search/plan.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/search/plan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cells/clamped_axis-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::neighbors::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int D, class T>
void find_boxes(Batch<T>& batch, const T* const* homes) {
    QUADRAT_ASSERT(batch.count >= 1 && batch.count <= Batch<T>::most);
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    for (unsigned g = 0; g < batch.count; ++g) {
        const std::uint32_t first = batch.first[g];
        QUADRAT_ASSERT(first < batch.first[g + 1]);
        const std::size_t size = batch.first[g + 1] - first;
        for (int axis = 0; axis < D; ++axis) {
            const T* const c = homes[axis] + first;
            auto lo = hn::Set(d, c[0]);
            auto hi = lo;
            for (std::size_t k = 1; k < size; k += lanes) {
                const auto v = hn::IfThenElse(hn::FirstN(d, size - k), hn::LoadU(d, c + k), lo);
                lo = hn::Min(lo, v), hi = hn::Max(hi, v);
            }
            batch.lo[axis][g] = hn::GetLane(hn::MinOfLanes(d, lo));
            batch.hi[axis][g] = hn::GetLane(hn::MaxOfLanes(d, hi));
        }
    }
}

template <int D, class T>
void find_ranges(const Batch<T>& batch, const Geometry<D, T>& geometry, const RowOfCells<T>* rows, std::size_t count,
                 BinRanges* out) {
    QUADRAT_ASSERT(geometry.dense);
    const hn::ScalableTag<T> d;
    const hn::Rebind<std::int32_t, decltype(d)> di;
    const hn::RebindToUnsigned<decltype(di)> du;
    using V = hn::Vec<decltype(d)>;
    const std::size_t lanes = std::min<std::size_t>(hn::Lanes(d), Batch<T>::most);
    const V zero = hn::Zero(d), slack = hn::Set(d, geometry.slack);
    const auto bin = [&](V v) HWY_ATTR { return cells::HWY_NAMESPACE::cells_on(d, geometry.axes[0], v); };
    for (std::size_t r = 0; r < count; ++r) {
        const RowOfCells<T>& row = rows[r];
        const auto table = hn::Set(di, static_cast<std::int32_t>(row.table));
        for (std::size_t k = 0; k < Batch<T>::most; k += lanes) {
            V across = zero;
            for (int axis = 1; axis < D; ++axis) {
                const V below = hn::Sub(hn::Set(d, row.lo[axis - 1]), hn::LoadU(d, batch.hi[axis] + k));
                const V above = hn::Sub(hn::LoadU(d, batch.lo[axis] + k), hn::Set(d, row.hi[axis - 1]));
                const V gap = hn::Max(hn::Max(below, above), zero);
                across = hn::Add(across, hn::Mul(gap, gap));
            }
            const V longest = hn::LoadU(d, batch.longest + k);
            const V rest = hn::Sub(hn::Mul(longest, longest), across);
            const V along = hn::Add(hn::Sqrt(hn::Max(rest, zero)), slack);
            // A row that is too far away: a box that ends before it begins.
            const V end = hn::IfThenElse(hn::Ge(rest, zero), hn::Add(hn::LoadU(d, batch.hi[0] + k), along),
                                         hn::Set(d, -std::numeric_limits<T>::infinity()));
            const auto from = bin(hn::Sub(hn::LoadU(d, batch.lo[0] + k), along));
            const auto to = hn::Max(hn::Add(bin(end), hn::Set(di, 1)), from);
            hn::StoreU(hn::BitCast(du, hn::Add(from, table)), du, out[r].from + k);
            hn::StoreU(hn::BitCast(du, hn::Add(to, table)), du, out[r].to + k);
        }
    }
}

/// Wide vectors have lanes to spare for candidates that are near few homes of a group.
template <class T>
constexpr unsigned most_homes() {
    return HWY_LANES(T) * sizeof(T) >= 64 ? 16 : 12;
}

const base::PerKind<Planner>& VectorPlanners() {
    static constexpr auto table = base::PerKind<Planner>::from([]<int D, class T>() {
        return Planner<D, T>{most_homes<T>(), find_boxes<D, T>, find_ranges<D, T>};
    });
    return table;
}

}  // namespace quadrat::neighbors::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::neighbors {

HWY_EXPORT(VectorPlanners);

const base::PerKind<Planner>& vector_planners() {
    return HWY_DYNAMIC_DISPATCH(VectorPlanners)();
}

}  // namespace quadrat::neighbors
#endif
