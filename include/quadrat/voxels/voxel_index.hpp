// Which value belongs to a grid position, or none: a perfect hash together with what tells absent positions from stored
// ones (Lefebvre & Hoppe 2006, section 5), in one of three layouts:
//
//   voxel  the hash over the positions themselves: two reads, the fastest for random access
//   brick  the hash over bricks of 4^3 (8^2) positions, each with a mask of 64 bits and the number of values before it:
//          the smallest for surfaces and curves
//   bits   one bit for every position of the bounding box, with counts: the smallest above some 30 % of density
//
// Beside the paper's encodings there is a shorter exact tag: where the sizes of the two tables are coprime and their
// product covers the domain, two positions that share a slot lie in different buckets, so the number of the bucket
// decides. Offsets are chosen so that some of its bits are enough (src/voxels/hash/short_tags.hpp).
#pragma once

#include <quadrat/voxels/detail/fast_find.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace quadrat {

/// How positions are stored; the head of this file says which is good for what.
enum class Layout : std::uint8_t {
    automatic,  ///< the smallest by count of bytes
    voxel,
    brick,
    bits,
};

/// How the voxel layout knows that a position is absent. All but `constrained` are exact. Bricks always have bucket
/// tags, and bits have domain bits.
enum class Encoding : std::uint8_t {
    automatic,      ///< the smallest exact one
    constrained,    ///< it does not: only stored positions may be asked for
    domain_bit,     ///< a bit for each position of the bounding box; of less than 2^40 positions
    position_tag,   ///< the position, with each value
    position_hash,  ///< two bytes with each value: a parameter k and h_k of the position, unlike those of all others in
                    ///< the slot; not where the data is very sparse
    bucket_tag,     ///< bits of the number of the bucket, with each value
};

/// Names as on the command line ("bucket-tag"). The text lives as long as the program.
[[nodiscard]] const char* name(Layout layout);
[[nodiscard]] const char* name(Encoding encoding);

/// What an index is built for.
struct VoxelOptions {
    Layout layout = Layout::automatic;        ///< default: the smallest; it counts bytes and never looks at a clock
    Encoding encoding = Encoding::automatic;  ///< default: the smallest exact one; another one means the voxel layout
    Construction construction = Construction::fast;  ///< default fast; compact takes some 10 times as long
    Coherence coherence = Coherence::none;           ///< default none
    std::uint64_t seed = 1;        ///< any number, default 1; the same one gives the same index on any machine
    int offset_bits = 8;           ///< bits per offset coordinate, 1..16, default 8; 0 means as many as needed
    std::size_t value_bytes = 4;   ///< bytes of one value, default 4: what an empty slot costs; SparseVoxels sets it
    Executor* executor = nullptr;  ///< threads for the compact construction; null (the default) means the caller's
    Watch watch = {};              ///< stops a long build and hears of its progress; nobody by default
};

/// A block of memory that files map and copies share.
struct Buffer {
    std::shared_ptr<std::uint8_t> data;
    std::size_t size = 0;  ///< in bytes

    /// Bytes that are all zero, aligned to 64.
    [[nodiscard]] static Buffer zeros(std::size_t bytes);
};

namespace voxels {
template <int D>
struct IndexState;
template <int D>
struct IndexFiles;
}  // namespace voxels

/// What an index holds and takes.
struct VoxelIndexStats {
    std::uint64_t entries = 0;      ///< stored positions
    std::uint64_t values = 0;       ///< places of values, those of empty slots included
    std::uint64_t index_bytes = 0;  ///< everything but the values, padding not counted
};

/// The index. Copies share its tables. It does not change after it was built, and const calls may run concurrently.
template <int D>
class VoxelIndex {
  public:
    /// A position relative to the corner of the bounding box.
    using Local = std::array<std::uint32_t, D>;
    /// A position and the place of its value.
    using Entry = std::pair<Voxel<D>, std::uint32_t>;
    /// What find() gives where nothing is stored.
    static constexpr std::uint32_t absent = voxels::no_place;

