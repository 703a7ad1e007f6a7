// A collision-free hash of a fixed set of grid positions, evaluated with one read of a small table:
//     h(p) = h0(p) + Phi[h1(p)] mod m,   h0(p) = M0 p mod m,   h1(p) = M1 p mod r
// after Lefebvre & Hoppe, Perfect Spatial Hashing (2006), sections 3 and 4. M0 and M1 are the identity unless asked
// otherwise, so that neighbours in space are neighbours in Phi.
//
// Departures: tables need not be cubes (a cube wastes up to 0.5 bit per entry); the two sizes of an axis are always
// coprime; the scale of quantised offsets is coprime to m, or only every scale-th slot could be reached; and h0 is
// reduced modulo m after the offset is added, which saves the wrap.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace quadrat {

/// A grid position. Coordinates may be negative; the positions of one structure span at most 2^21 cells on each axis.
template <int D>
using Voxel = Vec<D, std::int32_t>;

/// How the size of the offset table is chosen (section 4.1).
enum class Construction : std::uint8_t {
    fast,     ///< starts at 1/(2 D) offsets per entry and grows until a perfect hash is found
    compact,  ///< searches for the smallest offset table, several seeds for each size
};

/// What offsets are chosen for besides being free of collisions (section 4.4).
enum class Coherence : std::uint8_t {
    none,     ///< the first that fits
    defined,  ///< neighbours in space become neighbours in the table; for queries that stay on the data
    domain,   ///< the offset table becomes locally constant; for queries that wander over the whole domain
};

struct PerfectHashOptions {
    Construction construction = Construction::fast;
    Coherence coherence = Coherence::none;
    std::uint64_t seed = 1;   ///< the same seed and positions give the same hash, on any machine
    int offset_bits = 8;      ///< bits per offset coordinate, 1..16; 0 means ceil(log2 m)
    double slack = 0;         ///< table slots per entry, at least 1; 0 means 1.01 (fast) or 1.025 (compact)
    int attempts = 5;         ///< compact: seeds tried for each size
    bool unique_tags = true;  ///< prefer sizes for which (h0, h1) is injective on the whole domain
    int short_tags = 0;       ///< if not 0, offsets are chosen so that few bits of the bucket's number are a tag, in
                              ///< multiples of so many; tag_bits() of the result says how many
    Executor* executor = nullptr;  ///< compact: seeds are tried at once
    Watch watch = {};
};

/// What a construction did, and how good its result is.
struct PerfectHashReport {
    std::uint32_t attempts = 0;   ///< greedy constructions started
    std::uint64_t evictions = 0;  ///< offsets taken back in the successful one
    double coherence = 0;         ///< N_H of section 4.4, normalised: 1 if all neighbours stay neighbours
};

/// x mod d by multiplication, exact for x < 2^22 and 1 <= d <= 2^16.
struct Divider {
    std::uint32_t divisor = 1;
    std::uint64_t magic = std::uint64_t{1} << 40;

    Divider() = default;
    explicit Divider(std::uint32_t d) : divisor(d), magic(((std::uint64_t{1} << 40) + d - 1) / d) {}
    [[nodiscard]] std::uint32_t quotient(std::uint32_t x) const {
        return static_cast<std::uint32_t>((x * magic) >> 40);
    }
    [[nodiscard]] std::uint32_t remainder(std::uint32_t x) const { return x - quotient(x) * divisor; }
};

/// The hash function. D is the dimension of the positions, E that of the tables; E = 2 for D = 3 gives a picture that
/// can be painted on (section 7.2). Copies share the offset table. Const calls may run concurrently.
template <int D, int E = D>
class PerfectHash {
    static_assert((D == 2 || D == 3) && (E == D || E == 2));

  public:
    /// Where a position goes. `bucket` is the index in the offset table; (slot, bucket) is unique for each position of
    /// the domain if unique_tags() holds.
    struct Place {
        std::uint32_t slot;
        std::uint32_t bucket;
    };

    PerfectHash() = default;

    /// Finds a perfect hash of the positions, in any order. O(n) memory; fast construction takes some 0.1 s per
    /// million. Throws Error: `duplicate` with the later index, `bad_value` if the positions span more than 2^21 cells
    /// on an axis or an option is out of range, `too_large` above 2^27 positions or if no table of 64 offsets per entry
    /// is enough.
    [[nodiscard]] static PerfectHash build(std::span<const Voxel<D>> positions, const PerfectHashOptions& options = {},
                                           PerfectHashReport* report = nullptr);

    /// True if p lies in the bounding box of the positions; `local` is then p relative to its corner.
    [[nodiscard]] bool inside(const Voxel<D>& p, std::array<std::uint32_t, D>& local) const {
        bool in = true;
        for (int a = 0; a < D; ++a) {
            const auto k = static_cast<std::size_t>(a);
            local[k] = static_cast<std::uint32_t>(p[a]) - static_cast<std::uint32_t>(origin_[a]);
            in &= local[k] < extent_[k];
        }
        return in;
    }

    /// Where a position of the domain (relative to its corner) goes; two positions of the set never share a slot.
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

