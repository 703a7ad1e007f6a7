// Writing of pairs, for the kernels that are compiled once per Highway target (base/simd.hpp): include it after
// hwy/highway.h and before HWY_BEFORE_NAMESPACE.
#include "broad_phase/sorted/kernels/pair_kernel.hpp"

#include <bit>

#if defined(QUADRAT_BROAD_PHASE_PAIR_OUTPUT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUADRAT_BROAD_PHASE_PAIR_OUTPUT_INL
#undef QUADRAT_BROAD_PHASE_PAIR_OUTPUT_INL
#else
#define QUADRAT_BROAD_PHASE_PAIR_OUTPUT_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {

/// Writes a pair of `home` and each id whose bit is set. About two hits per home are common, more than four are rare:
/// four are written without a branch. Where there are fewer, ids[64] is read, which is scratch.
template <class Id>
HWY_INLINE Pair* write_hits(Pair* end, std::uint32_t home, std::uint64_t hits, const Id* ids) {
    const auto put = [&](Pair* p, std::uint64_t bits) {
        p->first = home;
        p->second = static_cast<std::uint32_t>(ids[std::countr_zero(bits)]);
    };
    Pair* const next = end + hwy::PopCount(hits);
    put(end, hits);
    hits &= hits - 1;
    put(end + 1, hits);
    hits &= hits - 1;
    put(end + 2, hits);
    hits &= hits - 1;
    put(end + 3, hits);
    hits &= hits - 1;
    for (Pair* p = end + 4; hits != 0; hits &= hits - 1) put(p++, hits);
    return next;
}

#if HWY_TARGET == HWY_AVX3_DL
/// The same for 64 ids, without a branch up to eight hits: their numbers are packed as bytes. Writes eight pairs at
/// least.
class HitWriter {
  public:
    HWY_INLINE explicit HitWriter(const std::uint32_t* ids) : ids_(ids) {
        for (int q = 0; q < 4; ++q) id_[q] = _mm512_loadu_si512(ids + 16 * q);
    }

    HWY_INLINE Pair* operator()(Pair* end, std::uint32_t home, std::uint64_t hits) const {
        HWY_ALIGN static constexpr std::uint8_t counting[64] = {
            0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
            22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
            44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
        const std::size_t count = hwy::PopCount(hits);
        if (count > 8) [[unlikely]]
            return write_hits(end, home, hits, ids_);
        const __m512i bytes = _mm512_maskz_compress_epi8(hits, _mm512_load_si512(counting));
        // In the odd lanes, numbers of ids: the low five bits choose from 32 of them, the sixth which 32.
        const __m512i number = _mm512_slli_epi64(_mm512_cvtepu8_epi64(_mm512_castsi512_si128(bytes)), 32);
        const __m512i low = _mm512_permutex2var_epi32(id_[0], number, id_[1]);
        const __m512i high = _mm512_permutex2var_epi32(id_[2], number, id_[3]);
        const __m512i second = _mm512_mask_mov_epi32(low, _mm512_test_epi32_mask(number, _mm512_set1_epi32(32)), high);
        _mm512_storeu_si512(end, _mm512_mask_set1_epi32(second, 0x5555, static_cast<int>(home)));
        return end + count;
    }

  private:
    const std::uint32_t* ids_;
    __m512i id_[4];
};
#else
class HitWriter {
  public:
    HWY_INLINE explicit HitWriter(const std::uint32_t* ids) : ids_(ids) {}
    HWY_INLINE Pair* operator()(Pair* end, std::uint32_t home, std::uint64_t hits) const {
        return write_hits(end, home, hits, ids_);
    }

  private:
    const std::uint32_t* ids_;
};
#endif

/// Puts the smaller id first in the pairs [from, end of out), many pairs after they were written: ids are in no order,
/// so a branch per pair would be mispredicted half of the time.
inline void order_pairs(PairBuffer& out, std::size_t from) {
    namespace hn = hwy::HWY_NAMESPACE;
    std::size_t n = 2 * (out.size() - from);
    auto* words = reinterpret_cast<std::uint32_t*>(out.reserve(0)) - n;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint32_t> u;
    for (; n >= hn::Lanes(u); n -= hn::Lanes(u), words += hn::Lanes(u)) {
        const auto pairs = hn::LoadU(u, words), swapped = hn::Shuffle2301(pairs);
        hn::StoreU(hn::OddEven(hn::Max(pairs, swapped), hn::Min(pairs, swapped)), u, words);
    }
#endif
    for (; n != 0; n -= 2, words += 2)
        if (words[0] > words[1]) std::swap(words[0], words[1]);
}

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
