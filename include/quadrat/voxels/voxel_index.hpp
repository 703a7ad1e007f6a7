// Which value belongs to a grid position, or none: a perfect hash together with what tells absent positions from stored
// ones (Lefebvre & Hoppe 2006, section 5), in one of four layouts:
//
//   voxel  the hash over the positions themselves: two reads, the fastest for random access
//   brick  the hash over bricks of 4^3 (8^2) positions, each with a mask of 64 bits and the number of values before it:
//          the smallest for surfaces and curves
//   bits   one bit for every position of the bounding box, with counts: the smallest above some 30 % of density
//   keys   the sorted numbers of the positions, coded: for what is too sparse, too small or too regular for a hash, and
//          for whom size is all; 2 + log2(cells / entries) bits and some, and slower to read than a hash
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

/// How positions are stored; the head of this file says which is good for what. Their numbers stand in files.
enum class Layout : std::uint8_t {
    automatic,  ///< the smallest of voxel, brick and bits, or keys: see Optimize
    voxel,
    brick,
    bits,
    keys,
};

/// What Layout::automatic looks for.
enum class Optimize : std::uint8_t {
    /// The smallest of the layouts voxel, brick and bits, in the smallest of their exact encodings; keys where none of
    /// these is smaller than a list of the sorted numbers of the positions, ceil(log2(cells)) bits each.
    speed,
    /// The smallest of all four. For scattered positions these are keys, at half the bits of a hash and some six times
    /// the instructions of a lookup (docs/decisions/0120).
    size,
};

/// How the voxel layout knows that a position is absent. All but `constrained` are exact. Bricks always have bucket
/// tags, bits have domain bits, and keys have position tags.
enum class Encoding : std::uint8_t {
    automatic,      ///< the smallest exact one
    constrained,    ///< it does not: only stored positions may be asked for
    domain_bit,     ///< a bit for each position of the bounding box; of less than 2^40 positions
    position_tag,   ///< the position, with each value
    position_hash,  ///< two bytes with each value: a parameter k and h_k of the position, unlike those of all others in
                    ///< the slot; of at most 2^28 positions, 2^12 for each slot, and not always then
    bucket_tag,     ///< bits of the number of the bucket, with each value
};

/// Names as on the command line ("bucket-tag"). The text lives as long as the program.
[[nodiscard]] const char* name(Layout layout);
[[nodiscard]] const char* name(Encoding encoding);

/// What an index is built for. The defaults give the smallest exact index.
struct VoxelOptions {
    /// How positions are stored. Default: the smallest, of those that were built; no clock is looked at.
    Layout layout = Layout::automatic;
    /// What the automatic layout looks for; nothing else asks. Default: the smallest whose lookups are fast.
    Optimize optimize = Optimize::speed;
    /// How absence is known. Default: the smallest exact one. Another one means the voxel layout where the layout is
    /// automatic, and is refused with Error{unsupported} where the layout has one of its own.
    Encoding encoding = Encoding::automatic;
    /// How long the offset table is searched for. Default: fast; compact takes some 10 times as long and saves about
    /// one bit per position.
    Construction construction = Construction::fast;
    /// Whether neighbours in space are kept together. Default: none.
    Coherence coherence = Coherence::none;
    /// Any number; the same one gives the same index on any machine and for any number of threads. Default: 1.
    std::uint64_t seed = 1;
    /// Bits per offset coordinate, 1 to 16; 0 means as many as needed. Default: 8, for which lookups are fastest.
    int offset_bits = 8;
    /// Bytes of one value, all channels together: what an empty slot costs when layouts are compared. SparseVoxels sets
    /// it by itself. Default: 4.
    std::size_t value_bytes = 4;
    /// Threads for the compact construction; must live until the index is built. Default: null, the calling thread.
    Executor* executor = nullptr;
    /// Stops a long build, which then throws Error{stopped}, and hears of its progress if it is compact. Default:
    /// nobody watches.
    Watch watch = {};
};

/// A block of memory that files map and copies share.
struct Buffer {
    /// The first byte, and what keeps all of them alive. May be a part of something larger, such as a mapped file.
    std::shared_ptr<std::uint8_t> data;
    /// In bytes.
    std::size_t size = 0;

    /// Bytes that are all zero, aligned to 64. From 2 MiB on huge pages are asked for, where the system has them. No
    /// bytes are legal.
    [[nodiscard]] static Buffer zeros(std::size_t bytes);
};

namespace voxels {
template <int D>
struct IndexState;
template <int D>
struct IndexFiles;
}  // namespace voxels

/// The index: which place in an array of values belongs to a position. Holds no values; SparseVoxels has them with it.
/// Take it where values are your own arrays, or where only membership is asked for.
///
///     auto index = quadrat::VoxelIndex<3>::build(positions);
///     std::vector<float> values(index.values());
///     if (auto k = index.find({12, -3, 40}); k != index.absent) values[k] = 1.5f;
///
/// Thread safety: it does not change after it was built, and all calls may run concurrently. Copies share its tables.
/// Compiled for D = 2 and 3.
template <int D>
class VoxelIndex {
  public:
    /// A position relative to the corner of the bounding box.
    using Local = std::array<std::uint32_t, D>;
    /// A position and the place of its value.
    using Entry = std::pair<Voxel<D>, std::uint32_t>;
    /// What find() gives where nothing is stored.
    static constexpr std::uint32_t absent = voxels::no_place;

