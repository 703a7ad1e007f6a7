// The voxel layout: a hash over the positions and the smallest thing that tells absent ones apart (Lefebvre & Hoppe
// 2006, section 5).
#include <quadrat/error.hpp>

#include "voxels/hash/domain.hpp"
#include "voxels/index/build.hpp"
#include "voxels/index/encodings.hpp"

#include <algorithm>
#include <optional>
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

template <int D>
bool has_bucket_tags(const PerfectHash<D>& hash) {
    return hash.unique_tags() || hash.entries() == 0;
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

// False if the tags of buckets are too short for an empty slot.
template <int D>
bool encode(std::span<const Voxel<D>> positions, Encoding wanted, Draft<D>& draft) {
    draft.parts.encoding = wanted;
    switch (wanted) {
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

template <int D>
Draft<D> hashed(std::span<const Voxel<D>> positions, const PerfectHashOptions& options, std::uint64_t most_bits,
                Spread spread, PerfectHashReport* report) {
    Draft<D> draft;
    draft.hash = limited_hash<D>(positions, options, most_bits, spread, report);
    draft.parts.origin = draft.hash.origin();
    draft.parts.extent = draft.hash.extent();
    return draft;
}

// With tags of buckets, short ones if they will do.
template <int D>
Draft<D> with_bucket_tags(std::span<const Voxel<D>> positions, const VoxelOptions& options, std::uint64_t most_bits,
                          PerfectHashReport* report) {
    PerfectHashOptions h = hash_options(options, 1);
    for (;;) {
        Draft<D> draft = hashed<D>(positions, h, most_bits, Spread::never, report);
        if (encode(positions, Encoding::bucket_tag, draft)) return draft;
        QUADRAT_ASSERT(h.short_tags != 0);
        h.short_tags = 0;
    }
}

// The smallest of the encodings that need nothing of the hash, if it takes at most `most_bits`. Position hashes may
// turn out to be impossible, and then the next one is taken.
template <int D>
std::optional<Draft<D>> without_bucket_tags(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                            std::uint64_t most_bits, Spread spread, PerfectHashReport* report) {
    // A limit changes what is tried; without one the hash is that of an encoding that was asked for.
    Draft<D> draft = hashed<D>(positions, hash_options(options, 0), spread == Spread::allowed ? any_size : most_bits,
                               spread, report);
    const std::uint64_t bare = overhead_bits(draft, positions.size(), options.value_bytes);
    for (const PlainEncoding& c :
         plain_encodings(draft.parts.cells(), draft.hash.slots(), position_tag_bits<D>(draft.parts.extent))) {
        if (bare + c.bits > most_bits) break;
        try {
            if (encode(positions, c.encoding, draft)) return draft;
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::unsupported) throw;
            draft.parts.tables = {};
        }
    }
    return std::nullopt;
}

template <int D>
Draft<D> smallest(std::span<const Voxel<D>> positions, const VoxelOptions& options, std::uint64_t most_bits,
                  Spread spread, PerfectHashReport* report) {
    std::optional<Draft<D>> tagged, plain;
    PerfectHashReport first;
    try {
        tagged = with_bucket_tags<D>(positions, options, most_bits, report ? &first : nullptr);
        most_bits = std::min(most_bits, overhead_bits(*tagged, positions.size(), options.value_bytes) - 1);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::too_large && e.kind() != ErrorKind::unsupported) throw;
    }
    const std::uint64_t n = positions.size();
    if (least_offset_bits(n, options) + least_plain_bits<D>(bounding_box<D>(positions), n) <= most_bits) try {
            plain = without_bucket_tags<D>(positions, options, most_bits, spread, report);
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::too_large || (!tagged && most_bits == any_size)) throw;
        }
    if (plain) return std::move(*plain);
    if (!tagged) throw Error(ErrorKind::too_large, "no encoding takes so few bits");
    if (report) *report = first;
    return std::move(*tagged);
}

}  // namespace

template <int D>
std::uint32_t position_tag_bits(const std::array<std::uint32_t, D>& extent) {
    std::uint32_t sum = 0;
    for (const std::uint32_t bits : axis_bits<D>(extent)) sum += bits;
    return sum > 56 ? 64 : sum;
}

std::vector<PlainEncoding> plain_encodings(std::uint64_t cells, std::uint64_t slots, std::uint64_t position_bits) {
    const auto whole = [](std::uint64_t bits, std::uint64_t unit) { return (bits + unit - 1) / unit * unit; };
    std::vector<PlainEncoding> out{{Encoding::position_tag, whole(slots * position_bits, 8)}};
    if (cells < std::uint64_t{1} << 40) out.push_back({Encoding::domain_bit, whole(cells, 64)});
    if (position_hashes_may_be(cells, slots)) out.push_back({Encoding::position_hash, slots * 16});
    std::stable_sort(out.begin(), out.end(),
                     [](const PlainEncoding& a, const PlainEncoding& b) { return a.bits < b.bits; });
    return out;
}

template <int D>
Draft<D> Builders<D>::voxels(std::span<const Voxel<D>> positions, const VoxelOptions& options, std::uint64_t most_bits,
                             Spread spread, PerfectHashReport* report) {
    if (positions.empty()) return with_bucket_tags<D>(positions, options, any_size, report);
    if (options.encoding == Encoding::automatic) return smallest<D>(positions, options, most_bits, spread, report);
    if (options.encoding == Encoding::bucket_tag) return with_bucket_tags<D>(positions, options, most_bits, report);
    Draft<D> draft = hashed<D>(positions, hash_options(options, 0), most_bits, spread, report);
    const bool done = encode(positions, options.encoding, draft);
    QUADRAT_ASSERT(done);
    static_cast<void>(done);
    return draft;
}

template std::uint32_t position_tag_bits<2>(const std::array<std::uint32_t, 2>&);
template std::uint32_t position_tag_bits<3>(const std::array<std::uint32_t, 3>&);
template Draft<2> Builders<2>::voxels(std::span<const Voxel<2>>, const VoxelOptions&, std::uint64_t, Spread,
                                      PerfectHashReport*);
template Draft<3> Builders<3>::voxels(std::span<const Voxel<3>>, const VoxelOptions&, std::uint64_t, Spread,
                                      PerfectHashReport*);

}  // namespace quadrat::voxels
