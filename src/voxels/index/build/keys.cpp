// The keys layout: the numbers of the positions, sorted and written bucket by bucket (index/key_code.hpp).
#include <quadrat/error.hpp>

#include "base/array.hpp"
#include "base/radix_sort.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/index/build.hpp"
#include "voxels/index/key_code.hpp"
#include "voxels/index/ranked.hpp"

#include <algorithm>

namespace quadrat::voxels {
namespace {

// The heads of a bucket: ones and zeros, or their sums.
void write_heads(std::uint8_t* records, const KeyShape& shape, std::uint64_t record,
                 std::span<const std::uint64_t> keys) {
    const auto count = static_cast<std::uint32_t>(keys.size());
    const std::uint32_t width = KeyCode::sum_bits(count);
    std::uint32_t at = 0;
    for (std::uint32_t head = 0; head < KeyShape::heads; ++head) {
        for (; at < count && (keys[at] >> shape.low & (KeyShape::heads - 1)) == head; ++at)
            if (!KeyCode::summed(count)) write_bits(records, record + head + at, 1);
        if (KeyCode::summed(count)) write_bits(records, record + std::uint64_t{head} * width, at);
    }
    QUADRAT_ASSERT(at == count);
}

template <int D>
[[noreturn]] void throw_equal(std::span<const Voxel<D>> positions, const Domain<D>& domain, std::uint64_t key) {
    std::size_t seen = 0;
    for (std::size_t i = 0;; ++i) {
        QUADRAT_ASSERT(i < positions.size());
        if (linear<D>(domain.local(positions[i]), domain.extent) == key && seen++ == 1)
            throw_duplicate<D>(positions, i);
    }
}

}  // namespace

template <int D>
Draft<D> Builders<D>::keys(std::span<const Voxel<D>> positions) {
    const Domain<D> domain = bounding_box<D>(positions);
    base::Array<std::uint64_t> keys(positions.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = linear<D>(domain.local(positions[i]), domain.extent);
    base::RadixSorter().sort(std::span(keys.data(), keys.size()));
    const auto equal = std::adjacent_find(keys.begin(), keys.end());
    if (equal != keys.end()) throw_equal<D>(positions, domain, *equal);

    const auto shape = KeyShape::smallest(domain.cells(), static_cast<std::uint32_t>(keys.size()));
    Draft<D> draft;
    draft.parts.layout = Layout::keys;
    draft.parts.encoding = Encoding::position_tag;
    draft.parts.origin = domain.origin;
    draft.parts.extent = domain.extent;
    draft.parts.tag_bits = shape.low;
    Buffer& ranks = draft.parts.tables[Table::ranks] = Buffer::zeros((shape.rank_table() + 7) / 8 + table_padding);
    Buffer& records = draft.parts.tables[Table::keys] = Buffer::zeros((shape.records() + 7) / 8 + table_padding);
    const std::uint64_t low_mask = (std::uint64_t{1} << shape.low) - 1;
    std::size_t next = 0;
    for (std::uint64_t bucket = 0; bucket < shape.buckets(); ++bucket) {
        const std::size_t begin = next;
        write_bits(ranks.data.get(), bucket * shape.rank_bits(), begin);
        while (next < keys.size() && keys[next] >> (shape.low + KeyShape::head_bits) == bucket) ++next;
        const std::uint64_t record = shape.record(bucket, static_cast<std::uint32_t>(begin));
        write_heads(records.data.get(), shape, record, {keys.data() + begin, next - begin});
        const std::uint64_t lows = record + KeyShape::heads + (next - begin);
        for (std::size_t i = begin; i < next; ++i)
            write_bits(records.data.get(), lows + (i - begin) * shape.low, keys[i] & low_mask);
    }
    QUADRAT_ASSERT(next == keys.size());
    write_bits(ranks.data.get(), shape.buckets() * shape.rank_bits(), next);
    return draft;
}

template Draft<2> Builders<2>::keys(std::span<const Voxel<2>>);
template Draft<3> Builders<3>::keys(std::span<const Voxel<3>>);

}  // namespace quadrat::voxels
