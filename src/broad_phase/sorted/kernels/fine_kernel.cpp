// Pairs inside one grid (HHG 3.6 on sorted cells), as in pair_kernel.cpp but with 16-bit coordinates. Homes are taken
// in groups of consecutive boxes of a row, the candidates of the rows that the group can meet are copied behind each
// other, and each home is compared with whole vectors of candidates. The largest of the six gaps (lo of one minus hi of
// the other, less one) tells: below -1, the boxes overlap; not negative, they are apart; -1, their own coordinates
// decide.
#define HWY_WANT_AVX3_DL  // packs bytes (HitWriter in pair_output-inl.hpp)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/sorted/kernels/fine_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "broad_phase/sorted/kernels/fine_kernel.hpp"
#include "broad_phase/sorted/kernels/half_stencil.hpp"
#include "broad_phase/sorted/kernels/pair_output-inl.hpp"

#include <algorithm>
#include <limits>

#ifndef QUADRAT_BROAD_PHASE_FINE_KERNEL_ONCE
#define QUADRAT_BROAD_PHASE_FINE_KERNEL_ONCE
namespace quadrat::broad_phase {

inline constexpr std::uint32_t fine_group = 16;       // homes at most
inline constexpr std::uint32_t fine_block = 512;      // candidates at most
inline constexpr std::size_t order_fine_from = 1024;  // pairs
inline constexpr int fine_ranges = 5;                 // rows of the half stencil

/// Boxes [from, from + count) of a slab.
struct FineRange {
    const FineSlab* slab;
    std::uint32_t from, count;
};

}  // namespace quadrat::broad_phase
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Filtered: of each candidate the bit of its kind (filter_table.hpp) is one more column.
template <int D, class T, bool Filtered>
class FineMatcher {
    using W = hn::ScalableTag<std::int16_t>;
    using Vector = hn::Vec<W>;

  public:
    FineMatcher(const FineWindow<D, T>& window, PairBuffer& out) : window_(window), out_(out), ordered_to_(out.size()) {
        if constexpr (Filtered) filters_ = window.filters();
    }

    // Homes [first, first + count) of the slab against the boxes of the ranges. The homes are the first boxes of the
    // first range, and each meets only those behind itself there. exact: no difference can be mistaken for another.
    HWY_INLINE void match(std::uint32_t first, std::uint32_t count, const FineRange (&ranges)[fine_ranges], int n,
                          bool exact) {
        slab_ = ranges[0].slab;
        first_ = first;
        count_ = count;
        exact_ = exact;
        std::uint32_t total = 0;
        for (int r = 0; r < n; ++r) total += ranges[r].count;
        if (total <= fine_block) [[likely]] {
            std::uint32_t at = 0;
            for (int r = 0; r < n; ++r) {
                ranges_[r] = ranges[r];
                copy(ranges[r], at);
                at += ranges[r].count;
            }
            test(total, true);
            return;
        }
        bool triangular = true;
        for (int r = 0; r < n; ++r)
            for (std::uint32_t done = 0; done < ranges[r].count; done += fine_block) {
                ranges_[0] = {ranges[r].slab, ranges[r].from + done, std::min(fine_block, ranges[r].count - done)};
                copy(ranges_[0], 0);
                test(ranges_[0].count, triangular);
                triangular = false;
            }
    }

    // Ends the work. Returns the number of tests made.
    std::uint64_t finish() {
        order();
        return tests_;
    }

  private:
    // A vector that starts at the last place may stick out.
    static constexpr std::size_t padded = fine_block + 64;
    static constexpr std::size_t columns = 2 * D + std::size_t{Filtered};

