#include <quadrat/voxels/detail/narrow_hash.hpp>

#include "base/assert.hpp"

#include <bit>

namespace quadrat::voxels {
namespace {

constexpr std::uint32_t limit = (1u << 15) - 1;        // lanes are signed in sums of products
constexpr std::size_t longest = std::size_t{4} << 20;  // opening a file should not take longer than to read this

// Multiplier and shift of a division (see the head of narrow_hash.hpp).
struct Division {
    std::uint16_t reciprocal, shift;

    explicit Division(std::uint32_t d) {
        QUADRAT_ASSERT(d >= 3 && d <= limit);
        // A power of two would need c = 2^16; with one bit less it is 2^15, and exact.
        const int k = std::bit_width(d) - 1 - std::has_single_bit(d);
        reciprocal = static_cast<std::uint16_t>(((std::uint32_t{1} << (16 + k)) + d - 1) / d);
        shift = static_cast<std::uint16_t>(1 << (16 - k));
    }
};

}  // namespace

bool NarrowHash::sizes_fit(const PerfectHash<3>& hash) {
    if (!hash.identity() || hash.offset_bits() != 8 || hash.entries() == 0) return false;
    // h0 + phi is below twice the size before it is reduced. For 2 the shift of the head would be by none, and 2^16 is
    // no multiplier.
    const auto divides = [](std::uint32_t d) { return d != 2 && d <= limit / 2; };
    for (int a = 0; a < 3; ++a)
        if (hash.scale(a) != 1 || hash.extent()[static_cast<std::size_t>(a)] > limit || !divides(hash.table_size(a)) ||
            !divides(hash.offset_size(a)))
            return false;
    return hash.table_size(0) * hash.table_size(1) <= limit && hash.offset_size(0) * hash.offset_size(1) <= limit;
}

bool NarrowHash::fits(const PerfectHash<3>& hash) {
    if (hash.offsets().size() > longest || !sizes_fit(hash)) return false;
    const std::uint32_t size[3] = {hash.table_size(0), hash.table_size(1), hash.table_size(2)};
    const std::uint8_t* phi = hash.offsets().data();
    bool small = true;
    for (std::size_t b = 0; b < hash.buckets(); ++b, phi += 3)
        small &= (phi[0] < size[0]) & (phi[1] < size[1]) & (phi[2] < size[2]);
    return small;
}

NarrowHash::NarrowHash(const PerfectHash<3>& hash) : offsets_(hash.offsets().data()) {
    QUADRAT_ASSERT(sizes_fit(hash));
    const auto half = [](std::uint32_t x) { return static_cast<std::uint16_t>(x); };
    // The remainder by 1 is 0: with a divisor of 0 the lane keeps the position, and a stride of 0 takes it out of the
    // sum.
    const auto divide = [&](std::size_t lane, std::uint32_t d) {
        if (d == 1) return;
        const Division by(d);
        reciprocal_[lane] = by.reciprocal;
        shift_[lane] = by.shift;
        divisor_[lane] = half(d);
    };
    std::uint32_t bucket = 1, slot = 1;
    for (int a = 0; a < 3; ++a) {
        const std::uint32_t r = hash.offset_size(a), m = hash.table_size(a);
        origin_[a] = hash.origin()[a];
        last_[a] = last_[a + 4] = half(hash.extent()[static_cast<std::size_t>(a)] - 1);
        divide(static_cast<std::size_t>(a), r);
        divide(static_cast<std::size_t>(a) + 4, m);
        bucket_stride_[a] = half(r == 1 ? 0 : bucket);
        size_[a] = half(m);
        largest_[a] = half(m - 1);
        slot_stride_[a] = half(m == 1 ? 0 : slot);
        bucket *= r;
        slot *= m;
    }
}

}  // namespace quadrat::voxels
