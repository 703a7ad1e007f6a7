// The test that every lookup begins with: is the position in the bounding box, and where. With lanes all axes are
// tested at once: a lookup holds fewer places in the processor's window, and more of them wait for memory at the same
// time (docs/decisions/0043). Elsewhere one axis after another.
#pragma once

#include <quadrat/geometry.hpp>
#include <quadrat/voxels/detail/lanes.hpp>

#include <array>
#include <cstdint>

namespace quadrat::voxels {

template <int D>
class DomainBox {
  public:
    /// An empty box: nothing is inside.
    DomainBox() : DomainBox({}, {}, {}) {}
    /// Positions from `origin` on, `extent` on each axis; `start` is added to what locate() gives.
    DomainBox(const Vec<D, std::int32_t>& origin, const std::array<std::uint32_t, D>& extent,
              const std::array<std::uint32_t, D>& start) {
        for (std::size_t a = 0; a < D; ++a) {
            origin_[a] = static_cast<std::uint32_t>(origin[static_cast<int>(a)]);
            extent_[a] = extent[a] ^ top;
            start_[a] = start[a];
        }
    }

    /// False if p is outside; otherwise at[a] = p[a] - origin[a] + start[a].
    [[nodiscard, gnu::always_inline]] bool locate(const Vec<D, std::int32_t>& p,
                                                  std::array<std::uint32_t, D>& at) const {
#if defined(__x86_64__)
        U32x4 v = load_position<D>(p.v) - load_row<U32x4>(origin_);
        const auto inside = reinterpret_cast<I32x4>(v ^ top) < load_row<I32x4>(extent_);
        constexpr std::uint32_t axes = (1u << 4 * D) - 1;  // four bytes each
        if ((top_bits(inside) & axes) != axes) return false;
        v += load_row<U32x4>(start_);
        for (std::size_t a = 0; a < D; ++a) at[a] = v[a];
        return true;
#else
        for (std::size_t a = 0; a < D; ++a) {
            const std::uint32_t local = static_cast<std::uint32_t>(p[static_cast<int>(a)]) - origin_[a];
            if (local >= (extent_[a] ^ top)) return false;
            at[a] = local + start_[a];
        }
        return true;
#endif
    }

  private:
    // Numbers without sign compare like numbers with one when the top bits are flipped: those of the extent are stored
    // so.
    static constexpr std::uint32_t top = 0x80000000u;

    alignas(16) std::uint32_t origin_[4] = {};
    alignas(16) std::uint32_t extent_[4] = {top, top, top, top};
    alignas(16) std::uint32_t start_[4] = {};
};

}  // namespace quadrat::voxels
