// Which value belongs to a grid position, or none: a perfect hash together with what tells absent positions from stored
// ones (Lefebvre & Hoppe 2006, section 5), in one of three layouts:
//
//   voxel  the hash over the positions themselves: two reads, the fastest for random access
//   brick  the hash over bricks of 4^3 (8^2) positions, each with a mask of 64 bits and the number of values before it:
//   the
//          smallest for surfaces and curves
//   bits   one bit for every position of the bounding box, with counts: the smallest above some 30 % of density
//
// Beside the paper's encodings there is a shorter exact tag: where the sizes of the two tables are coprime and their
// product covers the domain, two positions that share a slot lie in different buckets, so the number of the bucket
// decides. Offsets are chosen so that some of its bits are enough (voxels/short_tags.hpp).
#pragma once

#include <quadrat/voxels/domain_box.hpp>
#include <quadrat/voxels/narrow_hash.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

#include <bit>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace quadrat {

enum class Layout : std::uint8_t { automatic, voxel, brick, bits };

/// How the voxel layout knows that a position is absent. All but `constrained` are exact.
enum class Encoding : std::uint8_t {
    automatic,      ///< the smallest exact one
    constrained,    ///< it does not: only stored positions may be asked for
    domain_bit,     ///< a bit for each position of the bounding box
    position_tag,   ///< the position, with each value
    position_hash,  ///< two bytes with each value: a parameter k and h_k of the position, unlike those of all others in
                    ///< the slot
    bucket_tag,     ///< bits of the number of the bucket, with each value
};

struct VoxelOptions {
    Layout layout = Layout::automatic;  ///< automatic counts bytes; it never looks at a clock
    Encoding encoding = Encoding::automatic;
    Construction construction = Construction::fast;
    Coherence coherence = Coherence::none;
    std::uint64_t seed = 1;
    int offset_bits = 8;
    std::size_t value_bytes = 4;  ///< set by SparseVoxels: what an empty slot costs
    Executor* executor = nullptr;
    Watch watch = {};
};

/// A block of memory that files map and copies share.
struct Buffer {
    std::shared_ptr<std::uint8_t> data;
    std::size_t size = 0;

    [[nodiscard]] static Buffer zeros(std::size_t bytes);
};

/// h_k of section 5, the same in C++ and in the shader. The formula in the paper is infinite on the axes.
[[nodiscard]] inline std::uint32_t position_hash(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t k) {
    std::uint32_t v = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ z * 0xC2B2AE3Du;
    v += k * 0x27D4EB2Fu;
    v ^= v >> 15;
    v *= 0x2C1B3C6Du;
    v ^= v >> 12;
    v *= 0x297A2D39u;
    return v >> 24;
}

template <int D>
class VoxelIndex {
  public:
    using Local = std::array<std::uint32_t, D>;
    static constexpr std::uint32_t absent = 0xffffffffu;
    static constexpr int brick_shift = D == 3 ? 2 : 3;  // 4^3 or 8^2 positions are 64 bits

    using Entry = std::pair<Voxel<D>, std::uint32_t>;  ///< a position and the place of its value

    VoxelIndex() = default;
    /// Throws as PerfectHash::build does; Error{unsupported} if the encoding asked for is not possible for these
    /// positions or the layout asked for: bricks have bucket tags, bits have domain bits.
    [[nodiscard]] static VoxelIndex build(std::span<const Voxel<D>> positions, const VoxelOptions& options = {},
                                          PerfectHashReport* report = nullptr);

