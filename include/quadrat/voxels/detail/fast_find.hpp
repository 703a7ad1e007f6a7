// The lookups that are short enough to be inlined: bucket tags or none over a hash in lanes or in tables, and bricks.
// All others begin here as well, with the test for the bounding box, and go on in the library.
//
// A copy of what these lookups read lies in one object, whatever the encoding is: the encodings themselves are types of
// their own in src/voxels/index/encodings.hpp, which fill it in.
//
//     p --- in the box? ---+--- lanes    NarrowHash                  ---+--- tag compared, or not ---> slot
//                          +--- tables   PerfectHash by its tables   ---+
//                          +--- bricks   PerfectHash, BrickRecords   ------- bit of the mask -------> rank
//                          +--- other    a call into the library
//
// Machinery of VoxelIndex: programs use VoxelIndex::find. Everything here is a view of tables that somebody else keeps
// alive (PerfectHash apart, which owns its own), does not change after it was made, and may be used by many threads.
#pragma once

#include <quadrat/voxels/detail/domain_box.hpp>
#include <quadrat/voxels/detail/narrow_hash.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

#include <bit>
#include <cstring>

namespace quadrat::voxels {

/// What a lookup gives for a position that is not stored; VoxelIndex::absent. No table has so many places.
inline constexpr std::uint32_t no_place = 0xffffffffu;

/// Fields of `bits` bits without gaps, the first at the lowest bit of the first byte:
///
///     byte   0        1        2        3
///            00000000 11110000 11111111 22222222 ..       bits = 12: field 1 is the upper half of byte 1 and byte 2
///
/// Eight bytes of padding follow, since a field is read as one word of 64 bits. Fields have 1 to 56 bits, or 64.
struct PackedTags {
    /// The table; null if positions are not told apart.
    const std::uint8_t* bytes = nullptr;
    /// The low `bits` bits set.
    std::uint64_t mask = 0;
    /// Of one field.
    std::uint32_t bits = 0;

    /// No table.
    PackedTags() = default;
    /// A view of a table.
    ///
    /// field_bits: 1 to 56, or 64. A field begins at one of eight bits of a byte and must end within the word that is
    ///             read from that byte on, which one of 57 to 63 bits might not.
    PackedTags(const std::uint8_t* table, std::uint32_t field_bits)
        : bytes(table),
          mask(field_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field_bits) - 1),
          bits(field_bits) {}

    /// The field of a slot.
    ///
    /// slot: one of the table's; this is not checked.
    [[nodiscard]] std::uint64_t at(std::uint32_t slot) const {
        const std::uint64_t bit = std::uint64_t{slot} * bits;
        return word(bit) >> (bit & 7) & mask;
    }
    /// True if at(slot) is `tag` in the bits of a field, with as little as possible after the load: tag and mask are
    /// moved to the place of the field before it, so that an exclusive or, an and, and a test are left.
    ///
    /// tag: bits above those of a field are ignored.
    [[nodiscard]] bool same(std::uint32_t slot, std::uint64_t tag) const {
        const std::uint64_t bit = std::uint64_t{slot} * bits, shift = bit & 7;
        return ((word(bit) ^ tag << shift) & mask << shift) == 0;
    }

  private:
    // The eight bytes from the one that holds the bit.
    [[nodiscard]] std::uint64_t word(std::uint64_t bit) const {
        std::uint64_t w;
        std::memcpy(&w, bytes + (bit >> 3), 8);
        return w;
    }
};

/// The bricks of the brick layout, one record for each slot of the hash over bricks:
///
///     bytes  0 .. 7                        8 .. 11               12 .. stride - 1
///            mask: a bit for each of the   values before those   low bytes of the bucket,
///            64 positions, x lowest        of this brick         the tag
///
/// Eight bytes of padding follow the last one. A slot without a brick has an empty mask. Values of a brick lie one
/// after another in the order of its bits, so that a value's place is what was before the brick and the bits below its
/// own:
///
///     mask  ..0010 1101, values before 40:   bit 0 is place 40, bit 2 is 41, bit 3 is 42, bit 5 is 43
struct BrickRecords {
    /// The first record.
    const std::uint8_t* bytes = nullptr;
    /// The bits of a tag set.
    std::uint64_t tag_mask = 0;
    /// Bytes from one record to the next, 13 to 16.
    std::uint32_t stride = 0;
    /// Places are below this, whatever a file holds.
    std::uint32_t values = 0;

    /// A record as two words, which are loaded at once.
    struct Record {
        /// Which of the 64 positions are stored.
        std::uint64_t mask;
        /// Values before | tag << 32; above the tag is the beginning of the next record.
        std::uint64_t rest;
    };

    /// Of a record without its tag.
    static constexpr std::uint32_t fixed_bytes = 12;
    /// Bytes of a record whose tag has so many bits, 1 to 32: tags take whole bytes.
    [[nodiscard]] static constexpr std::uint32_t stride_for(std::uint32_t tag_bits) {
        return fixed_bytes + (tag_bits + 7) / 8;
    }

    /// No table.
    BrickRecords() = default;
    /// A view of a table with a record for each slot of the hash over bricks.
    BrickRecords(const std::uint8_t* table, std::uint32_t tag_bits, std::uint32_t value_count)
        : bytes(table),
          tag_mask((std::uint64_t{1} << tag_bits) - 1),
          stride(stride_for(tag_bits)),
          values(value_count) {}

