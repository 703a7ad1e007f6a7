// A collision-free hash of a fixed set of grid positions, evaluated with one read of a small table:
//     h(p) = h0(p) + Phi[h1(p)] mod m,   h0(p) = M0 p mod m,   h1(p) = M1 p mod r
// after Lefebvre & Hoppe, Perfect Spatial Hashing (2006), sections 3 and 4. M0 and M1 are the identity unless asked
// otherwise, so that neighbours in space are neighbours in Phi.
//
// Departures: tables need not be cubes (a cube wastes up to 0.5 bit per entry); the two sizes of an axis are always
// coprime; the scale of quantised offsets is coprime to m, or only every scale-th slot could be reached; and h0 is
// reduced modulo m after the offset is added, which saves the wrap.
//
//     position ---- mod r ----> bucket ----> Phi[bucket]
//         |                                      |           in one dimension, m = 7, r = 3: position 11 is in bucket
//         +-------- mod m ----> h0 ------ + -----+           2; if Phi[2] = 5, its slot is (4 + 5) mod 7 = 2
//                                         |
//                                       mod m ----> slot     on each axis of the tables; then x is fastest
//
// m is the size of the table of values on an axis, r that of the offset table. The hash gives a slot for every position
// of the bounding box, stored or not; what tells the two apart is VoxelIndex, which most programs want instead.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/voxels/detail/divider.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace quadrat {

/// A grid position. Coordinates may be negative and lie anywhere in 32 bits; the positions of one structure span at
/// most 2^21 cells on each axis.
template <int D>
using Voxel = Vec<D, std::int32_t>;

/// How the size of the offset table is chosen (section 4.1).
enum class Construction : std::uint8_t {
    fast,     ///< starts at 1/(2 E) offsets per entry and grows by 3 % until a perfect hash is found
    compact,  ///< searches for the smallest offset table, several seeds for each size
};

/// What offsets are chosen for besides being free of collisions (section 4.4).
enum class Coherence : std::uint8_t {
    none,     ///< the first that fits
    defined,  ///< neighbours in space become neighbours in the table; for queries that stay on the data
    domain,   ///< the offset table becomes locally constant; for queries that wander over the whole domain
};

/// How a hash is built. Values out of their range throw Error{bad_value} with the name of the option.
struct PerfectHashOptions {
    /// How the size of the offset table is chosen. Default: fast; compact takes some 10 times as long for a table that
    /// is about a quarter smaller.
    Construction construction = Construction::fast;
    /// What else offsets are chosen for. Default: nothing. The others need an offset table a little larger, and where
    /// that does not help either they give way: the report says what was reached.
    Coherence coherence = Coherence::none;
    /// Any number. The same seed, options and positions give the same hash on any machine and for any number of
    /// threads. Default: 1.
    std::uint64_t seed = 1;
    /// Bits per offset coordinate, 1 to 16. 0 means as many as the largest axis of the table needs, at most 16. Where
    /// they are too few for an axis, offsets go in steps of scale(). Default: 8, for which lookups are fastest.
    int offset_bits = 8;
    /// Table slots per entry, 1 to 16: those above 1 stay empty, and make it easier to find offsets. Default: 0, which
    /// means 1.01 (fast) or 1.025 (compact).
    double slack = 0;
    /// Seeds tried for each size by the compact construction, at least 1. Large sets, which are all alike, take fewer:
    /// at most 2 above 400,000 positions and 1 above 2 million. Default: 5.
    int attempts = 5;
    /// Prefers sizes for which (h0, h1) is injective on the whole domain, as tags of buckets need it. It is a wish:
    /// PerfectHash::unique_tags() says whether it came true. Does nothing for E < D. Default: true.
    bool unique_tags = true;
    /// If not 0, offsets are chosen so that a few low bits of the bucket's number are a tag, in multiples of so many,
    /// up to 32; PerfectHash::tag_bits() says how many. Default: 0, all bits of the number.
    int short_tags = 0;
    /// Where the compact construction tries several seeds at once; the fast one stays on the calling thread. Must live
    /// until the hash is built. Default: null, the calling thread.
    Executor* executor = nullptr;
    /// Stops a construction, which throws Error{stopped}; progress is told by the compact one alone. Default: nobody
    /// watches.
    Watch watch = {};
};