    /// True if place_by_tables() may be called.
    [[nodiscard]] bool tabled() const { return tabled_; }
    /// Where the entries of each axis begin in the tables.
    [[nodiscard]] const std::array<std::uint32_t, D>& table_starts() const { return axis_.start; }
    /// The same as place() of at - table_starts(), without a multiplication: each coordinate has its share of the
    /// bucket in a table, and each sum of h0 and an offset its share of the slot.
    [[nodiscard]] Place place_by_tables(const std::array<std::uint32_t, D>& at) const {
        std::uint32_t bucket = 0, slot = 0;
        const std::uint8_t* share[E];
        for (std::size_t a = 0; a < E; ++a) {
            const std::uint64_t both = axis_.shares[at[a]];  // one load
            bucket += static_cast<std::uint32_t>(both);
            share[a] = axis_.slots + (both >> 32);  // in bytes: the sum is made before the offset is known
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

    [[nodiscard]] std::uint32_t slots() const { return slots_; }
    [[nodiscard]] std::uint32_t buckets() const { return buckets_; }
    [[nodiscard]] std::uint32_t entries() const { return entries_; }
    [[nodiscard]] const Voxel<D>& origin() const { return origin_; }
    [[nodiscard]] const std::array<std::uint32_t, D>& extent() const { return extent_; }
    /// m and r of one axis of the tables.
    [[nodiscard]] std::uint32_t table_size(int axis) const { return table_[static_cast<std::size_t>(axis)].divisor; }
    [[nodiscard]] std::uint32_t offset_size(int axis) const { return offset_[static_cast<std::size_t>(axis)].divisor; }
    [[nodiscard]] std::uint32_t scale(int axis) const { return scale_[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] int offset_bits() const { return bits_; }
    [[nodiscard]] bool identity() const { return !linear_; }
    [[nodiscard]] std::uint32_t table_matrix(int row, int column) const { return m0_[row][column]; }
    [[nodiscard]] std::uint32_t offset_matrix(int row, int column) const { return m1_[row][column]; }
    /// The stored offset of one bucket and axis, before scaling.
    [[nodiscard]] std::uint32_t stored_offset(std::uint32_t bucket, int axis) const {
        return static_cast<std::uint32_t>(offset_at(bucket) >> (axis * bits_)) & mask_;
    }
    /// True if no two positions of the whole domain share both slot and bucket (Chinese remainder, per axis).
    [[nodiscard]] bool unique_tags() const;
    /// The low bits of the bucket that make (slot, bits) unique, too, among a stored position and all others of the
    /// domain. Requires unique_tags().
    [[nodiscard]] int tag_bits() const { return tag_bits_; }
    /// The position of the domain, relative to its corner, with this slot and bucket. Requires unique_tags().
    [[nodiscard]] std::array<std::uint32_t, D> position(const Place& place) const;
    /// The offset table: buckets() entries of E * offset_bits() bits, x lowest, without gaps, then 8 bytes of padding.
    [[nodiscard]] std::span<const std::uint8_t> offsets() const { return {offsets_.get(), offsets_bytes_}; }
    [[nodiscard]] const std::shared_ptr<const std::uint8_t>& owner() const { return offsets_; }
    [[nodiscard]] double offset_bits_per_entry() const {
        return entries_ ? static_cast<double>(E * bits_) * buckets_ / entries_ : 0.0;
    }

    /// The numbers that define a hash beside its offset table, as they stand in files.
    struct Shape {
        Voxel<D> origin = {};
        std::array<std::uint32_t, D> extent = {};
        std::array<std::uint32_t, E> table = {};
        std::array<std::uint32_t, E> offset = {};
        std::array<std::uint32_t, E> scale = {};
        std::uint32_t entries = 0;
        std::int32_t bits = 8;
        std::uint32_t linear = 0;
        std::int32_t tag_bits = 0;  ///< 0: those of a bucket's whole number
        std::uint32_t m0[E][D] = {};
        std::uint32_t m1[E][D] = {};
    };
    [[nodiscard]] Shape shape() const;
    /// Makes a hash from its parts; throws Error{bad_format} naming the field if they do not fit together. The table
    /// may hold anything: a lookup still gives a slot below slots().
    [[nodiscard]] static PerfectHash from_parts(const Shape& shape, std::shared_ptr<const std::uint8_t> offsets,
                                                std::size_t offsets_bytes);
    /// Bytes of an offset table of this shape with its padding, or 0 if the shape is not legal.
    [[nodiscard]] static std::size_t offsets_size(const Shape& shape);

  private:
    [[nodiscard]] std::uint32_t divided_bucket(const std::array<std::uint32_t, D>& local) const {
        std::uint32_t bucket = offset_[E - 1].remainder(local[E - 1]);
        for (std::size_t a = E - 1; a-- > 0;) bucket = bucket * offset_[a].divisor + offset_[a].remainder(local[a]);
        return bucket;
    }
    void make_axis_tables();
    [[nodiscard]] Place place_linear(const std::array<std::uint32_t, D>& local) const;
    [[nodiscard]] std::uint64_t offset_at(std::uint32_t bucket) const {
        const std::uint64_t bit = std::uint64_t{bucket} * entry_bits_;
        std::uint64_t word;
        std::memcpy(&word, offsets_.get() + (bit >> 3), 8);
        return word >> (bit & 7);
    }
    [[nodiscard]] std::uint32_t shift(std::uint64_t phi, std::size_t axis) const {
        return (static_cast<std::uint32_t>(phi >> (axis * static_cast<std::size_t>(bits_))) & mask_) * scale_[axis];
    }

    std::array<Divider, E> table_ = {};
    std::array<Divider, E> offset_ = {};
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
/// neighbours in the table. `positions` is the set the hash was built from.
template <int D, int E>
[[nodiscard]] double coherence(const PerfectHash<D, E>& hash, std::span<const Voxel<D>> positions);

}  // namespace quadrat
