// The vector code of the rows that kernel.cpp does not write: several parts (periodic images, size classes), a radius
// or a group per pair, and what is stored beside the indices. Differences are (x_j - x_i) + offset of the image, each
// operation rounded, as the predicate has them.
#include <cmath>
#include <limits>

#include "neighbors/search/kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/search/rows_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "neighbors/search/labels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::neighbors::HWY_NAMESPACE {

/// Words of 32 bits as wide as coordinates.
template <class T>
HWY_INLINE hn::Vec<LabelTag<T>> words_at(const std::uint32_t* words, std::size_t j) {
    const LabelTag<T> du;
    if constexpr (sizeof(T) == 4) {
        return hn::LoadU(du, words + j);
    } else {
        const hn::Rebind<std::uint32_t, Tag<T>> d32;
        return hn::PromoteTo(du, hn::LoadU(d32, words + j));
    }
}

// A rule without its case is an error in every build.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
/// pair_radius() of each lane. Not through with_rule(), which is compiled for every processor: vectors would have to go
/// through it in memory.
template <class V>
HWY_INLINE V combine(RadiusRule rule, V own, V other) {
    switch (rule) {
        case RadiusRule::own:
            return own;
        case RadiusRule::max:
            return hn::Max(own, other);
        case RadiusRule::min:
            return hn::Min(own, other);
        case RadiusRule::sum:
            return hn::Add(own, other);
    }
    return own;
}
#pragma GCC diagnostic pop

template <int D, class T>
std::size_t cull_pairs(const Group<T>& g, const Part<T>& p, std::size_t at) {
    QUADRAT_ASSERT(g.scratch && at <= g.scratch->capacity && (p.range_count == 0 || p.ranges));
    const Tag<T> d;
    const LabelTag<T> du;
    const std::size_t lanes = hn::Lanes(d);
    Scratch<T>& to = *g.scratch;
    const auto x_lo = hn::Set(d, p.lo[0]), x_hi = hn::Set(d, p.hi[0]);
    const auto y_lo = hn::Set(d, p.lo[1]), y_hi = hn::Set(d, p.hi[1]);
    const auto z_lo = hn::Set(d, D == 3 ? p.lo[2] : T(0)), z_hi = hn::Set(d, D == 3 ? p.hi[2] : T(0));
    const auto largest = hn::Set(d, g.largest_own), skin = hn::Set(d, g.skin);
    const auto common = hn::Set(d, p.cull_sq);
    std::size_t n = at;
    for (std::size_t k = 0; k < p.range_count; ++k)
        for (std::uint32_t j = p.ranges[k].begin; j < p.ranges[k].end; j += static_cast<std::uint32_t>(lanes)) {
            const auto px = hn::LoadU(d, p.storage[0] + j);
            const auto py = hn::LoadU(d, p.storage[1] + j);
            const auto dx = hn::Sub(px, hn::Min(hn::Max(px, x_lo), x_hi));
            const auto dy = hn::Sub(py, hn::Min(hn::Max(py, y_lo), y_hi));
            auto sum = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
            auto pz = px;
            if constexpr (D == 3) {
                pz = hn::LoadU(d, p.storage[2] + j);
                const auto dz = hn::Sub(pz, hn::Min(hn::Max(pz, z_lo), z_hi));
                sum = hn::Add(sum, hn::Mul(dz, dz));
            }
            auto limit = common, radius = common;
            if (p.radius) {
                radius = hn::LoadU(d, p.radius + j);
                const auto reach = hn::Add(combine(g.rule, largest, radius), skin);
                limit = hn::Mul(reach, reach);
            }
            const auto near = hn::And(hn::Le(sum, limit), hn::FirstN(d, p.ranges[k].end - j));
            const Packer<T> pack(near);
            hn::StoreU(pack(d, px), d, to.c[0] + n);
            hn::StoreU(pack(d, py), d, to.c[1] + n);
            if constexpr (D == 3) hn::StoreU(pack(d, pz), d, to.c[2] + n);
            hn::StoreU(pack(du, labels_at<T>(p.label, j)), du, to.label.data() + n);
            if (p.radius) hn::StoreU(pack(d, radius), d, to.radius + n);
            for (int word = 0; word < 2; ++word)
                if (p.hot[word]) store_labels<T>(pack(du, words_at<T>(p.hot[word], j)), to.hot[word].data() + n);
            n += hn::CountTrue(d, near);
        }
    hn::StoreU(hn::NaN(d), d, to.c[0] + n);
    if (p.radius) hn::StoreU(hn::Zero(d), d, to.radius + n);
    return n - at;
}

