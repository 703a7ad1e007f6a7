// The vector code of the broad phase (HHG 3.6 on sorted cells). Homes are taken in groups of consecutive boxes of a
// row; the candidates of all rows that the group can meet are copied behind each other into a scratch block in the
// first level cache; then each home is tested against whole vectors of candidates, which are dense although a single
// row range is short. The hits of one home are a bit mask, from which the first few pairs are written without a branch.
//
// Departure from the paper: one test of a group replaces 5 (3D) or 2 (2D) visits of cell ranges per box.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/pair_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "broad_phase/pair_kernel.hpp"

#include <limits>

#ifndef QUADRAT_BROAD_PHASE_PAIR_KERNEL_ONCE
#define QUADRAT_BROAD_PHASE_PAIR_KERNEL_ONCE
namespace quadrat::broad_phase {

inline constexpr std::uint32_t group_size = 8;
inline constexpr std::uint32_t scratch_size = 512;

}  // namespace quadrat::broad_phase
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A group of homes and a block of candidates. Members are used by one thread.
template <int D, class T, bool Filtered>
class Matcher {
    using V = hn::ScalableTag<T>;
    using L = hn::ScalableTag<Lane<T>>;

  public:
    Matcher(const GridView<D, T>& homes, const GridView<D, T>& grid, bool ordered, PairBuffer& out)
        : homes_(homes), grid_(grid), out_(out), ordered_(ordered) {}

    [[nodiscard]] std::uint64_t tests() const { return tests_; }
    [[nodiscard]] T home_hi(int axis) const { return bound_hi_[axis]; }
    [[nodiscard]] T home_lo(int axis) const { return bound_lo_[axis]; }

    // Takes homes [first, first + count), count <= group_size. triangular: the first candidates added are the homes.
    void begin(std::size_t first, std::uint32_t count, bool triangular) {
        first_ = first;
        count_ = count;
        triangular_ = triangular;
        filled_ = 0;
    }

    // The common box of the homes, for add_culled.
    void bound() {
        for (int k = 0; k < D; ++k) {
            T lo = homes_.lo[k][first_], hi = homes_.hi[k][first_];
            for (std::uint32_t i = 1; i < count_; ++i) {
                lo = std::min(lo, homes_.lo[k][first_ + i]);
                hi = std::max(hi, homes_.hi[k][first_ + i]);
            }
            bound_lo_[k] = lo;
            bound_hi_[k] = hi;
        }
    }

    // Adds the boxes [b, e) of the grid as candidates.
    HWY_INLINE void add(std::size_t b, std::size_t e) {
        const V d;
        const std::size_t n = hn::Lanes(d);
        while (b < e) {
            if (filled_ == scratch_size) flush();
            const std::size_t take = std::min<std::size_t>(e - b, scratch_size - filled_);
            const std::size_t to = filled_;
            for (std::size_t i = 0; i < take; i += n) {
                for (int k = 0; k < D; ++k) {
                    copy(grid_.lo[k] + b + i, lo_[k] + to + i);
                    copy(grid_.hi[k] + b + i, hi_[k] + to + i);
                }
                copy(grid_.id + b + i, id_ + to + i);
                if constexpr (Filtered) {
                    copy(grid_.filter.group + b + i, filter_group_ + to + i);
                    copy(grid_.filter.mask + b + i, filter_mask_ + to + i);
                }
            }
            filled_ = static_cast<std::uint32_t>(to + take);
            b += take;
        }
    }

