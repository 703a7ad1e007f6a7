// Eight floats at once on every SIMD target: one vector where it holds eight, two of four, or eight of one. The lanes
// of a sum are then the same everywhere, and with no fused operations so are the bytes of every result. For inclusion
// once per target (hwy/foreach_target.h).
#if defined(QUADRAT_SIMULATION_PACK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef QUADRAT_SIMULATION_PACK_INL_HPP
#undef QUADRAT_SIMULATION_PACK_INL_HPP
#else
#define QUADRAT_SIMULATION_PACK_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace quadrat::simulation::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t lanes = HWY_LANES(float) < 8 ? HWY_LANES(float) : 8;
inline constexpr std::size_t parts = 8 / lanes;
using Tag = hn::FixedTag<float, lanes>;
inline constexpr Tag tag{};

struct Pack {
    hn::Vec<Tag> v[parts];
};

template <class Fn>
HWY_INLINE Pack map(Fn&& fn) {
    Pack out;
    for (std::size_t k = 0; k < parts; ++k) out.v[k] = fn(k);
    return out;
}

HWY_INLINE Pack set(float x) {
    return map([&](std::size_t) HWY_ATTR { return hn::Set(tag, x); });
}
/// Eight floats from anywhere.
HWY_INLINE Pack load(const float* from) {
    return map([&](std::size_t k) HWY_ATTR { return hn::LoadU(tag, from + k * lanes); });
}
HWY_INLINE Pack operator+(const Pack& a, const Pack& b) {
    return map([&](std::size_t k) HWY_ATTR { return hn::Add(a.v[k], b.v[k]); });
}
HWY_INLINE Pack operator-(const Pack& a, const Pack& b) {
    return map([&](std::size_t k) HWY_ATTR { return hn::Sub(a.v[k], b.v[k]); });
}
HWY_INLINE Pack operator*(const Pack& a, const Pack& b) {
    return map([&](std::size_t k) HWY_ATTR { return hn::Mul(a.v[k], b.v[k]); });
}
HWY_INLINE Pack operator/(const Pack& a, const Pack& b) {
    return map([&](std::size_t k) HWY_ATTR { return hn::Div(a.v[k], b.v[k]); });
}
HWY_INLINE Pack sqrt(const Pack& a) {
    return map([&](std::size_t k) HWY_ATTR { return hn::Sqrt(a.v[k]); });
}
HWY_INLINE Pack min(const Pack& a, const Pack& b) {
    return map([&](std::size_t k) HWY_ATTR { return hn::Min(a.v[k], b.v[k]); });
}
HWY_INLINE Pack max(const Pack& a, const Pack& b) {
    return map([&](std::size_t k) HWY_ATTR { return hn::Max(a.v[k], b.v[k]); });
}
/// a < b ? yes : no
HWY_INLINE Pack if_less(const Pack& a, const Pack& b, const Pack& yes, const Pack& no) {
    return map([&](std::size_t k) HWY_ATTR { return hn::IfThenElse(hn::Lt(a.v[k], b.v[k]), yes.v[k], no.v[k]); });
}

/// ((0+4) + (2+6)) + ((1+5) + (3+7))
HWY_INLINE float sum(const Pack& a) {
    HWY_ALIGN float s[8];
#if HWY_MAX_BYTES >= 32
    const hn::Half<Tag> half;
    hn::Store(hn::Add(hn::LowerHalf(half, a.v[0]), hn::UpperHalf(half, a.v[0])), half, s);
    return (s[0] + s[2]) + (s[1] + s[3]);
#else
    for (std::size_t k = 0; k < parts; ++k) hn::StoreU(a.v[k], tag, s + k * lanes);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
#endif
}