    /// The place of p's value, or `absent`. Any p may be asked for, unless the encoding is constrained.
    [[nodiscard]] std::uint32_t find(const Voxel<D>& p) const {
        // The fast paths are short, so that they are inlined and many lookups fit into the processor's window; the
        // choice comes first, so that a loop can be specialised for it.
        if constexpr (D == 3 && NarrowHash::available) {
            if (narrow_ != Fast::none) {
                typename PerfectHash<D>::Place place;
                if (!narrow_hash_.place(p, place)) return absent;
                if (place.slot == absent) __builtin_unreachable();  // slots are fewer
                return narrow_ == Fast::constrained || has_tag(place.slot, place.bucket) ? place.slot : absent;
            }
        }
        Local at;
        if (fast_ == Fast::constrained) {
            if (!box_.locate(p, at)) return absent;
            const std::uint32_t slot = hash_.place_by_tables(at).slot;
            if (slot == absent) __builtin_unreachable();  // slots are fewer
            return slot;
        }
        if (fast_ == Fast::bucket_tag) {
            if (!box_.locate(p, at)) return absent;
            const auto place = hash_.place_by_tables(at);
            if (place.slot == absent) __builtin_unreachable();
            return has_tag(place.slot, place.bucket) ? place.slot : absent;
        }
        if (fast_ == Fast::brick) return box_.locate(p, at) ? find_in_brick(at) : absent;
        return box_.locate(p, at) ? find_local(at) : absent;
    }

    /// out[i] = find(p[i]); several times faster where memory is slow, since many reads are under way at once.
    void find(std::span<const Voxel<D>> p, std::span<std::uint32_t> out) const { find(p, out, nullptr, 0); }
    /// The same; starts loading the values that were found from an array of values of `value_bytes` each.
    void find(std::span<const Voxel<D>> p, std::span<std::uint32_t> out, const void* values,
              std::size_t value_bytes) const;

    /// How many values a channel holds: entries(), or the slots of the table in the voxel layout.
    [[nodiscard]] std::uint32_t values() const { return values_; }
    [[nodiscard]] std::uint32_t entries() const { return entries_; }
    [[nodiscard]] const Voxel<D>& origin() const { return origin_; }
    [[nodiscard]] const Local& extent() const { return extent_; }
    [[nodiscard]] Layout layout() const { return layout_; }
    [[nodiscard]] Encoding encoding() const { return encoding_; }
    /// True if absent positions are told apart and stored ones can be listed.
    [[nodiscard]] bool exact() const { return encoding_ != Encoding::constrained || layout_ != Layout::voxel; }
    [[nodiscard]] const PerfectHash<D>& hash() const { return hash_; }
    [[nodiscard]] int tag_bits() const { return static_cast<int>(tag_bits_); }
    /// Everything but the values, padding not counted.
    [[nodiscard]] std::uint64_t bytes() const;
    /// Bits above the payload per entry: index, tags and empty slots.
    [[nodiscard]] double overhead_bits_per_entry(std::size_t value_bytes) const;