    /// An index without entries.
    VoxelIndex() = default;
    /// The index of the positions, in any order. It takes O(n) memory, and some 0.1 s per million positions with fast
    /// construction. Throws as PerfectHash::build does, and Error{unsupported} if the encoding asked for is not
    /// possible for these positions or the layout asked for.
    /// positions: at most 2^27, no two equal
    /// report: filled in if not null; nothing is written there for bits
    [[nodiscard]] static VoxelIndex build(std::span<const Voxel<D>> positions, const VoxelOptions& options = {},
                                          PerfectHashReport* report = nullptr);

    /// The place of p's value, below values(), or `absent`. O(1): two or three reads of memory.
    /// p: any position, unless the encoding is constrained; then one that is not stored gives any place
    [[nodiscard]] std::uint32_t find(const Voxel<D>& p) const {
        return fast_.find(p, [this](const Local& local) { return find_other(local); });
    }
    /// out[i] = find(p[i]); several times faster where memory is slow, since many reads are under way at once. Throws
    /// Error{bad_shape} if the spans differ in length.
    void find(std::span<const Voxel<D>> p, std::span<std::uint32_t> out) const { find(p, out, nullptr, 0); }
    /// The same; starts loading the values that were found.
    /// values: values() times `value_bytes` bytes, or null
    void find(std::span<const Voxel<D>> p, std::span<std::uint32_t> out, const void* values,
              std::size_t value_bytes) const;

    /// How many values a channel holds: entries(), or the slots of the table in the voxel layout.
    [[nodiscard]] std::uint32_t values() const { return values_; }
    /// How many positions are stored.
    [[nodiscard]] std::uint32_t entries() const { return entries_; }
    /// The corner of the bounding box of the stored positions, and its size in positions.
    [[nodiscard]] const Voxel<D>& origin() const { return origin_; }
    [[nodiscard]] const Local& extent() const { return extent_; }
    /// Never automatic: what was chosen.
    [[nodiscard]] Layout layout() const { return layout_; }
    [[nodiscard]] Encoding encoding() const { return encoding_; }
    /// True if absent positions are told apart and stored ones can be listed.
    [[nodiscard]] bool exact() const { return encoding_ != Encoding::constrained || layout_ != Layout::voxel; }
    /// The hash over positions or bricks; one without entries for bits.
    [[nodiscard]] const PerfectHash<D>& hash() const { return hash_; }
    /// Bits of one tag; 0 where there are none.
    [[nodiscard]] int tag_bits() const { return static_cast<int>(tag_bits_); }
    /// Everything but the values, padding not counted.
    [[nodiscard]] std::uint64_t bytes() const;
    /// Bits above the payload per entry: index, tags and empty slots.
    [[nodiscard]] double overhead_bits_per_entry(std::size_t value_bytes) const;
    [[nodiscard]] VoxelIndexStats stats() const { return {entries_, values_, bytes()}; }

    /// Calls fn(position, place of its value) for every entry in storage order; nothing is stored. O(n), and the number
    /// of positions in the bounding box for bits, domain bits and position hashes. Throws Error{unsupported} if
    /// constrained.
    template <class Fn>
    void for_each(Fn&& fn) const {
        walk(
            [](std::span<const Entry> part, void* to) {
                for (const Entry& e : part) (*static_cast<std::remove_reference_t<Fn>*>(to))(e.first, e.second);
            },
            const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
    }
    /// The stored positions with the places of their values, by z, y, x. Throws as for_each does.
    [[nodiscard]] std::vector<Entry> sorted() const;

  private:
    friend struct voxels::IndexFiles<D>;

    explicit VoxelIndex(std::shared_ptr<const voxels::IndexState<D>> state);
    // By value and pure, so that a loop of lookups may keep the members in registers.
    [[nodiscard, gnu::pure]] std::uint32_t find_other(Local local) const;
    // Calls part(some entries, to) until all were given.
    void walk(void (*part)(std::span<const Entry>, void*), void* to) const;
    template <class Fn>
    void visit(Fn&& fn) const;

    voxels::FastFind<D> fast_;
    std::shared_ptr<const voxels::IndexState<D>> state_;  // null: no entries
    PerfectHash<D> hash_;
    Voxel<D> origin_ = {};
    Local extent_ = {};
    std::uint32_t entries_ = 0, values_ = 0, tag_bits_ = 0;
    Layout layout_ = Layout::voxel;
    Encoding encoding_ = Encoding::bucket_tag;
};

extern template class VoxelIndex<2>;
extern template class VoxelIndex<3>;

}  // namespace quadrat