/// The sums of three, and 0: four floats.
HWY_INLINE void store_sums(const Pack& x, const Pack& y, const Pack& z, float* to) {
#if HWY_MAX_BYTES >= 32
    const hn::Half<Tag> half;
    const hn::Repartition<double, hn::Half<Tag>> wide;
    const auto fold = [&](const Pack& a)
                          HWY_ATTR { return hn::Add(hn::LowerHalf(half, a.v[0]), hn::UpperHalf(half, a.v[0])); };
    const auto fx = fold(x), fy = fold(y), fz = fold(z), none = hn::Zero(half);
    const auto xy = hn::BitCast(wide, hn::Add(hn::InterleaveLower(half, fx, fy), hn::InterleaveUpper(half, fx, fy)));
    const auto zn =
        hn::BitCast(wide, hn::Add(hn::InterleaveLower(half, fz, none), hn::InterleaveUpper(half, fz, none)));
    hn::StoreU(hn::Add(hn::BitCast(half, hn::InterleaveLower(wide, xy, zn)),
                       hn::BitCast(half, hn::InterleaveUpper(wide, xy, zn))),
               half, to);
#else
    to[0] = sum(x), to[1] = sum(y), to[2] = sum(z), to[3] = 0;
#endif
}

HWY_INLINE void store(const Pack& a, float* to) {
    for (std::size_t k = 0; k < parts; ++k) hn::StoreU(a.v[k], tag, to + k * lanes);
}

/// Eight floats by index. Single loads: measured 8 % faster than a gather instruction in the pressure solve.
HWY_INLINE Pack gather1(const float* from, const std::uint32_t* index) {
    HWY_ALIGN const float found[8] = {from[index[0]], from[index[1]], from[index[2]], from[index[3]],
                                      from[index[4]], from[index[5]], from[index[6]], from[index[7]]};
    return load(found);
}

/// Field f of eight records of eight floats each: out[f], lane k from record index[k]. Records are 32-byte aligned.
HWY_INLINE void gather8(const float* records, const std::uint32_t* index, Pack* out) {
#if HWY_MAX_BYTES >= 32
    const hn::Repartition<double, Tag> wide;
    hn::Vec<Tag> lo[4], hi[4];
    for (int side = 0; side < 2; ++side) {
        hn::Vec<Tag>* const to = side == 0 ? lo : hi;
        const std::uint32_t* const at = index + 4 * side;
        const auto r0 = hn::Load(tag, records + 8 * std::size_t{at[0]});
        const auto r1 = hn::Load(tag, records + 8 * std::size_t{at[1]});
        const auto r2 = hn::Load(tag, records + 8 * std::size_t{at[2]});
        const auto r3 = hn::Load(tag, records + 8 * std::size_t{at[3]});
        const auto a = hn::BitCast(wide, hn::InterleaveLower(tag, r0, r1));
        const auto b = hn::BitCast(wide, hn::InterleaveUpper(tag, r0, r1));
        const auto c = hn::BitCast(wide, hn::InterleaveLower(tag, r2, r3));
        const auto d = hn::BitCast(wide, hn::InterleaveUpper(tag, r2, r3));
        to[0] = hn::BitCast(tag, hn::InterleaveLower(wide, a, c));
        to[1] = hn::BitCast(tag, hn::InterleaveUpper(wide, a, c));
        to[2] = hn::BitCast(tag, hn::InterleaveLower(wide, b, d));
        to[3] = hn::BitCast(tag, hn::InterleaveUpper(wide, b, d));
    }
    for (int f = 0; f < 4; ++f) {
        out[f].v[0] = hn::ConcatLowerLower(tag, hi[f], lo[f]);
        out[f + 4].v[0] = hn::ConcatUpperUpper(tag, hi[f], lo[f]);
    }
#else
    HWY_ALIGN float turned[8][8];
    for (std::size_t k = 0; k < 8; ++k)
        for (std::size_t f = 0; f < 8; ++f) turned[f][k] = records[8 * std::size_t{index[k]} + f];
    for (std::size_t f = 0; f < 8; ++f) out[f] = load(turned[f]);
#endif
}