    // An empty range costs less than the question whether it is empty.
    HWY_INLINE void copy(const FineRange& range, std::size_t to) {
        const hn::CappedTag<std::uint16_t, 16> words;
        const hn::CappedTag<std::uint32_t, 8> lanes;
        const std::size_t stride = range.slab->stride;
        const std::uint16_t* fine = range.slab->columns.data() + range.from;
        const std::uint32_t* id = range.slab->id.data() + range.from;
        std::uint16_t* column = columns_ + to;
        std::uint32_t* own = id_ + to;
        for (std::int64_t left = range.count;;) {
            for (std::size_t c = 0; c < columns; ++c)
                hn::StoreU(hn::LoadU(words, fine + c * stride), words, column + c * padded);
            for (std::size_t k = 0; k < hn::Lanes(words); k += hn::Lanes(lanes))
                hn::StoreU(hn::LoadU(lanes, id + k), lanes, own + k);
            left -= static_cast<std::int64_t>(hn::Lanes(words));
            if (left <= 0) [[likely]]
                return;
            fine += hn::Lanes(words);
            id += hn::Lanes(words);
            column += hn::Lanes(words);
            own += hn::Lanes(words);
        }
    }

    HWY_INLINE void test(std::uint32_t candidates, bool triangular) {
        tests_ += std::uint64_t{count_} * candidates;
        if (out_.size() - ordered_to_ > order_fine_from) order();
        Pair* end = out_.reserve(std::size_t{count_} * candidates + 8);
        for (std::uint32_t from = 0; from < candidates; from += 64) {
            const std::uint32_t left = std::min(64u, candidates - from);
            end = triangular && from == 0 ? test_block<true>(0, left, end) : test_block<false>(from, left, end);
        }
        out_.set_end(end);
    }

    template <bool Triangular>
    HWY_INLINE Pair* test_block(std::uint32_t from, std::uint32_t left, Pair* end) {
        const std::size_t lanes = hn::Lanes(W()), vectors = (left + lanes - 1) / lanes;
        const std::uint64_t valid = (std::uint64_t{2} << (left - 1)) - 1;
        // The usual numbers of vectors without a loop.
        if constexpr (hn::MaxLanes(W()) == 32)
            return vectors == 2 ? test_homes<Triangular, 2>(from, 2, valid, end)
                                : test_homes<Triangular, 1>(from, 1, valid, end);
        else if constexpr (hn::MaxLanes(W()) == 16)
            return vectors == 3   ? test_homes<Triangular, 3>(from, 3, valid, end)
                   : vectors == 2 ? test_homes<Triangular, 2>(from, 2, valid, end)
                   : vectors == 4 ? test_homes<Triangular, 4>(from, 4, valid, end)
                                  : test_homes<Triangular, 1>(from, 1, valid, end);
        else
            return test_homes<Triangular, 0>(from, vectors, valid, end);
    }

    // All homes against the candidates [from, from + vectors * lanes), of which those in `valid` count; N == vectors,
    // or 0 for any number. Triangular: the first candidates are the homes, and a home meets only those behind itself.
    template <bool Triangular, std::size_t N>
    HWY_NOINLINE Pair* test_homes(std::size_t from, std::size_t vectors, std::uint64_t valid, Pair* end) {
        const std::uint16_t* const candidates = columns_ + from;
        const std::uint32_t* const ids = id_ + from;
        const HitWriter write(ids);
        const FineRecord* own = slab_->record.data() + first_;
        const FineRecord* const last = own + count_;
        const bool exact = exact_;
        for (; own != last; ++own) {
            Vector home[2 * D];
            // Minus the home's hi beside the candidates' lo, its lo beside minus their hi: sums are differences.
            for (int c = 0; c < 2 * D; ++c)
                home[c] = hn::Set(W(), static_cast<std::int16_t>(own->part[(c + D) % (2 * D)]));
            bool touching = false;
            std::uint16_t meets = 0;
            if constexpr (Filtered) meets = filters_->meets(filters_->kind(own->id));
            std::uint64_t hits = near<N>(candidates, home, meets, vectors, touching);
            if constexpr (Triangular) valid &= valid - 1;
            hits &= valid;
            if (touching || !exact) [[unlikely]]
                hits = decided(own, from, hits);
            if constexpr (Filtered)
                if (filters_->has_others()) hits = allowed(own->id, hits, ids);
            // The first block has most of the hits.
            end = Triangular ? write(end, own->id, hits) : write_hits(end, own->id, hits, ids);
        }
        return end;
    }

