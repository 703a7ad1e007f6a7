// Writing of pairs, for the kernels that are compiled once per Highway target (base/simd.hpp): include it after
// hwy/highway.h and before HWY_BEFORE_NAMESPACE.
#include "broad_phase/pair_kernel.hpp"

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