    /// Calls fn(position, place of its value) for every entry in storage order. Throws Error{unsupported} if
    /// constrained.
    template <class Fn>
    void for_each(Fn&& fn) const {
        walk(
            [](std::span<const Entry> part, void* to) {
                for (const Entry& e : part) (*static_cast<std::remove_reference_t<Fn>*>(to))(e.first, e.second);
            },
            const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
    }
    /// The stored positions with the places of their values, by z, y, x.
    [[nodiscard]] std::vector<Entry> sorted() const;

    /// The parts as they stand in files.
    struct Parts {
        Layout layout = Layout::voxel;
        Encoding encoding = Encoding::bucket_tag;
        std::uint32_t entries = 0;
        std::uint32_t tag_bits = 0;
        Voxel<D> origin = {};
        Local extent = {};
        typename PerfectHash<D>::Shape shape = {};
        Buffer offsets, tags, bits, ranks, bricks;
    };
    [[nodiscard]] Parts parts() const;
    /// Throws Error{bad_format} if the parts do not fit together. Their contents may be anything: find() stays in
    /// bounds.
    [[nodiscard]] static VoxelIndex from_parts(Parts parts);
    /// Bytes that each part must have, padding included.
    struct PartSizes {
        std::uint64_t offsets = 0, tags = 0, bits = 0, ranks = 0, bricks = 0;
    };
    [[nodiscard]] static PartSizes part_sizes(const Parts& parts);

  private:
    enum class Mode : std::uint8_t {
        empty,
        constrained,
        bucket_tag,
        brick,
        bits,
        domain_bit,
        position_tag,
        position_hash
    };

    enum class Fast : std::uint8_t { none, constrained, bucket_tag, brick };

    [[nodiscard]] std::uint64_t tag_at(std::uint32_t slot) const {
        const std::uint64_t bit = std::uint64_t{slot} * tag_bits_;
        std::uint64_t word;
        std::memcpy(&word, tags_ + (bit >> 3), 8);
        return word >> (bit & 7) & tag_mask_;
    }
    /// tag_at(slot) == tag in the bits of a tag, with as little as possible after the load.
    [[nodiscard]] bool has_tag(std::uint32_t slot, std::uint64_t tag) const {
        const std::uint64_t bit = std::uint64_t{slot} * tag_bits_, shift = bit & 7;
        std::uint64_t word;
        std::memcpy(&word, tags_ + (bit >> 3), 8);
        return ((word ^ tag << shift) & tag_mask_ << shift) == 0;
    }
    // A brick: mask (8 bytes), values before it (4), bucket (brick_stride_ - 12). `moved` is the position from the
    // corner of the first brick.
    [[nodiscard]] std::uint32_t find_in_brick(const Local& moved) const {
        Local brick;
        std::uint32_t bit = 0;
        for (std::size_t a = D; a-- > 0;) {
            brick[a] = moved[a] >> brick_shift;
            bit = bit << brick_shift | (moved[a] & ((1u << brick_shift) - 1));
        }
        const auto place = hash_.place(brick);
        const std::uint8_t* record = bricks_ + std::size_t{place.slot} * brick_stride_;
        std::uint64_t mask, rest;
        std::memcpy(&mask, record, 8);
        std::memcpy(&rest, record + 8, 8);
        if (((rest >> 32 ^ place.bucket) & tag_mask_) != 0 || (mask >> bit & 1) == 0) return absent;
        const std::uint32_t at = static_cast<std::uint32_t>(rest) +
                                 static_cast<std::uint32_t>(std::popcount(mask & ((std::uint64_t{1} << bit) - 1)));
        return at < values_ ? at : absent;
    }
    // By value and pure, so that a loop of lookups may keep the members in registers.
    [[nodiscard, gnu::pure]] std::uint32_t find_local(Local local) const;
    [[nodiscard]] std::uint64_t position_tag(const Local& local) const {
        std::uint64_t t = 0;
        for (std::size_t a = D; a-- > 0;) t = t << axis_bits_[a] | local[a];
        return t;
    }
    [[nodiscard]] std::uint64_t linear(const Local& local) const {
        std::uint64_t k = local[D - 1];
        for (std::size_t a = D - 1; a-- > 0;) k = k * extent_[a] + local[a];
        return k;
    }
    // False if short tags are too short for an empty slot.
    [[nodiscard]] bool encode(std::span<const Voxel<D>> positions, Encoding wanted);
    void encode_position_hash(std::span<const Voxel<D>> positions);
    void build_bricks(std::span<const Voxel<D>> positions, const VoxelOptions& options, PerfectHashReport* report);
    void build_bits(std::span<const Voxel<D>> positions);
    void settle();
    template <class Fn>
    void visit(Fn&& fn) const;
    // Calls part(some entries, to) until all were given.
    void walk(void (*part)(std::span<const Entry>, void*), void* to) const;

    PerfectHash<D> hash_;
    const std::uint8_t* tags_ = nullptr;
    const std::uint8_t* bricks_ = nullptr;
    std::uint64_t tag_mask_ = 0;
    std::uint32_t tag_bits_ = 0;
    std::uint32_t brick_stride_ = 0;
    Local extent_ = {};
    Local brick_phase_ = {};  // origin modulo the brick
    Voxel<D> origin_ = {};
    Mode mode_ = Mode::empty;
    Fast fast_ = Fast::none;
    Fast narrow_ = Fast::none;
    NarrowHash narrow_hash_;
    DomainBox<D> box_;
    Layout layout_ = Layout::voxel;
    Encoding encoding_ = Encoding::bucket_tag;
    std::uint32_t entries_ = 0, values_ = 0;
    int axis_bits_[D] = {};
    Buffer tag_buffer_, bit_buffer_, rank_buffer_, brick_buffer_;
};

extern template class VoxelIndex<2>;
extern template class VoxelIndex<3>;

/// Names as on the command line ("bucket-tag").
[[nodiscard]] const char* name(Layout layout);
[[nodiscard]] const char* name(Encoding encoding);

}  // namespace quadrat
