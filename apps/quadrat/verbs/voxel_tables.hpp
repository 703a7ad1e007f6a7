// Channels of a grid as arrays in files.
#pragma once

#include <quadrat/voxels.hpp>

#include <span>
#include <string>

namespace quadrat::cli {

/// The samples of the given numbers (voxels/qvox.hpp) of a channel whose values have `samples` of them; the
/// background where the number is no_sample.
[[nodiscard]] Channel gather(const Channel& channel, std::span<const std::uint64_t> numbers, std::uint32_t samples);

/// As (rows,) or (rows, components) .npy or .csv; types of less than 32 bits that the writers lack are widened or
/// written as bytes.
void write_channel(const std::string& path, const Channel& channel, std::uint64_t rows);

}  // namespace quadrat::cli
