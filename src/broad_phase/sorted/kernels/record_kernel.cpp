// Boxes to cells and records to arrays. Boxes lie in memory corner by corner; a vector of one coordinate of several
// boxes is made by interleaved loads, then quantised as Axis::cell does, lane by lane. Double takes the scalar code:
// it is bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/sorted/kernels/record_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "broad_phase/sorted/kernels/record_kernel.hpp"
#include "cells/clamped_axis-inl.hpp"

#ifndef QUADRAT_BROAD_PHASE_RECORD_KERNEL_ONCE
#define QUADRAT_BROAD_PHASE_RECORD_KERNEL_ONCE
namespace quadrat::broad_phase {

template <int D, class T>
std::size_t assign_cells_scalar(const GridShape<D, T>& shape, std::uint32_t first_slab, const Box<D, T>* boxes,
                                BlockCells& cells) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < cell_block; ++i) {
        if (cells.slab[i] != no_slab) continue;
        std::int32_t cell[D];
        if (!regular(boxes[i]) || !shape.quantise(boxes[i], cell)) {
            ++left;
            continue;
        }
        const std::uint32_t row = shape.row(cell), slab = row >> shape.slab_shift;
        cells.slab[i] = first_slab + slab;
        cells.key[i] = (row - (slab << shape.slab_shift)) * shape.bins() + static_cast<std::uint32_t>(cell[0]);
    }
    return left;
}

template <int D, class T>
void unpack_scalar(const Record<D, T>* records, std::size_t n, T* const (&lo)[D], T* const (&hi)[D], Lane<T>* id) {
    for (std::size_t i = 0; i < n; ++i) {
        for (int k = 0; k < D; ++k) {
            lo[k][i] = records[i].box.lo[k];
            hi[k][i] = records[i].box.hi[k];
        }
        id[i] = records[i].id;
    }
}

}  // namespace quadrat::broad_phase
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace on_axes = cells::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using F = hn::ScalableTag<float>;
using I = hn::ScalableTag<std::int32_t>;
using U = hn::ScalableTag<std::uint32_t>;

HWY_INLINE void load_boxes(const Box<2, float>* boxes, hn::Vec<F> (&lo)[2], hn::Vec<F> (&hi)[2]) {
    hn::LoadInterleaved4(F(), reinterpret_cast<const float*>(boxes), lo[0], lo[1], hi[0], hi[1]);
}

// A box is three pairs of floats: (lo x, lo y), (lo z, hi x), (hi y, hi z).
HWY_INLINE void load_boxes(const Box<3, float>* boxes, hn::Vec<F> (&lo)[3], hn::Vec<F> (&hi)[3]) {
    const F d;
    const hn::ScalableTag<std::uint64_t> pairs;
    const std::size_t half = hn::Lanes(pairs);
    hn::Vec<decltype(pairs)> a0, b0, c0, a1, b1, c1;
    hn::LoadInterleaved3(pairs, reinterpret_cast<const std::uint64_t*>(boxes), a0, b0, c0);
    hn::LoadInterleaved3(pairs, reinterpret_cast<const std::uint64_t*>(boxes + half), a1, b1, c1);
    const auto even = [&](auto v1, auto v0) { return hn::ConcatEven(d, hn::BitCast(d, v1), hn::BitCast(d, v0)); };
    const auto odd = [&](auto v1, auto v0) { return hn::ConcatOdd(d, hn::BitCast(d, v1), hn::BitCast(d, v0)); };
    lo[0] = even(a1, a0);
    lo[1] = odd(a1, a0);
    lo[2] = even(b1, b0);
    hi[0] = odd(b1, b0);
    hi[1] = even(c1, c0);
    hi[2] = odd(c1, c0);
}

