// OpenVDB grids as sparse voxels.
#pragma once

#include "verbs/pack_source.hpp"

#include <string>
#include <vector>

namespace quadrat::cli {

/// Notes on the whole of a grid are metadata of a .vdb file whose keys begin so.
inline const std::string note_prefix = "quadrat_note.";

/// The grids of a file as channels over all positions that are active in one of them: those named, or all whose values
/// are known here. Where a grid is not active, its channel has what the grid gives there. Transform and metadata are
/// kept; grids of other types are listed in `skipped`.
///
/// Throws Error: `cannot_read` for a file that OpenVDB refuses, `unsupported` if no grid has known values, or if two
/// stand at different places, `bad_value` for a name that no grid has.
[[nodiscard]] VoxelSource read_vdb(const std::string& path, const std::vector<std::string>& names);

}  // namespace quadrat::cli
