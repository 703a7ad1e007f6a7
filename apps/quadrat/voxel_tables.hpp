// Channels of a grid as arrays in files.
#pragma once

#include <quadrat/voxels.hpp>

#include <span>
#include <string>

namespace quadrat::cli {

/// The values at the given places; zeros where the place is 0xffffffff.
[[nodiscard]] Channel gather(const Channel& channel, std::span<const std::uint32_t> places);

/// As (rows,) or (rows, components) .npy or .csv; types of less than 32 bits that the writers lack are widened or
/// written as bytes.
void write_channel(const std::string& path, const Channel& channel, std::uint64_t rows);

}  // namespace quadrat::cli
