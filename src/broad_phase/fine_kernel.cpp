// Pairs inside one grid (HHG 3.6 on sorted cells), as in pair_kernel.cpp but with 16-bit coordinates. Homes are taken
// in groups of consecutive boxes of a row, the candidates of the rows that the group can meet are copied behind each
// other, and each home is compared with whole vectors of candidates. The largest of the six gaps (lo of one minus hi of
// the other) tells: negative, the boxes overlap; positive, they are apart; zero, their own coordinates decide.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/fine_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "broad_phase/fine_kernel.hpp"
#include "broad_phase/half_stencil.hpp"
#include "broad_phase/pair_output-inl.hpp"

#include <algorithm>

#ifndef QUADRAT_BROAD_PHASE_FINE_KERNEL_ONCE
#define QUADRAT_BROAD_PHASE_FINE_KERNEL_ONCE
namespace quadrat::broad_phase {

inline constexpr std::uint32_t fine_group = 16;
inline constexpr std::uint32_t fine_block = 512;
inline constexpr std::size_t order_fine_from = 1024;  // pairs

}  // namespace quadrat::broad_phase
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int D, class T>
class FineMatcher {
    using W = hn::ScalableTag<std::int16_t>;
    using Vector = hn::Vec<W>;

  public:
    FineMatcher(const FineWindow<D, T>& window, PairBuffer& out)
        : window_(window), out_(out), ordered_to_(out.size()) {}

    // Takes homes [first, first + count) of the slab, which are also the first candidates to be added. exact: no
    // difference can be mistaken for another.
    HWY_INLINE void begin(const FineSlab& slab, std::uint32_t first, std::uint32_t count, bool exact) {
        slab_ = &slab;
        first_ = first;
        count_ = count;
        exact_ = exact;
        triangular_ = true;
    }

    // Adds the boxes [b, e) of the slab as candidates.
    HWY_INLINE void add(const FineSlab& slab, std::size_t b, std::size_t e) {
        if (filled_ + (e - b) > fine_block) [[unlikely]] {
            for (; e - b > fine_block; b += fine_block) {
                test();
                copy(slab, b, fine_block);
            }
            test();
        }
        copy(slab, b, e - b);
    }

    // Tests every home against the candidates gathered so far, which are then used up.
    HWY_INLINE void test() {
        if (filled_ == 0) return;
        tests_ += std::uint64_t{count_} * filled_;
        if (out_.size() - ordered_to_ > order_fine_from) order();
        Pair* end = out_.reserve(std::size_t{count_} * filled_ + 8);
        if (filled_ <= 64 && triangular_)
            end = test_block<true>(0, end);
        else
            for (std::uint32_t from = 0; from < filled_; from += 64)
                end = triangular_ && from == 0 ? test_block<true>(0, end) : test_block<false>(from, end);
        out_.set_end(end);
        filled_ = 0;
        range_count_ = 0;
        triangular_ = false;
    }

    // Ends the work. Returns the number of tests made.
    std::uint64_t finish() {
        order();
        return tests_;
    }

  private:
    // A vector that starts at the last place may stick out.
    static constexpr std::size_t padded = fine_block + 64;

    // There is room for them. An empty range costs less than the question whether it is empty.
    HWY_INLINE void copy(const FineSlab& slab, std::size_t from, std::size_t count) {
        const hn::CappedTag<std::uint16_t, 16> words;
        const hn::CappedTag<std::uint32_t, 8> lanes;
        const std::size_t to = filled_, stride = slab.stride;
        ranges_[range_count_++] = {&slab, from, static_cast<std::uint32_t>(to)};
        const std::uint16_t* const fine = slab.columns.data() + from;
        const std::uint32_t* const id = slab.id.data() + from;
        std::size_t i = 0;
        do {
            for (std::size_t c = 0; c < 2 * D; ++c)
                hn::StoreU(hn::LoadU(words, fine + c * stride + i), words, column_[c] + to + i);
            for (std::size_t k = 0; k < hn::Lanes(words); k += hn::Lanes(lanes))
                hn::StoreU(hn::LoadU(lanes, id + i + k), lanes, id_ + to + i + k);
            i += hn::Lanes(words);
        } while (i < count);
        filled_ = static_cast<std::uint32_t>(to + count);
    }

