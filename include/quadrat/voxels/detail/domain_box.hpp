// The test that every lookup begins with: is the position in the bounding box, and where. With lanes all axes are
// tested at once: a lookup holds fewer places in the processor's window, and more of them wait for memory at the same
// time (docs/decisions/0043). Elsewhere one axis after another. Both give the same answers for every position, those at
// the ends of 32 bits included.
//
// One comparison per axis is enough: p - origin is taken modulo 2^32, so that what lies before the origin becomes a
// large number, and `p - origin < extent` without sign answers for both sides of the box. SSE2 compares numbers with
// sign only. Flipping the top bit of both sides keeps their order:
//
//     without sign    0          ..  0x7fffffff   0x80000000  ..  0xffffffff
//     top flipped     0x80000000 ..  0xffffffff   0x00000000  ..  0x7fffffff
//     with sign       -2^31      ..  -1           0           ..  2^31 - 1
#pragma once

#include <quadrat/geometry.hpp>
#include <quadrat/voxels/detail/lanes.hpp>

#include <array>
#include <cstdint>

namespace quadrat::voxels {

/// A box of positions that can be asked whether it holds one. Used by FastFind alone; it does not change after it was
/// made, and all calls may run concurrently.
template <int D>
class DomainBox {
  public:
    /// An empty box: nothing is inside.
    DomainBox() : DomainBox({}, {}, {}) {}
    /// Positions from `origin` on, `extent` on each axis.
    ///
    /// extent: 0 on an axis is an empty box; origin + extent - 1 is within 32 bits.
    /// start: added to what locate() gives: where the tables of each axis begin (PerfectHash::table_starts), or the
    ///        place of the origin in its brick.
    DomainBox(const Vec<D, std::int32_t>& origin, const std::array<std::uint32_t, D>& extent,
              const std::array<std::uint32_t, D>& start) {
        for (std::size_t a = 0; a < D; ++a) {
            origin_[a] = static_cast<std::uint32_t>(origin[static_cast<int>(a)]);
            extent_[a] = extent[a] ^ top;
            start_[a] = start[a];
        }
    }

    /// False, and `at` unchanged where there are lanes, if p is outside; otherwise at[a] = p[a] - origin[a] + start[a].
    /// O(1), one branch with lanes. Always inlined, as it stands in the loop of every lookup.
    ///
    /// p: any position.
    [[nodiscard, gnu::always_inline]] bool locate(const Vec<D, std::int32_t>& p,
                                                  std::array<std::uint32_t, D>& at) const {
#if defined(__x86_64__)
        U32x4 v = load_position<D>(p.v) - load_row<U32x4>(origin_);
        const auto inside = reinterpret_cast<I32x4>(v ^ top) < load_row<I32x4>(extent_);
        // A bit for each byte, four for each axis; the lanes beyond D are not looked at:
        //
        //     bit   15 .. 12   11 .. 8   7 .. 4   3 .. 0
        //             not        z         y        x
        constexpr std::uint32_t axes = (1u << 4 * D) - 1;
        if ((top_bits(inside) & axes) != axes) return false;
        v += load_row<U32x4>(start_);
        for (std::size_t a = 0; a < D; ++a) at[a] = v[a];
        return true;
#else
        // The same test, axis by axis: what is outside on one ends it.
        for (std::size_t a = 0; a < D; ++a) {
            const std::uint32_t local = static_cast<std::uint32_t>(p[static_cast<int>(a)]) - origin_[a];
            if (local >= (extent_[a] ^ top)) return false;
            at[a] = local + start_[a];
        }
        return true;
#endif
    }

  private:
    // The bit of the head; extents are stored with it flipped.
    static constexpr std::uint32_t top = 0x80000000u;

    // Rows of four lanes, whatever D is; those that D does not have are zero, and their extent is empty.
    alignas(16) std::uint32_t origin_[4] = {};
    alignas(16) std::uint32_t extent_[4] = {top, top, top, top};
    alignas(16) std::uint32_t start_[4] = {};
};

}  // namespace quadrat::voxels
