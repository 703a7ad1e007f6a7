// The greedy construction of the offset table (Lefebvre & Hoppe 2006, section 4.3): buckets in order of falling size,
// each moved as a whole until none of its points falls on a taken slot.
//
// The paper tests one offset at a time. Here the table is a set of bits whose rows continue with a copy of their
// beginning, so that one load answers for 57 offsets along x, whatever the position; rows are walked along y, where
// only pointers advance. Where the paper gives up, a bounded number of placed buckets is taken back (evicted) and
// placed again: 3 to 4 bits per entry fall to 3 (docs/decisions/0041).
//
// Offsets are unscaled here: positions in the table are h0 * scale^-1 mod m, so that one step of the offset is one
// slot.
#pragma once

#include <quadrat/executor.hpp>

#include "base/array.hpp"
#include "base/assert.hpp"
#include "base/random.hpp"
#include "voxels/hash/sizes.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::voxels {

/// Three 16-bit fields: a position in the table or an offset.
struct Triple {
    std::uint64_t bits = 0;

    [[nodiscard]] static Triple of(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        return {x | std::uint64_t{y} << 16 | std::uint64_t{z} << 32};
    }
    [[nodiscard]] std::uint32_t x() const { return bits & 0xffff; }
    [[nodiscard]] std::uint32_t y() const { return bits >> 16 & 0xffff; }
    [[nodiscard]] std::uint32_t z() const { return bits >> 32 & 0xffff; }
};

/// Points sorted by bucket: those of bucket q are points[start[q]] .. points[start[q + 1]].
struct Buckets {
    Sizes table{1, 1, 1};  ///< m
    Sizes steps{1, 1, 1};  ///< offsets on each axis are below this; at most m
    std::span<const std::uint32_t> start;
    std::span<const Triple> points;

    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(start.size()) - 1; }
    [[nodiscard]] std::uint32_t size(std::uint32_t q) const { return start[q + 1] - start[q]; }
    [[nodiscard]] std::span<const Triple> of(std::uint32_t q) const { return points.subspan(start[q], size(q)); }
    /// Where a point goes.
    [[nodiscard]] Triple slot(Triple point, Triple offset) const {
        const auto wrap = [](std::uint32_t v, std::uint32_t m) { return v >= m ? v - m : v; };
        return Triple::of(wrap(point.x() + offset.x(), table[0]), wrap(point.y() + offset.y(), table[1]),
                          wrap(point.z() + offset.z(), table[2]));
    }
};

/// A pseudo-random sequence with `below` of its own: by the high bits, without a division.
class Random {
  public:
    explicit Random(std::uint64_t seed) : numbers_(seed) {}
    std::uint64_t next() { return numbers_.next(); }
    /// Uniform below n (n < 2^32).
    std::uint32_t below(std::uint32_t n) {
        QUADRAT_ASSERT(n != 0);
        return static_cast<std::uint32_t>((next() >> 32) * n >> 32);
    }

  private:
    base::SplitMix numbers_;
};

/// An offset below `steps`. The coordinates are drawn one after another: the order in which arguments of a call are
/// evaluated is the compiler's.
[[nodiscard]] inline Triple random_offset(Random& random, const Sizes& steps) {
    const std::uint32_t z = random.below(steps[2]);
    const std::uint32_t y = random.below(steps[1]);
    const std::uint32_t x = random.below(steps[0]);
    return Triple::of(x, y, z);
}

/// The taken slots of the table.
class Occupancy {
  public:
    static constexpr std::uint32_t group = 57;  // offsets answered by one load: 64 bits less the shift inside a byte

