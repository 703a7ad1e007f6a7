// Records to fine coordinates and to columns, a vector of corners or of records at a time (fine_grid.hpp).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/sorted/kernels/fine_scatter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "broad_phase/sorted/fine_grid.hpp"
#include "cells/clamped_axis-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace on_axes = cells::HWY_NAMESPACE;

void SumUp(std::uint32_t* numbers, std::size_t n) {
    std::size_t i = 0;
    std::uint32_t sum = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::FixedTag<std::uint32_t, 4> d;
    auto before = hn::Zero(d);
    for (; i + 4 <= n; i += 4) {
        auto v = hn::LoadU(d, numbers + i);
        v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
        v = hn::Add(hn::Add(v, hn::ShiftLeftLanes<2>(d, v)), before);
        hn::StoreU(v, d, numbers + i);
        before = hn::Broadcast<3>(v);
    }
    sum = hn::GetLane(before);
#endif
    for (; i < n; ++i) numbers[i] = sum += numbers[i];
}

// A record is the coordinates of its box and then its id and key, so the lanes of a vector are corners of one box; what
// follows the corners is taken for zero.
template <int D, class T>
void FineScatter(const FineGrid<D, T>& fine, const Record<D, T>* records, std::uint32_t n, std::uint32_t from,
                 std::uint32_t* next, FineRecord* to) {
    constexpr std::size_t parts = D == 3 ? 8 : 4;
    const hn::CappedTag<T, parts> d;
    const hn::Rebind<std::uint32_t, decltype(d)> wide;
    const hn::Rebind<std::uint16_t, decltype(d)> narrow;
    HWY_ALIGN T origin[parts] = {}, scale[parts] = {}, inverse[parts] = {}, last[parts] = {};
    HWY_ALIGN std::uint32_t negative[parts] = {};
    for (int k = 0; k < D; ++k) {
        origin[k] = origin[k + D] = fine.axis[k].origin;
        scale[k] = scale[k + D] = fine.axis[k].scale;
        inverse[k] = inverse[k + D] = fine.axis[k].inverse;
        last[k] = last[k + D] = fine.axis[k].last;
        negative[k + D] = ~0u;
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        const Record<D, T>& r = records[i];
        const std::uint32_t key = r.key;
        FineRecord& out = to[next[key]++];
        const T* const corners = reinterpret_cast<const T*>(&r);
        for (std::size_t c = 0; c < parts; c += hn::Lanes(d)) {
            const auto x = hn::IfThenElseZero(hn::FirstN(d, c < 2 * D ? 2 * D - c : 0), hn::LoadU(d, corners + c));
            const auto t =
                on_axes::places_on(x, hn::Load(d, origin + c), hn::Load(d, scale + c), hn::Load(d, inverse + c));
            auto q = hn::BitCast(wide, on_axes::clamped_cells(d, t, hn::Load(d, last + c)));
            const auto sign = hn::Load(wide, negative + c);
            q = hn::Sub(hn::Xor(q, sign), sign);
            hn::StoreU(hn::TruncateTo(narrow, q), narrow, out.part + c);
        }
        out.id = r.id;
        out.bin = key;
        out.from = from + i;
    }
}

// Eight records of eight words become eight columns.
void FineColumns(const FineRecord* records, std::size_t n, std::size_t columns, std::uint16_t* to, std::size_t stride,
                 std::uint32_t* ids) {
    for (std::size_t i = 0; i < n; ++i) ids[i] = records[i].id;
#if HWY_TARGET == HWY_SCALAR
    for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t i = 0; i < n; ++i) to[c * stride + i] = static_cast<std::uint16_t>(records[i].part[c] - 1);
#else
    const hn::FixedTag<std::uint16_t, 8> d16;
    const hn::FixedTag<std::uint32_t, 4> d32;
    const hn::FixedTag<std::uint64_t, 2> d64;
    for (std::size_t i = 0; i < n; i += 8) {
        const auto row = [&](std::size_t k) HWY_ATTR { return hn::Load(d16, records[i + k].part); };
        const auto lower = [&](auto d, auto a, auto b)
                               HWY_ATTR { return hn::InterleaveLower(d, hn::BitCast(d, a), hn::BitCast(d, b)); };
        const auto upper = [&](auto d, auto a, auto b)
                               HWY_ATTR { return hn::InterleaveUpper(d, hn::BitCast(d, a), hn::BitCast(d, b)); };
        const auto put = [&](std::size_t c, auto v) HWY_ATTR {
            if (c < columns) hn::StoreU(hn::Sub(hn::BitCast(d16, v), hn::Set(d16, 1)), d16, to + c * stride + i);
        };
        // Words of rows 0 1, 2 3, 4 5, 6 7 beside each other, columns 0 to 3 and 4 to 7 apart.
        const auto a = row(0), b = row(1), c = row(2), e = row(3), f = row(4), g = row(5), h = row(6), j = row(7);
        const auto ab = lower(d16, a, b), ce = lower(d16, c, e), fg = lower(d16, f, g), hj = lower(d16, h, j);
        const auto AB = upper(d16, a, b), CE = upper(d16, c, e), FG = upper(d16, f, g), HJ = upper(d16, h, j);
        const auto four = [&](std::size_t first, auto p, auto q, auto r, auto s) HWY_ATTR {
            const auto pq = lower(d32, p, q), PQ = upper(d32, p, q), rs = lower(d32, r, s), RS = upper(d32, r, s);
            put(first, lower(d64, pq, rs));
            put(first + 1, upper(d64, pq, rs));
            put(first + 2, lower(d64, PQ, RS));
            put(first + 3, upper(d64, PQ, RS));
        };
        four(0, ab, ce, fg, hj);
        if (columns > 4) four(4, AB, CE, FG, HJ);
    }
#endif
}

const base::PerKind<FineScatterKernel>& FineScatterKernels() {
    static constexpr auto table = base::PerKind<FineScatterKernel>::from(
        []<int D, class T>() { return FineScatterKernel<D, T>{FineScatter<D, T>}; });
    return table;
}

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {

HWY_EXPORT(SumUp);
void sum_up(std::uint32_t* numbers, std::size_t n) {
    HWY_DYNAMIC_DISPATCH(SumUp)(numbers, n);
}

HWY_EXPORT(FineColumns);
void fine_columns(const FineRecord* records, std::size_t n, std::size_t columns, std::uint16_t* to, std::size_t stride,
                  std::uint32_t* ids) {
    HWY_DYNAMIC_DISPATCH(FineColumns)(records, n, columns, to, stride, ids);
}

HWY_EXPORT(FineScatterKernels);
const base::PerKind<FineScatterKernel>& fine_scatter_kernels() {
    return HWY_DYNAMIC_DISPATCH(FineScatterKernels)();
}

}  // namespace quadrat::broad_phase
#endif
