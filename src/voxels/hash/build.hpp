// The room of the perfect hash (Lefebvre & Hoppe 2006, sections 3 and 4). Other rooms use the public header, this one,
// hash/domain.hpp, hash/slot_reader.hpp and hash/short_tags.hpp; sizes, placement and coherence are for this room
// alone.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include <span>

namespace quadrat::voxels {

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
