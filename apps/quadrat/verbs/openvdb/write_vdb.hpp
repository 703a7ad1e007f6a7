// Sparse voxels as OpenVDB grids.
#pragma once

#include <quadrat/voxels.hpp>

#include <string>

namespace quadrat::cli {

/// Writes a grid for each channel, active where a sample is stored, with transform, background and notes; for a grid
/// without channels one of truth values with the name `mask`. Three components become a vector, other numbers of them a
/// grid each, NAME.0, NAME.1, ... Types that OpenVDB does not have become wider ones, and are remembered for the way
/// back. In two dimensions z is 0.
///
/// Throws Error: `unsupported` for constrained voxels, `cannot_write` if the file cannot be written.
template <int D>
void write_vdb(const VoxelGrid<D>& grid, const std::string& path);

extern template void write_vdb<2>(const VoxelGrid<2>&, const std::string&);
extern template void write_vdb<3>(const VoxelGrid<3>&, const std::string&);

}  // namespace quadrat::cli
