// Surfaces and point clouds as sparse voxels.
#pragma once

#include <quadrat/geometry.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

#include <span>
#include <vector>

namespace quadrat {

/// The voxels that a surface touches, by z, y, x, each with the first triangle that touches it. The grid has
/// `resolution` cells on the longest edge of the bounding box; cell c covers [origin + c * cell, origin + (c + 1) *
/// cell].
struct VoxelisedSurface {
    std::vector<Voxel<3>> voxels;
    std::vector<std::uint32_t> source;  ///< a triangle, or a point of a cloud
    Vec3d origin = {};
    double cell = 1;
};

/// Every voxel whose closed cube meets a triangle (separating axes, in double precision, touching counts). Throws
/// Error: `bad_value` for a vertex that is not finite or a resolution that is not in [1, 2^21], `bad_shape` for an
/// index out of range.
[[nodiscard]] VoxelisedSurface voxelise(std::span<const Vec3d> vertices, std::span<const Triangle> triangles,
                                        std::uint32_t resolution);

/// The voxels that hold a point; `source` is the first one.
[[nodiscard]] VoxelisedSurface voxelise(std::span<const Vec3d> points, std::uint32_t resolution);

}  // namespace quadrat