template <int D>
std::size_t AssignCells(const GridShape<D, float>& shape, std::uint32_t first_slab, const Box<D, float>* boxes,
                        BlockCells& cells) {
    const F d;
    const I di;
    const U du;
    const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    const auto none = hn::Set(du, no_slab);
    const auto bins = hn::Set(du, shape.bins());
    const auto rows_of_slab = hn::Set(du, shape.rows_per_slab() - 1);
    const int shift = static_cast<int>(shape.slab_shift);
    const bool bounded = shape.bounded();
    std::size_t left = 0;
    for (std::size_t i = 0; i < cell_block; i += hn::Lanes(d)) {
        hn::Vec<F> lo[D], hi[D];
        load_boxes(boxes + i, lo, hi);
        const auto before = hn::Load(du, cells.slab + i);
        auto fits = hn::RebindMask(d, hn::Eq(before, none));
        hn::Vec<I> cell[D];
        for (int k = 0; k < D; ++k) {
            const cells::ScaledAxis<float>& axis = shape.axis[k];
            const auto size = hn::Sub(hi[k], lo[k]);
            fits = hn::And(fits, hn::And(hn::Ge(size, hn::Zero(d)), hn::Lt(size, infinity)));
            cell[k] = on_axes::cells_on(d, axis, lo[k]);
            const auto across = hn::Sub(on_axes::cells_on(d, axis, hi[k]), cell[k]);
            fits = hn::And(fits, hn::RebindMask(d, hn::Lt(across, hn::Set(di, shape.axis[k].reach + 1))));
            if (bounded)
                fits = hn::And(fits, hn::And(hn::Ge(lo[k], hn::Set(d, shape.inside.lo[k])),
                                             hn::Le(hi[k], hn::Set(d, shape.inside.hi[k]))));
        }
        auto row = hn::BitCast(du, hn::And(cell[D - 1], hn::Set(di, shape.axis[D - 1].mask)));
        if constexpr (D == 3)
            row = hn::Add(hn::Mul(row, hn::Set(du, static_cast<std::uint32_t>(shape.axis[1].count))),
                          hn::BitCast(du, hn::And(cell[1], hn::Set(di, shape.axis[1].mask))));
        const auto slab = hn::Add(hn::ShiftRightSame(row, shift), hn::Set(du, first_slab));
        const auto key = hn::Add(hn::Mul(hn::And(row, rows_of_slab), bins), hn::BitCast(du, cell[0]));
        const auto chosen = hn::RebindMask(du, fits);
        const auto after = hn::IfThenElse(chosen, slab, before);
        hn::Store(after, du, cells.slab + i);
        hn::Store(hn::IfThenElse(chosen, key, hn::Load(du, cells.key + i)), du, cells.key + i);
        left += hn::CountTrue(du, hn::Eq(after, none));
    }
    return left;
}

// Four columns of four lanes become four rows.
template <class D4, class V>
HWY_INLINE void transpose(D4 d, V& a, V& b, V& c, V& e) {
    const hn::RepartitionToWide<D4> wide;
    const auto ab_lower = hn::BitCast(wide, hn::InterleaveLower(d, a, b)),
               ab_upper = hn::BitCast(wide, hn::InterleaveUpper(d, a, b)),
               ce_lower = hn::BitCast(wide, hn::InterleaveLower(d, c, e)),
               ce_upper = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
    a = hn::BitCast(d, hn::InterleaveLower(wide, ab_lower, ce_lower));
    b = hn::BitCast(d, hn::InterleaveUpper(wide, ab_lower, ce_lower));
    c = hn::BitCast(d, hn::InterleaveLower(wide, ab_upper, ce_upper));
    e = hn::BitCast(d, hn::InterleaveUpper(wide, ab_upper, ce_upper));
}

void Unpack3f(const Record<3, float>* records, std::size_t n, float* const (&lo)[3], float* const (&hi)[3],
              std::uint32_t* id) {
    static_assert(sizeof(Record<3, float>) == 32);
    const hn::FixedTag<float, 4> d;
    const hn::FixedTag<std::uint32_t, 4> du;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const auto* const words = reinterpret_cast<const float*>(records + i);
        auto a = hn::Load(d, words), b = hn::Load(d, words + 8), c = hn::Load(d, words + 16),
             e = hn::Load(d, words + 24);
        transpose(d, a, b, c, e);
        hn::StoreU(a, d, lo[0] + i);
        hn::StoreU(b, d, lo[1] + i);
        hn::StoreU(c, d, lo[2] + i);
        hn::StoreU(e, d, hi[0] + i);
        a = hn::Load(d, words + 4), b = hn::Load(d, words + 12), c = hn::Load(d, words + 20),
        e = hn::Load(d, words + 28);
        transpose(d, a, b, c, e);
        hn::StoreU(a, d, hi[1] + i);
        hn::StoreU(b, d, hi[2] + i);
        hn::StoreU(hn::BitCast(du, c), du, id + i);
    }
    float* const lo_rest[3] = {lo[0] + i, lo[1] + i, lo[2] + i};
    float* const hi_rest[3] = {hi[0] + i, hi[1] + i, hi[2] + i};
    unpack_scalar(records + i, n - i, lo_rest, hi_rest, id + i);
}

#endif

const base::PerKind<RecordKernel>& RecordKernels() {
    static constexpr auto table = base::PerKind<RecordKernel>::from([]<int D, class T>() {
        RecordKernel<D, T> kernel{assign_cells_scalar<D, T>, unpack_scalar<D, T>};
#if HWY_TARGET != HWY_SCALAR
        if constexpr (sizeof(T) == 4) kernel.assign = AssignCells<D>;
        if constexpr (sizeof(T) == 4 && D == 3) kernel.unpack = Unpack3f;
#endif
        return kernel;
    });
    return table;
}

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {

HWY_EXPORT(RecordKernels);

const base::PerKind<RecordKernel>& record_kernels() {
    return HWY_DYNAMIC_DISPATCH(RecordKernels)();
}

}  // namespace quadrat::broad_phase
#endif