/// Neutral entries from `n` on up to a multiple of max_lanes; returns it.
template <class T>
std::size_t pad_row(const RowsOut<T>& out, std::uint32_t label, std::size_t n) {
    const std::size_t end = (n + max_lanes - 1) / max_lanes * max_lanes;
    for (; n < end; ++n) {
        out.labels[n] = label;
        out.squared[n] = std::numeric_limits<T>::infinity();
        for (T* const delta : out.delta)
            if (delta) delta[n] = T(0);
    }
    return end;
}

/// The candidates of one part that are near home a. Writes from entry n on; returns the entry behind them.
template <int D, class T, bool kPairs, bool kShifted, int kOut>
HWY_INLINE std::size_t one_part(const Group<T>& g, unsigned a, const Part<T>& p, const RowsOut<T>& out, std::size_t n) {
    const Tag<T> d;
    const LabelTag<T> du;
    using Label = hn::TFromD<LabelTag<T>>;
    const std::size_t lanes = hn::Lanes(d);
    const Scratch<T>& from = *g.scratch;
    const auto hx = hn::Set(d, g.home[0][a]), hy = hn::Set(d, g.home[1][a]);
    const auto hz = hn::Set(d, D == 3 ? g.home[2][a] : T(0));
    const auto ox = hn::Set(d, p.offset[0]), oy = hn::Set(d, p.offset[1]), oz = hn::Set(d, p.offset[2]);
    const auto home_limit = hn::Set(d, g.radius_sq[a]);
    const auto own = hn::Set(d, kPairs && g.own_radius ? g.own_radius[a] : T(0)), skin = hn::Set(d, g.skin);
    const std::uint64_t sees = kPairs && g.sees ? g.sees[a] : 0;
    const auto sees_low = hn::Set(du, static_cast<Label>(sees & 0xffffffffu));
    const auto sees_high = hn::Set(du, static_cast<Label>(sees >> 32));
    const auto self = hn::Set(du, static_cast<Label>(p.own && !out.self ? g.self[a] : no_self));
    const auto keep = [&](std::size_t j, auto&& limited) HWY_ATTR {
        auto dx = hn::Sub(hn::LoadU(d, from.c[0] + j), hx);
        auto dy = hn::Sub(hn::LoadU(d, from.c[1] + j), hy);
        auto dz = dy;
        if constexpr (kShifted) dx = hn::Add(dx, ox), dy = hn::Add(dy, oy);
        auto sum = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
        if constexpr (D == 3) {
            dz = hn::Sub(hn::LoadU(d, from.c[2] + j), hz);
            if constexpr (kShifted) dz = hn::Add(dz, oz);
            sum = hn::Add(sum, hn::Mul(dz, dz));
        }
        auto limit = home_limit;
        if constexpr (kPairs)
            if (g.own_radius) {
                const auto reach = hn::Add(combine(g.rule, own, hn::LoadU(d, from.radius + j)), skin);
                limit = hn::Mul(reach, reach);
            }
        const auto label = hn::LoadU(du, from.label.data() + j);
        auto near = limited(hn::And(hn::Le(sum, limit), hn::RebindMask(d, hn::Ne(label, self))));
        if constexpr (kPairs)
            if (g.sees) {
                auto seen = hn::And(words_at<T>(from.hot[0].data(), j), sees_low);
                if (g.more_groups) seen = hn::Or(seen, hn::And(words_at<T>(from.hot[1].data(), j), sees_high));
                near = hn::And(near, hn::RebindMask(d, hn::Ne(seen, hn::Zero(du))));
            }
        if constexpr (kOut > 0) {
            const Packer<T> pack(near);
            store_labels<T>(pack(du, label), out.labels + n);
            if constexpr (kOut > 1) {
                hn::StoreU(pack(d, sum), d, out.squared + n);
                if (out.delta[0]) {
                    // A zero is positive, whether an offset was added or not.
                    hn::StoreU(pack(d, hn::Add(dx, hn::Zero(d))), d, out.delta[0] + n);
                    hn::StoreU(pack(d, hn::Add(dy, hn::Zero(d))), d, out.delta[1] + n);
                    if constexpr (D == 3) hn::StoreU(pack(d, hn::Add(dz, hn::Zero(d))), d, out.delta[2] + n);
                }
            }
        }
        n += hn::CountTrue(d, near);
    };
    // In the half form the homes are the first candidates: those up to and including this one are left out.
    const std::size_t first = p.own && out.half ? a + (out.self ? 0u : 1u) : 0u;
    std::size_t j = p.begin + first / lanes * lanes;
    if (first % lanes != 0 && j < p.end) {
        const auto before = hn::FirstN(d, first % lanes);
        keep(j, [&](auto near) HWY_ATTR { return hn::AndNot(before, near); });
        j += lanes;
    }
    for (; j < p.end; j += lanes) keep(j, [](auto near) HWY_ATTR { return near; });
    return n;
}