    /// The record of a slot, which is one of the table's; this is not checked.
    [[nodiscard]] Record at(std::uint32_t slot) const {
        const std::uint8_t* record = bytes + std::size_t{slot} * stride;
        Record r;
        std::memcpy(&r.mask, record, 8);
        std::memcpy(&r.rest, record + 8, 8);
        return r;
    }
    /// The place of the value of one position of a brick, or no_place if the brick in the slot is another one or does
    /// not have the position. In bounds whatever the record holds.
    ///
    /// slot, bucket: where the hash puts the brick.
    /// bit: of the position in the mask, 0 to 63.
    [[nodiscard]] std::uint32_t find(std::uint32_t slot, std::uint32_t bucket, std::uint32_t bit) const {
        const Record r = at(slot);
        if (((r.rest >> 32 ^ bucket) & tag_mask) != 0 || (r.mask >> bit & 1) == 0) return no_place;
        const std::uint32_t place = static_cast<std::uint32_t>(r.rest) +
                                    static_cast<std::uint32_t>(std::popcount(r.mask & ((std::uint64_t{1} << bit) - 1)));
        return place < values ? place : no_place;
    }
};

/// log2 of the edge of a brick: 4^3 or 8^2 positions are the 64 bits of a mask.
template <int D>
inline constexpr std::uint32_t brick_shift = D == 3 ? 2 : 3;

/// Where a position is among the bricks. On each axis the upper bits of a coordinate are the brick, and the lower ones
/// go to the bit, x lowest:
///
///     bit   5 4   3 2   1 0        3D        bit   5 4 3   2 1 0        2D
///            z     y     x                           y       x
template <int D>
struct InBricks {
    /// The brick, counted from the first on each axis.
    std::array<std::uint32_t, D> brick;
    /// In the brick's mask, 0 to 63.
    std::uint32_t bit = 0;

    /// `moved` is the position from the corner of the first brick, which lies at a multiple of the edge.
    explicit InBricks(const std::array<std::uint32_t, D>& moved) {
        constexpr std::uint32_t shift = brick_shift<D>, low = (1u << shift) - 1;
        for (std::size_t a = D; a-- > 0;) {
            brick[a] = moved[a] >> shift;
            bit = bit << shift | (moved[a] & low);
        }
    }
};

/// One lookup of an index, chosen when the index is made. It is copied into VoxelIndex, and keeps nothing alive but the
/// tables of its hash: tags and records belong to the index.
template <int D>
class FastFind {
  public:
    /// A position relative to the corner of the bounding box.
    using Local = std::array<std::uint32_t, D>;

    /// Finds nothing.
    FastFind() = default;
    /// Lookups of positions in a box, none of them inlined.
    FastFind(const Voxel<D>& origin, const Local& extent) : box_(origin, extent, {}) {}
    /// Slots of a hash, told apart by bucket tags, or not at all if `tags` has no table. By lanes if the hash fits
    /// them, otherwise by its tables; if it has none either, lookups are not inlined. Reads an offset table of up to 4
    /// MB.
    [[nodiscard]] static FastFind slots(const PerfectHash<D>& hash, const PackedTags& tags);
    /// Positions of a box in bricks.
    ///
    /// phase: the origin's place in its brick on each axis, as bricks lie at multiples of their edge.
    /// hash: over bricks, counted from the one of the origin.
    [[nodiscard]] static FastFind bricks(const Voxel<D>& origin, const Local& extent, const Local& phase,
                                         const PerfectHash<D>& hash, const BrickRecords& records);

    /// The place of p's value, or no_place. Always inlined: g++ 12 finds it too long, and with a call for each lookup a
    /// loop reads all rows again, which took 1.6 times as long.
    ///
    /// p: any position.
    /// other: other(local) is asked, for a position of the box, where none of the short ways serves.
    template <class Other>
    [[nodiscard, gnu::always_inline]] std::uint32_t find(const Voxel<D>& p, Other&& other) const {
        // The choice comes first, so that a loop can be specialised for it. With one test for tags and no tags g++ 12
        // makes a loop of its own for both (docs/decisions/0043).
        if constexpr (D == 3 && NarrowHash::available) {
            if (way_ == Way::lanes) {
                typename PerfectHash<D>::Place place;
                if (!narrow_.place(p, place)) return no_place;
                return checked(place);
            }
        }
        Local at;
        if (way_ == Way::tables) return box_.locate(p, at) ? checked(hash_.place_by_tables(at)) : no_place;
        if (way_ == Way::bricks) {
            if (!box_.locate(p, at)) return no_place;
            const InBricks<D> in(at);
            const auto place = hash_.place(in.brick);
            return bricks_.find(place.slot, place.bucket, in.bit);
        }
        return box_.locate(p, at) ? other(at) : no_place;
    }

  private:
    enum class Way : std::uint8_t { other, lanes, tables, bricks };

    // The slot, if the tag there is that of the bucket or there are no tags.
    [[nodiscard]] std::uint32_t checked(typename PerfectHash<D>::Place place) const {
        // Slots are fewer; so a caller's test for absence costs nothing where there are no tags.
        if (place.slot == no_place) __builtin_unreachable();
        return !tags_.bytes || tags_.same(place.slot, place.bucket) ? place.slot : no_place;
    }

    // Filled in as `way_` needs it: narrow_ and tags_ for lanes, hash_ and tags_ for tables, hash_ and bricks_ for
    // bricks. Lanes have a box of their own; hash_ keeps their offset table alive.
    NarrowHash narrow_;
    DomainBox<D> box_;
    Way way_ = Way::other;
    PackedTags tags_;
    BrickRecords bricks_;
    PerfectHash<D> hash_;
};

extern template class FastFind<2>;
extern template class FastFind<3>;

}  // namespace quadrat::voxels
