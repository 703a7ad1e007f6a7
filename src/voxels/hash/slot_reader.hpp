// From a slot and its tag back to the bucket, for walks over an index and for the tags of empty slots.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include "base/assert.hpp"
#include "voxels/hash/short_tags.hpp"

#include <algorithm>

namespace quadrat::voxels {

template <int D>
class SlotReader {
  public:
    /// Requires hash.unique_tags(), and keeps a reference.
    SlotReader(const PerfectHash<D>& hash, std::uint32_t tag_bits)
        : hash_(hash),
          tags_(static_cast<int>(std::min(tag_bits, 40u)), sizes(hash, &PerfectHash<D>::table_size),
                sizes(hash, &PerfectHash<D>::offset_size), extent(hash), {1, 1, 1}) {
        QUADRAT_ASSERT(hash.unique_tags());
    }

    /// Finds a bucket that agrees with the tag and has a position of the domain on the slot. There is at most one where
    /// the tag is that of a stored position, and none for an empty slot.
    [[nodiscard]] bool bucket(std::uint32_t slot, std::uint64_t tag, std::uint32_t& bucket) const {
        QUADRAT_ASSERT(slot < hash_.slots());
        const std::uint32_t mx = hash_.table_size(0), my = hash_.table_size(1), row = slot / mx;
        const Triple at = Triple::of(slot - row * mx, row % my, row / my);
        if (tag >= hash_.buckets()) return false;
        ShortTags::Side side = tags_.side(static_cast<std::uint32_t>(tag));
        for (std::uint64_t q = tag; q < hash_.buckets(); q += tags_.step(), tags_.advance(side)) {
            bucket = static_cast<std::uint32_t>(q);
            if (tags_.reaches(side, at, offset(bucket))) return true;
        }
        return false;
    }

  private:
    static Sizes sizes(const PerfectHash<D>& hash, std::uint32_t (PerfectHash<D>::*of)(int) const) {
        Sizes s{1, 1, 1};
        for (int a = 0; a < D; ++a) s[static_cast<std::size_t>(a)] = (hash.*of)(a);
        return s;
    }
    static Sizes extent(const PerfectHash<D>& hash) {
        Sizes s{1, 1, 1};
        for (std::size_t a = 0; a < D; ++a) s[a] = hash.extent()[a];
        return s;
    }
    [[nodiscard]] Triple offset(std::uint32_t bucket) const {
        std::uint32_t o[3] = {};
        for (int a = 0; a < D; ++a) o[a] = hash_.stored_offset(bucket, a) * hash_.scale(a) % hash_.table_size(a);
        return Triple::of(o[0], o[1], o[2]);
    }

    const PerfectHash<D>& hash_;
    ShortTags tags_;
};

}  // namespace quadrat::voxels
