// Coherence of the table (Lefebvre & Hoppe 2006, section 4.4).
#pragma once

#include "voxels/placement.hpp"

#include <cstdint>
#include <vector>

namespace quadrat::voxels {

/// Gives buckets without points the offset of the nearest bucket before them in their row, or else after them, so that
/// the table is locally constant where nothing is stored.
void finish_offsets(const Buckets& buckets, const std::uint32_t* offset_size, int dims, std::vector<Triple>& offsets);

}  // namespace quadrat::voxels
