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

// Numbers from 0 to 2^30 as 32-bit integers.
template <class D, class V>
HWY_INLINE auto quantised(D, V t) {
    const hn::Rebind<std::int32_t, D> d32;
    if constexpr (sizeof(hn::TFromD<D>) == 4)
        return hn::ConvertTo(d32, t);
    else
        return hn::DemoteTo(d32, t);
}

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
    HWY_ALIGN T origin[parts] = {}, scale[parts] = {}, inverse[parts] = {}, limit[parts] = {};
    HWY_ALIGN std::uint32_t negative[parts] = {};
    for (int k = 0; k < D; ++k) {
        origin[k] = origin[k + D] = fine.axis[k].origin;
        scale[k] = scale[k + D] = fine.axis[k].scale;
        inverse[k] = inverse[k + D] = fine.axis[k].inverse;
        limit[k] = limit[k + D] = fine.axis[k].limit;
        negative[k + D] = ~0u;
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        const Record<D, T>& r = records[i];
        const std::uint32_t key = r.key;
        FineRecord& out = to[next[key]++];
        const T* const corners = reinterpret_cast<const T*>(&r);
        for (std::size_t c = 0; c < parts; c += hn::Lanes(d)) {
            const auto x = hn::IfThenElseZero(hn::FirstN(d, c < 2 * D ? 2 * D - c : 0), hn::LoadU(d, corners + c));
            const auto away = hn::Mul(hn::Sub(x, hn::Load(d, origin + c)), hn::Load(d, scale + c));
            const auto t = hn::Mul(away, hn::Load(d, inverse + c));
            auto q = hn::BitCast(wide, quantised(d, hn::Min(hn::Max(t, hn::Zero(d)), hn::Load(d, limit + c))));
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

#define QUADRAT_KERNEL(D, T, S)                                                                                       \
    void FineScatter##S(const FineGrid<D, T>& fine, const Record<D, T>* records, std::uint32_t n, std::uint32_t from, \
                        std::uint32_t* next, FineRecord* to) {                                                        \
        FineScatter(fine, records, n, from, next, to);                                                                \
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
        fine.axis[k] = {axis.origin, axis.scale, T(double(axis.inverse) * units), T(double(axis.count) * units)};
    }
    return fine;
}

HWY_EXPORT(SumUp);
void sum_up(std::uint32_t* numbers, std::size_t n) {
    HWY_DYNAMIC_DISPATCH(SumUp)(numbers, n);
}

HWY_EXPORT(FineColumns);
void fine_columns(const FineRecord* records, std::size_t n, std::size_t columns, std::uint16_t* to, std::size_t stride,
                  std::uint32_t* ids) {
    HWY_DYNAMIC_DISPATCH(FineColumns)(records, n, columns, to, stride, ids);
}

#define QUADRAT_DISPATCH(D, T, S)                                                                                   \
    HWY_EXPORT(FineScatter##S);                                                                                     \
    template <>                                                                                                     \
    void fine_scatter(const FineGrid<D, T>& fine, const Record<D, T>* records, std::uint32_t n, std::uint32_t from, \
                      std::uint32_t* next, FineRecord* to) {                                                        \
        HWY_DYNAMIC_DISPATCH(FineScatter##S)(fine, records, n, from, next, to);                                     \
    }                                                                                                               \
    template FineGrid<D, T> make_fine(const GridShape<D, T>&, std::size_t);
QUADRAT_DISPATCH(2, float, 2f)
QUADRAT_DISPATCH(3, float, 3f)
QUADRAT_DISPATCH(2, double, 2d)
QUADRAT_DISPATCH(3, double, 3d)
#undef QUADRAT_DISPATCH

}  // namespace quadrat::broad_phase
#endif