/// What a construction did, and how good its result is. All zeros for an empty set.
struct PerfectHashReport {
    /// Greedy constructions started.
    std::uint32_t attempts = 0;
    /// Offsets taken back in the successful one, before coherence.
    std::uint64_t evictions = 0;
    /// N_H of section 4.4, normalised: 1 if all neighbours stay neighbours. Costs a pass over the positions, which is
    /// saved where no report is asked for.
    double coherence = 0;
    /// The share of the positions that was placed with an eye to coherence: 1 as a rule, less where the data repeats
    /// itself, and 0 where no coherent offsets were found or none were asked for.
    double coherent_share = 0;
};

/// What a hash, an index, or sparse values with their index, hold and take.
struct VoxelStats {
    std::uint64_t entries = 0;      ///< stored positions, or blocks
    std::uint64_t values = 0;       ///< places of values, those of empty slots included
    std::uint64_t index_bytes = 0;  ///< everything but the values, padding not counted
    std::uint64_t value_bytes = 0;  ///< the values of all channels; 0 for an index alone

    /// All together.
    [[nodiscard]] std::uint64_t bytes() const { return index_bytes + value_bytes; }
};

/// The hash function. D is the dimension of the positions, E that of the tables; E = 2 for D = 3 gives a picture that
/// can be painted on (section 7.2). Holds the offset table, not the positions. Take VoxelIndex where positions may be
/// asked for that are not stored, and SparseVoxels where there are values.
///
///     auto hash = quadrat::PerfectHash<3>::build(positions);
///     std::vector<float> table(hash.slots());
///     std::array<std::uint32_t, 3> local;
///     for (std::size_t i = 0; i < positions.size(); ++i)
///         if (hash.inside(positions[i], local)) table[hash.place(local).slot] = values[i];
///
/// Thread safety: it does not change after it was built, and all calls may run concurrently. Copies share the offset
/// table, and are cheap. Compiled for <2>, <3> and <3, 2>.
template <int D, int E = D>
class PerfectHash {
    static_assert((D == 2 || D == 3) && (E == D || E == 2));

  public:
    /// Where a position goes. `slot` is the index in a table of values, below slots(); `bucket` is the index in the
    /// offset table, below buckets(). (slot, bucket) is unique for each position of the domain if unique_tags() holds.
    struct Place {
        std::uint32_t slot;
        std::uint32_t bucket;
    };

    /// No positions and no tables: inside() is false for every position.
    PerfectHash() = default;

    /// Finds a perfect hash of the positions. O(n) memory; fast construction takes some 0.1 s per million. An empty set
    /// is legal, and nothing is inside it. Throws Error{too_large} if no table of 64 offsets per entry is enough.
    ///
    /// positions: in any order; no two equal, or Error{duplicate} with the later index. They span at most 2^21 cells on
    ///            each axis, or Error{bad_value} with index and axis; at most 2^27, or Error{too_large}.
    /// options: in their ranges, or Error{bad_value} with the name of the field.
    /// report: filled in if not null.
    [[nodiscard]] static PerfectHash build(std::span<const Voxel<D>> positions, const PerfectHashOptions& options = {},
                                           PerfectHashReport* report = nullptr);

    /// True if p lies in the bounding box of the positions, which is called the domain; `local` is then p relative to
    /// its corner, and of no use otherwise. O(1).
    [[nodiscard]] bool inside(const Voxel<D>& p, std::array<std::uint32_t, D>& local) const {
        bool in = true;
        for (int a = 0; a < D; ++a) {
            const auto k = static_cast<std::size_t>(a);
            local[k] = static_cast<std::uint32_t>(p[a]) - static_cast<std::uint32_t>(origin_[a]);
            in &= local[k] < extent_[k];
        }
        return in;
    }

