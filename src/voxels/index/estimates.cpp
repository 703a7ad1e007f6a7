// Bytes of each layout from counts alone, so that `automatic` needs no clock and no trial. Offsets are taken at the
// densities that constructions reach on random data (hash/build.hpp).
#include "voxels/index/estimates.hpp"

#include "base/assert.hpp"
#include "voxels/hash/build.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/hash/short_tags.hpp"
#include "voxels/index/key_code.hpp"
#include "voxels/index/ranked.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace quadrat::voxels {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// Bits per slot that the encoding needs.
double tag_bits(Encoding encoding, double entries, double cells, double position, double bucket) {
    switch (encoding) {
        case Encoding::constrained:
            return 0;
        case Encoding::domain_bit:
            return cells / entries;
        case Encoding::position_tag:
            return position;
        case Encoding::position_hash:
            return 16;
        case Encoding::bucket_tag:
            return bucket;
        case Encoding::automatic:
            break;
    }
    const bool hashes = cells < 0x1p60 &&
                        position_hashes_may_be(static_cast<std::uint64_t>(cells), static_cast<std::uint64_t>(entries));
    return std::min({position, bucket, cells / entries, hashes ? 16 : never});
}

}  // namespace

double position_hash_chance(double cells, double slots) {
    QUADRAT_ASSERT(cells > 0 && slots > 0);
    const double mean = cells / slots, sigma = std::sqrt(mean);
    double sum = 0;
    constexpr double step = 0.01;  // of sigma: what is left out beyond 6 sigma is 2e-9
    for (int i = -600; i <= 600; ++i) {
        const double x = mean + i * step * sigma;
        if (x < 1) continue;
        const double fail_one = 1 - std::pow(1 - 1.0 / 256, x - 1);
        const double t = (x - mean) / sigma;
        sum += step * std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi) * std::pow(fail_one, 256);
    }
    return std::exp(-sum * slots);
}

template <int D>
LayoutBits layout_bits(std::span<const Voxel<D>> positions, const VoxelOptions& options) {
    QUADRAT_ASSERT(!positions.empty());
    const auto n = static_cast<double>(positions.size());
    const bool compact = options.construction == Construction::compact;
    const double slack = slots_per_entry(options.construction);
    const double offset = offset_bits_on_random_data(options.construction);
    const Domain<D> domain = bounding_box<D>(positions);
    double cells = 1, position = 0;
    for (const std::uint32_t e : domain.extent) {
        cells *= e;
        position += bits_for(std::uint64_t{e} + 1);
    }
    // Bits of a bucket tag over so many keys in a domain whose edges are divided by `brick`.
    const auto bucket_bits = [&](double keys, int brick, int granule) {
        const double buckets = std::floor(keys * offset / (8 * D)) + 1, table = std::pow(keys * slack, 1.0 / D);
        double share = 1;
        for (const std::uint32_t e : domain.extent)
            share *= std::min(1.0, e / (brick * table * std::pow(buckets, 1.0 / D)));
        return static_cast<double>(short_tag_bits(buckets, keys / buckets, share, granule, compact));
    };
    const double tag = tag_bits(options.encoding, n, cells, position, bucket_bits(n, 1, 1));
    LayoutBits out;
    out.voxel = n * (offset + slack * tag + (slack - 1) * 8 * static_cast<double>(options.value_bytes));
    // A bit for each cell, and a count of 32 bits for every 512 of them.
    out.bits = cells < 0x1p36 ? cells * (1 + 32.0 / Bits<D>::cells_per_rank) : never;
    out.bricks = count_bricks<D>(positions);
    const auto bricks = static_cast<double>(out.bricks);
    const double brick_tag = std::ceil(bucket_bits(bricks, 1 << brick_shift<D>, 8) / 8);
    out.brick = bricks * (offset + slack * (8.0 * BrickRecords::fixed_bytes + 8 * brick_tag));
    out.keys =
        static_cast<double>(KeyShape::smallest(domain.cells(), static_cast<std::uint32_t>(positions.size())).bits());
    const double list = n * bits_for(domain.cells()), hash = std::min({out.voxel, out.brick, out.bits});
    out.automatic =
        hash > std::max(list, out.keys) || options.optimize == Optimize::size ? std::min(hash, out.keys) : hash;
    return out;
}

template <int D>
std::uint64_t estimate_bytes(std::span<const Voxel<D>> positions, const VoxelOptions& options) {
    if (positions.empty()) return 0;
    const LayoutBits b = layout_bits<D>(positions, options);
    double bits = b.automatic;
    if (options.layout == Layout::keys) bits = b.keys;
    if (options.layout == Layout::bits) bits = b.bits;
    if (options.layout == Layout::brick) bits = b.brick;
    const bool tagged = options.layout == Layout::automatic && options.encoding != Encoding::automatic;
    if (options.layout == Layout::voxel || tagged) bits = b.voxel;
    return bits < 0x1p60 ? static_cast<std::uint64_t>(bits / 8) : std::uint64_t{1} << 57;
}

template LayoutBits layout_bits<2>(std::span<const Voxel<2>>, const VoxelOptions&);
template LayoutBits layout_bits<3>(std::span<const Voxel<3>>, const VoxelOptions&);
template std::uint64_t estimate_bytes<2>(std::span<const Voxel<2>>, const VoxelOptions&);
template std::uint64_t estimate_bytes<3>(std::span<const Voxel<3>>, const VoxelOptions&);

}  // namespace quadrat::voxels
