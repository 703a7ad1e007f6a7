#include <quadrat/voxels/detail/narrow_hash.hpp>

#include "base/assert.hpp"

#include <algorithm>

namespace quadrat::voxels {
namespace {

constexpr std::uint32_t limit = (1u << 15) - 1;        // lanes are signed in sums of products
constexpr std::size_t longest = std::size_t{4} << 20;  // opening a file should not take longer than to read this

}  // namespace

bool NarrowHash::sizes_fit(const PerfectHash<3>& hash) {
    if (!hash.identity() || hash.offset_bits() != 8 || hash.entries() == 0) return false;
    // What is reduced is below twice the divisor.
    const auto divides = [](std::uint32_t d) { return d <= limit / 2; };
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
    // c of the head; for 1 it would need a bit more, and one less serves as well: the quotient is one too small.
    const auto reciprocal = [&](std::uint32_t d) { return half(std::min(0x10000u / d, 0xffffu)); };
    std::uint32_t bucket = 1, slot = 1;
    for (int a = 0; a < 3; ++a) {
        const std::uint32_t r = hash.offset_size(a), m = hash.table_size(a);
        origin_[a] = hash.origin()[a];
        last_[a] = last_[a + 4] = half(hash.extent()[static_cast<std::size_t>(a)] - 1);
        reciprocal_[a] = reciprocal(r);
        reciprocal_[a + 4] = reciprocal(m);
        divisor_[a] = half(r);
        divisor_[a + 4] = half(m);
        bucket_stride_[a] = half(bucket);
        size_[a] = half(m);
        largest_[a] = half(m - 1);
        slot_stride_[a] = half(slot);
        bucket *= r;
        slot *= m;
    }
}

}  // namespace quadrat::voxels
