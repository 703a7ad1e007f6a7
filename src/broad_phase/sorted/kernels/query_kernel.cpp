// Queries on sorted cells: the rows that a box can meet are ranges of the columns, tested a vector of boxes at a time,
// and hits are packed (HHG has no queries; its test of boxes is code snippet 2).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/sorted/kernels/query_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/compress-inl.hpp"
#include "broad_phase/sorted/kernels/query_kernel.hpp"
#include "broad_phase/sorted/kernels/row_range-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = base::HWY_NAMESPACE;

template <int D, class T>
class Asked {
    using V = hn::ScalableTag<T>;
    using L = hn::ScalableTag<Lane<T>>;
    using Mask = hn::Mask<V>;

  public:
    HWY_INLINE Asked(const GridView<D, T>& grid, const Box<D, T>& box) : grid_(grid), box_(box) {
        for (int k = 0; k < D; ++k) {
            lo_[k] = hn::Set(V(), box.lo[k]);
            hi_[k] = hn::Set(V(), box.hi[k]);
        }
    }

    // Calls prepare(most) before each row, which has at most so many hits, and take(hits, place) for each vector of
    // boxes, the first of which is at that place. Returns the number of tests.
    template <class Prepare, class Take>
    HWY_INLINE std::uint64_t for_each_vector(Prepare&& prepare, Take&& take) const {
        const V d;
        const std::size_t n = hn::Lanes(d);
        T lo[D], hi[D];
        for (int k = 0; k < D; ++k) {
            lo[k] = box_.lo[k];
            hi[k] = box_.hi[k];
        }
        const Axis<T>& x = grid_.shape.axis[0];
        const std::int32_t first = std::max(0, x.cell(lo[0]) - x.reach), last = x.cell(hi[0]);
        const std::uint32_t bins = grid_.shape.bins();
        std::uint64_t tests = 0;
        for_each_row(grid_.shape, lo, hi, [&](std::uint32_t row) HWY_ATTR {
            const std::uint32_t* const start = grid_.start + std::size_t{row} * bins;
            const std::size_t e = start[last + 1];
            std::size_t b = start[first];
            if (b == e) return;
            tests += e - b;
            prepare(e - b);
            for (; b < e; b += n) take(hn::And(hn::FirstN(d, e - b), between(b, lo_, hi_)), b);
        });
        return tests;
    }

    // The boxes from place b on that reach from at most `least` to at least `most`.
    HWY_INLINE Mask between(std::size_t b, const hn::Vec<V> (&most)[D], const hn::Vec<V> (&least)[D]) const {
        const V d;
        Mask hit =
            hn::And(hn::Le(hn::LoadU(d, grid_.lo[0] + b), least[0]), hn::Ge(hn::LoadU(d, grid_.hi[0] + b), most[0]));
        for (int k = 1; k < D; ++k) {
            hit = hn::And(hit, hn::Le(hn::LoadU(d, grid_.lo[k] + b), least[k]));
            hit = hn::And(hit, hn::Ge(hn::LoadU(d, grid_.hi[k] + b), most[k]));
        }
        return hit;
    }

    // There is room for a vector.
    HWY_INLINE void append(Mask hits, std::size_t b, Entry entry, Found& out) const {
        const L l;
        const auto lane = entry == Entry::id ? hn::LoadU(l, grid_.id + b) : hn::Iota(l, static_cast<Lane<T>>(b));
        const auto packed = simd::compress(l, lane, hn::RebindMask(l, hits));
        const std::size_t count = hn::CountTrue(V(), hits);
        if constexpr (sizeof(T) == 4) {
            hn::StoreU(packed, l, out.entries.data() + out.count);
        } else {
            HWY_ALIGN Lane<T> wide[hn::MaxLanes(L())];
            hn::Store(packed, l, wide);
            for (std::size_t i = 0; i < count; ++i) out.entries[out.count + i] = static_cast<std::uint32_t>(wide[i]);
        }
        out.count += count;
    }

    static HWY_INLINE void reserve(Found& out, std::size_t most) {
        if (out.count + most + 16 > out.entries.size()) out.entries.resize_keep(2 * (out.count + most) + 64);
    }

  private:
    const GridView<D, T>& grid_;
    const Box<D, T>& box_;
    hn::Vec<V> lo_[D], hi_[D];
};

template <int D, class T>
std::uint64_t OverlappingBox(const GridView<D, T>& grid, const Box<D, T>& box, Entry entry, Found& out) {
    if (grid.size == 0) return 0;
    const Asked<D, T> asked(grid, box);
    return asked.for_each_vector([&](std::size_t most) HWY_ATTR { asked.reserve(out, most); },
                                 [&](auto hits, std::size_t b) HWY_ATTR { asked.append(hits, b, entry, out); });
}

template <int D, class T>
std::uint64_t OverlappingSegment(const GridView<D, T>& grid, const Box<D, T>& box, const Segment<D, T>& segment,
                                 Found& ids, Found& open) {
    if (grid.size == 0) return 0;
    const hn::ScalableTag<T> d;
    const Asked<D, T> asked(grid, box);
    hn::Vec<hn::ScalableTag<T>> a[D], b[D];
    for (int k = 0; k < D; ++k) {
        a[k] = hn::Set(d, segment.a[k]);
        b[k] = hn::Set(d, segment.b[k]);
    }
    return asked.for_each_vector(
        [&](std::size_t most) HWY_ATTR {
            asked.reserve(ids, most);
            asked.reserve(open, most);
        },
        [&](auto hits, std::size_t at) HWY_ATTR {
            const auto sure = hn::And(hits, hn::Or(asked.between(at, a, a), asked.between(at, b, b)));
            asked.append(sure, at, Entry::id, ids);
            const auto rest = hn::AndNot(sure, hits);
            if (!hn::AllFalse(d, rest)) asked.append(rest, at, Entry::position, open);
        });
}

const base::PerKind<QueryKernel>& QueryKernels() {
    static constexpr auto table = base::PerKind<QueryKernel>::from([]<int D, class T>() {
        return QueryKernel<D, T>{OverlappingBox<D, T>, OverlappingSegment<D, T>};
    });
    return table;
}

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {

HWY_EXPORT(QueryKernels);

const base::PerKind<QueryKernel>& query_kernels() {
    return HWY_DYNAMIC_DISPATCH(QueryKernels)();
}

}  // namespace quadrat::broad_phase
#endif
