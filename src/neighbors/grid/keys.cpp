// Vector code for keys.hpp: coordinates are taken apart by axis while they are loaded, then every lane is one point.
// Multiplication, clamping and truncation are those of Geometry::dense_cell, so both give the same cells.
#include "neighbors/grid/keys.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/grid/keys.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cells/clamped_axis-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::neighbors::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int D, class T, std::size_t kStride, bool kBin>
void find_keys(const Geometry<D, T>& g, const T* points, std::size_t n, std::uint32_t* keys) {
    const hn::ScalableTag<T> d;
    const hn::Rebind<std::int32_t, decltype(d)> di;
    using V = hn::Vec<decltype(d)>;
    QUADRAT_ASSERT(g.dense);
    const std::size_t lanes = hn::Lanes(d);
    const auto cell = [&](V v, int axis) HWY_ATTR { return cells::HWY_NAMESPACE::cells_on(d, g.axes[axis], v); };
    const auto rows = hn::Set(di, static_cast<std::int32_t>(g.count[1]));
    const auto bins = hn::Set(di, static_cast<std::int32_t>(g.count[0]));
    // A record of floats in 3D is | x | y | z | id |: the id is loaded as a number that nobody looks at.
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        V x, y, z, rest;
        const T* const from = points + kStride * i;
        if constexpr (kStride == 2)
            hn::LoadInterleaved2(d, from, x, y);
        else if constexpr (kStride == 3)
            hn::LoadInterleaved3(d, from, x, y, z);
        else
            hn::LoadInterleaved4(d, from, x, y, z, rest);
        auto key = cell(y, 1);
        if constexpr (D == 3) key = hn::Add(hn::Mul(cell(z, 2), rows), key);
        if constexpr (kBin) key = hn::Add(hn::Mul(key, bins), cell(x, 0));
        hn::StoreU(hn::BitCast(hn::RebindToUnsigned<decltype(di)>(), key), hn::RebindToUnsigned<decltype(di)>(),
                   keys + i);
    }
    for (; i < n; ++i) {
        const T* const v = points + kStride * i;
        std::uint32_t key = g.dense_cell(v[1], 1);
        if constexpr (D == 3) key += g.dense_cell(v[2], 2) * static_cast<std::uint32_t>(g.count[1]);
        keys[i] = kBin ? key * static_cast<std::uint32_t>(g.count[0]) + g.dense_cell(v[0], 0) : key;
    }
}

template <int D, class T>
void find_rows(const Geometry<D, T>& g, const T* points, std::size_t stride, std::size_t n, std::uint32_t* rows) {
    if (stride == D)
        find_keys<D, T, D, false>(g, points, n, rows);
    else
        find_keys<D, T, record_stride<D, T>, false>(g, points, n, rows);
}

template <int D, class T>
void find_cells(const Geometry<D, T>& g, const Record<D, T>* records, std::size_t n, std::uint32_t* cells) {
    find_keys<D, T, record_stride<D, T>, true>(g, records->v, n, cells);
}

template <int D, class T>
bool find_bounds(const T* c, std::size_t n, T* lo, T* hi) {
    // D vectors hold a whole number of points, so each lane always sees the same axis.
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t total = n * D, block = D * lanes;
    QUADRAT_ASSERT(n > 0);
    auto bad = hn::Zero(d);
    std::size_t i = 0;
    for (int axis = 0; axis < D; ++axis) lo[axis] = hi[axis] = c[axis];
    if (total >= block) {
        auto lo0 = hn::LoadU(d, c), lo1 = hn::LoadU(d, c + lanes), lo2 = hn::LoadU(d, c + (D - 1) * lanes);
        auto hi0 = lo0, hi1 = lo1, hi2 = lo2;
        for (; i + block <= total; i += block) {
            const auto v0 = hn::LoadU(d, c + i), v1 = hn::LoadU(d, c + i + lanes);
            lo0 = hn::Min(lo0, v0), hi0 = hn::Max(hi0, v0), bad = hn::Or(bad, hn::Sub(v0, v0));
            lo1 = hn::Min(lo1, v1), hi1 = hn::Max(hi1, v1), bad = hn::Or(bad, hn::Sub(v1, v1));
            if constexpr (D == 3) {
                const auto v2 = hn::LoadU(d, c + i + 2 * lanes);
                lo2 = hn::Min(lo2, v2), hi2 = hn::Max(hi2, v2), bad = hn::Or(bad, hn::Sub(v2, v2));
            }
        }
        HWY_ALIGN T low[3 * HWY_MAX_BYTES / sizeof(T)], high[3 * HWY_MAX_BYTES / sizeof(T)];
        hn::StoreU(lo0, d, low), hn::StoreU(lo1, d, low + lanes);
        hn::StoreU(hi0, d, high), hn::StoreU(hi1, d, high + lanes);
        if constexpr (D == 3) hn::StoreU(lo2, d, low + 2 * lanes), hn::StoreU(hi2, d, high + 2 * lanes);
        for (std::size_t q = 0; q < block; ++q) {
            lo[q % D] = std::min(lo[q % D], low[q]);
            hi[q % D] = std::max(hi[q % D], high[q]);
        }
    }
    bool finite = hn::AllTrue(d, hn::Eq(bad, hn::Zero(d)));
    for (; i < total; ++i) {
        lo[i % D] = std::min(lo[i % D], c[i]);
        hi[i % D] = std::max(hi[i % D], c[i]);
        finite = finite && c[i] - c[i] == T(0);
    }
    return finite;
}

const base::PerKind<KeyKernel>& KeyKernels() {
    static constexpr auto table = base::PerKind<KeyKernel>::from([]<int D, class T>() {
        return KeyKernel<D, T>{find_rows<D, T>, find_cells<D, T>, find_bounds<D, T>};
    });
    return table;
}

}  // namespace quadrat::neighbors::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::neighbors {

HWY_EXPORT(KeyKernels);

const base::PerKind<KeyKernel>& key_kernels() {
    return HWY_DYNAMIC_DISPATCH(KeyKernels)();
}

}  // namespace quadrat::neighbors
#endif