    /// Where a position of the domain goes; two positions of the set never share a slot. A position that is not in the
    /// set gets the slot of one that is, or an empty one. O(1): one read of the offset table.
    ///
    /// local: from inside() that was true; this is not checked, and tables have no entries beyond the domain.
    [[nodiscard]] Place place(const std::array<std::uint32_t, D>& local) const {
        if constexpr (D == E) {
            if (tabled_) {
                std::array<std::uint32_t, D> at;
                for (std::size_t a = 0; a < D; ++a) at[a] = local[a] + axis_.start[a];
                return place_by_tables(at);
            }
            if (!linear_) {
                const std::uint32_t bucket = divided_bucket(local);
                const std::uint64_t phi = offset_at(bucket);
                std::uint32_t slot = 0;
                for (std::size_t a = E; a-- > 0;)
                    slot = slot * table_[a].divisor + table_[a].remainder(local[a] + shift(phi, a));
                return {slot, bucket};
            }
        }
        return place_linear(local);
    }

    /// True if place_by_tables() may be called: offsets have 8 bits and go in steps of one, and the tables are smaller
    /// than the offset table. place() uses them by itself; this is for loops that keep them in registers.
    [[nodiscard]] bool tabled() const { return tabled_; }
    /// Where the entries of each axis begin in the tables; all zeros where tabled() does not hold.
    [[nodiscard]] const std::array<std::uint32_t, D>& table_starts() const { return axis_.start; }
    /// The same as place() of at - table_starts(), without a multiplication: each coordinate has its share of the
    /// bucket in a table, and each sum of h0 and an offset its share of the slot.
    ///
    /// at: a position of the domain plus table_starts(), on each axis. Requires tabled().
    [[nodiscard]] Place place_by_tables(const std::array<std::uint32_t, D>& at) const {
        std::uint32_t bucket = 0, slot = 0;
        const std::uint8_t* share[E];
        for (std::size_t a = 0; a < E; ++a) {
            // One load for both, and the upper half in bytes: the sum is made before the offset is known.
            const std::uint64_t both = axis_.shares[at[a]];
            bucket += static_cast<std::uint32_t>(both);
            share[a] = axis_.slots + (both >> 32);
        }
        // Little waits for the offset: what does fills the processor's scheduler.
        const std::uint8_t* phi = offsets_.get() + std::size_t{bucket} * E;
        for (int a = 0; a < E; ++a) {
            std::uint32_t part;
            std::memcpy(&part, share[a] + std::size_t{4} * phi[a], 4);
            slot += part;
        }
        return {slot, bucket};
    }

