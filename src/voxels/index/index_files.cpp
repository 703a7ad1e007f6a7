// From an index to its parts and back. Parts may come from a file, so nothing is taken on trust: first the numbers,
// then the sizes of the tables, then what the numbers mean together. The contents of the tables are not looked at;
// every lookup stays in bounds whatever they are.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/index/index_state.hpp"

#include <utility>

namespace quadrat::voxels {
namespace {

template <int D>
std::shared_ptr<const IndexState<D>> state_of(IndexParts<D> parts, const PerfectHash<D>& hash) {
    std::shared_ptr<const IndexState<D>> state;
    with_encoding<D>(parts.layout, parts.encoding, [&]<class X>() {
        state = std::make_shared<const IndexState<D>>(std::in_place_type<X>, std::move(parts), hash);
    });
    return state;
}

// The hash is over the positions of the domain, or over their bricks.
template <int D>
void check_domain(const IndexParts<D>& p) {
    constexpr std::uint32_t low = (1u << brick_shift<D>)-1;
    const bool bricks = p.layout == Layout::brick;
    for (int a = 0; a < D; ++a) {
        const std::uint64_t phase = static_cast<std::uint32_t>(p.origin[a]) & low;
        const std::uint64_t reach = bricks ? (p.extent[a] + phase + low) >> brick_shift<D> : p.extent[a];
        const std::int32_t first = bricks ? p.origin[a] >> brick_shift<D> : p.origin[a];
        if (p.entries != 0 && (p.shape.extent[a] != reach || p.shape.origin[a] != first))
            throw bad_part("domain", "not that of the hash");
    }
}

// Tags that find() and walks can use.
template <int D>
void check_tags(const IndexParts<D>& p, const PerfectHash<D>& hash) {
    constexpr std::uint32_t most_buckets = 256;  // that agree with a tag: a walk tries them all
    switch (p.layout == Layout::brick ? Encoding::bucket_tag : p.encoding) {
        case Encoding::bucket_tag:
            if (p.entries != 0 && !hash.unique_tags()) throw bad_part("table", "its sizes give no unique tags");
            if (p.tag_bits < 32 && hash.buckets() >> p.tag_bits > most_buckets)
                throw bad_part("tag bits", "too few for so many buckets");
            return;
        case Encoding::position_tag: {
            std::uint32_t needed = 0;
            for (const std::uint32_t bits : axis_bits<D>(p.extent)) needed += bits;
            if (p.tag_bits < needed) throw bad_part("tag bits", "too few for the domain");
            return;
        }
        case Encoding::position_hash:
            if (p.entries == 0) return;
            // A walk asks for every position of the domain.
            if (p.cells() > most_hashed_cells || p.cells() / hash.slots() > most_cells_per_slot)
                throw bad_part("domain", "too large for position hashes");
            return;
        case Encoding::automatic:
        case Encoding::constrained:
        case Encoding::domain_bit:  // no tags
            return;
    }
}

}  // namespace

template <int D>
IndexParts<D> IndexFiles<D>::parts(const VoxelIndex<D>& index) {
    return index.state_ ? index.state_->parts : VoxelIndex<D>::build({}, {}).state_->parts;
}

template <int D>
PerTable<std::uint64_t> IndexFiles<D>::table_sizes(const IndexParts<D>& p) {
    for (int a = 0; a < D; ++a) {
        if (p.extent[a] > largest_extent) throw bad_part("domain", "its extent is out of range");
        if ((p.extent[a] == 0) != (p.entries == 0))
            throw bad_part("domain", "empty with entries, or the other way round");
        if (p.shape.table[a] > 65536) throw bad_part("table", "its size is out of range");
    }
    if (p.entries > p.cells()) throw bad_part("entries", "more than the domain has positions");
    if (p.tag_bits > 64) throw bad_part("tag bits", "more than 64");
    PerTable<std::uint64_t> size{};
    if (is_hashed(p.layout)) {
        size[Table::offsets] = PerfectHash<D>::offsets_size(p.shape);
        if (size[Table::offsets] == 0)
            throw bad_part("offset table", "its size or its bits per coordinate are out of range");
    }
    with_encoding<D>(p.layout, p.encoding, [&]<class X>() { X::sizes(p, size); });
    return size;
}

template <int D>
VoxelIndex<D> IndexFiles<D>::from_parts(IndexParts<D> p) {
    constexpr const char* fields[] = {"offset table", "tags", "bits", "ranks", "bricks", "keys"};
    const PerTable<std::uint64_t> sizes = table_sizes(p);
    for (std::size_t t = 0; t < table_count; ++t)
        if (p.tables[t].size < sizes[t]) throw bad_part(fields[t], "shorter than the header says");
    PerfectHash<D> hash;
    if (is_hashed(p.layout)) {
        const Buffer& offsets = p.tables[Table::offsets];
        hash = PerfectHash<D>::from_parts(p.shape, offsets.data, offsets.size);
        check_domain<D>(p);
        check_tags<D>(p, hash);
        if (p.layout == Layout::voxel && p.entries > hash.slots()) throw bad_part("entries", "more than slots");
    }
    return VoxelIndex<D>(state_of<D>(std::move(p), hash));
}

template <int D>
VoxelIndex<D> IndexFiles<D>::from_built(IndexParts<D> parts, const PerfectHash<D>& hash) {
    QUADRAT_ASSERT(parts.layout != Layout::automatic && parts.encoding != Encoding::automatic);
    parts.shape = hash.shape();
    if (is_hashed(parts.layout))
        parts.tables[Table::offsets] = {std::const_pointer_cast<std::uint8_t>(hash.owner()), hash.offsets().size()};
    return VoxelIndex<D>(state_of<D>(std::move(parts), hash));
}

template struct IndexFiles<2>;
template struct IndexFiles<3>;

}  // namespace quadrat::voxels
