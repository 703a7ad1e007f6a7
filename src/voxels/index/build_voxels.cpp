// The voxel layout: a hash over the positions and the smallest thing that tells absent ones apart (Lefebvre & Hoppe
// 2006, section 5).
#include <quadrat/error.hpp>

#include "voxels/index/build.hpp"
#include "voxels/index/encodings.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace quadrat::voxels {
namespace {

// Writes one field of a table of packed tags.
void put_field(std::uint8_t* bytes, std::uint64_t slot, const PackedTags& tags, std::uint64_t value) {
    QUADRAT_ASSERT((value & ~tags.mask) == 0);
    const std::uint64_t at = slot * tags.bits;
    std::uint64_t word;
    std::memcpy(&word, bytes + (at >> 3), 8);
    word = (word & ~(tags.mask << (at & 7))) | value << (at & 7);
    std::memcpy(bytes + (at >> 3), &word, 8);
}

// Bits of a position tag: fields are read as a part of 64 bits, so those above 56 take all.
template <int D>
std::uint32_t position_tag_bits(const LocalOf<D>& extent) {
    std::uint32_t sum = 0;
    for (const std::uint32_t bits : axis_bits<D>(extent)) sum += bits;
    return sum > 56 ? 64 : sum;
}

template <int D>
bool has_bucket_tags(const PerfectHash<D>& hash) {
    return hash.unique_tags() || hash.entries() == 0;
}

template <int D>
Encoding smallest_encoding(const Draft<D>& draft) {
    const std::uint64_t slots = draft.hash.slots(), cells = draft.parts.cells();
    std::uint64_t least = slots * position_tag_bits<D>(draft.parts.extent);
    Encoding best = Encoding::position_tag;
    const auto offer = [&](Encoding e, std::uint64_t bits, bool possible) {
        if (!possible || bits >= least) return;
        least = bits;
        best = e;
    };
    offer(Encoding::bucket_tag, slots * static_cast<std::uint64_t>(draft.hash.tag_bits()), has_bucket_tags(draft.hash));
    offer(Encoding::domain_bit, cells, cells < std::uint64_t{1} << 40);
    offer(Encoding::position_hash, slots * PositionHashes<D>::bits,
          position_hashes_are_sure(static_cast<double>(cells), static_cast<double>(slots)));
    return best;
}

template <int D>
void write_domain_bits(std::span<const Voxel<D>> positions, Draft<D>& draft) {
    IndexParts<D>& parts = draft.parts;
    if (parts.cells() >= std::uint64_t{1} << 40)
        throw Error(ErrorKind::unsupported, "the domain is too large for domain bits", {.field = "encoding"});
    Buffer& table = parts.tables[Table::bits] = Buffer::zeros(domain_bit_bytes(parts.cells()));
    for (const Voxel<D>& p : positions) {
        const std::uint64_t k = linear<D>(local_in(draft.hash, p), parts.extent);
        std::uint8_t& byte = table.data.get()[k >> 3];
        byte = static_cast<std::uint8_t>(byte | 1u << (k & 7));
    }
}

// A table for tags of so many bits, all ones.
template <int D>
PackedTags make_tags(Draft<D>& draft, std::uint32_t bits) {
    Buffer& table = draft.parts.tables[Table::tags] =
        Buffer::zeros((std::uint64_t{draft.hash.slots()} * bits + 7) / 8 + table_padding);
    draft.parts.tag_bits = bits;
    std::fill_n(table.data.get(), table.size, std::uint8_t{0xff});
    return {table.data.get(), bits};
}

// All ones are nobody's tag: the last axis has room for one more.
template <int D>
void write_position_tags(std::span<const Voxel<D>> positions, Draft<D>& draft) {
    const PackedTags tags = make_tags(draft, position_tag_bits<D>(draft.parts.extent));
    const auto bits = axis_bits<D>(draft.parts.extent);
    for (const Voxel<D>& p : positions) {
        const LocalOf<D> local = local_in(draft.hash, p);
        put_field(draft.parts.tables[Table::tags].data.get(), draft.hash.place(local).slot, tags,
                  PositionTags<D>::tag(local, bits));
    }
}

// False if short tags are too short for an empty slot.
template <int D>
bool write_bucket_tags(std::span<const Voxel<D>> positions, Draft<D>& draft) {
    const PerfectHash<D>& hash = draft.hash;
    if (!has_bucket_tags(hash))
        throw Error(ErrorKind::unsupported, "the domain is too large for bucket tags; take position tags",
                    {.field = "encoding"});
    const PackedTags tags = make_tags(draft, static_cast<std::uint32_t>(hash.tag_bits()));
    std::uint8_t* bytes = draft.parts.tables[Table::tags].data.get();
    std::vector<bool> taken(hash.slots());
    for (const Voxel<D>& p : positions) {
        const auto place = hash.place(local_in(hash, p));
        QUADRAT_ASSERT(!taken[place.slot]);
        put_field(bytes, place.slot, tags, place.bucket & tags.mask);
        taken[place.slot] = true;
    }
    if (std::uint64_t{hash.buckets()} >> tags.bits == 0) return true;  // all ones are nobody's tag
    // An empty slot gets a tag of which no bucket has a position of the domain there.
    const SlotReader<D> reader(hash, tags.bits);
    std::uint32_t bucket = 0;
    for (std::uint32_t s = 0; s < hash.slots(); ++s) {
        if (taken[s]) continue;
        std::uint64_t tag = tags.mask;
        while (tag > 0 && reader.bucket(s, tag, bucket)) --tag;
        if (tag == 0) return false;
        put_field(bytes, s, tags, tag);
    }
    return true;
}

// False if another hash is needed.
template <int D>
bool encode(std::span<const Voxel<D>> positions, Encoding wanted, Draft<D>& draft) {
    draft.parts.encoding = wanted == Encoding::automatic ? smallest_encoding(draft) : wanted;
    switch (draft.parts.encoding) {
        case Encoding::domain_bit:
            write_domain_bits(positions, draft);
            return true;
        case Encoding::position_tag:
            write_position_tags(positions, draft);
            return true;
        case Encoding::position_hash:
            Builders<D>::position_hashes(positions, draft);
            return true;
        case Encoding::bucket_tag:
            return write_bucket_tags(positions, draft);
        case Encoding::constrained:
        case Encoding::automatic:
            break;
    }
    return true;
}

}  // namespace

template <int D>
Draft<D> Builders<D>::voxels(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                             PerfectHashReport* report) {
    const bool may_be_bucket = options.encoding == Encoding::automatic || options.encoding == Encoding::bucket_tag;
    PerfectHashOptions h = hash_options(options, may_be_bucket);
    Draft<D> draft;
    do {
        draft = {};
        draft.hash = PerfectHash<D>::build(positions, h, report);
        draft.parts.origin = draft.hash.origin();
        draft.parts.extent = draft.hash.extent();
    } while (!encode(positions, options.encoding, draft) && std::exchange(h.short_tags, 0) != 0);
    return draft;
}

template Draft<2> Builders<2>::voxels(std::span<const Voxel<2>>, const VoxelOptions&, PerfectHashReport*);
template Draft<3> Builders<3>::voxels(std::span<const Voxel<3>>, const VoxelOptions&, PerfectHashReport*);

}  // namespace quadrat::voxels