    explicit Occupancy(const Sizes& table)
        : table_(table),
          stride_((table[0] + 64 + 63) / 64 * 8),
          bytes_(std::uint64_t{table[1]} * table[2] * stride_ + 8) {
        bytes_.fill(0);
    }
    [[nodiscard]] std::size_t stride() const { return stride_; }
    [[nodiscard]] const std::uint8_t* row(std::uint32_t y, std::uint32_t z) const {
        return bytes_.data() + (std::size_t{z} * table_[1] + y) * stride_;
    }
    [[nodiscard]] bool taken(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
        return row(y, z)[x >> 3] >> (x & 7) & 1;
    }
    void set(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        QUADRAT_ASSERT(x < table_[0] && y < table_[1] && z < table_[2] && !taken(x, y, z));
        std::uint8_t* r = bytes_.data() + (std::size_t{z} * table_[1] + y) * stride_;
        do {
            r[x >> 3] = static_cast<std::uint8_t>(r[x >> 3] | 1u << (x & 7));
            x += table_[0];
        } while (x < table_[0] + 64);
    }
    void clear(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        QUADRAT_ASSERT(x < table_[0] && y < table_[1] && z < table_[2] && taken(x, y, z));
        std::uint8_t* r = bytes_.data() + (std::size_t{z} * table_[1] + y) * stride_;
        do {
            r[x >> 3] = static_cast<std::uint8_t>(r[x >> 3] & ~(1u << (x & 7)));
            x += table_[0];
        } while (x < table_[0] + 64);
    }

  private:
    Sizes table_;
    std::size_t stride_;
    base::Array<std::uint8_t> bytes_;
};

class ShortTags;

/// One try. After success, offset(q) holds an offset for every bucket that has points.
class Placement {
  public:
    /// `tags` (or null) is a rule that offsets must keep.
    Placement(const Buckets& buckets, const ShortTags* tags, std::uint64_t seed);

    /// Places every bucket that place() did not; false if more than `max_evictions` would be needed.
    [[nodiscard]] bool run(std::uint64_t max_evictions, const Watch& watch);

    [[nodiscard]] std::span<const Triple> offsets() const { return offsets_; }
    [[nodiscard]] std::uint64_t evictions() const { return evictions_; }
    /// After a failure: the share of the buckets that had no turn.
    [[nodiscard]] double unplaced() const { return unplaced_; }

    // The steps, shared with the construction for coherence (voxels/hash/coherent.cpp).
    [[nodiscard]] bool fits(std::uint32_t q, Triple offset);
    /// True if the short tags of q and of the buckets that are placed tell all positions apart.
    [[nodiscard]] bool clear_of_partners(std::uint32_t q, Triple offset);
    [[nodiscard]] bool search(std::uint32_t q, Triple& offset);
    void place(std::uint32_t q, Triple offset);
    void take_back(std::uint32_t q);
    [[nodiscard]] Triple slot(Triple point, Triple offset) const { return buckets_.slot(point, offset); }
    /// Buckets in order of falling size, without the empty ones.
    [[nodiscard]] static std::vector<std::uint32_t> order_by_size(const Buckets& buckets);

  private:
    struct Row {  // a point during a search: its word in the current row
        const std::uint8_t* word;
        std::uint32_t shift;
        std::uint32_t left;  // rows until y wraps
    };
    template <class Accept>
    bool scan(std::uint32_t q, Accept&& accept);
    bool evict_for(std::uint32_t q, std::vector<std::uint32_t>& pending);
    void remember_owners();
    void expect(std::uint32_t later, std::uint32_t sooner) const;
    [[nodiscard]] std::size_t index(Triple slot) const {
        return (std::size_t{slot.z()} * buckets_.table[1] + slot.y()) * buckets_.table[0] + slot.x();
    }

    Buckets buckets_;
    const ShortTags* tags_;
    Random random_;
    Occupancy taken_;
    std::vector<Triple> offsets_;
    std::vector<Row> rows_;
    std::vector<Triple> slots_;          // scratch of clear_of_partners
    std::vector<std::uint32_t> owner_;   // slot -> bucket, only once an eviction was needed
    std::vector<std::uint8_t> evicted_;  // bucket -> times evicted
    std::vector<std::uint8_t> placed_;
    std::uint64_t evictions_ = 0;
    std::uint64_t max_evictions_ = 0;
    double unplaced_ = 0;
};

}  // namespace quadrat::voxels