    /// Places for values, the product of table_size(): not less than entries(), and for an empty set 1.
    [[nodiscard]] std::uint32_t slots() const { return slots_; }
    /// Entries of the offset table, the product of offset_size(); for an empty set 1.
    [[nodiscard]] std::uint32_t buckets() const { return buckets_; }
    /// How many positions the hash was built from.
    [[nodiscard]] std::uint32_t entries() const { return entries_; }
    /// The corner of the domain: the smallest coordinate of the positions on each axis. Zeros for an empty set.
    [[nodiscard]] const Voxel<D>& origin() const { return origin_; }
    /// The size of the domain in positions on each axis, at most 2^21; 0 on all of them for an empty set.
    [[nodiscard]] const std::array<std::uint32_t, D>& extent() const { return extent_; }
    /// m, the size of the table of values on an axis: 1 to 2^16.
    ///
    /// axis: 0 to E - 1, as in all members that take one; this is not checked.
    [[nodiscard]] std::uint32_t table_size(int axis) const { return table_[static_cast<std::size_t>(axis)].divisor; }
    /// r, the size of the offset table on an axis: 1 to 2^16.
    [[nodiscard]] std::uint32_t offset_size(int axis) const { return offset_[static_cast<std::size_t>(axis)].divisor; }
    /// What a stored offset is multiplied with on an axis: 1 where its bits reach every slot, otherwise the smallest
    /// step that does and is coprime to m.
    [[nodiscard]] std::uint32_t scale(int axis) const { return scale_[static_cast<std::size_t>(axis)]; }
    /// Bits of a stored offset on each axis.
    [[nodiscard]] int offset_bits() const { return bits_; }
    /// True if M0 and M1 are the identity, as build() makes them for E = D unless the positions crowd into few buckets,
    /// as a row in a wide domain does: then they are random.
    [[nodiscard]] bool identity() const { return !linear_; }
    /// A coefficient of M0, below 2^16. All of them are zero where identity() holds: nothing is multiplied then.
    ///
    /// row: an axis of the tables, 0 to E - 1. column: an axis of positions, 0 to D - 1. Neither is checked.
    [[nodiscard]] std::uint32_t table_matrix(int row, int column) const { return m0_[row][column]; }
    /// The same of M1.
    [[nodiscard]] std::uint32_t offset_matrix(int row, int column) const { return m1_[row][column]; }
    /// The stored offset of one bucket on one axis, before scaling: below 2^offset_bits(). O(1).
    ///
    /// bucket: below buckets(); this is not checked.
    [[nodiscard]] std::uint32_t stored_offset(std::uint32_t bucket, int axis) const {
        return static_cast<std::uint32_t>(offset_at(bucket) >> (axis * bits_)) & mask_;
    }
    /// True if no two positions of the whole domain share both slot and bucket (Chinese remainder, per axis): m and r
    /// of each axis are coprime, and m r is not less than the extent. False for E < D. Takes a greatest common divisor
    /// per axis.
    [[nodiscard]] bool unique_tags() const;
    /// How many low bits of the bucket make (slot, bits) unique, too, among a stored position and all others of the
    /// domain; those of the whole number unless short tags were asked for. Means something only if unique_tags() holds.
    [[nodiscard]] int tag_bits() const { return tag_bits_; }
    /// The position of the domain, relative to its corner, with this slot and bucket; coordinates beyond extent() if
    /// there is none. Requires unique_tags(). Takes a modular inverse per axis.
    ///
    /// place: a slot below slots() and a bucket below buckets(); this is not checked.
    [[nodiscard]] std::array<std::uint32_t, D> position(const Place& place) const;
    /// The offset table: buckets() entries of E * offset_bits() bits, x lowest, without gaps, then 8 bytes of padding.
    ///
    ///     byte    0  1  2    3  4  5    6  7  8   ..        E = 3, offset_bits() = 8
    ///             x  y  z    x  y  z    x  y  z   ..
    ///             bucket 0   bucket 1   bucket 2
    ///
    /// Valid as long as a copy of this hash, or what owner() gave, is kept.
    [[nodiscard]] std::span<const std::uint8_t> offsets() const { return {offsets_.get(), offsets_bytes_}; }
    /// What keeps the offset table alive, its first byte; null for a hash that was not built.
    [[nodiscard]] const std::shared_ptr<const std::uint8_t>& owner() const { return offsets_; }
    /// Size of the offset table, the measure of the paper; 0 for an empty set.
    [[nodiscard]] double offset_bits_per_entry() const {
        return entries_ ? static_cast<double>(E * bits_) * buckets_ / entries_ : 0.0;
    }
    /// entries(), slots() as places of values, and the bytes of the offset table without its padding; the hash holds no
    /// values. Tables that make lookups faster, of at most the size of the offset table, are not counted. O(1).
    [[nodiscard]] VoxelStats stats() const {
        return {entries_, slots_, (std::uint64_t{buckets_} * entry_bits_ + 7) / 8, 0};
    }

