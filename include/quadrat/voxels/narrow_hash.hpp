// The same function as PerfectHash<3>::place() with the test for the bounding box, all axes in one register: where the
// sizes fit, both remainders of a position take six lanes of 16 bits. A random lookup waits for memory, and what counts
// is how many of them stand in the processor's window at once: this form has fewer instructions and a third of the
// loads of the tables in PerfectHash (docs/decisions/0043). SSE2 is enough; where there is none, tables serve.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#if defined(__SSE4_1__) || (defined(__x86_64__) && defined(__SSE2__))
#include <smmintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace quadrat {

#if defined(__SSE2__)
namespace voxels {

// The three steps of NarrowHash for which later instructions are shorter. SSE2 first.
struct Sse2Steps {
    // x y z 0
    [[nodiscard]] static __m128i load(const std::int32_t* p) {
        return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)), _mm_cvtsi32_si128(p[2]));
    }
    // Eight bytes as eight lanes.
    [[nodiscard]] static __m128i widened(__m128i bytes) { return _mm_unpacklo_epi8(bytes, _mm_setzero_si128()); }
    // x, or x - d where x >= d; both below 2^15.
    [[nodiscard]] static __m128i reduced(__m128i x, __m128i d) {
        const __m128i less = _mm_sub_epi16(x, d);
        return _mm_add_epi16(less, _mm_and_si128(_mm_srai_epi16(less, 15), d));
    }
};

// There in every x86-64 build, so that tests reach it; a build for SSE2 only would call it, not inline it.
#if defined(__SSE4_1__) || defined(__x86_64__)
#if defined(__SSE4_1__)
#define QUADRAT_SSE4_1
#else
#define QUADRAT_SSE4_1 __attribute__((target("sse4.1")))
#endif
struct Sse41Steps {
    [[nodiscard]] QUADRAT_SSE4_1 static __m128i load(const std::int32_t* p) {
        return _mm_insert_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)), p[2], 2);
    }
    [[nodiscard]] QUADRAT_SSE4_1 static __m128i widened(__m128i bytes) { return _mm_cvtepu8_epi16(bytes); }
    [[nodiscard]] QUADRAT_SSE4_1 static __m128i reduced(__m128i x, __m128i d) {
        return _mm_min_epu16(x, _mm_sub_epi16(x, d));
    }
};
#undef QUADRAT_SSE4_1
#endif

#if defined(__SSE4_1__)
using Steps = Sse41Steps;
#else
using Steps = Sse2Steps;
#endif

}  // namespace voxels
#endif

class NarrowHash {
  public:
    NarrowHash() = default;
    /// Requires fits(hash); shares its offset table without owning it.
    explicit NarrowHash(const PerfectHash<3>& hash);
    /// True if extents, sizes and products of two sizes are below 2^15, offsets are single bytes in steps of one, 4 MB
    /// at most, and none is as large as the table. Reads the offset table.
    [[nodiscard]] static bool fits(const PerfectHash<3>& hash);

#if defined(__SSE2__)
    static constexpr bool available = true;

    /// False if p is outside the bounding box. Whatever the offset table holds, the slot is one of the table's.
    [[nodiscard]] bool place(const Voxel<3>& p, PerfectHash<3>::Place& to) const {
        return place_by<voxels::Steps>(p, to);
    }

    template <class Steps>
    [[nodiscard]] bool place_by(const Voxel<3>& p, PerfectHash<3>::Place& to) const {
        // All of them before the branch, so that a loop may keep them in registers.
        const __m128i reciprocal = row(reciprocal_), divisor = row(divisor_), bucket_stride = row(bucket_stride_),
                      size = row(size_), largest = row(largest_), slot_stride = row(slot_stride_);
        const std::uint8_t* offsets = offsets_;
        __m128i v = _mm_sub_epi32(Steps::load(p.v), row(origin_));
        v = _mm_packs_epi32(v, v);  // x y z 0 x y z 0; what does not fit saturates and is outside
        const __m128i beyond = _mm_subs_epu16(v, row(last_));
        if (_mm_movemask_epi8(_mm_cmpeq_epi16(beyond, _mm_setzero_si128())) != 0xffff) return false;
        // Remainders by r (lanes 0-2) and m (4-6): the quotient is at most one too small.
        const __m128i quotient = _mm_mulhi_epu16(v, reciprocal);
        v = Steps::reduced(_mm_sub_epi16(v, _mm_mullo_epi16(quotient, divisor)), divisor);
        to.bucket = sum(_mm_madd_epi16(v, bucket_stride));
        const auto* at = reinterpret_cast<const __m128i*>(offsets + std::size_t{to.bucket} * 3);
        const __m128i phi =
            _mm_min_epi16(Steps::widened(_mm_loadl_epi64(at)), largest);  // only a broken file has larger ones
        v = Steps::reduced(_mm_add_epi16(_mm_unpackhi_epi64(v, v), phi), size);
        to.slot = sum(_mm_madd_epi16(v, slot_stride));
        return true;
    }

  private:
    using Row = std::uint16_t[8];
    [[nodiscard]] static __m128i row(const std::uint16_t* r) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(r));
    }
    [[nodiscard]] static __m128i row(const std::int32_t* r) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(r));
    }
    [[nodiscard]] static std::uint32_t sum(__m128i x) {
        return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 1))));
    }
#else
    static constexpr bool available = false;
    [[nodiscard]] bool place(const Voxel<3>&, PerfectHash<3>::Place&) const {
        return false;
    }

  private:
    using Row = std::uint16_t[8];
#endif

    alignas(16) std::int32_t origin_[4] = {};
    alignas(16) Row last_ = {};        // the extent less one, in lanes 0-2 and 4-6
    alignas(16) Row reciprocal_ = {};  // 2^16 / d
    alignas(16) Row divisor_ = {};     // r in lanes 0-2, m in lanes 4-6
    alignas(16) Row bucket_stride_ = {};
    alignas(16) Row size_ = {};     // m in lanes 0-2
    alignas(16) Row largest_ = {};  // m less one, in lanes 0-2
    alignas(16) Row slot_stride_ = {};
    const std::uint8_t* offsets_ = nullptr;
};

}  // namespace quadrat
