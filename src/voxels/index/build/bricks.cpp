// The brick layout: positions sorted by brick, a hash over the bricks, and a record for each of its slots.
#include <quadrat/error.hpp>

#include "base/array.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/index/build.hpp"
#include "voxels/index/estimates.hpp"

#include <algorithm>
#include <vector>

namespace quadrat::voxels {
namespace {

constexpr int byte_tags = 8;  // bits: records are whole bytes

// Bricks in the order z, y, x:
//
//     bits  62 .. 42   41 .. 21   20 .. 0
//              z          y          x         each coordinate >> brick_shift, modulo 2^21
template <int D>
std::uint64_t brick_key(const Voxel<D>& p) {
    std::uint64_t key = 0;
    for (int a = D - 1; a >= 0; --a) key = key << 21 | (static_cast<std::uint32_t>(p[a] >> brick_shift<D>) & 0x1fffff);
    return key;
}

struct Item {
    std::uint64_t key;
    std::uint32_t index;
};

// The positions by brick, and by index within one.
template <int D>
base::Array<Item> sorted_by_brick(std::span<const Voxel<D>> positions, const Voxel<D>& corner) {
    base::Array<Item> items(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        Voxel<D> p = positions[i];
        for (int a = 0; a < D; ++a) {  // bricks count from the first, so that keys sort by position
            const auto lo = static_cast<std::uint32_t>(corner[a]);
            p[a] = static_cast<std::int32_t>(static_cast<std::uint32_t>(p[a]) - lo + (lo & ((1u << brick_shift<D>)-1)));
        }
        items[i] = {brick_key<D>(p), static_cast<std::uint32_t>(i)};
    }
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; });
    return items;
}

template <int D>
std::vector<Voxel<D>> bricks_of(std::span<const Voxel<D>> positions, const base::Array<Item>& items) {
    std::vector<Voxel<D>> bricks;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i && items[i].key == items[i - 1].key) continue;
        Voxel<D> b;
        for (int a = 0; a < D; ++a) b[a] = positions[items[i].index][a] >> brick_shift<D>;
        bricks.push_back(b);
    }
    return bricks;
}

// The records of detail/fast_find.hpp. A slot without a brick has an empty mask.
template <int D>
Buffer write_records(std::span<const Voxel<D>> positions, const base::Array<Item>& items,
                     std::span<const Voxel<D>> bricks, const PerfectHash<D>& hash) {
    const auto tag_bits = static_cast<std::uint32_t>(hash.tag_bits());
    const std::size_t stride = BrickRecords::stride_for(tag_bits), fixed = BrickRecords::fixed_bytes;
    Buffer table = Buffer::zeros(std::size_t{hash.slots()} * stride + table_padding);
    std::uint8_t* records = table.data.get();
    const auto empty = static_cast<std::uint32_t>((std::uint64_t{1} << tag_bits) - 1);
    for (std::uint32_t s = 0; s < hash.slots(); ++s) std::memcpy(records + s * stride + fixed, &empty, stride - fixed);
    std::size_t next = 0;
    for (const Voxel<D>& b : bricks) {
        const auto place = hash.place(local_in(hash, b));
        const auto before = static_cast<std::uint32_t>(next);
        std::uint64_t mask = 0;
        for (const std::uint64_t key = items[next].key; next < items.size() && items[next].key == key; ++next) {
            const Voxel<D>& p = positions[items[next].index];
            std::array<std::uint32_t, D> bits;
            for (std::size_t a = 0; a < D; ++a) bits[a] = static_cast<std::uint32_t>(p[static_cast<int>(a)]);
            const std::uint32_t bit = InBricks<D>(bits).bit;
            if (mask >> bit & 1) throw_duplicate<D>(positions, items[next].index);
            mask |= std::uint64_t{1} << bit;
        }
        std::uint8_t* record = records + place.slot * stride;
        std::memcpy(record, &mask, 8);
        std::memcpy(record + 8, &before, 4);
        std::memcpy(record + fixed, &place.bucket, stride - fixed);  // the low bytes
    }
    QUADRAT_ASSERT(next == items.size());
    return table;
}

}  // namespace

template <int D>
std::uint64_t count_bricks(std::span<const Voxel<D>> positions) {
    std::vector<std::uint64_t> keys(positions.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = brick_key<D>(positions[i]);
    std::sort(keys.begin(), keys.end());
    return static_cast<std::uint64_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
}

template <int D>
Draft<D> Builders<D>::bricks(std::span<const Voxel<D>> positions, const VoxelOptions& options, std::uint64_t most_bits,
                             PerfectHashReport* report) {
    const Domain<D> domain = bounding_box<D>(positions);
    const base::Array<Item> items = sorted_by_brick<D>(positions, domain.origin);
    const std::vector<Voxel<D>> bricks = bricks_of<D>(positions, items);
    Draft<D> draft;
    draft.hash = limited_hash<D>(bricks, hash_options(options, byte_tags), most_bits, Spread::never, report);
    if (!draft.hash.unique_tags())
        throw Error(ErrorKind::unsupported, "too few bricks for so large a domain; take the voxel layout",
                    {.field = "layout"});
    draft.parts.layout = Layout::brick;
    draft.parts.encoding = Encoding::bucket_tag;
    draft.parts.origin = domain.origin;
    draft.parts.extent = domain.extent;
    draft.parts.tag_bits = static_cast<std::uint32_t>(draft.hash.tag_bits());
    draft.parts.tables[Table::bricks] = write_records<D>(positions, items, bricks, draft.hash);
    return draft;
}

template std::uint64_t count_bricks<2>(std::span<const Voxel<2>>);
template std::uint64_t count_bricks<3>(std::span<const Voxel<3>>);
template Draft<2> Builders<2>::bricks(std::span<const Voxel<2>>, const VoxelOptions&, std::uint64_t,
                                      PerfectHashReport*);
template Draft<3> Builders<3>::bricks(std::span<const Voxel<3>>, const VoxelOptions&, std::uint64_t,
                                      PerfectHashReport*);

}  // namespace quadrat::voxels