template <int D, class T, bool kPairs, int kOut>
std::size_t rows(Group<T>& g, const RowsOut<T>& out) {
    QUADRAT_ASSERT(g.size <= max_group && g.part_count > 0 && (kOut < 1 || out.labels) && (kOut < 2 || out.squared));
    std::size_t n = 0;
    for (unsigned a = 0; a < g.size; ++a) {
        const std::size_t begin = n;
        if constexpr (kOut > 0) {
            __builtin_prefetch(out.labels + n + write_ahead, 1);
            __builtin_prefetch(out.labels + n + write_ahead + 16, 1);
        }
        for (std::size_t k = 0; k < g.part_count; ++k) {
            const Part<T>& p = g.parts[k];
            const std::size_t before = n;
            n = p.shifted ? one_part<D, T, kPairs, true, kOut>(g, a, p, out, n)
                          : one_part<D, T, kPairs, false, kOut>(g, a, p, out, n);
            if (out.in_part) out.in_part[a * g.part_count + k] = static_cast<std::uint32_t>(n - before);
        }
        g.count[a] = static_cast<std::uint32_t>(n - begin);
        if constexpr (kOut > 1)
            if (out.padded) n = pad_row(out, g.self[a], n);
    }
    return n;
}

template <class T>
bool roots(T* values, std::size_t n) {
    const Tag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto least = hn::Set(d, std::numeric_limits<T>::min()), most = hn::Set(d, std::numeric_limits<T>::max());
    bool normal = true;
    for (std::size_t i = 0; i < n; i += lanes) {
        const auto v = hn::LoadU(d, values + i);
        const auto good = hn::And(hn::Ge(v, least), hn::Le(v, most));
        normal = normal && hn::AllFalse(d, hn::AndNot(good, hn::FirstN(d, n - i)));
        hn::StoreU(hn::IfThenElse(good, hn::Sqrt(v), v), d, values + i);
    }
    return normal;
}

template <int D, class T>
void interleave(const T* const* delta, std::size_t n, T* out) {
    const Tag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        if constexpr (D == 3)
            hn::StoreInterleaved3(hn::LoadU(d, delta[0] + i), hn::LoadU(d, delta[1] + i), hn::LoadU(d, delta[2] + i), d,
                                  out + 3 * i);
        else
            hn::StoreInterleaved2(hn::LoadU(d, delta[0] + i), hn::LoadU(d, delta[1] + i), d, out + 2 * i);
    }
    for (; i < n; ++i)
        for (int k = 0; k < D; ++k) out[D * i + static_cast<std::size_t>(k)] = delta[k][i];
}

template <int D, class T, bool kPairs>
constexpr RowsKernel<T> rows_kernel() {
    return {rows<D, T, kPairs, 0>, rows<D, T, kPairs, 1>, rows<D, T, kPairs, 2>};
}

const base::PerKind<RowsKernels>& VectorRows() {
    static constexpr auto table = base::PerKind<RowsKernels>::from([]<int D, class T>() {
        return RowsKernels<D, T>{.by_home = rows_kernel<D, T, false>(),
                                 .by_pair = rows_kernel<D, T, true>(),
                                 .cull_pairs = cull_pairs<D, T>,
                                 .roots = roots<T>,
                                 .interleave = interleave<D, T>};
    });
    return table;
}

}  // namespace quadrat::neighbors::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::neighbors {

HWY_EXPORT(VectorRows);

const base::PerKind<RowsKernels>& vector_rows() {
    return HWY_DYNAMIC_DISPATCH(VectorRows)();
}

}  // namespace quadrat::neighbors
#endif