    // The same, without those that do not meet the common box of the homes. Not for triangular blocks.
    HWY_INLINE void add_culled(std::size_t b, std::size_t e) {
        const V d;
        const L l;
        const std::size_t n = hn::Lanes(d);
        tests_ += e - b;
        // Room is made at fixed distances, not per vector: where a block ends decides the order of pairs, which must be
        // the same for vectors of any length.
        constexpr std::size_t stride = 64;
        for (std::size_t from = b; from < e; from += stride) {
            if (filled_ + stride > scratch_size) flush();
            const std::size_t stop = std::min(e, from + stride);
            for (b = from; b < stop; b += n) {
                auto keep = hn::FirstN(d, stop - b);
                for (int k = 0; k < D; ++k) {
                    keep = hn::And(keep, hn::Le(hn::LoadU(d, grid_.lo[k] + b), hn::Set(d, bound_hi_[k])));
                    keep = hn::And(keep, hn::Ge(hn::LoadU(d, grid_.hi[k] + b), hn::Set(d, bound_lo_[k])));
                }
                const auto keep_id = hn::RebindMask(l, keep);
                for (int k = 0; k < D; ++k) {
                    hn::CompressStore(hn::LoadU(d, grid_.lo[k] + b), keep, d, lo_[k] + filled_);
                    hn::CompressStore(hn::LoadU(d, grid_.hi[k] + b), keep, d, hi_[k] + filled_);
                }
                if constexpr (Filtered) {
                    hn::CompressStore(hn::LoadU(l, grid_.filter.group + b), keep_id, l, filter_group_ + filled_);
                    hn::CompressStore(hn::LoadU(l, grid_.filter.mask + b), keep_id, l, filter_mask_ + filled_);
                }
                filled_ += static_cast<std::uint32_t>(
                    hn::CompressStore(hn::LoadU(l, grid_.id + b), keep_id, l, id_ + filled_));
            }
        }
    }

    // Tests every home against the candidates gathered so far.
    void flush() {
        if (filled_ == 0) return;
        const V d;
        const std::size_t n = hn::Lanes(d);
        // Whole vectors are read: what follows the last candidate must not overlap anything.
        hn::StoreU(hn::Set(d, std::numeric_limits<T>::infinity()), d, lo_[0] + filled_);
        hn::StoreU(hn::Set(d, -std::numeric_limits<T>::infinity()), d, hi_[0] + filled_);
        tests_ += std::uint64_t{count_} * filled_;
        Pair* end = out_.reserve(std::size_t{count_} * filled_ + 8);
        for (std::uint32_t h = 0; h < count_; ++h) {
            const std::size_t home = first_ + h;
            hn::Vec<V> lo[D], hi[D];
            for (int k = 0; k < D; ++k) {
                lo[k] = hn::Set(d, homes_.lo[k][home]);
                hi[k] = hn::Set(d, homes_.hi[k][home]);
            }
            const auto id = static_cast<std::uint32_t>(homes_.id[home]);
            // A home meets only the candidates behind itself in its own row.
            std::uint64_t allowed = triangular_ ? ~std::uint64_t{1} << h : ~std::uint64_t{0};
            for (std::uint32_t block = 0; block < filled_; block += 64) {
                std::uint64_t hits = 0;
                const std::uint32_t stop = std::min(block + 64, filled_);
                for (std::uint32_t i = block; i < stop; i += static_cast<std::uint32_t>(n)) {
                    auto hit = hn::And(hn::Le(hn::Load(d, lo_[0] + i), hi[0]), hn::Ge(hn::Load(d, hi_[0] + i), lo[0]));
                    for (int k = 1; k < D; ++k) {
                        const auto axis =
                            hn::And(hn::Le(hn::Load(d, lo_[k] + i), hi[k]), hn::Ge(hn::Load(d, hi_[k] + i), lo[k]));
                        hit = hn::And(hit, axis);
                    }
                    if constexpr (Filtered) hit = hn::And(hit, may_meet(home, i));
                    std::uint64_t bits = 0;
                    hn::StoreMaskBits(d, hit, reinterpret_cast<std::uint8_t*>(&bits));
                    hits |= bits << (i - block);
                }
                hits &= allowed;
                allowed = ~std::uint64_t{0};
                end = write(end, id, hits, id_ + block);
            }
        }
        out_.set_end(end);
        filled_ = 0;
        triangular_ = false;
    }

  private:
    template <class U>
    static HWY_INLINE void copy(const U* from, U* to) {
        const hn::ScalableTag<U> tag;
        hn::StoreU(hn::LoadU(tag, from), tag, to);
    }

