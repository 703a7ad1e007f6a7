// Packing of vector lanes, for files that are compiled once per Highway target (base/simd.hpp): include it after
// hwy/highway.h and before HWY_BEFORE_NAMESPACE.
#ifndef QUADRAT_BASE_COMPRESS_TABLE
#define QUADRAT_BASE_COMPRESS_TABLE

#include <array>
#include <cstdint>

namespace quadrat::base {

/// Byte k of entry `mask`: which 32-bit lane goes to place k when lanes of `width` words whose bit is set are packed.
/// Mask 0b1010 with lanes of one word: lanes 1 and 3 go to places 0 and 1, entry 0x...0301.
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

/// Packs the lanes whose mask is set to the front, of one vector after the other with the same mask. With AVX2, and for
/// lanes of 64 bits with AVX-512, g++ copies the table of Highway 1.0's own Compress to the stack for every call, which
/// makes it ten times slower; this one has its table in memory, or takes the instruction. Lanes of 32 or 64 bits; D is
/// the tag of the mask.
template <class D>
class Packer {
    using Mask = hwy::HWY_NAMESPACE::Mask<D>;

  public:
#if HWY_TARGET == HWY_AVX2
    HWY_INLINE explicit Packer(Mask mask) {
        namespace hn = hwy::HWY_NAMESPACE;
        const hn::Rebind<std::uint8_t, decltype(d32)> d8;
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(
            &packing[sizeof(hn::TFromD<D>) == 4 ? 0 : 1][hn::detail::BitsFromMask(mask)]);
        from_ = hn::PromoteTo(d32, hn::LoadU(d8, bytes));
    }
    /// The packed lanes of v; those behind them are indeterminate. Lanes of DV are as wide as those of the mask.
    template <class DV, class V>
    HWY_INLINE V operator()(DV d, V v) const {
        namespace hn = hwy::HWY_NAMESPACE;
        return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(d32, v), hn::IndicesFromVec(d32, from_)));
    }

  private:
    static constexpr hwy::HWY_NAMESPACE::ScalableTag<std::uint32_t> d32{};
    hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<std::uint32_t>> from_;
#else
    HWY_INLINE explicit Packer(Mask mask) : mask_(mask) {}
    template <class DV, class V>
    HWY_INLINE V operator()(DV d, V v) const {
        namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET <= HWY_AVX3
        // To a register, never to memory, which takes hundreds of cycles on processors of AMD.
        if constexpr (sizeof(hn::TFromD<D>) == 8 && hn::MaxLanes(D()) == 8) {
            const hn::RebindToUnsigned<DV> words;
            return hn::BitCast(
                d, decltype(hn::BitCast(words, v)){_mm512_maskz_compress_epi64(mask_.raw, hn::BitCast(words, v).raw)});
        }
#endif
        return hn::Compress(v, hn::RebindMask(d, mask_));
    }

  private:
    Mask mask_;
#endif
};

/// The same for a single vector.
template <class D, class V, class M>
HWY_INLINE V compress(D d, V v, M mask) {
    return Packer<D>(mask)(d, v);
}

}  // namespace quadrat::base::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