    /// The numbers that define a hash beside its offset table, as they stand in files.
    struct Shape {
        /// The corner of the domain.
        Voxel<D> origin = {};
        /// Its size, at most 2^21 on each axis; 0 on all of them for an empty set.
        std::array<std::uint32_t, D> extent = {};
        /// m, 1 to 65536 on each axis; below 2^32 slots in all.
        std::array<std::uint32_t, E> table = {};
        /// r, the same.
        std::array<std::uint32_t, E> offset = {};
        /// 1 to m; times the largest stored offset below 2^21.
        std::array<std::uint32_t, E> scale = {};
        /// Positions, not more than slots.
        std::uint32_t entries = 0;
        /// Bits per offset coordinate, 1 to 16.
        std::int32_t bits = 8;
        /// 1 if the matrices are used, 0 for the identity; 1 for E < D.
        std::uint32_t linear = 0;
        /// Bits of short tags; 0: those of a bucket's whole number. An index keeps its own in a file.
        std::int32_t tag_bits = 0;
        /// M0, with coefficients below 2^16.
        std::uint32_t m0[E][D] = {};
        /// M1, the same.
        std::uint32_t m1[E][D] = {};
    };
    /// The numbers of this hash; with the bytes of offsets() from_parts() makes it again. O(1).
    [[nodiscard]] Shape shape() const;
    /// Makes a hash from its parts, as a reader of files does. The table may hold anything: a lookup still gives a slot
    /// below slots(), though whether two positions share one is not tested. O(extents), and nothing is copied.
    ///
    /// shape: numbers in the ranges that Shape says, or Error{bad_format} with the name of the field.
    /// offsets: at least offsets_size(shape) bytes, which `offsets_bytes` says, padding included; not null.
    [[nodiscard]] static PerfectHash from_parts(const Shape& shape, std::shared_ptr<const std::uint8_t> offsets,
                                                std::size_t offsets_bytes);
    /// Bytes of an offset table of this shape with its padding, or 0 if its bits or sizes r are not legal. For readers
    /// that must know it before they allocate; nothing else of the shape is looked at.
    [[nodiscard]] static std::size_t offsets_size(const Shape& shape);

  private:
    // h1 of the identity, by division.
    [[nodiscard]] std::uint32_t divided_bucket(const std::array<std::uint32_t, D>& local) const {
        std::uint32_t bucket = offset_[E - 1].remainder(local[E - 1]);
        for (std::size_t a = E - 1; a-- > 0;) bucket = bucket * offset_[a].divisor + offset_[a].remainder(local[a]);
        return bucket;
    }
    void make_axis_tables();
    [[nodiscard]] Place place_linear(const std::array<std::uint32_t, D>& local) const;
    // All axes of a bucket, x lowest; bits above them are those of the next bucket.
    [[nodiscard]] std::uint64_t offset_at(std::uint32_t bucket) const {
        const std::uint64_t bit = std::uint64_t{bucket} * entry_bits_;
        std::uint64_t word;
        std::memcpy(&word, offsets_.get() + (bit >> 3), 8);
        return word >> (bit & 7);
    }
    // What is added to h0 on an axis.
    [[nodiscard]] std::uint32_t shift(std::uint64_t phi, std::size_t axis) const {
        return (static_cast<std::uint32_t>(phi >> (axis * static_cast<std::size_t>(bits_))) & mask_) * scale_[axis];
    }

    std::array<voxels::Divider, E> table_ = {};
    std::array<voxels::Divider, E> offset_ = {};
    std::array<std::uint32_t, E> scale_ = {};
    std::array<std::uint32_t, D> extent_ = {};
    Voxel<D> origin_ = {};
    std::uint32_t mask_ = 255;
    std::uint32_t entry_bits_ = 8 * E;
    int bits_ = 8;
    int tag_bits_ = 1;
    bool linear_ = false;
    // The tables exist only for offsets of 8 bits in steps of one, and where they are smaller than the offset table.
    struct AxisTables {
        const std::uint64_t* shares = nullptr;  // of x: (x mod r) * stride | byte of x mod m in `slots` << 32
        const std::uint8_t* slots = nullptr;    // for each axis and t < m + 255: (t mod m) * stride, in 4 bytes
        std::array<std::uint32_t, D> start = {};
        std::shared_ptr<const std::uint64_t> owner;
    };
    bool tabled_ = false;
    AxisTables axis_;
    std::uint32_t slots_ = 0, buckets_ = 0, entries_ = 0;
    std::shared_ptr<const std::uint8_t> offsets_;
    std::size_t offsets_bytes_ = 0;
    std::uint32_t m0_[E][D] = {};
    std::uint32_t m1_[E][D] = {};
};

/// N_H of section 4.4, normalised: of the pairs of positions that are neighbours in space, the share that are
/// neighbours in the table. Neighbours are one step apart on one axis, in the table also around its edge. 1 if there
/// are no such pairs. O(n) time, and 4 bytes of memory per slot.
///
/// positions: the set that the hash was built from, in any order.
template <int D, int E>
[[nodiscard]] double coherence(const PerfectHash<D, E>& hash, std::span<const Voxel<D>> positions);

}  // namespace quadrat