    // Both ways: the group bits of one in the mask bits of the other.
    HWY_INLINE auto may_meet(std::size_t home, std::uint32_t i) const {
        const L l;
        const V d;
        const auto group = hn::Set(l, homes_.filter.group[home]), mask = hn::Set(l, homes_.filter.mask[home]);
        const auto there = hn::And(hn::Load(l, filter_group_ + i), mask),
                   back = hn::And(hn::Load(l, filter_mask_ + i), group);
        const auto zero = hn::Zero(l);
        return hn::RebindMask(d, hn::AndNot(hn::Eq(there, zero), hn::Ne(back, zero)));
    }

    HWY_INLINE Pair* write(Pair* end, std::uint32_t home, std::uint64_t hits, const Lane<T>* ids) const {
        const auto count = static_cast<std::uint32_t>(hwy::PopCount(hits));
        if (ordered_) {
            const auto put = [&](Pair* p, std::uint64_t bits) {
                const auto other = static_cast<std::uint32_t>(ids[hwy::Num0BitsBelowLS1Bit_Nonzero64(bits)]);
                // Ids are in no order: a branch here would be mispredicted half of the time.
                const std::uint32_t first = std::min(home, other);
                *p = Pair(first, home ^ other ^ first);
            };
            // About two hits per home are common, more than four are rare; an empty mask reads slot 63, which is
            // scratch.
            std::uint64_t rest = hits;
            constexpr std::uint64_t guard = std::uint64_t{1} << 63;
            put(end, rest | guard);
            rest &= rest - 1;
            put(end + 1, rest | guard);
            rest &= rest - 1;
            put(end + 2, rest | guard);
            rest &= rest - 1;
            put(end + 3, rest | guard);
            rest &= rest - 1;
            for (Pair* p = end + 4; rest != 0; rest &= rest - 1) put(p++, rest);
        } else {
            Pair* p = end;
            for (std::uint64_t rest = hits; rest != 0; rest &= rest - 1)
                *p++ = Pair(home, static_cast<std::uint32_t>(ids[hwy::Num0BitsBelowLS1Bit_Nonzero64(rest)]));
        }
        return end + count;
    }

    static constexpr std::size_t padded = scratch_size + 64;

    const GridView<D, T> homes_;
    const GridView<D, T> grid_;
    PairBuffer& out_;
    const bool ordered_;
    bool triangular_ = false;
    std::uint32_t count_ = 0;
    std::uint32_t filled_ = 0;
    std::size_t first_ = 0;
    std::uint64_t tests_ = 0;
    T bound_lo_[D];
    T bound_hi_[D];
    HWY_ALIGN T lo_[D][padded];
    HWY_ALIGN T hi_[D][padded];
    HWY_ALIGN Lane<T> id_[padded] = {};
    HWY_ALIGN Lane<T> filter_group_[padded];
    HWY_ALIGN Lane<T> filter_mask_[padded];
};

// The rows that follow (y, z) in the half stencil, as row numbers.
template <int D, class T>
std::uint32_t following_rows(const GridShape<D, T>& shape, std::uint32_t row, std::uint32_t (&rows)[4]) {
    std::uint32_t n = 0;
    const auto step = [](const Axis<T>& axis, std::int32_t c, std::int32_t by) {
        const std::int32_t next = axis.wrapped() ? (c + by) & axis.mask : c + by;
        return next >= 0 && next < axis.count ? next : -1;
    };
    if constexpr (D == 2) {
        const std::int32_t y = step(shape.axis[1], static_cast<std::int32_t>(row), 1);
        if (y >= 0) rows[n++] = static_cast<std::uint32_t>(y);
    } else {
        const std::int32_t count = shape.axis[1].count;
        const std::int32_t y = static_cast<std::int32_t>(row) % count, z = static_cast<std::int32_t>(row) / count;
        const std::int32_t up = step(shape.axis[1], y, 1), down = step(shape.axis[1], y, -1),
                           deep = step(shape.axis[2], z, 1);
        if (up >= 0) rows[n++] = static_cast<std::uint32_t>(z * count + up);
        if (deep >= 0) {
            if (down >= 0) rows[n++] = static_cast<std::uint32_t>(deep * count + down);
            rows[n++] = static_cast<std::uint32_t>(deep * count + y);
            if (up >= 0) rows[n++] = static_cast<std::uint32_t>(deep * count + up);
        }
    }
    return n;
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
            T right = grid.hi[0][g];
            for (std::uint32_t i = 1; i < count; ++i) right = std::max(right, grid.hi[0][g + i]);
            const std::int32_t last = x.cell(right);
            const std::int32_t first = std::max(0, x.cell(grid.lo[0][g]) - x.reach);
            matcher.add(g, own[last + 1]);
            for (std::uint32_t r = 0; r < following; ++r) {
                const std::uint32_t* const start = grid.start + std::size_t{next[r]} * bins;
                matcher.add(start[first], start[last + 1]);
            }
            matcher.flush();
        }
    }
    return matcher.tests();
}

