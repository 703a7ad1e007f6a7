// The room of the perfect hash (Lefebvre & Hoppe 2006, sections 3 and 4). Other rooms use the public header, this one,
// hash/domain.hpp, hash/slot_reader.hpp and hash/short_tags.hpp; sizes, placement and coherence are for this room
// alone.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include <span>

namespace quadrat::voxels {

/// Slots of the table of values for each entry, where nobody asks for another number. Each empty slot costs the bytes
/// of a value. Fast construction gains nothing by them: 1 % is room for a table of a good shape. Compact construction
/// needs fewer offsets; for 100,000 random positions in 3D (200^3) and 2D (1024^2), bits of offsets for each entry:
///
///     slots per entry    1      1.01   1.025   1.05   1.1
///     fast               4.00   4.00   4.00    4.00   4.00     and 4.03 in 2D
///     compact, 3D        3.73   3.67   3.43    3.13   2.85
///     compact, 2D        2.92   2.65   2.46    2.23   1.90
///
/// So 1.025 is near the best for values of a byte (with the empty slots 3.67 of 3.61 to 3.84 bits in 3D, 2.72 of 2.69
/// to 2.97 in 2D), and less would be for larger ones. Larger sets: docs/decisions/0041.
[[nodiscard]] constexpr double slots_per_entry(Construction construction) {
    return construction == Construction::compact ? 1.025 : 1.01;
}
/// Bits of offsets for each entry that constructions reach on random data with offsets of 8 bits. Fast: 4.0 where the
/// first size does, up to 4.3 where tags of buckets ask for more. Compact: 3.04 and 3.08 for the sets D2 and D3 of
/// docs/decisions/0041; smaller ones differ, as above. Estimates need no more than the order of layouts.
[[nodiscard]] constexpr double offset_bits_on_random_data(Construction construction) {
    return construction == Construction::compact ? 3.1 : 4.1;
}

/// What the paper compares with and no user wants, for tests and benchmarks, and what the index asks for.
struct HashVariant {
    bool random_matrices = false;  ///< random M0 and M1 instead of the identity: no coherence
    /// Throws Error{too_large} where more buckets would be needed; 0: 64 for each entry.
    std::uint64_t most_buckets = 0;
    bool identity_only = false;  ///< no random matrices where the identity fails: Error{too_large} as well
    /// Small sets may have so many buckets, if the product of the tables covers the domain then.
    std::uint64_t covering_buckets = 4096;
};

template <int D, int E = D>
struct HashBuild {
    /// PerfectHash::build with a variant of the paper.
    [[nodiscard]] static PerfectHash<D, E> build(std::span<const Voxel<D>> positions, const PerfectHashOptions& options,
                                                 const HashVariant& variant, PerfectHashReport* report = nullptr);
};

extern template struct HashBuild<2, 2>;
extern template struct HashBuild<3, 3>;
extern template struct HashBuild<3, 2>;

}  // namespace quadrat::voxels
