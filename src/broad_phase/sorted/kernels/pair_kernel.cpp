// The vector code of the broad phase (HHG 3.6 on sorted cells). Homes are taken in groups of consecutive boxes of a
// row; the candidates of all rows that the group can meet are copied behind each other into a scratch block in the
// first level cache; then each home is tested against whole vectors of candidates, which are dense although a single
// row range is short. The hits of one home are a bit mask, from which the first few pairs are written without a branch.
//
// Departure from the paper: one test of a group replaces 5 (3D) or 2 (2D) visits of cell ranges per box.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/sorted/kernels/pair_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/compress-inl.hpp"
#include "broad_phase/sorted/kernels/half_stencil.hpp"
#include "broad_phase/sorted/kernels/pair_kernel.hpp"
#include "broad_phase/sorted/kernels/pair_output-inl.hpp"
#include "broad_phase/sorted/kernels/row_range-inl.hpp"

#include <limits>

#ifndef QUADRAT_BROAD_PHASE_PAIR_KERNEL_ONCE
#define QUADRAT_BROAD_PHASE_PAIR_KERNEL_ONCE
namespace quadrat::broad_phase {

inline constexpr std::uint32_t group_size = 8;
inline constexpr std::uint32_t scratch_size = 512;
inline constexpr std::size_t order_from = 1024;  // pairs
inline constexpr std::size_t few_cells = 64;

}  // namespace quadrat::broad_phase
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = base::HWY_NAMESPACE;

// A group of homes and candidates for it. Everything lies at fixed distances from a few addresses, so that the loop
// over the homes needs few registers.
template <int D, class T, bool Filtered>
struct CandidateBlock {
    // A vector that starts at the last place may stick out.
    static constexpr std::size_t padded = scratch_size + 64;

    std::size_t first = 0;  // home
    std::uint32_t count = 0;
    std::uint32_t filled = 0;
    bool triangular = false;
    HWY_ALIGN T bounds[2 * D * padded];  // lo and hi of the first axis, then of the next
    HWY_ALIGN Lane<T> id[padded] = {};
    HWY_ALIGN Lane<T> filter[Filtered ? 2 * padded : 1];  // groups, then masks
    HWY_ALIGN T home_bounds[2 * D * group_size];
    HWY_ALIGN Lane<T> home_id[group_size];
    HWY_ALIGN Lane<T> home_filter[2 * group_size];

    HWY_INLINE T* lo(int axis) { return bounds + 2 * axis * padded; }
    HWY_INLINE T* hi(int axis) { return bounds + (2 * axis + 1) * padded; }
};

// A group of homes and its block of candidates. Members are used by one thread.
template <int D, class T, bool Filtered>
class Matcher {
    using V = hn::ScalableTag<T>;
    using L = hn::ScalableTag<Lane<T>>;
    using Block = CandidateBlock<D, T, Filtered>;

  public:
    Matcher(const GridView<D, T>& homes, const GridView<D, T>& grid, bool ordered, PairBuffer& out)
        : homes_(homes), grid_(grid), out_(out), ordered_(ordered), ordered_to_(out.size()) {}

    [[nodiscard]] T home_hi(int axis) const { return bound_hi_[axis]; }
    [[nodiscard]] T home_lo(int axis) const { return bound_lo_[axis]; }

    // Takes homes [first, first + count), count <= group_size. triangular: the first candidates added are the homes.
    void begin(std::size_t first, std::uint32_t count, bool triangular) {
        Block& b = block_;
        b.first = first;
        b.count = count;
        b.triangular = triangular;
        b.filled = 0;
        for (int k = 0; k < D; ++k) {
            copy_homes(homes_.lo[k] + first, b.home_bounds + 2 * k * group_size);
            copy_homes(homes_.hi[k] + first, b.home_bounds + (2 * k + 1) * group_size);
        }
        copy_homes(homes_.id + first, b.home_id);
        if constexpr (Filtered) {
            copy_homes(homes_.filter.group + first, b.home_filter);
            copy_homes(homes_.filter.mask + first, b.home_filter + group_size);
        }
    }

    // The common box of the homes, for add_culled.
    void bound() {
        const Block& b = block_;
        for (int k = 0; k < D; ++k) {
            T lo = homes_.lo[k][b.first], hi = homes_.hi[k][b.first];
            for (std::uint32_t i = 1; i < b.count; ++i) {
                lo = std::min(lo, homes_.lo[k][b.first + i]);
                hi = std::max(hi, homes_.hi[k][b.first + i]);
            }
            bound_lo_[k] = lo;
            bound_hi_[k] = hi;
        }
    }