    /// An index without entries: nothing is found.
    VoxelIndex() = default;
    /// The index of the positions. It takes O(n) memory, and some 0.1 s per million positions with fast construction;
    /// domain bits and the bits layout take a bit for each position of the bounding box, and position hashes time for
    /// each. No positions are legal. Throws Error{unsupported} or Error{too_large} if the encoding or the layout asked
    /// for is not possible for these positions; automatic ones always are, and never take more than any other, keys
    /// apart (see Optimize), nor more than ceil(log2(cells)) + 6 bits above the payload for an entry, and 1 KB.
    /// Otherwise as PerfectHash::build does.
    ///
    /// positions: in any order; no two equal, or Error{duplicate} with the later index. They span at most 2^21 cells on
    ///            each axis, or Error{bad_value} with index and axis; at most 2^27, or Error{too_large}, and with the
    ///            bits layout the bounding box has less than 2^36.
    /// report: filled in for the hash over positions or bricks if not null; nothing is written there for bits
    ///         and keys.
    [[nodiscard]] static VoxelIndex build(std::span<const Voxel<D>> positions, const VoxelOptions& options = {},
                                          PerfectHashReport* report = nullptr);

    /// The place of p's value, below values(), or `absent`. O(1): one read of memory if constrained and two or so
    /// otherwise, before the value's own.
    ///
    /// p: any position. If the encoding is constrained, one that is not stored gives any place within the bounding box
    ///    and `absent` outside.
    [[nodiscard]] std::uint32_t find(const Voxel<D>& p) const {
        return fast_.find(p, [this](const Local& local) { return find_other(local); });
    }
    /// out[i] = find(p[i]); several times faster where memory is slow, since many reads are under way at once. Throws
    /// Error{bad_shape} if the spans differ in length, with nothing written. Allocates nothing, and runs on the calling
    /// thread.
    void find(std::span<const Voxel<D>> p, std::span<std::uint32_t> out) const { find(p, out, nullptr, 0); }
    /// The same; starts loading the values that were found, for a caller that reads them next. Gives the same places.
    ///
    /// values: values() times `value_bytes` bytes, or null. They are not read.
    void find(std::span<const Voxel<D>> p, std::span<std::uint32_t> out, const void* values,
              std::size_t value_bytes) const;

    /// How many values a channel holds: entries(), or the slots of the table in the voxel layout, some of which are
    /// empty. 0 without entries.
    [[nodiscard]] std::uint32_t values() const { return values_; }
    /// How many positions are stored.
    [[nodiscard]] std::uint32_t entries() const { return entries_; }
    /// The corner of the bounding box of the stored positions, and its size in positions.
    [[nodiscard]] const Voxel<D>& origin() const { return origin_; }
    [[nodiscard]] const Local& extent() const { return extent_; }
    /// Never automatic: what was chosen. Bricks say bucket_tag, bits say domain_bit,
    /// and keys say position_tag.
    [[nodiscard]] Layout layout() const { return layout_; }
    [[nodiscard]] Encoding encoding() const { return encoding_; }
    /// True if absent positions are told apart and stored ones can be listed.
    [[nodiscard]] bool exact() const { return encoding_ != Encoding::constrained || layout_ != Layout::voxel; }
    /// The hash over positions or, in the brick layout, over bricks of 4^3 (8^2); one without entries for
    /// bits and keys.
    [[nodiscard]] const PerfectHash<D>& hash() const { return hash_; }
    /// Bits of one tag, or of the low part of a key; 0 where there are none.
    [[nodiscard]] int tag_bits() const { return static_cast<int>(tag_bits_); }
    /// Bytes of all tables that a file would hold beside the values, padding not counted. Tables that make lookups
    /// faster, of at most the size of the offset table, are not among them.
    [[nodiscard]] std::uint64_t bytes() const;
    /// Bits above the payload per entry: index, tags and empty slots; 0 without entries.
    ///
    /// value_bytes: of one value, all channels together, as an empty slot costs them.
    [[nodiscard]] double overhead_bits_per_entry(std::size_t value_bytes) const;
    /// entries(), values() and bytes() in one.
    [[nodiscard]] VoxelStats stats() const { return {entries_, values_, bytes(), 0}; }

    /// Calls fn(position, place of its value) for every entry once, on the calling thread; nothing is stored. In the
    /// order of the slots of the hash, and for bricks of the bits within one; by z, y, x for bits, keys, domain bits
    /// and position hashes. The order is the same each time. O(n), and the number of positions in the bounding box for
    /// these but the keys. Throws Error{unsupported} if constrained, and what fn throws.
    template <class Fn>
    void for_each(Fn&& fn) const {
        walk(
            [](std::span<const Entry> part, void* to) {
                for (const Entry& e : part) (*static_cast<std::remove_reference_t<Fn>*>(to))(e.first, e.second);
            },
            const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
    }
    /// The stored positions with the places of their values, by z, y, x: O(n log n). Throws as for_each does.
    [[nodiscard]] std::vector<Entry> sorted() const;
    /// Those of a box, by z, y, x. Costs what is least: the positions, rows or bricks of the box, or all entries; then
    /// k log k for k results. Throws as for_each does.
    ///
    /// low, high: the corners, both in the box; any positions. A box of which high is below low is empty.
    [[nodiscard]] std::vector<Entry> sorted_in(const Voxel<D>& low, const Voxel<D>& high) const;

  private:
    friend struct voxels::IndexFiles<D>;

    explicit VoxelIndex(std::shared_ptr<const voxels::IndexState<D>> state);
    // By value and pure, so that a loop of lookups may keep the members in registers.
    [[nodiscard, gnu::pure]] std::uint32_t find_other(Local local) const;
    // Calls part(some entries, to) until all were given.
    void walk(void (*part)(std::span<const Entry>, void*), void* to) const;
    template <class Fn>
    void visit(Fn&& fn) const;

    // What lookups read comes first; the rest is copied from the state, so that access needs no second object.
    voxels::FastFind<D> fast_;
    std::shared_ptr<const voxels::IndexState<D>> state_;  // null: never built
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
