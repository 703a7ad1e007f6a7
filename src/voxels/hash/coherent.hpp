// Coherence of the table (Lefebvre & Hoppe 2006, section 4.4): among the offsets that fit, those of neighbouring
// buckets (rule 1: all 26, or 8 in two dimensions, as ||q - q'|| < 2 says) and those that put a point beside a
// neighbour that is already placed (rule 2: on any side of it) are tried, and the one with the most neighbours in the
// table that are neighbours in space is taken.
//
// Buckets that were placed first had no neighbours to look at. So after every twelfth part of the points all that are
// placed choose again (docs/decisions/0162-choosing-again.md); the paper places each once.
//
// The paper does not say what to do when nothing fits any more, as happens in patterns that repeat: coherent offsets
// fill the table in lumps. Here buckets are then evicted as in the plain construction, and if that does not help, only
// the larger buckets are placed coherently, as many as leave room for the rest.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include "voxels/hash/placement.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace quadrat::voxels {

/// Gives buckets without points the offset of the nearest bucket before them in their row, or else after them, so that
/// the table is locally constant where nothing is stored. Where short tags forbid it, another one is taken; false if
/// there is none.
[[nodiscard]] bool finish_offsets(const Buckets& buckets, std::uint32_t row_length, const ShortTags* tags,
                                  std::vector<Triple>& offsets);

struct CoherentInput {
    Buckets buckets;
    const ShortTags* tags = nullptr;           ///< a rule that offsets must keep
    std::span<const std::uint64_t> positions;  ///< of the sorted points: x | y << 21 | z << 42, relative to the corner
    Sizes offset_size{1, 1, 1};
    Sizes step{1, 1, 1};  ///< one slot of the real table, in unscaled slots
    int domain_dims = 3;
    /// Bucket and unscaled place of a position.
    std::function<std::pair<std::uint32_t, Triple>(std::uint64_t)> locate;
    Coherence mode = Coherence::defined;
    double share = 1;  ///< of the points: those of later buckets are placed without an eye to coherence
    int choices = 12;  ///< how often the first buckets choose
    std::uint64_t seed = 1;
    Watch watch = {};
};

/// False if a bucket found no place and evictions, one for 200 points, do not help.
[[nodiscard]] bool place_coherently(const CoherentInput& input, std::vector<Triple>& offsets);

}  // namespace quadrat::voxels
