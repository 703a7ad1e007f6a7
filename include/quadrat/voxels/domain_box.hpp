// The test that every lookup begins with: is the position in the bounding box, and where. On x86 all axes are tested at
// once: a lookup holds fewer places in the processor's window, and more of them wait for memory at the same time
// (docs/decisions/0043). Elsewhere one axis after another.
#pragma once

#include <quadrat/geometry.hpp>

#include <array>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace quadrat {

template <int D>
class DomainBox {
  public:
    DomainBox() = default;
    /// Positions from `origin` on, `extent` on each axis; `start` is added to what locate() gives.
    DomainBox(const Vec<D, std::int32_t>& origin, const std::array<std::uint32_t, D>& extent,
              const std::array<std::uint32_t, D>& start) {
        for (int a = 0; a < D; ++a) {
            origin_[a] = static_cast<std::uint32_t>(origin[a]);
            extent_[a] = extent[static_cast<std::size_t>(a)];
            start_[a] = start[static_cast<std::size_t>(a)];
        }
    }

    /// False if p is outside; otherwise at[a] = p[a] - origin[a] + start[a].
    [[nodiscard]] bool locate(const Vec<D, std::int32_t>& p, std::array<std::uint32_t, D>& at) const {
#if defined(__SSE2__)
        __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p.v));
        if constexpr (D == 3) v = _mm_unpacklo_epi64(v, _mm_cvtsi32_si128(p.v[D - 1]));
        v = _mm_sub_epi32(v, _mm_load_si128(reinterpret_cast<const __m128i*>(origin_)));
        // Unsigned comparison as a signed one, with the top bits flipped.
        const __m128i top = _mm_set1_epi32(static_cast<int>(0x80000000u));
        const __m128i extent = _mm_xor_si128(_mm_load_si128(reinterpret_cast<const __m128i*>(extent_)), top);
        const __m128i inside = _mm_cmpgt_epi32(extent, _mm_xor_si128(v, top));
        if (_mm_movemask_ps(_mm_castsi128_ps(inside)) != (1 << D) - 1) return false;  // unused lanes have extent 0
        v = _mm_add_epi32(v, _mm_load_si128(reinterpret_cast<const __m128i*>(start_)));
        at[0] = static_cast<std::uint32_t>(_mm_cvtsi128_si32(v));
        at[1] = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_shuffle_epi32(v, 1)));
        if constexpr (D == 3) at[D - 1] = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_unpackhi_epi64(v, v)));
        return true;
#else
        for (int a = 0; a < D; ++a) {
            const std::uint32_t local = static_cast<std::uint32_t>(p[a]) - origin_[a];
            if (local >= extent_[a]) return false;
            at[static_cast<std::size_t>(a)] = local + start_[a];
        }
        return true;
#endif
    }

  private:
    alignas(16) std::uint32_t origin_[4] = {};
    alignas(16) std::uint32_t extent_[4] = {};
    alignas(16) std::uint32_t start_[4] = {};
};

}  // namespace quadrat