    template <bool Triangular>
    HWY_INLINE Pair* test_block(std::uint32_t from, Pair* end) {
        const std::size_t lanes = hn::Lanes(W()), left = std::min(64u, filled_ - from);
        const std::size_t vectors = (left + lanes - 1) / lanes;
        const std::uint64_t valid = left == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
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
        const std::uint32_t homes = count_;
        const std::uint16_t* const columns = column_[0] + from;
        const std::uint16_t* const own = slab_->columns.data() + first_;
        const std::uint32_t* const own_id = slab_->id.data() + first_;
        const std::size_t stride = slab_->stride;
        const bool exact = exact_;
        for (std::uint32_t h = 0; h < homes; ++h) {
            Vector home[2 * D];
            // Minus the home's hi beside the candidates' lo, its lo beside minus their hi: sums are differences.
            for (std::size_t c = 0; c < 2 * D; ++c)
                home[c] = hn::Set(W(), static_cast<std::int16_t>(own[(c + D) % (2 * D) * stride + h]));
            std::uint64_t inside = 0, touching = 0;
            largest_gaps<N>(columns, home, vectors, inside, touching);
            if constexpr (Triangular) valid &= valid - 1;
            std::uint64_t hits = valid & (inside | touching);
            const std::uint64_t open = exact ? hits & touching : hits;
            if (open != 0) [[unlikely]]
                hits = decided(h, from, hits, open);
            end = write_hits(end, own_id[h], hits, id_ + from);
        }
        return end;
    }

    // A bit per candidate: the largest gap is negative, so the boxes overlap; it is zero.
    template <std::size_t N>
    static HWY_INLINE void largest_gaps(const std::uint16_t* columns, const Vector (&home)[2 * D], std::size_t vectors,
                                        std::uint64_t& inside, std::uint64_t& touching) {
        const W w;
        const std::size_t lanes = hn::Lanes(w), count = N == 0 ? vectors : N;
        const auto largest = [&](std::size_t v) HWY_ATTR {
            const auto* const at = reinterpret_cast<const std::int16_t*>(columns) + v * lanes;
            Vector m[D];
            for (int k = 0; k < D; ++k)
                m[k] = hn::Max(hn::Add(home[k], hn::Load(w, at + k * padded)),
                               hn::Add(home[k + D], hn::Load(w, at + (k + D) * padded)));
            for (int k = 1; k < D; ++k) m[0] = hn::Max(m[0], m[k]);
            return m[0];
        };
#if HWY_TARGET == HWY_AVX2
        // Two vectors become one of bytes, with their signs and zeros.
        for (std::size_t v = 0; v < count; v += 2) {
            const __m256i first = largest(v).raw, second = v + 1 < count ? largest(v + 1).raw : first;
            const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(first, second), 0xD8);
            const auto bits = [](__m256i bytes) HWY_ATTR {
                return std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes))};
            };
            inside |= bits(both) << (16 * v);
            touching |= bits(_mm256_cmpeq_epi8(both, _mm256_setzero_si256())) << (16 * v);
        }
#else
        for (std::size_t v = 0; v < count; ++v) {
            const Vector m = largest(v);
            std::uint64_t negative = 0, zero = 0;
            hn::StoreMaskBits(w, hn::Lt(m, hn::Zero(w)), reinterpret_cast<std::uint8_t*>(&negative));
            hn::StoreMaskBits(w, hn::Eq(m, hn::Zero(w)), reinterpret_cast<std::uint8_t*>(&zero));
            inside |= negative << (v * lanes);
            touching |= zero << (v * lanes);
        }
#endif
    }

    // The hits without those of `open` whose boxes do not overlap.
    HWY_NOINLINE std::uint64_t decided(std::uint32_t h, std::size_t from, std::uint64_t hits,
                                       std::uint64_t open) const {
        const Box<D, T>& home = window_.box(*slab_, first_ + h);
        std::uint32_t range = 0;
        for (; open != 0; open &= open - 1) {
            const std::size_t at = from + hwy::Num0BitsBelowLS1Bit_Nonzero64(open);
            while (range + 1 < range_count_ && ranges_[range + 1].at <= at) ++range;
            const Range& r = ranges_[range];
            const bool hit = overlap(home, window_.box(*r.slab, r.from + (at - r.at)));
            if (!hit) hits &= ~(open & (~open + 1));
        }
        return hits;
    }

    void order() {
        order_pairs(out_, ordered_to_);
        out_.settle();
        ordered_to_ = out_.size();
    }

    // A range of a slab and where it begins among the candidates; ranges that are cut follow a test.
    struct Range {
        const FineSlab* slab;
        std::size_t from;
        std::uint32_t at;
    };

    HWY_ALIGN std::uint16_t column_[2 * D][padded] = {};
    HWY_ALIGN std::uint32_t id_[padded] = {};
    const FineWindow<D, T>& window_;
    PairBuffer& out_;
    std::size_t ordered_to_;  // pairs before this one have the smaller id first
    std::uint64_t tests_ = 0;
    const FineSlab* slab_ = nullptr;
    std::uint32_t first_ = 0, count_ = 0, filled_ = 0, range_count_ = 0;
    bool exact_ = false, triangular_ = false;
    Range ranges_[8];
};

