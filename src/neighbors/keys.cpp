// Vector code for keys.hpp: coordinates are taken apart by axis while they are loaded, then every lane is one point.
// Multiplication, clamping and truncation are those of Geometry::dense_cell, so both give the same cells.
#include "neighbors/keys.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/keys.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quadrat::neighbors::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE auto truncate(hn::Vec<hn::ScalableTag<T>> v) {
    const hn::Rebind<std::int32_t, hn::ScalableTag<T>> di;
    if constexpr (sizeof(T) == 4)
        return hn::ConvertTo(di, v);
    else
        return hn::DemoteTo(di, v);
}

template <int D, class T, std::size_t kStride, bool kBin>
void find_keys(const Geometry<D, T>& g, const T* points, std::size_t n, std::uint32_t* keys) {
    const hn::ScalableTag<T> d;
    const hn::Rebind<std::int32_t, decltype(d)> di;
    using V = hn::Vec<decltype(d)>;
    const std::size_t lanes = hn::Lanes(d);
    const auto cell = [&](V v, int axis) HWY_ATTR {
        const V q = hn::Mul(hn::Sub(v, hn::Set(d, g.lo[axis])), hn::Set(d, g.inverse[axis]));
        return truncate<T>(hn::Min(hn::Max(q, hn::Zero(d)), hn::Set(d, g.last[axis])));
    };
    const auto rows = hn::Set(di, static_cast<std::int32_t>(g.cells[1]));
    const auto bins = hn::Set(di, static_cast<std::int32_t>(g.cells[0]));
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
        if constexpr (D == 3) key += g.dense_cell(v[2], 2) * static_cast<std::uint32_t>(g.cells[1]);
        keys[i] = kBin ? key * static_cast<std::uint32_t>(g.cells[0]) + g.dense_cell(v[0], 0) : key;
    }
}

#define QUADRAT_NEIGHBOR_KEYS(name, D, T)                                                                              \
    void rows_##name(const Geometry<D, T>& g, const T* points, std::size_t stride, std::size_t n, std::uint32_t* to) { \
        if (stride == D)                                                                                               \
            find_keys<D, T, D, false>(g, points, n, to);                                                               \
        else                                                                                                           \
            find_keys<D, T, record_stride<D, T>, false>(g, points, n, to);                                             \
    }                                                                                                                  \
    void cells_##name(const Geometry<D, T>& g, const T* points, std::size_t n, std::uint32_t* to) {                    \
        find_keys<D, T, record_stride<D, T>, true>(g, points, n, to);                                                  \
    }
QUADRAT_NEIGHBOR_KEYS(2f, 2, float)
QUADRAT_NEIGHBOR_KEYS(3f, 3, float)
#if HWY_HAVE_FLOAT64
QUADRAT_NEIGHBOR_KEYS(2d, 2, double)
QUADRAT_NEIGHBOR_KEYS(3d, 3, double)
#endif
#undef QUADRAT_NEIGHBOR_KEYS

}  // namespace quadrat::neighbors::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::neighbors {

#define QUADRAT_NEIGHBOR_KEYS(name, D, T)                                                                              \
    HWY_EXPORT(rows_##name);                                                                                           \
    HWY_EXPORT(cells_##name);                                                                                          \
    template <>                                                                                                        \
    void find_rows<D, T>(const Geometry<D, T>& g, const T* points, std::size_t stride, std::size_t n,                  \
                         std::uint32_t* rows) {                                                                        \
        HWY_DYNAMIC_DISPATCH(rows_##name)(g, points, stride, n, rows);                                                 \
    }                                                                                                                  \
    template <>                                                                                                        \
    void find_cells<D, T>(const Geometry<D, T>& g, const Record<D, T>* records, std::size_t n, std::uint32_t* cells) { \
        HWY_DYNAMIC_DISPATCH(cells_##name)(g, records->v, n, cells);                                                   \
    }
QUADRAT_NEIGHBOR_KEYS(2f, 2, float)
QUADRAT_NEIGHBOR_KEYS(3f, 3, float)
QUADRAT_NEIGHBOR_KEYS(2d, 2, double)
QUADRAT_NEIGHBOR_KEYS(3d, 3, double)
#undef QUADRAT_NEIGHBOR_KEYS

}  // namespace quadrat::neighbors
#endif
