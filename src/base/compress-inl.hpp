// Packing of vector lanes, for files that are compiled once per Highway target (base/simd.hpp): include it after
// hwy/highway.h and before HWY_BEFORE_NAMESPACE.
#ifndef QUADRAT_BASE_COMPRESS_TABLE
#define QUADRAT_BASE_COMPRESS_TABLE

#include <array>
#include <cstdint>

namespace quadrat::base {

/// Byte k of entry `mask`: which 32-bit lane goes to place k when lanes of `width` words whose bit is set are packed.
constexpr std::array<std::uint64_t, 256> packing_table(unsigned width) {
    std::array<std::uint64_t, 256> table{};
    for (unsigned mask = 0; mask < 256; ++mask) {
        unsigned place = 0;
        for (unsigned lane = 0; lane < 8 / width; ++lane)
            if (mask >> lane & 1)
                for (unsigned word = 0; word < width; ++word)
                    table[mask] |= std::uint64_t{lane * width + word} << (8 * place++);
    }
    return table;
}
inline constexpr std::array<std::uint64_t, 256> packing[2] = {packing_table(1), packing_table(2)};

}  // namespace quadrat::base
#endif

#if defined(QUADRAT_BASE_COMPRESS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUADRAT_BASE_COMPRESS_INL
#undef QUADRAT_BASE_COMPRESS_INL
#else
#define QUADRAT_BASE_COMPRESS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::base::HWY_NAMESPACE {

/// The lanes whose mask is set, packed to the front. With AVX2 g++ copies the table of Highway 1.0's own to the stack
/// for every call, which makes it ten times slower; this one has its table in memory. Lanes of 32 or 64 bits.
template <class DV, class V, class M>
HWY_INLINE V compress(DV d, V v, M mask) {
    namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX2
    const hn::ScalableTag<std::uint32_t> d32;
    const hn::Rebind<std::uint8_t, decltype(d32)> d8;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(
        &packing[sizeof(hn::TFromD<DV>) == 4 ? 0 : 1][hn::detail::BitsFromMask(mask)]);
    const auto from = hn::IndicesFromVec(d32, hn::PromoteTo(d32, hn::LoadU(d8, bytes)));
    return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(d32, v), from));
#else
    (void)d;
    return hn::Compress(v, mask);
#endif
}

}  // namespace quadrat::base::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
