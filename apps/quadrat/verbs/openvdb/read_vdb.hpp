// OpenVDB grids as sparse voxels.
#pragma once

#include "verbs/pack_source.hpp"

namespace quadrat::cli {

/// Throws Error: `cannot_read` for a file that OpenVDB refuses, `unsupported` if it has no grid of scalars.
[[nodiscard]] VoxelSource read_vdb(const std::string& path);

}  // namespace quadrat::cli