// Calls visit(row) for the rows of cells [lo - reach, hi] of each axis but x.
template <int D, class T, class Visit>
HWY_INLINE void for_each_row(const GridShape<D, T>& shape, const T (&lo)[D], const T (&hi)[D], Visit&& visit) {
    std::int32_t first[D], last[D];
    for (int k = 1; k < D; ++k) {
        const Axis<T>& axis = shape.axis[k];
        first[k] = axis.cell(lo[k]) - axis.reach;
        last[k] = axis.cell(hi[k]);
        if (!axis.wrapped()) {
            first[k] = std::max(0, first[k]);
        } else if (last[k] - first[k] >= axis.count) {
            first[k] = 0;
            last[k] = axis.count - 1;
        }
    }
    if constexpr (D == 2) {
        for (std::int32_t y = first[1]; y <= last[1]; ++y) visit(static_cast<std::uint32_t>(y & shape.axis[1].mask));
    } else {
        for (std::int32_t z = first[2]; z <= last[2]; ++z) {
            const auto base = static_cast<std::uint32_t>((z & shape.axis[2].mask) * shape.axis[1].count);
            for (std::int32_t y = first[1]; y <= last[1]; ++y)
                visit(base + static_cast<std::uint32_t>(y & shape.axis[1].mask));
        }
    }
}

template <bool Filtered, int D, class T>
std::uint64_t PairsBetween(const GridView<D, T>& homes, std::size_t begin, std::size_t end, const GridView<D, T>& grid,
                           bool ordered, PairBuffer& out) {
    if (grid.size == 0) return 0;
    Matcher<D, T, Filtered> matcher(homes, grid, ordered, out);
    // Rows of a wrapped grid hold boxes from all over the world: their common box would be useless.
    bool scattered = false;
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
        const std::int32_t first = std::max(0, x.cell(lo[0]) - x.reach), last = x.cell(hi[0]);
        for_each_row(grid.shape, lo, hi, [&](std::uint32_t row) {
            const std::uint32_t* const start = grid.start + std::size_t{row} * bins;
            matcher.add_culled(start[first], start[last + 1]);
        });
        matcher.flush();
        g += count;
    }
    return matcher.tests();
}

template <int D, class T>
std::uint64_t Overlapping(const GridView<D, T>& grid, const Box<D, T>& box, Found found,
                          base::Array<std::uint32_t>& out, std::size_t& count) {
    if (grid.size == 0) return 0;
    const hn::ScalableTag<T> d;
    const hn::ScalableTag<Lane<T>> l;
    const std::size_t n = hn::Lanes(d);
    std::uint64_t tests = 0;
    T lo[D], hi[D];
    hn::Vec<hn::ScalableTag<T>> wide_lo[D], wide_hi[D];
    for (int k = 0; k < D; ++k) {
        wide_lo[k] = hn::Set(d, lo[k] = box.lo[k]);
        wide_hi[k] = hn::Set(d, hi[k] = box.hi[k]);
    }
    const Axis<T>& x = grid.shape.axis[0];
    const std::int32_t first = std::max(0, x.cell(lo[0]) - x.reach), last = x.cell(hi[0]);
    const std::uint32_t bins = grid.shape.bins();
    std::size_t end = count;
    [[maybe_unused]] HWY_ALIGN Lane<T> wide[64] = {};
    for_each_row(grid.shape, lo, hi, [&](std::uint32_t row) {
        const std::uint32_t* const start = grid.start + std::size_t{row} * bins;
        const std::size_t e = start[last + 1];
        std::size_t b = start[first];
        if (b == e) return;
        tests += e - b;
        if (end + (e - b) + 16 > out.size()) out.resize_keep(2 * (end + (e - b)) + 64);
        for (; b < e; b += n) {
            auto hit = hn::FirstN(d, e - b);
            for (int k = 0; k < D; ++k) {
                hit = hn::And(hit, hn::Le(hn::LoadU(d, grid.lo[k] + b), wide_hi[k]));
                hit = hn::And(hit, hn::Ge(hn::LoadU(d, grid.hi[k] + b), wide_lo[k]));
            }
            const auto lane = found == Found::ids ? hn::LoadU(l, grid.id + b) : hn::Iota(l, static_cast<Lane<T>>(b));
            if constexpr (sizeof(T) == 4) {
                end += hn::CompressStore(lane, hn::RebindMask(l, hit), l, out.data() + end);
            } else {
                const std::size_t hits = hn::CompressStore(lane, hn::RebindMask(l, hit), l, wide);
                for (std::size_t i = 0; i < hits; ++i) out[end++] = static_cast<std::uint32_t>(wide[i]);
            }
        }
    });
    count = end;
    return tests;
}

