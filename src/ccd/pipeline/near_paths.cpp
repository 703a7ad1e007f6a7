// Which paths are near: directions for one pair, and for 64 at a time.
#include "ccd/pipeline/paths.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccd/pipeline/near_paths.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quadrat::ccd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
using Four = hn::CappedTag<float, 1>;
#else
using Four = hn::FixedTag<float, 4>;
#endif
using V = hn::Vec<Four>;

// The direction between the centres, and what all positions along it must exceed.
struct Line {
    V w[3];
    V least;

    template <class Second>
    Line(const Path& a, const Second& b, float gap) {
        const float x = b.centre[0] - a.centre[0], y = b.centre[1] - a.centre[1], z = b.centre[2] - a.centre[2];
        const float sum = std::fabs(x) + std::fabs(y) + std::fabs(z);
        const float error = path_error * sum * (a.size + b.size) + path_floor;
        const Four d;
        w[0] = hn::Set(d, x);
        w[1] = hn::Set(d, y);
        w[2] = hn::Set(d, z);
        least = hn::Set(d, gap > 0 ? error + gap * std::sqrt(x * x + y * y + z * z) : error);
    }

    // NaN, of coordinates at the end of the range, is not apart.
    [[nodiscard]] hn::Mask<Four> beyond(V x, V y, V z) const {
        return hn::Gt(hn::Add(hn::Add(hn::Mul(w[0], x), hn::Mul(w[1], y)), hn::Mul(w[2], z)), least);
    }
};

#if HWY_TARGET == HWY_SCALAR
template <class Second>
bool Apart(const Path& a, const Second& b, float gap) {
    const Four d;
    const Line line(a, b, gap);
    constexpr int count = sizeof b.at[0] / sizeof(float);
    for (int i = 0; i < 4; ++i)
        for (int j = i % 2; j < count; j += 2)
            if (!hn::AllTrue(d, line.beyond(hn::Set(d, b.at[0][j] - a.at[0][i]), hn::Set(d, b.at[1][j] - a.at[1][i]),
                                            hn::Set(d, b.at[2][j] - a.at[2][i]))))
                return false;
    return true;
}
#else
bool Apart(const Path& a, const Path& b, float gap) {
    const Four d;
    const Line line(a, b, gap);
    V low[3], high[3];  // of all of b, as seen from the first and the second end of a
    for (int k = 0; k < 3; ++k) {
        const V ends = hn::Load(d, a.at[k]), all = hn::Load(d, b.at[k]);
        low[k] = hn::Sub(all, hn::ConcatLowerLower(d, ends, ends));
        high[k] = hn::Sub(all, hn::ConcatUpperUpper(d, ends, ends));
    }
    return hn::AllTrue(d, hn::And(line.beyond(low[0], low[1], low[2]), line.beyond(high[0], high[1], high[2])));
}

// a is a vertex: both of its ends are the same.
bool Apart(const Path& a, const FacePath& b, float gap) {
    const Four d;
    const Line line(a, b, gap);
    V low[3], high[3];  // the corners as seen from a
    for (int k = 0; k < 3; ++k) {
        const V from = hn::Load(d, a.at[k]);
        low[k] = hn::Sub(hn::Load(d, b.at[k]), from);
        high[k] = hn::Sub(hn::Load(d, b.at[k] + 4), from);
    }
    return hn::AllTrue(d, hn::And(line.beyond(low[0], low[1], low[2]), line.beyond(high[0], high[1], high[2])));
}
#endif

template <class Second>
std::size_t SelectNear(const Path* a, const Second* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    constexpr std::size_t ahead = 8;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i + ahead < n) {
            hwy::Prefetch(a + pairs[i + ahead].first);
            hwy::Prefetch(b + pairs[i + ahead].second);
        }
        const Pair p = pairs[i];
        out[kept] = p;
        kept += Apart(a[p.first], b[p.second], gap) ? 0 : 1;
    }
    return kept;
}

// Many pairs at once: row [v][k] has component k of position v of each.
constexpr std::size_t many = 64;
struct alignas(64) Block {
    float at[8][3][many];
    float centre[3][many];
    float sizes[many];
};

