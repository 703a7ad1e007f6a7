// One type per encoding (Lefebvre & Hoppe 2006, section 5), each a view of the tables of an index:
//
//   layout, encoding       what it is called
//   sizes(parts, size)     which tables it needs, in bytes with padding; throws bad_format for numbers out of range
//   find(local)            the place of the value of a position of the domain, or no_place
//   visit(give)            give(local, place) for every entry; of a broken file perhaps for positions outside
//   values()               how many places there are
//   fast(origin, extent)   the part of find() that is inlined in programs
//   batch(origin, extent)  if it has one: what index/batch.hpp needs
//   find_many(local, out)  if it has one: lookups of several positions of the domain at once
//
// Those whose places are ranks in the order of space are in index/ranked.hpp.
// AnyEncoding is one of them; VoxelIndex (index/voxel_index.cpp) visits it once per call, outside of loops. A new
// encoding is a type here, a name in AnyEncoding and a builder in index/build.hpp.
#pragma once

#include "base/assert.hpp"
#include "voxels/hash/slot_reader.hpp"
#include "voxels/index/batch.hpp"
#include "voxels/index/cells.hpp"
#include "voxels/index/ranked.hpp"

#include <variant>

namespace quadrat::voxels {

/// What the encodings of the voxel layout share: a value for each slot of the hash.
template <int D>
struct InSlots {
    static constexpr Layout layout = Layout::voxel;
    PerfectHash<D> hash;

    [[nodiscard]] std::uint32_t values() const { return hash.slots(); }
    [[nodiscard]] FastFind<D> fast(const Voxel<D>& origin, const LocalOf<D>& extent) const { return {origin, extent}; }
    [[nodiscard]] static std::uint64_t slots(const IndexParts<D>& parts) {
        std::uint64_t n = 1;
        for (const std::uint32_t m : parts.shape.table) n *= m;
        return n;
    }
    /// Bytes of packed tags; their width must be readable as a part of one word.
    [[nodiscard]] static std::uint64_t tag_bytes(const IndexParts<D>& parts) {
        if (parts.tag_bits < 1 || (parts.tag_bits > 56 && parts.tag_bits != 64))
            throw bad_part("tag bits", "not in 1..56 or 64");
        return (slots(parts) * parts.tag_bits + 7) / 8 + table_padding;
    }
    [[nodiscard]] static PackedTags tags_of(const IndexParts<D>& parts) {
        return {parts.tables[Table::tags].data.get(), parts.tag_bits};
    }
};

template <int D>
struct Constrained : InSlots<D> {
    static constexpr Encoding encoding = Encoding::constrained;

    Constrained(const PerfectHash<D>& h, const IndexParts<D>&) : InSlots<D>{h} {}
    static void sizes(const IndexParts<D>&, PerTable<std::uint64_t>&) {}

    [[nodiscard]] std::uint32_t find(const LocalOf<D>& local) const { return this->hash.place(local).slot; }
    template <class Give>
    void visit(Give&&) const {
        throw Error(ErrorKind::unsupported, "constrained voxels do not store where they are", {.field = "encoding"});
    }
    [[nodiscard]] FastFind<D> fast(const Voxel<D>&, const LocalOf<D>&) const {
        return FastFind<D>::slots(this->hash, {});
    }
    [[nodiscard]] BatchIndex batch(const Voxel<D>& origin, const LocalOf<D>& extent) const {
        return batch_of<D>(this->hash, origin, extent);
    }
};

template <int D>
struct BucketTags : InSlots<D> {
    static constexpr Encoding encoding = Encoding::bucket_tag;
    PackedTags tags;

    BucketTags(const PerfectHash<D>& h, const IndexParts<D>& parts) : InSlots<D>{h}, tags(this->tags_of(parts)) {}
    static void sizes(const IndexParts<D>& parts, PerTable<std::uint64_t>& size) {
        size[Table::tags] = InSlots<D>::tag_bytes(parts);
    }

    [[nodiscard]] std::uint32_t find(const LocalOf<D>& local) const {
        const auto place = this->hash.place(local);
        return tags.same(place.slot, place.bucket) ? place.slot : no_place;
    }
    template <class Give>
    void visit(Give&& give) const {
        const SlotReader<D> reader(this->hash, tags.bits);
        std::uint32_t bucket = 0;
        for (std::uint32_t s = 0; s < this->hash.slots(); ++s)
            if (reader.bucket(s, tags.at(s), bucket)) give(this->hash.position({s, bucket}), s);
    }
    [[nodiscard]] FastFind<D> fast(const Voxel<D>&, const LocalOf<D>&) const {
        return FastFind<D>::slots(this->hash, tags);
    }
    [[nodiscard]] BatchIndex batch(const Voxel<D>& origin, const LocalOf<D>& extent) const {
        BatchIndex x = batch_of<D>(this->hash, origin, extent);
        x.check = BatchIndex::Check::tags;
        x.tags = tags;
        return x;
    }
};

template <int D>
struct PositionTags : InSlots<D> {
    static constexpr Encoding encoding = Encoding::position_tag;
    PackedTags tags;
    std::array<std::uint32_t, D> bits;