#define QUADRAT_KERNELS(D, T, S)                                                                                  \
    std::uint64_t PairsWithin##S(const GridView<D, T>& g, std::uint32_t a, std::uint32_t e, PairBuffer& out) {    \
        return g.filter.group ? PairsWithin<true>(g, a, e, out) : PairsWithin<false>(g, a, e, out);               \
    }                                                                                                             \
    std::uint64_t PairsBetween##S(const GridView<D, T>& h, std::size_t b, std::size_t e, const GridView<D, T>& g, \
                                  bool ordered, PairBuffer& out) {                                                \
        return h.filter.group && g.filter.group ? PairsBetween<true>(h, b, e, g, ordered, out)                    \
                                                : PairsBetween<false>(h, b, e, g, ordered, out);                  \
    }                                                                                                             \
    std::uint64_t Overlapping##S(const GridView<D, T>& g, const Box<D, T>& box, Found found,                      \
                                 base::Array<std::uint32_t>& out, std::size_t& n) {                               \
        return Overlapping(g, box, found, out, n);                                                                \
    }
QUADRAT_KERNELS(2, float, 2f)
QUADRAT_KERNELS(3, float, 3f)
QUADRAT_KERNELS(2, double, 2d)
QUADRAT_KERNELS(3, double, 3d)
#undef QUADRAT_KERNELS

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {

#define QUADRAT_DISPATCH(D, T, S)                                                                               \
    HWY_EXPORT(PairsWithin##S);                                                                                 \
    HWY_EXPORT(PairsBetween##S);                                                                                \
    HWY_EXPORT(Overlapping##S);                                                                                 \
    template <>                                                                                                 \
    std::uint64_t pairs_within(const GridView<D, T>& g, std::uint32_t a, std::uint32_t e, PairBuffer& out) {    \
        return HWY_DYNAMIC_DISPATCH(PairsWithin##S)(g, a, e, out);                                              \
    }                                                                                                           \
    template <>                                                                                                 \
    std::uint64_t pairs_between(const GridView<D, T>& h, std::size_t b, std::size_t e, const GridView<D, T>& g, \
                                bool ordered, PairBuffer& out) {                                                \
        return HWY_DYNAMIC_DISPATCH(PairsBetween##S)(h, b, e, g, ordered, out);                                 \
    }                                                                                                           \
    template <>                                                                                                 \
    std::uint64_t overlapping(const GridView<D, T>& g, const Box<D, T>& box, Found found,                       \
                              base::Array<std::uint32_t>& out, std::size_t& n) {                                \
        return HWY_DYNAMIC_DISPATCH(Overlapping##S)(g, box, found, out, n);                                     \
    }
QUADRAT_DISPATCH(2, float, 2f)
QUADRAT_DISPATCH(3, float, 3f)
QUADRAT_DISPATCH(2, double, 2d)
QUADRAT_DISPATCH(3, double, 3d)
#undef QUADRAT_DISPATCH

}  // namespace quadrat::broad_phase
#endif
