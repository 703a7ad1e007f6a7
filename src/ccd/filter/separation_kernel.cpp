// Gilbert's method as in filter.cpp, one query per lane: w starts at the sum of the vectors and walks towards the point
// of their hull that is closest to the origin; each round tests whether w separates already.
#include "ccd/filter/separation_kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccd/filter/separation_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/assert.hpp"
#include "ccd/filter/filter.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::ccd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int rounds = 4;

std::uint64_t SeparatedBlock(const DifferenceBlock& block, int vectors, double distance) {
#if HWY_TARGET == HWY_SCALAR
    const hn::CappedTag<double, 1> d;
#else
    const hn::ScalableTag<double> d;
#endif
    using V = hn::Vec<decltype(d)>;
    const std::size_t lanes = hn::Lanes(d);
    const V zero = hn::Zero(d);
    const V relative = hn::Set(d, separation_error);
    const V floor = hn::Set(d, separation_floor);
    const V ceiling = hn::Set(d, separation_ceiling);
    const V gap = hn::Set(d, distance * (1 + 0x1p-40));
    const V scale = hn::Set(d, 1.0 / vectors);
    std::uint64_t result = 0;
    for (std::size_t q = 0; q < block_size; q += lanes) {
        V wx = zero, wy = zero, wz = zero;
        for (int v = 0; v < vectors; ++v) {
            wx = hn::Add(wx, hn::Load(d, &block.value[v][0][q]));
            wy = hn::Add(wy, hn::Load(d, &block.value[v][1][q]));
            wz = hn::Add(wz, hn::Load(d, &block.value[v][2][q]));
        }
        wx = hn::Mul(wx, scale);
        wy = hn::Mul(wy, scale);
        wz = hn::Mul(wz, scale);
        auto done = hn::Lt(zero, zero);
        for (int round = 0; round < rounds; ++round) {
            const V size = hn::Add(hn::Add(hn::Abs(wx), hn::Abs(wy)), hn::Abs(wz));
            const V bound = hn::Mul(relative, size);
            const V length = hn::Sqrt(hn::Add(hn::Add(hn::Mul(wx, wx), hn::Mul(wy, wy)), hn::Mul(wz, wz)));
            const V least_wanted = hn::Add(hn::Mul(gap, length), floor);
            auto apart = hn::Eq(zero, zero);
            V least = hn::Set(d, no_impact);
            V px = zero, py = zero, pz = zero;
            for (int v = 0; v < vectors; ++v) {
                const V x = hn::Load(d, &block.value[v][0][q]);
                const V y = hn::Load(d, &block.value[v][1][q]);
                const V z = hn::Load(d, &block.value[v][2][q]);
                const V dot = hn::Add(hn::Add(hn::Mul(wx, x), hn::Mul(wy, y)), hn::Mul(wz, z));
                const V largest = hn::Max(hn::Max(hn::Abs(x), hn::Abs(y)), hn::Abs(z));
                const V error = hn::Mul(bound, largest);
                apart = hn::And(apart, hn::And(hn::Gt(dot, hn::Add(error, least_wanted)), hn::Lt(error, ceiling)));
                const auto worse = hn::Lt(dot, least);
                least = hn::IfThenElse(worse, dot, least);
                px = hn::IfThenElse(worse, x, px);
                py = hn::IfThenElse(worse, y, py);
                pz = hn::IfThenElse(worse, z, pz);
            }
            done = hn::Or(done, apart);
            if (round + 1 == rounds || hn::AllTrue(d, done)) break;
            const V sx = hn::Sub(px, wx);
            const V sy = hn::Sub(py, wy);
            const V sz = hn::Sub(pz, wz);
            const V ss = hn::Add(hn::Add(hn::Mul(sx, sx), hn::Mul(sy, sy)), hn::Mul(sz, sz));
            const V ws = hn::Add(hn::Add(hn::Mul(wx, sx), hn::Mul(wy, sy)), hn::Mul(wz, sz));
            V step = hn::Div(hn::Neg(ws), ss);
            step = hn::Min(hn::Max(step, zero), hn::Set(d, 1.0));
            wx = hn::Add(wx, hn::Mul(step, sx));
            wy = hn::Add(wy, hn::Mul(step, sy));
            wz = hn::Add(wz, hn::Mul(step, sz));
        }
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, done, bits);
        result |= static_cast<std::uint64_t>(bits[0] & ((1u << lanes) - 1)) << q;
    }
    return result;
}

}  // namespace
}  // namespace quadrat::ccd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::ccd {
HWY_EXPORT(SeparatedBlock);

std::uint64_t separated(const DifferenceBlock& block, int vectors, double distance) {
    QUADRAT_ASSERT((vectors == 6 || vectors == 8) && distance >= 0);
    return HWY_DYNAMIC_DISPATCH(SeparatedBlock)(block, vectors, distance);
}

}  // namespace quadrat::ccd
#endif