    PositionTags(const PerfectHash<D>& h, const IndexParts<D>& parts)
        : InSlots<D>{h}, tags(this->tags_of(parts)), bits(axis_bits<D>(parts.extent)) {}
    static void sizes(const IndexParts<D>& parts, PerTable<std::uint64_t>& size) {
        size[Table::tags] = InSlots<D>::tag_bytes(parts);
    }

    [[nodiscard]] static std::uint64_t tag(const LocalOf<D>& local, const std::array<std::uint32_t, D>& widths) {
        std::uint64_t t = 0;
        for (std::size_t a = D; a-- > 0;) t = t << widths[a] | local[a];
        return t;
    }
    [[nodiscard]] std::uint32_t find(const LocalOf<D>& local) const {
        const std::uint32_t slot = this->hash.place(local).slot;
        return tags.at(slot) == tag(local, bits) ? slot : no_place;
    }
    template <class Give>
    void visit(Give&& give) const {
        for (std::uint32_t s = 0; s < this->hash.slots(); ++s) {
            std::uint64_t rest = tags.at(s);
            if (rest == tags.mask) continue;
            LocalOf<D> local;
            for (std::size_t a = 0; a < D; ++a) {
                local[a] = static_cast<std::uint32_t>(rest & ((std::uint64_t{1} << bits[a]) - 1));
                rest >>= bits[a];
            }
            give(local, s);
        }
    }
};

/// A tag is k | v << 8: the position's h_k is v, and that of no other position of the domain in the slot.
template <int D>
struct PositionHashes : InSlots<D> {
    static constexpr Encoding encoding = Encoding::position_hash;
    static constexpr std::uint32_t bits = 16;
    PackedTags tags;
    LocalOf<D> extent;

    PositionHashes(const PerfectHash<D>& h, const IndexParts<D>& parts)
        : InSlots<D>{h}, tags(this->tags_of(parts)), extent(parts.extent) {}
    static void sizes(const IndexParts<D>& parts, PerTable<std::uint64_t>& size) {
        if (parts.tag_bits != bits) throw bad_part("tag bits", "not 16");
        size[Table::tags] = InSlots<D>::slots(parts) * 2 + table_padding;
    }

    [[nodiscard]] std::uint32_t find(const LocalOf<D>& local) const {
        const std::uint32_t slot = this->hash.place(local).slot;
        const std::uint64_t tag = tags.at(slot);
        return hash_local<D>(local, static_cast<std::uint32_t>(tag & 255)) == tag >> 8 ? slot : no_place;
    }
    template <class Give>
    void visit(Give&& give) const {
        for_each_cell<D>(extent, [&](const LocalOf<D>& local, std::uint64_t) {
            if (const std::uint32_t s = find(local); s != no_place) give(local, s);
        });
    }
};

template <int D>
struct DomainBits : InSlots<D> {
    static constexpr Encoding encoding = Encoding::domain_bit;
    const std::uint8_t* bits;
    LocalOf<D> extent;

    DomainBits(const PerfectHash<D>& h, const IndexParts<D>& parts)
        : InSlots<D>{h}, bits(parts.tables[Table::bits].data.get()), extent(parts.extent) {}
    static void sizes(const IndexParts<D>& parts, PerTable<std::uint64_t>& size) {
        if (parts.cells() >= std::uint64_t{1} << 40) throw bad_part("domain", "too large for domain bits");
        size[Table::bits] = domain_bit_bytes(parts.cells());
    }

    [[nodiscard]] bool stored(std::uint64_t k) const { return bits[k >> 3] >> (k & 7) & 1; }
    [[nodiscard]] std::uint32_t find(const LocalOf<D>& local) const {
        return stored(linear<D>(local, extent)) ? this->hash.place(local).slot : no_place;
    }
    template <class Give>
    void visit(Give&& give) const {
        for_each_cell<D>(extent, [&](const LocalOf<D>& local, std::uint64_t k) {
            if (stored(k)) give(local, this->hash.place(local).slot);
        });
    }
};

/// The brick layout: the hash is over bricks, and values follow each other without empty slots.
template <int D>
struct Bricks {
    static constexpr Layout layout = Layout::brick;
    static constexpr Encoding encoding = Encoding::bucket_tag;
    PerfectHash<D> hash;
    BrickRecords records;
    std::uint32_t tag_bits;
    LocalOf<D> phase;  // the origin's place in its brick

    Bricks(const PerfectHash<D>& h, const IndexParts<D>& parts)
        : hash(h),
          records(parts.tables[Table::bricks].data.get(), parts.tag_bits, parts.entries),
          tag_bits(parts.tag_bits) {
        for (std::size_t a = 0; a < D; ++a)
            phase[a] = static_cast<std::uint32_t>(parts.origin[static_cast<int>(a)]) & ((1u << brick_shift<D>)-1);
    }
    static void sizes(const IndexParts<D>& parts, PerTable<std::uint64_t>& size) {
        if (parts.tag_bits < 1 || parts.tag_bits > 32) throw bad_part("tag bits", "not in 1..32");
        size[Table::bricks] = InSlots<D>::slots(parts) * BrickRecords::stride_for(parts.tag_bits) + table_padding;
    }

