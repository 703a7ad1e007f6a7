// Bucket tags with fewer bits than the number of a bucket has.
//
// Two positions of the domain that share a slot lie in different buckets (Chinese remainder), so the number of the
// bucket is an exact tag. But few pairs of a slot and a bucket belong to a position of the domain at all, one in a
// thousand or so. Its low bits are enough if offsets are chosen with care: buckets that agree in them are partners, and
// an offset is taken only if no position of the domain in one partner falls on a slot that a point of the other holds.
//
// On one axis, the coordinate in bucket q with h0 = u is q + r k, where k = (u - q) / r modulo m. It lies in the domain
// if k is below a limit that depends on q alone, so a test takes two small tables and no division.
#pragma once

#include "voxels/hash/placement.hpp"
#include "voxels/hash/sizes.hpp"

#include <cstdint>
#include <vector>

namespace quadrat::voxels {

/// How many low bits of `buckets` numbers make a tag: partners are few, and an offset seldom meets one. `share` is the
/// part of the pairs of slot and bucket that belongs to a position of the domain. Bits come in multiples of `granule`;
/// at least 4, so that an empty slot finds a tag; the bits of the whole number if nothing shorter will do.
[[nodiscard]] int short_tag_bits(double buckets, double points_per_bucket, double share, int granule, bool compact);

class ShortTags {
  public:
    /// A bucket on each axis of the offset table.
    struct Side {
        std::uint32_t q[3];
    };

    /// `table` and `offset` are coprime on each axis, and their product covers `extent`. Slots and offsets of tests
    /// are in units of `unit` slots.
    ShortTags(int bits, const Sizes& table, const Sizes& offset, const Sizes& extent, const Sizes& unit);

    [[nodiscard]] int bits() const { return bits_; }
    /// The first of the buckets that agree with this one; the others follow in steps of step().
    [[nodiscard]] std::uint32_t first_partner(std::uint32_t bucket) const {
        return static_cast<std::uint32_t>(bucket & (step() - 1));
    }
    [[nodiscard]] std::uint64_t step() const { return std::uint64_t{1} << bits_; }
    [[nodiscard]] Side side(std::uint32_t bucket) const {
        const std::uint32_t rest = bucket / offset_[0], z = rest / offset_[1];
        return {{bucket - rest * offset_[0], rest - z * offset_[1], z}};
    }
    /// The side of the bucket step() later, without a division.
    void advance(Side& side) const {
        std::uint32_t carry = 0;
        for (int a = 0; a < 3; ++a) {
            side.q[a] += stride_[a] + carry;
            carry = side.q[a] >= offset_[static_cast<std::size_t>(a)];
            if (carry) side.q[a] -= offset_[static_cast<std::size_t>(a)];
        }
    }
    /// True if a position of the domain in the bucket falls on the slot, when the bucket has this offset.
    [[nodiscard]] bool reaches(const Side& bucket, Triple slot, Triple offset) const {
        // Seldom more than the first.
        return inside<0>(bucket, slot.x(), offset.x()) && inside<1>(bucket, slot.y(), offset.y()) &&
               inside<2>(bucket, slot.z(), offset.z());
    }

  private:
    struct Bound {
        std::uint32_t shift;  // q / r modulo m
        std::uint32_t limit;  // coordinates q + r k below the extent
    };
    template <int A>
    [[nodiscard]] bool inside(const Side& bucket, std::uint32_t slot, std::uint32_t offset) const {
        const std::uint32_t u = slot - offset, part = share_[A][u + (slot < offset ? table_[A] : 0)];
        const Bound& bound = bound_[A][bucket.q[A]];
        const std::uint32_t k = part - bound.shift;
        return k + (part < bound.shift ? table_[A] : 0) < bound.limit;
    }

    int bits_;
    Sizes table_, offset_;
    std::uint32_t stride_[3] = {};         // of step(), on each axis of the offset table
    std::vector<std::uint32_t> share_[3];  // of u: u unit / r modulo m
    std::vector<Bound> bound_[3];          // of q
};

}  // namespace quadrat::voxels