    // A bit per candidate: its largest gap is negative, so the boxes overlap or touch. touching: there is one of -1.
    // What is of no kind of `meets` is as far away as can be.
    template <std::size_t N>
    static HWY_INLINE std::uint64_t near(const std::uint16_t* candidates, const Vector (&home)[2 * D],
                                         [[maybe_unused]] std::uint16_t meets, std::size_t vectors, bool& touching) {
        const W w;
        const std::size_t lanes = hn::Lanes(w), count = N == 0 ? vectors : N;
        const auto largest = [&](std::size_t v) HWY_ATTR {
            const auto* const at = reinterpret_cast<const std::int16_t*>(candidates) + v * lanes;
            Vector m[D];
            for (int k = 0; k < D; ++k)
                m[k] = hn::Max(hn::Add(home[k], hn::Load(w, at + k * padded)),
                               hn::Add(home[k + D], hn::Load(w, at + (k + D) * padded)));
            for (int k = 1; k < D; ++k) m[0] = hn::Max(m[0], m[k]);
            if constexpr (Filtered)
                return hn::IfThenElse(
                    hn::TestBit(hn::Set(w, static_cast<std::int16_t>(meets)), hn::Load(w, at + 2 * D * padded)), m[0],
                    hn::Set(w, std::numeric_limits<std::int16_t>::max()));
            else
                return m[0];
        };
        std::uint64_t hits = 0;
        // -1 is the largest number without a sign.
        const hn::RebindToUnsigned<W> u;
        auto most = hn::Zero(u);
#if HWY_TARGET == HWY_AVX2
        // Two vectors become one of bytes, with their signs.
        for (std::size_t v = 0; v < count; v += 2) {
            const Vector first = largest(v), second = v + 1 < count ? largest(v + 1) : first;
            most = hn::Max(most, hn::Max(hn::BitCast(u, first), hn::BitCast(u, second)));
            const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(first.raw, second.raw), 0xD8);
            hits |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(both))} << (16 * v);
        }
        touching = _mm256_movemask_epi8(_mm256_cmpeq_epi16(most.raw, _mm256_set1_epi16(-1))) != 0;
#else
        for (std::size_t v = 0; v < count; ++v) {
            const Vector m = largest(v);
            most = hn::Max(most, hn::BitCast(u, m));
            std::uint64_t negative = 0;
            hn::StoreMaskBits(w, hn::Lt(m, hn::Zero(w)), reinterpret_cast<std::uint8_t*>(&negative));
            hits |= negative << (v * lanes);
        }
        touching = !hn::AllFalse(u, hn::Eq(most, hn::Set(u, 0xffff)));
#endif
        return hits;
    }

    // The hits without those whose boxes do not overlap.
    HWY_NOINLINE std::uint64_t decided(const FineRecord* own, std::size_t from, std::uint64_t hits) const {
        const Box<D, T>& home = window_.box(*slab_, static_cast<std::size_t>(own - slab_->record.data()));
        int range = 0;
        std::size_t begin = 0;  // of the range among the candidates
        for (std::uint64_t open = hits; open != 0; open &= open - 1) {
            const std::size_t at = from + hwy::Num0BitsBelowLS1Bit_Nonzero64(open);
            while (begin + ranges_[range].count <= at) begin += ranges_[range++].count;
            const FineRange& r = ranges_[range];
            if (!overlap(home, window_.box(*r.slab, r.from + (at - begin)))) hits &= ~(open & (~open + 1));
        }
        return hits;
    }

    // The hits whose filters allow it, where kinds alone do not tell.
    HWY_NOINLINE std::uint64_t allowed(std::uint32_t home, std::uint64_t hits, const std::uint32_t* ids) const {
        for (std::uint64_t open = hits; open != 0; open &= open - 1)
            if (!may_meet((*filters_)[home], (*filters_)[ids[hwy::Num0BitsBelowLS1Bit_Nonzero64(open)]]))
                hits &= ~(open & (~open + 1));
        return hits;
    }

    void order() {
        order_pairs(out_, ordered_to_);
        out_.settle();
        ordered_to_ = out_.size();
    }

    HWY_ALIGN std::uint16_t columns_[columns * padded] = {};
    HWY_ALIGN std::uint32_t id_[padded] = {};
    const FineWindow<D, T>& window_;
    PairBuffer& out_;
    std::size_t ordered_to_;  // pairs before this one have the smaller id first
    std::uint64_t tests_ = 0;
    const FilterTable* filters_ = nullptr;
    const FineSlab* slab_ = nullptr;  // of the homes
    std::uint32_t first_ = 0, count_ = 0;
    bool exact_ = false;
    FineRange ranges_[fine_ranges];  // what the candidates are
};