#if HWY_TARGET == HWY_SCALAR
template <class Second>
void Fill(Block& block, std::size_t q, const Path* const (&a)[4], const Second* const (&b)[4]) {
    constexpr bool edges = std::is_same_v<Second, Path>;
    for (std::size_t p = 0; p < 4; ++p)
        for (int k = 0; k < 3; ++k)
            for (std::size_t v = 0; v < 8; ++v)
                block.at[v][k][q + p] = b[p]->at[k][edges ? v % 4 : v] - a[p]->at[k][edges ? v / 4 * 2 + v % 2 : v % 2];
}
#else
// Four rows of four, columns made of rows.
void Transpose(const V (&rows)[4], float* to, std::size_t stride) {
    const Four d;
    const V a = hn::InterleaveLower(rows[0], rows[1]), b = hn::InterleaveLower(rows[2], rows[3]);
    const V c = hn::InterleaveUpper(d, rows[0], rows[1]), e = hn::InterleaveUpper(d, rows[2], rows[3]);
    hn::Store(hn::ConcatLowerLower(d, b, a), d, to);
    hn::Store(hn::ConcatUpperUpper(d, b, a), d, to + stride);
    hn::Store(hn::ConcatLowerLower(d, e, c), d, to + 2 * stride);
    hn::Store(hn::ConcatUpperUpper(d, e, c), d, to + 3 * stride);
}

// Columns q to q + 3 of the positions.
void Fill(Block& block, std::size_t q, const Path* const (&a)[4], const Path* const (&b)[4]) {
    const Four d;
    for (int k = 0; k < 3; ++k) {
        V low[4], high[4];
        for (int p = 0; p < 4; ++p) {
            const V ends = hn::Load(d, a[p]->at[k]), all = hn::Load(d, b[p]->at[k]);
            low[p] = hn::Sub(all, hn::ConcatLowerLower(d, ends, ends));
            high[p] = hn::Sub(all, hn::ConcatUpperUpper(d, ends, ends));
        }
        Transpose(low, &block.at[0][k][q], 3 * many);
        Transpose(high, &block.at[4][k][q], 3 * many);
    }
}
void Fill(Block& block, std::size_t q, const Path* const (&a)[4], const FacePath* const (&b)[4]) {
    const Four d;
    for (int k = 0; k < 3; ++k) {
        V low[4], high[4];
        for (int p = 0; p < 4; ++p) {
            const V from = hn::Load(d, a[p]->at[k]);
            low[p] = hn::Sub(hn::Load(d, b[p]->at[k]), from);
            high[p] = hn::Sub(hn::Load(d, b[p]->at[k] + 4), from);
        }
        Transpose(low, &block.at[0][k][q], 3 * many);
        Transpose(high, &block.at[4][k][q], 3 * many);
    }
}
#endif

// A bit for each pair: 1 if a direction was found. Gilbert's method as in filter/separation_kernel.cpp; w starts
// between the centres.
std::uint64_t BlockApart(const Block& block, float gap) {
#if HWY_TARGET == HWY_SCALAR
    const hn::CappedTag<float, 1> d;
#else
    const hn::ScalableTag<float> d;
#endif
    using W = hn::Vec<decltype(d)>;
    constexpr int rounds = 6;
    const std::size_t lanes = hn::Lanes(d);
    const W zero = hn::Zero(d);
    std::uint64_t result = 0;
    for (std::size_t q = 0; q < many; q += lanes) {
        W w[3];
        for (int k = 0; k < 3; ++k) w[k] = hn::Load(d, &block.centre[k][q]);
        const W relative = hn::Mul(hn::Set(d, path_error), hn::Load(d, &block.sizes[q]));
        auto done = hn::Lt(zero, zero);
        for (int round = 0;; ++round) {
            const W sum = hn::Add(hn::Add(hn::Abs(w[0]), hn::Abs(w[1])), hn::Abs(w[2]));
            W wanted = hn::Add(hn::Mul(relative, sum), hn::Set(d, path_floor));
            if (gap > 0) {
                const W square = hn::Add(hn::Add(hn::Mul(w[0], w[0]), hn::Mul(w[1], w[1])), hn::Mul(w[2], w[2]));
                wanted = hn::Add(wanted, hn::Mul(hn::Set(d, gap), hn::Sqrt(square)));
            }
            W least = hn::Set(d, std::numeric_limits<float>::infinity());
            W worst[3] = {zero, zero, zero};
            auto apart = hn::Eq(zero, zero);
            for (const auto& position : block.at) {
                const W x = hn::Load(d, &position[0][q]), y = hn::Load(d, &position[1][q]),
                        z = hn::Load(d, &position[2][q]);
                const W along = hn::Add(hn::Add(hn::Mul(w[0], x), hn::Mul(w[1], y)), hn::Mul(w[2], z));
                apart = hn::And(apart, hn::Gt(along, wanted));  // NaN is not
                const auto worse = hn::Lt(along, least);
                least = hn::IfThenElse(worse, along, least);
                worst[0] = hn::IfThenElse(worse, x, worst[0]);
                worst[1] = hn::IfThenElse(worse, y, worst[1]);
                worst[2] = hn::IfThenElse(worse, z, worst[2]);
            }
            done = hn::Or(done, apart);
            if (round + 1 == rounds || hn::AllTrue(d, done)) break;
            W ss = zero, ws = zero;
            for (int k = 0; k < 3; ++k) {
                worst[k] = hn::Sub(worst[k], w[k]);
                ss = hn::Add(ss, hn::Mul(worst[k], worst[k]));
                ws = hn::Add(ws, hn::Mul(worst[k], w[k]));
            }
            const W share = hn::Min(hn::Max(hn::Div(hn::Neg(ws), ss), zero), hn::Set(d, 1.0f));
            for (int k = 0; k < 3; ++k) w[k] = hn::Add(w[k], hn::Mul(share, worst[k]));
        }
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, done, bits);
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < 8; ++i) found |= std::uint64_t{bits[i]} << (8 * i);
        if (lanes < 64) found &= (std::uint64_t{1} << lanes) - 1;
        result |= found << q;
    }
    return result;
}

