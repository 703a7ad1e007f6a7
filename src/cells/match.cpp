#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/match.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cells/match.hpp"

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace quadrat::cells::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Appends j + (position of each set bit) to out.
template <class D, class M>
HWY_INLINE std::size_t StorePositions(D d, M mask, std::size_t j, std::uint32_t* out) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, mask, bytes);
    std::uint64_t bits;
    std::memcpy(&bits, bytes, 8);
    std::size_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        out[count++] = static_cast<std::uint32_t>(j + hwy::Num0BitsBelowLS1Bit_Nonzero64(bits));
    return count;
}

template <int D, class T>
std::size_t MatchBox(const T* columns, std::size_t stride, std::size_t begin, std::size_t end, const Box<D, T>& query,
                     std::uint32_t* out) {
    if (begin >= end) return 0;  // nothing may be at `columns`
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    // Named by axis: arrays of sizeless vectors are not portable.
    const V lo0 = hn::Set(d, query.lo[0]), hi0 = hn::Set(d, query.hi[0]);
    const V lo1 = hn::Set(d, query.lo[1]), hi1 = hn::Set(d, query.hi[1]);
    const V lo2 = hn::Set(d, query.lo[D - 1]), hi2 = hn::Set(d, query.hi[D - 1]);
    const T* last = columns + (D - 1) * stride;
    std::size_t count = 0;
    for (std::size_t j = begin; j < end; j += hn::Lanes(d)) {
        auto m = hn::And(hn::Le(hn::LoadU(d, columns + j), hi0), hn::Le(lo0, hn::LoadU(d, columns + D * stride + j)));
        m = hn::And(m, hn::And(hn::Le(hn::LoadU(d, columns + stride + j), hi1),
                               hn::Le(lo1, hn::LoadU(d, columns + (D + 1) * stride + j))));
        if constexpr (D == 3)
            m = hn::And(m,
                        hn::And(hn::Le(hn::LoadU(d, last + j), hi2), hn::Le(lo2, hn::LoadU(d, last + D * stride + j))));
        if (!hn::AllFalse(d, m)) count += StorePositions(d, m, j, out + count);
    }
    // Columns may go on behind `end`.
    while (count > 0 && out[count - 1] >= end) --count;
    return count;
}

template <int D, class T, bool scaled>
HWY_INLINE std::size_t MatchPoint(const T* columns, std::size_t stride, std::size_t begin, std::size_t end,
                                  const Vec<D, T>& query, const NearTest<T>& near, std::uint32_t* out) {
    if (begin >= end) return 0;
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    const V q0 = hn::Set(d, query[0]), q1 = hn::Set(d, query[1]), q2 = hn::Set(d, query[D - 1]);
    const V s0 = hn::Set(d, near.scale(0)), s1 = hn::Set(d, near.scale(1));
    const V limit = hn::Set(d, near.radius_sq());
    const auto square = [&](V q, const T* column) HWY_ATTR {
        V x = hn::Sub(q, hn::LoadU(d, column));
        if constexpr (scaled) x = hn::Mul(hn::Mul(x, s0), s1);
        return hn::Mul(x, x);
    };
    std::size_t count = 0;
    for (std::size_t j = begin; j < end; j += hn::Lanes(d)) {
        V sum = hn::Add(square(q0, columns + j), square(q1, columns + stride + j));
        if constexpr (D == 3) sum = hn::Add(sum, square(q2, columns + 2 * stride + j));
        const auto m = hn::Le(sum, limit);
        if (!hn::AllFalse(d, m)) count += StorePositions(d, m, j, out + count);
    }
    while (count > 0 && out[count - 1] >= end) --count;
    return count;
}

template <int D, class T>
std::size_t MatchAnyPoint(const T* columns, std::size_t stride, std::size_t begin, std::size_t end,
                          const Vec<D, T>& query, const NearTest<T>& near, std::uint32_t* out) {
    return near.scaled() ? MatchPoint<D, T, true>(columns, stride, begin, end, query, near, out)
                         : MatchPoint<D, T, false>(columns, stride, begin, end, query, near, out);
}

const base::PerKind<MatchKernel>& MatchKernels() {
    static constexpr auto table = base::PerKind<MatchKernel>::from([]<int D, class T>() {
        return MatchKernel<D, T>{MatchBox<D, T>, MatchAnyPoint<D, T>};
    });
    return table;
}

}  // namespace quadrat::cells::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::cells {

HWY_EXPORT(MatchKernels);

const base::PerKind<MatchKernel>& match_kernels() {
    return HWY_DYNAMIC_DISPATCH(MatchKernels)();
}

}  // namespace quadrat::cells
#endif