    // Adds the boxes [b, e) of the grid as candidates.
    HWY_INLINE void add(std::size_t b, std::size_t e) {
        if (block_.filled + (e - b) > scratch_size) [[unlikely]] {
            for (; e - b > scratch_size; b += scratch_size) {
                test();
                copy_boxes(b, scratch_size);
            }
            test();
        }
        copy_boxes(b, e - b);
    }

    // The same, without those that do not meet the common box of the homes. Not for triangular blocks.
    HWY_INLINE void add_culled(std::size_t b, std::size_t e) {
        Block& block = block_;
        const V d;
        const L l;
        const std::size_t n = hn::Lanes(d);
        tests_ += e - b;
        const std::size_t begin = b;
        for (; b < e; b += n) {
            // As soon as the widest vector might not fit: when blocks are tested decides the order of the pairs, which
            // must not depend on the width.
            if ((b - begin) % 16 == 0 && block.filled + 16 > scratch_size) test();
            const std::size_t to = block.filled;
            hn::Vec<V> lo[D], hi[D];
            auto keep = hn::FirstN(d, e - b);
            for (int k = 0; k < D; ++k) {
                lo[k] = hn::LoadU(d, grid_.lo[k] + b);
                hi[k] = hn::LoadU(d, grid_.hi[k] + b);
                keep = hn::And(keep, hn::Le(lo[k], hn::Set(d, bound_hi_[k])));
                keep = hn::And(keep, hn::Ge(hi[k], hn::Set(d, bound_lo_[k])));
            }
            const auto keep_id = hn::RebindMask(l, keep);
            for (int k = 0; k < D; ++k) {
                hn::StoreU(simd::compress(d, lo[k], keep), d, block.lo(k) + to);
                hn::StoreU(simd::compress(d, hi[k], keep), d, block.hi(k) + to);
            }
            if constexpr (Filtered) {
                hn::StoreU(simd::compress(l, hn::LoadU(l, grid_.filter.group + b), keep_id), l, block.filter + to);
                hn::StoreU(simd::compress(l, hn::LoadU(l, grid_.filter.mask + b), keep_id), l,
                           block.filter + Block::padded + to);
            }
            hn::StoreU(simd::compress(l, hn::LoadU(l, grid_.id + b), keep_id), l, block.id + to);
            block.filled += static_cast<std::uint32_t>(hn::CountTrue(d, keep));
        }
    }

    // Tests every home against the candidates gathered so far, which are then used up.
    void test() {
        Block& b = block_;
        if (b.filled == 0) return;
        const V d;
        // Whole vectors are read: what follows the last candidate must not overlap anything.
        hn::StoreU(hn::Set(d, std::numeric_limits<T>::infinity()), d, b.lo(0) + b.filled);
        hn::StoreU(hn::Set(d, -std::numeric_limits<T>::infinity()), d, b.hi(0) + b.filled);
        tests_ += std::uint64_t{b.count} * b.filled;
        if (out_.size() - ordered_to_ > order_from) order();
        Pair* end = out_.reserve(std::size_t{b.count} * b.filled + 8);
        for (std::uint32_t from = 0; from < b.filled; from += 64) {
            const std::size_t left = std::min(64u, b.filled - from);
            const std::size_t vectors = (left + hn::Lanes(d) - 1) / hn::Lanes(d);
            const std::uint64_t behind = b.triangular && from == 0 ? 1 : 0;
            // The usual numbers of vectors without a loop.
            if constexpr (hn::MaxLanes(V()) == 16)
                end = vectors == 3   ? test<3>(b, from, 3, behind, end)
                      : vectors == 2 ? test<2>(b, from, 2, behind, end)
                      : vectors == 4 ? test<4>(b, from, 4, behind, end)
                                     : test<1>(b, from, 1, behind, end);
            else
                end = test<0>(b, from, vectors, behind, end);
        }
        out_.set_end(end);
        b.filled = 0;
        b.triangular = false;
    }

    // Ends the work. Returns the number of tests made.
    std::uint64_t finish() {
        order();
        return tests_;
    }

  private:
    // There is room for them. An empty range costs less than the question whether it is empty.
    HWY_INLINE void copy_boxes(std::size_t from, std::size_t count) {
        const std::size_t n = hn::Lanes(V()), to = block_.filled;
        std::size_t i = 0;
        do {
            for (int k = 0; k < D; ++k) {
                copy(grid_.lo[k] + from + i, block_.lo(k) + to + i);
                copy(grid_.hi[k] + from + i, block_.hi(k) + to + i);
            }
            copy(grid_.id + from + i, block_.id + to + i);
            if constexpr (Filtered) {
                copy(grid_.filter.group + from + i, block_.filter + to + i);
                copy(grid_.filter.mask + from + i, block_.filter + Block::padded + to + i);
            }
            i += n;
        } while (i < count);
        block_.filled = static_cast<std::uint32_t>(to + count);
    }