template <class Second>
std::size_t SelectByBlocks(const Path* a, const Second* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    Block block;
    std::size_t kept = 0;
    for (std::size_t begin = 0; begin < n; begin += many) {
        const std::size_t here = std::min(many, n - begin);
        for (std::size_t q = 0; q < many; q += 4) {
            const Path* first[4];
            const Second* second[4];
            for (std::size_t p = 0; p < 4; ++p) {  // the rest of the last block repeats its first pair
                const Pair& pair = pairs[begin + (q + p < here ? q + p : 0)];
                first[p] = a + pair.first;
                second[p] = b + pair.second;
                block.sizes[q + p] = first[p]->size + second[p]->size;
                for (int k = 0; k < 3; ++k) block.centre[k][q + p] = second[p]->centre[k] - first[p]->centre[k];
            }
            Fill(block, q, first, second);
        }
        std::uint64_t left = ~BlockApart(block, gap);
        if (here < many) left &= (std::uint64_t{1} << here) - 1;
        for (; left; left &= left - 1) out[kept++] = pairs[begin + static_cast<std::size_t>(std::countr_zero(left))];
    }
    return kept;
}

std::size_t SelectNearPaths(const Path* a, const Path* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    return SelectNear(a, b, gap, pairs, n, out);
}
std::size_t SelectNearFaces(const Path* a, const FacePath* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    return SelectNear(a, b, gap, pairs, n, out);
}
std::size_t SelectPathBlocks(const Path* a, const Path* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    return SelectByBlocks(a, b, gap, pairs, n, out);
}
std::size_t SelectFaceBlocks(const Path* a, const FacePath* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    return SelectByBlocks(a, b, gap, pairs, n, out);
}

}  // namespace
}  // namespace quadrat::ccd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::ccd {

HWY_EXPORT(SelectNearPaths);
HWY_EXPORT(SelectNearFaces);
HWY_EXPORT(SelectPathBlocks);
HWY_EXPORT(SelectFaceBlocks);

std::size_t select_near(Directions directions, const Path* a, const Path* b, float gap, std::span<const Pair> pairs,
                        Pair* out) {
    if (directions == Directions::centres)
        return HWY_DYNAMIC_DISPATCH(SelectNearPaths)(a, b, gap, pairs.data(), pairs.size(), out);
    return HWY_DYNAMIC_DISPATCH(SelectPathBlocks)(a, b, gap, pairs.data(), pairs.size(), out);
}

std::size_t select_near(Directions directions, const Path* a, const FacePath* b, float gap, std::span<const Pair> pairs,
                        Pair* out) {
    if (directions == Directions::centres)
        return HWY_DYNAMIC_DISPATCH(SelectNearFaces)(a, b, gap, pairs.data(), pairs.size(), out);
    return HWY_DYNAMIC_DISPATCH(SelectFaceBlocks)(a, b, gap, pairs.data(), pairs.size(), out);
}

}  // namespace quadrat::ccd
#endif
