#include <quadrat/voxels/narrow_hash.hpp>

#include <algorithm>

namespace quadrat {

bool NarrowHash::fits(const PerfectHash<3>& hash) {
    constexpr std::uint32_t limit = (1u << 15) - 1;
    constexpr std::size_t longest = std::size_t{4} << 20;
    if (hash.offsets().size() > longest) return false;  // opening a file should not take longer than that
    if (!hash.identity() || hash.offset_bits() != 8 || hash.entries() == 0) return false;
    std::uint32_t size[3];
    for (int a = 0; a < 3; ++a) {
        size[a] = hash.table_size(a);
        // A remainder is below twice the divisor before it is reduced.
        if (hash.scale(a) != 1 || hash.extent()[static_cast<std::size_t>(a)] > limit || size[a] > limit / 2 ||
            hash.offset_size(a) > limit / 2)
            return false;
    }
    if (size[0] * size[1] > limit || hash.offset_size(0) * hash.offset_size(1) > limit) return false;
    const std::uint8_t* phi = hash.offsets().data();
    bool small = true;
    for (std::size_t b = 0; b < hash.buckets(); ++b, phi += 3)
        small &= (phi[0] < size[0]) & (phi[1] < size[1]) & (phi[2] < size[2]);
    return small;
}

NarrowHash::NarrowHash(const PerfectHash<3>& hash) : offsets_(hash.offsets().data()) {
    const auto half = [](std::uint32_t x) { return static_cast<std::uint16_t>(x); };
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

}  // namespace quadrat