// So many homes that their candidates usually fit into one block of 64; where hardly any would, what is copied is
// shared by many.
template <int D, class T>
std::uint32_t homes_at_once(const GridShape<D, T>& shape, std::size_t objects) {
    constexpr double candidates = 58;  // as many as were measured to be best, for equal cubes and sizes of 1 to 12
    constexpr std::uint32_t homes_where_crowded = 12;  // 8 and 16 were as good, 4 and 32 were not (sticks)
    const double per_cell = static_cast<double>(objects) * shape.axis[0].reach / static_cast<double>(shape.cells());
    const double fit = candidates / rows_to_search<D> - 2 * per_cell;
    return fit < 4 ? homes_where_crowded : static_cast<std::uint32_t>(std::min(fit, double(fine_group)));
}

template <bool Filtered, int D, class T>
std::uint64_t PairsOfSlab(FineWindow<D, T>& window, std::uint32_t number, PairBuffer& out) {
    const GridShape<D, T>& shape = window.shape();
    FineMatcher<D, T, Filtered> matcher(window, out);
    const std::uint32_t most = homes_at_once(shape, window.objects());
    const auto bins = static_cast<std::int32_t>(shape.bins());
    const std::int32_t reach = shape.axis[0].reach, longest = window.fine().longest;
    const std::uint32_t row_begin = number << shape.slab_shift;
    const std::uint32_t row_end = std::min(shape.rows, row_begin + shape.rows_per_slab());
    for (std::uint32_t row = row_begin; row < row_end; ++row) {
        window.fetch_ahead();
        const FineRow own = window.row(row);
        const std::uint32_t a = own.start[0], e = own.start[bins];
        if (a == e) continue;
        std::uint32_t next[4] = {};
        const int following = static_cast<int>(following_rows(shape, row, next));
        FineRow rows[4];
        for (int r = 0; r < following; ++r) rows[r] = window.row(next[r]);
        const FineRecord* const home = own.slab->record.data();
        const auto row_bin = static_cast<std::int32_t>(own.start - own.slab->start.data());
        std::uint32_t left = (e - a + most - 1) / most;
        for (std::uint32_t g = a, count; g < e; g += count) {
            count = (e - g + left - 1) / left;  // even shares
            --left;
            // Homes are in the order of their bins, and none reaches further than `reach` beyond its own.
            const std::int32_t first = std::max(0, static_cast<std::int32_t>(home[g].bin) - row_bin - reach);
            const std::int32_t end =
                std::min(bins, static_cast<std::int32_t>(home[g + count - 1].bin) - row_bin + reach + 1);
            FineRange ranges[fine_ranges];
            ranges[0] = {own.slab, g, own.start[end] - g};
            for (int r = 0; r < following; ++r)
                ranges[r + 1] = {rows[r].slab, rows[r].start[first], rows[r].start[end] - rows[r].start[first]};
            matcher.match(g, count, ranges, following + 1, end - first <= longest);
        }
    }
    return matcher.finish();
}

template <int D, class T>
std::uint64_t FinePairsOfSlab(FineWindow<D, T>& window, std::uint32_t number, PairBuffer& out) {
    return window.filters() ? PairsOfSlab<true>(window, number, out) : PairsOfSlab<false>(window, number, out);
}

const base::PerKind<FineKernel>& FineKernels() {
    static constexpr auto table =
        base::PerKind<FineKernel>::from([]<int D, class T>() { return FineKernel<D, T>{FinePairsOfSlab<D, T>}; });
    return table;
}

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {

HWY_EXPORT(FineKernels);

const base::PerKind<FineKernel>& fine_kernels() {
    return HWY_DYNAMIC_DISPATCH(FineKernels)();
}

}  // namespace quadrat::broad_phase
#endif