    // All homes against the candidates [from, from + vectors * lanes); N == vectors, or 0 for any number. behind: 1 if
    // a home meets only the candidates behind itself, for the first ones are the homes.
    template <std::size_t N>
    static HWY_INLINE Pair* test(const Block& b, std::size_t from, std::size_t vectors, std::uint64_t behind,
                                 Pair* end) {
        return test_homes<N>(b.bounds + from, b.id + from, b.filter + (Filtered ? from : 0), b, vectors, behind, end);
    }

    template <std::size_t N>
    static HWY_NOINLINE Pair* test_homes(const T* bounds, const Lane<T>* ids, const Lane<T>* filter, const Block& b,
                                         std::size_t vectors, std::uint64_t behind, Pair* end) {
        const V d;
        const std::size_t lanes = hn::Lanes(d), count = N == 0 ? vectors : N, homes = b.count;
        const T* const home = b.home_bounds;
        for (std::size_t h = 0; h < homes; ++h) {
            hn::Vec<V> lo[D], hi[D];
            for (int k = 0; k < D; ++k) {
                lo[k] = hn::Set(d, home[2 * k * group_size + h]);
                hi[k] = hn::Set(d, home[(2 * k + 1) * group_size + h]);
            }
            std::uint64_t hits = 0;
            for (std::size_t v = 0; v < count; ++v) {
                const T* const at = bounds + v * lanes;
                auto hit = hn::And(hn::Le(hn::Load(d, at), hi[0]), hn::Ge(hn::Load(d, at + Block::padded), lo[0]));
                for (int k = 1; k < D; ++k)
                    hit = hn::And(hit, hn::And(hn::Le(hn::Load(d, at + 2 * k * Block::padded), hi[k]),
                                               hn::Ge(hn::Load(d, at + (2 * k + 1) * Block::padded), lo[k])));
                if constexpr (Filtered) hit = hn::And(hit, may_meet(filter + v * lanes, b.home_filter + h));
                std::uint64_t bits = 0;
                hn::StoreMaskBits(d, hit, reinterpret_cast<std::uint8_t*>(&bits));
                hits |= bits << (v * lanes);
            }
            hits &= ~behind;
            behind += behind + (behind & 1);
            end = write_hits(end, static_cast<std::uint32_t>(b.home_id[h]), hits, ids);
        }
        return end;
    }

    // Both ways: the group bits of one in the mask bits of the other.
    static HWY_INLINE auto may_meet(const Lane<T>* filter, const Lane<T>* home) {
        const L l;
        const V d;
        const auto group = hn::Set(l, home[0]), mask = hn::Set(l, home[group_size]);
        const auto there = hn::And(hn::Load(l, filter), mask),
                   back = hn::And(hn::Load(l, filter + Block::padded), group);
        const auto zero = hn::Zero(l);
        return hn::RebindMask(d, hn::AndNot(hn::Eq(there, zero), hn::Ne(back, zero)));
    }

    void order() {
        if (ordered_) order_pairs(out_, ordered_to_);
        out_.settle();
        ordered_to_ = out_.size();
    }

    // A whole group, although it may hold fewer: arrays are padded.
    template <class U>
    static HWY_INLINE void copy_homes(const U* from, U* to) {
        const hn::CappedTag<U, group_size> tag;
        for (std::size_t i = 0; i < group_size; i += hn::Lanes(tag)) hn::Store(hn::LoadU(tag, from + i), tag, to + i);
    }

    template <class U>
    static HWY_INLINE void copy(const U* from, U* to) {
        const hn::ScalableTag<U> tag;
        hn::StoreU(hn::LoadU(tag, from), tag, to);
    }

    const GridView<D, T> homes_;
    const GridView<D, T> grid_;
    PairBuffer& out_;
    const bool ordered_;
    std::size_t ordered_to_;  // pairs before this one have the smaller id first
    std::uint64_t tests_ = 0;
    T bound_lo_[D];
    T bound_hi_[D];
    Block block_;
};

// Of at most group_size values; reads as many.
template <class T>
HWY_INLINE T largest(const T* values, std::uint32_t count) {
    const hn::CappedTag<T, group_size> d;
    const auto lowest = hn::Set(d, std::numeric_limits<T>::lowest());
    auto most = lowest;
    for (std::size_t i = 0; i < group_size; i += hn::Lanes(d))
        most =
            hn::Max(most, hn::IfThenElse(hn::FirstN(d, count > i ? count - i : 0), hn::LoadU(d, values + i), lowest));
    return hn::GetLane(hn::MaxOfLanes(d, most));
}