// So many homes that their candidates usually fit into one block of 64.
template <int D, class T>
std::uint32_t homes_at_once(const GridShape<D, T>& shape, std::size_t objects) {
    constexpr double candidates = 58;  // as many as were measured to be best, for equal cubes and sizes of 1 to 12
    const double per_cell = static_cast<double>(objects) * shape.axis[0].reach / static_cast<double>(shape.cells());
    const double rows = D == 3 ? 4.5 : 1.5;
    return static_cast<std::uint32_t>(std::clamp(candidates / rows - 2 * per_cell, 4.0, double(fine_group)));
}

template <int D, class T>
std::uint64_t FinePairsOfSlab(FineWindow<D, T>& window, std::uint32_t number, PairBuffer& out) {
    const GridShape<D, T>& shape = window.shape();
    FineMatcher<D, T> matcher(window, out);
    const std::uint32_t most = homes_at_once(shape, window.objects());
    const auto bins = static_cast<std::int32_t>(shape.bins());
    const std::int32_t reach = shape.axis[0].reach;
    const std::uint32_t row_begin = number << shape.slab_shift;
    const std::uint32_t row_end = std::min(shape.rows, row_begin + shape.rows_per_slab());
    for (std::uint32_t row = row_begin; row < row_end; ++row) {
        window.fetch_ahead();
        const FineRow own = window.row(row);
        const std::uint32_t a = own.start[0], e = own.start[bins];
        if (a == e) continue;
        std::uint32_t next[4] = {};
        const std::uint32_t following = following_rows(shape, row, next);
        FineRow rows[4];
        for (std::uint32_t r = 0; r < following; ++r) rows[r] = window.row(next[r]);
        const std::uint32_t* const bin = own.slab->bin.data();
        const auto row_bin = static_cast<std::int32_t>(own.start - own.slab->start.data());
        std::uint32_t left = (e - a + most - 1) / most;
        for (std::uint32_t g = a, count; g < e; g += count) {
            count = (e - g + left - 1) / left;  // even shares
            --left;
            // Homes are in the order of their bins, and none reaches further than `reach` beyond its own.
            const std::int32_t first = std::max(0, static_cast<std::int32_t>(bin[g]) - row_bin - reach);
            const std::int32_t end =
                std::min(bins, static_cast<std::int32_t>(bin[g + count - 1]) - row_bin + reach + 1);
            matcher.begin(*own.slab, g, count, end - first <= window.fine().longest);
            matcher.add(*own.slab, g, own.start[end]);
            for (std::uint32_t r = 0; r < following; ++r)
                matcher.add(*rows[r].slab, rows[r].start[first], rows[r].start[end]);
            matcher.test();
        }
    }
    return matcher.finish();
}

#define QUADRAT_KERNEL(D, T, S)                                                                  \
    std::uint64_t FinePairsOfSlab##S(FineWindow<D, T>& w, std::uint32_t slab, PairBuffer& out) { \
        return FinePairsOfSlab(w, slab, out);                                                    \
    }
QUADRAT_KERNEL(2, float, 2f)
QUADRAT_KERNEL(3, float, 3f)
QUADRAT_KERNEL(2, double, 2d)
QUADRAT_KERNEL(3, double, 3d)
#undef QUADRAT_KERNEL

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {

#define QUADRAT_DISPATCH(D, T, S)                                                                \
    HWY_EXPORT(FinePairsOfSlab##S);                                                              \
    template <>                                                                                  \
    std::uint64_t fine_pairs_of_slab(FineWindow<D, T>& w, std::uint32_t slab, PairBuffer& out) { \
        w.move_to(slab);                                                                         \
        return HWY_DYNAMIC_DISPATCH(FinePairsOfSlab##S)(w, slab, out);                           \
    }
QUADRAT_DISPATCH(2, float, 2f)
QUADRAT_DISPATCH(3, float, 3f)
QUADRAT_DISPATCH(2, double, 2d)
QUADRAT_DISPATCH(3, double, 3d)
#undef QUADRAT_DISPATCH

}  // namespace quadrat::broad_phase
#endif