    [[nodiscard]] std::uint32_t values() const { return records.values; }
    [[nodiscard]] std::uint32_t find(LocalOf<D> local) const {
        for (std::size_t a = 0; a < D; ++a) local[a] += phase[a];
        const InBricks<D> in(local);
        const auto place = hash.place(in.brick);
        return records.find(place.slot, place.bucket, in.bit);
    }
    template <class Give>
    void visit(Give&& give) const {
        constexpr std::uint32_t shift = brick_shift<D>, low = (1u << shift) - 1;
        const SlotReader<D> reader(hash, tag_bits);
        for (std::uint32_t s = 0; s < hash.slots(); ++s) {
            auto [mask, rest] = records.at(s);
            std::uint32_t bucket = 0;
            if (mask == 0 || !reader.bucket(s, rest >> 32 & records.tag_mask, bucket)) continue;
            const LocalOf<D> brick = hash.position({s, bucket});
            for (auto at = static_cast<std::uint32_t>(rest); mask != 0; mask &= mask - 1, ++at) {
                auto bit = static_cast<std::uint32_t>(std::countr_zero(mask));
                LocalOf<D> local;
                for (std::size_t a = 0; a < D; ++a, bit >>= shift)
                    local[a] = (brick[a] << shift | (bit & low)) - phase[a];
                give(local, at);
            }
        }
    }
    /// give(local, place) for the entries of a box, its ends included; bricks that the box meets are looked up one by
    /// one, so there should be fewer of them than bricks in all.
    template <class Give>
    void visit_box(LocalOf<D> low, LocalOf<D> high, Give&& give) const {
        constexpr std::uint32_t shift = brick_shift<D>, mask_low = (1u << shift) - 1;
        for (std::size_t a = 0; a < D; ++a) {
            low[a] += phase[a];
            high[a] += phase[a];
        }
        LocalOf<D> first, last;
        for (std::size_t a = 0; a < D; ++a) {
            first[a] = low[a] >> shift;
            last[a] = high[a] >> shift;
        }
        for_each_row<D>(first, last, [&](LocalOf<D> brick) {
            for (; brick[0] <= last[0]; ++brick[0]) {
                const auto place = hash.place(brick);
                auto [mask, rest] = records.at(place.slot);
                if (((rest >> 32 ^ place.bucket) & records.tag_mask) != 0) continue;
                for (auto at = static_cast<std::uint32_t>(rest); mask != 0; mask &= mask - 1, ++at) {
                    auto bit = static_cast<std::uint32_t>(std::countr_zero(mask));
                    LocalOf<D> local;
                    bool in = true;
                    for (std::size_t a = 0; a < D; ++a, bit >>= shift) {
                        local[a] = brick[a] << shift | (bit & mask_low);
                        in &= local[a] >= low[a] && local[a] <= high[a];
                        local[a] -= phase[a];
                    }
                    if (in) give(local, at);
                }
            }
        });
    }
    [[nodiscard]] std::uint64_t bricks_in(const LocalOf<D>& low, const LocalOf<D>& high) const {
        std::uint64_t n = 1;
        for (std::size_t a = 0; a < D; ++a)
            n *= ((high[a] + phase[a]) >> brick_shift<D>)-((low[a] + phase[a]) >> brick_shift<D>)+std::uint64_t{1};
        return n;
    }
    [[nodiscard]] FastFind<D> fast(const Voxel<D>& origin, const LocalOf<D>& extent) const {
        return FastFind<D>::bricks(origin, extent, phase, hash, records);
    }
    [[nodiscard]] BatchIndex batch(const Voxel<D>& origin, const LocalOf<D>& extent) const {
        BatchIndex x = batch_of<D>(hash, origin, extent);
        x.check = BatchIndex::Check::bricks;
        x.brick_shift = brick_shift<D>;
        for (std::size_t a = 0; a < D; ++a) x.phase[a] = phase[a];
        x.bricks = records;
        return x;
    }
};

template <int D>
using AnyEncoding = std::variant<Constrained<D>, DomainBits<D>, PositionTags<D>, PositionHashes<D>, BucketTags<D>,
                                 Bricks<D>, Bits<D>, Keys<D>>;

/// Calls fn.operator()<X>() for the type X of a layout and an encoding, which matters for the voxel layout only.
/// Throws Error{bad_format} if there is none.
template <int D, class Fn>
void with_encoding(Layout layout, Encoding encoding, Fn&& fn) {
    const bool known = [&]<class... X>(std::variant<X...>*) {
        return ((layout == X::layout && (layout != Layout::voxel || encoding == X::encoding)
                     ? (fn.template operator()<X>(), true)
                     : false) ||
                ...);
    }(static_cast<AnyEncoding<D>*>(nullptr));
    if (!known) throw layout == Layout::voxel ? bad_part("encoding", "unknown") : bad_part("layout", "unknown");
}

}  // namespace quadrat::voxels