template <bool Filtered, int D, class T>
std::uint64_t PairsWithin(const GridView<D, T>& grid, std::uint32_t row_begin, std::uint32_t row_end, PairBuffer& out) {
    Matcher<D, T, Filtered> matcher(grid, grid, true, out);
    const std::uint32_t bins = grid.shape.bins();
    const Axis<T>& x = grid.shape.axis[0];
    for (std::uint32_t row = row_begin; row < row_end; ++row) {
        const std::uint32_t* const own = grid.start + std::size_t{row} * bins;
        const std::uint32_t a = own[0], e = own[bins];
        if (a == e) continue;
        std::uint32_t next[4] = {};
        const std::uint32_t following = following_rows(grid.shape, row, next);
        for (std::uint32_t g = a; g < e; g += group_size) {
            const std::uint32_t count = std::min(group_size, e - g);
            matcher.begin(g, count, true);
            const std::int32_t last = x.cell(largest(grid.hi[0] + g, count));
            const std::int32_t first = std::max(0, x.cell(grid.lo[0][g]) - x.reach);
            matcher.add(g, own[last + 1]);
            for (std::uint32_t r = 0; r < following; ++r) {
                const std::uint32_t* const start = grid.start + std::size_t{next[r]} * bins;
                matcher.add(start[first], start[last + 1]);
            }
            matcher.test();
        }
    }
    return matcher.finish();
}

template <bool Filtered, int D, class T>
std::uint64_t PairsBetween(const GridView<D, T>& homes, std::size_t begin, std::size_t end, const GridView<D, T>& grid,
                           bool ordered, PairBuffer& out) {
    if (grid.size == 0) return 0;
    Matcher<D, T, Filtered> matcher(homes, grid, ordered, out);
    // Rows of a wrapped grid and a single cell hold boxes from all over the world, and those of few boxes lie far apart
    // where there are many to be met: their common box would be useless.
    bool scattered =
        homes.size <= grid.size / few_homes || (homes.shape.cells() == 1 && grid.shape.cells() > few_cells);
    for (int k = 1; k < D; ++k) scattered |= homes.shape.axis[k].wrapped();
    const std::uint32_t bins = grid.shape.bins();
    const Axis<T>& x = grid.shape.axis[0];
    for (std::size_t g = begin; g < end;) {
        // A group ends where the order jumps back along x: at the end of a row.
        std::uint32_t count = 1;
        if (!scattered)
            while (count < group_size && g + count < end && homes.lo[0][g + count] >= homes.lo[0][g]) ++count;
        matcher.begin(g, count, false);
        matcher.bound();
        T lo[D], hi[D];
        for (int k = 0; k < D; ++k) {
            lo[k] = matcher.home_lo(k);
            hi[k] = matcher.home_hi(k);
        }
        g += count;
        bool apart = false;
        for (int k = 0; k < D; ++k) apart |= lo[k] > grid.shape.inside.hi[k] || hi[k] < grid.shape.inside.lo[k];
        if (apart) continue;
        const std::int32_t first = std::max(0, x.cell(lo[0]) - x.reach), last = x.cell(hi[0]);
        for_each_row(grid.shape, lo, hi, [&](std::uint32_t row) {
            const std::uint32_t* const start = grid.start + std::size_t{row} * bins;
            matcher.add_culled(start[first], start[last + 1]);
        });
        matcher.test();
    }
    return matcher.finish();
}

template <int D, class T>
std::uint64_t PairsWithinAny(const GridView<D, T>& grid, std::uint32_t row_begin, std::uint32_t row_end,
                             PairBuffer& out) {
    return grid.filter.group ? PairsWithin<true>(grid, row_begin, row_end, out)
                             : PairsWithin<false>(grid, row_begin, row_end, out);
}

template <int D, class T>
std::uint64_t PairsBetweenAny(const GridView<D, T>& homes, std::size_t begin, std::size_t end,
                              const GridView<D, T>& grid, bool ordered, PairBuffer& out) {
    return homes.filter.group && grid.filter.group ? PairsBetween<true>(homes, begin, end, grid, ordered, out)
                                                   : PairsBetween<false>(homes, begin, end, grid, ordered, out);
}

const base::PerKind<PairKernel>& PairKernels() {
    static constexpr auto table = base::PerKind<PairKernel>::from([]<int D, class T>() {
        return PairKernel<D, T>{PairsWithinAny<D, T>, PairsBetweenAny<D, T>};
    });
    return table;
}

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {

HWY_EXPORT(PairKernels);

const base::PerKind<PairKernel>& pair_kernels() {
    return HWY_DYNAMIC_DISPATCH(PairKernels)();
}

}  // namespace quadrat::broad_phase
#endif
