#include "voxels/hash/short_tags.hpp"

#include "base/assert.hpp"
#include "voxels/hash/domain.hpp"

#include <cmath>
#include <utility>

namespace quadrat::voxels {

int short_tag_bits(double buckets, double points_per_bucket, double share, int granule, bool compact) {
    QUADRAT_ASSERT(granule >= 1);
    const double most_partners = compact ? 16 : 6, most_meetings = compact ? 0.25 : 0.5;
    const int whole = bits_for(static_cast<std::uint64_t>(buckets) + 1);
    // Partners of large sets are far apart in memory: the tests would take longer than the placement.
    if (!compact && buckets * points_per_bucket > 2e6) return whole;
    for (int bits = (4 + granule - 1) / granule * granule; bits < whole; bits += granule) {
        const double partners = buckets / std::exp2(bits);
        if (partners <= most_partners && 2 * points_per_bucket * partners * share <= most_meetings) return bits;
    }
    return whole;
}

ShortTags::ShortTags(int bits, const Sizes& table, const Sizes& offset, const Sizes& extent, const Sizes& unit)
    : bits_(bits), table_(table), offset_(offset) {
    QUADRAT_ASSERT(bits >= 1 && bits <= 40);
    for (std::size_t a = 0; a < 3; ++a) {
        const std::uint64_t m = table[a], r = offset[a];
        QUADRAT_ASSERT(m * r >= extent[a]);
        const std::uint64_t inv = inverse(static_cast<std::uint32_t>(r % m), table[a]);
        share_[a].resize(m);
        for (std::uint64_t u = 0; u < m; ++u)
            share_[a][u] = static_cast<std::uint32_t>(u * (unit[a] % m * inv % m) % m);
        bound_[a].resize(r);
        for (std::uint64_t q = 0; q < r; ++q)
            bound_[a][q] = {static_cast<std::uint32_t>(q % m * inv % m),
                            q < extent[a] ? static_cast<std::uint32_t>((extent[a] - q + r - 1) / r) : 0};
    }
    const std::uint64_t rows = step() / offset[0];
    stride_[0] = static_cast<std::uint32_t>(step() % offset[0]);
    stride_[1] = static_cast<std::uint32_t>(rows % offset[1]);
    stride_[2] = static_cast<std::uint32_t>(rows / offset[1]);
}

}  // namespace quadrat::voxels
