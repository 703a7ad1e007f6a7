// The same function as PerfectHash<3>::place() with the test for the bounding box, all axes in one register: where the
// sizes fit, both remainders of a position take six lanes of 16 bits.
//
//     lane      0      1      2    3      4      5      6    7
//     v         x      y      z    0      x      y      z    0      relative to the corner, below 2^15
//     mod       r.x    r.y    r.z  1      m.x    m.y    m.z  1      -> h1 in lanes 0-2, h0 in lanes 4-6
//     stride    1      r.x   r.xr.y 0     0      0      0    0      -> bucket = the sum of the products
//     phi       x      y      z    -                                one read of the offset table
//     stride    1      m.x   m.xm.y 0                               -> slot = the sum of ((h0 + phi) mod m) stride
//
// A random lookup waits for memory, and what counts is how many of them stand in the processor's window at once: this
// form has fewer instructions and a third of the loads of the tables in PerfectHash (docs/decisions/0043).
//
// Remainders: with c = 2^16 / d rounded down, v c >> 16 is v / d rounded down or one less for all v below 2^15, so that
// v - q d is below 2 d, and one conditional subtraction is left.
#pragma once

#include <quadrat/voxels/detail/lanes.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

namespace quadrat::voxels {

class NarrowHash {
  public:
    NarrowHash() = default;
    /// Requires sizes_fit(hash), which fits() includes; shares its offset table without owning it.
    explicit NarrowHash(const PerfectHash<3>& hash);
    /// True if extents, sizes and products of two sizes are below 2^15, offsets are single bytes in steps of one, 4 MB
    /// at most, and none is as large as the table. Reads the offset table.
    [[nodiscard]] static bool fits(const PerfectHash<3>& hash);

    static constexpr bool available = have_lanes;

    /// False if p is outside the bounding box. Whatever the offset table holds, the slot is one of the table's.
    [[nodiscard, gnu::always_inline]] bool place([[maybe_unused]] const Voxel<3>& p,
                                                 [[maybe_unused]] PerfectHash<3>::Place& to) const {
#if defined(__x86_64__)
        // All of them before the branch, so that a loop may keep them in registers.
        const auto reciprocal = load_row<U16x8>(reciprocal_), divisor = load_row<U16x8>(divisor_),
                   bucket_stride = load_row<U16x8>(bucket_stride_), size = load_row<U16x8>(size_),
                   slot_stride = load_row<U16x8>(slot_stride_);
        const auto largest = load_row<I16x8>(largest_);
        const std::uint8_t* offsets = offsets_;
        // What does not fit into 16 bits saturates and is outside.
        U16x8 v = saturated_twice(load_position<3>(p.v) - load_row<U32x4>(origin_));
        if (top_bits(subtract_to_zero(v, load_row<U16x8>(last_)) == U16x8{}) != 0xffff) return false;
        v = reduced(v - multiply_high(v, reciprocal) * divisor, divisor);
        to.bucket = dot_of_four(v, bucket_stride);
        auto phi = reinterpret_cast<I16x8>(load_widened(offsets + std::size_t{to.bucket} * 3));
        phi = phi < largest ? phi : largest;  // only a broken file has larger ones
        const auto upper = reinterpret_cast<U64x2>(v);
        v = reinterpret_cast<U16x8>(U64x2{upper[1], upper[1]}) + reinterpret_cast<U16x8>(phi);
        v = reduced(v, size);
        to.slot = dot_of_four(v, slot_stride);
        return true;
#else
        return false;
#endif
    }

  private:
    [[nodiscard]] static bool sizes_fit(const PerfectHash<3>& hash);

    using Row = std::uint16_t[8];
    alignas(16) std::int32_t origin_[4] = {};
    alignas(16) Row last_ = {};        // the extent less one, in lanes 0-2 and 4-6
    alignas(16) Row reciprocal_ = {};  // c of the head
    alignas(16) Row divisor_ = {};     // r in lanes 0-2, m in lanes 4-6
    alignas(16) Row bucket_stride_ = {};
    alignas(16) Row size_ = {};     // m in lanes 0-2
    alignas(16) Row largest_ = {};  // m less one, in lanes 0-2
    alignas(16) Row slot_stride_ = {};
    const std::uint8_t* offsets_ = nullptr;
};

}  // namespace quadrat::voxels