/// The same for records of four floats, 16-byte aligned.
HWY_INLINE void gather4(const float* records, const std::uint32_t* index, Pack* out) {
#if HWY_MAX_BYTES >= 32
    const hn::Repartition<double, Tag> wide;
    const hn::Half<Tag> half;
    const auto pair = [&](int k) HWY_ATTR {
        return hn::Combine(tag, hn::Load(half, records + 4 * std::size_t{index[k + 4]}),
                           hn::Load(half, records + 4 * std::size_t{index[k]}));
    };
    const auto r0 = pair(0), r1 = pair(1), r2 = pair(2), r3 = pair(3);
    const auto a = hn::BitCast(wide, hn::InterleaveLower(tag, r0, r1));
    const auto b = hn::BitCast(wide, hn::InterleaveUpper(tag, r0, r1));
    const auto c = hn::BitCast(wide, hn::InterleaveLower(tag, r2, r3));
    const auto d = hn::BitCast(wide, hn::InterleaveUpper(tag, r2, r3));
    out[0].v[0] = hn::BitCast(tag, hn::InterleaveLower(wide, a, c));
    out[1].v[0] = hn::BitCast(tag, hn::InterleaveUpper(wide, a, c));
    out[2].v[0] = hn::BitCast(tag, hn::InterleaveLower(wide, b, d));
    out[3].v[0] = hn::BitCast(tag, hn::InterleaveUpper(wide, b, d));
#else
    HWY_ALIGN float turned[4][8];
    for (std::size_t k = 0; k < 8; ++k)
        for (std::size_t f = 0; f < 4; ++f) turned[f][k] = records[4 * std::size_t{index[k]} + f];
    for (std::size_t f = 0; f < 4; ++f) out[f] = load(turned[f]);
#endif
}

/// Calls fn(index) for blocks of eight of a row; the last block is filled up with `self`, whose pair term must be 0.
template <class Fn>
HWY_INLINE void for_blocks(const std::uint32_t* row, std::size_t count, std::uint32_t self, Fn&& fn) {
    std::size_t k = 0;
    for (; k + 8 <= count; k += 8) fn(row + k);
    if (k < count) {
        std::uint32_t last[8];
        for (std::size_t a = 0; a < 8; ++a) last[a] = k + a < count ? row[k + a] : self;
        fn(last);
    }
}

/// The nearest image of d for a period (0: none); what the scalar World::apart computes.
HWY_INLINE Pack nearest_image(const Pack& d, float period) {
    const Pack l = set(period), half = set(0.5f * period), zero = set(0.0f);
    const Pack once = d - if_less(half, d, l, zero);
    return once + if_less(once, zero - half, l, zero);
}

/// The kernels for support h, as functions of r: W / scale, and (W' / r) / slope_scale.
struct Wendland {
    static HWY_INLINE Pack value(const Pack& q) {
        const Pack one = set(1.0f);
        const Pack t = max(one - q, set(0.0f));
        const Pack t2 = t * t;
        return t2 * t2 * (one + set(4.0f) * q);
    }
    static HWY_INLINE Pack slope(const Pack& q) {
        const Pack t = max(set(1.0f) - q, set(0.0f));
        return set(-20.0f) * (t * t * t);
    }
};
struct CubicSpline {
    static HWY_INLINE Pack value(const Pack& q) {
        const Pack one = set(1.0f);
        const Pack t = max(one - q, set(0.0f));
        const Pack inner = one - set(6.0f) * q * q * t;
        return if_less(q, set(0.5f), inner, set(2.0f) * (t * t * t));
    }
    static HWY_INLINE Pack slope(const Pack& q) {
        const Pack t = max(set(1.0f) - q, set(0.0f));
        const Pack outer = set(-6.0f) * (t * t) / max(q, set(0.25f));
        return if_less(q, set(0.5f), set(-12.0f) + set(18.0f) * q, outer);
    }
};

/// pick.operator()<Kernel, kPeriodic>() for the kernel and the domain of a run.
template <class Pick>
decltype(auto) for_kernel(bool cubic, bool periodic, Pick&& pick) {
    if (cubic)
        return periodic ? pick.template operator()<CubicSpline, true>()
                        : pick.template operator()<CubicSpline, false>();
    return periodic ? pick.template operator()<Wendland, true>() : pick.template operator()<Wendland, false>();
}

}  // namespace quadrat::simulation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
