// The first test of filter.cpp, a separating direction, over many queries at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quadrat::ccd {

/// Queries per block.
inline constexpr std::size_t block_size = 64;

/// Difference vectors of a block: value[v][k][q] is component k of vector v of query q. Vertex-face has 6 vectors
/// (three corners at both ends of the step), edge-edge 8.
struct alignas(64) DifferenceBlock {
    double value[8][3][block_size];
};

/// A bit per query: 1 if a direction was found in which all vectors are certainly longer than `distance`, so that the
/// features stay farther apart than that. Which of the queries that are apart are found depends on the arithmetic only,
/// not on the target.
[[nodiscard]] std::uint64_t separated(const DifferenceBlock& block, int vectors, double distance);

}  // namespace quadrat::ccd
