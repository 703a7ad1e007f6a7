// The same function as PerfectHash<3>::place() with the test for the bounding box, all axes in one register: where the
// sizes fit, both remainders of a position take six lanes of 16 bits.
//
//     lane      0      1      2    3      4      5      6    7
//     v         x      y      z    0      x      y      z    0      relative to the corner, below 2^15
//     mod       r.x    r.y    r.z  0      m.x    m.y    m.z  0      -> h1 in lanes 0-2, h0 in lanes 4-6
//     stride    1      r.x   r.xr.y 0     0      0      0    0      -> bucket = the sum of the products
//     phi       x      y      z    -                                one read of the offset table
//     stride    1      m.x   m.xm.y 0                               -> slot = the sum of ((h0 + phi) mod m) stride
//
// A random lookup waits for memory, and what counts is how many of them stand in the processor's window at once: this
// form has fewer instructions and a third of the loads of the tables in PerfectHash (docs/decisions/0043).
//
// Remainders: with c = 2^16 / d rounded down, v c >> 16 is v / d rounded down or one less for all v below 2^15, so that
// v - q d is below 2 d, and one conditional subtraction is left. Lanes 3 and 7 hold zeros: of the next bucket's
// offset, which is read with this one, the largest that lane 3 allows is 0.
#pragma once

#include <quadrat/voxels/detail/lanes.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

namespace quadrat::voxels {

/// The constants of a lookup, one row for each step. Used by FastFind, which keeps the hash itself beside it. It does
/// not change after it was made, and place() may run on many threads.
class NarrowHash {
  public:
    /// Of no use but to be assigned to.
    NarrowHash() = default;
    /// Shares the offset table of the hash without owning it: the hash, or a copy of it, must outlive this.
    ///
    /// hash: one for which fits() holds. Offsets that are too large do no harm: they are cut to the largest legal one.
    explicit NarrowHash(const PerfectHash<3>& hash);
    /// True if a lookup fits the lanes. Matrices are the identity; extents and the products of the x and y sizes of a
    /// table are below 2^15, as sums of products take signed lanes; sizes are below 2^14, so that twice a size does not
    /// overflow a lane; offsets are single bytes in steps of one, 4 MB at most, and each is smaller than the table on
    /// its axis. Reads the whole offset table. False for a hash without entries.
    [[nodiscard]] static bool fits(const PerfectHash<3>& hash);

    /// Whether this processor has lanes; place() is always false otherwise, and must not be asked.
    static constexpr bool available = have_lanes;

    /// Slot and bucket of p, as PerfectHash<3>::place() gives them. False, with `to` unchanged, if p is outside the
    /// bounding box. Whatever the offset table holds, the slot is one of the table's. Always inlined.
    ///
    /// p: any position.
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
        // Six remainders at once: by r in the lower lanes, by m in the upper ones.
        v = reduced(v - multiply_high(v, reciprocal) * divisor, divisor);
        to.bucket = dot_of_four(v, bucket_stride);
        auto phi = reinterpret_cast<I16x8>(load_widened(offsets + std::size_t{to.bucket} * 3));
        // fits() saw none that is larger; those of a mapped file may change after it.
        phi = phi < largest ? phi : largest;
        // h0, from the upper half, where the offset is.
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
    // fits() without the contents of the offset table.
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
