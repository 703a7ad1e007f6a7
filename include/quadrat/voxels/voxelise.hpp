// Surfaces and point clouds as sparse voxels. What is inside a closed surface is not filled.
//
//     auto surface = quadrat::voxelise(vertices, triangles, 512);
//     auto voxels = quadrat::SparseVoxels<std::uint32_t>::pack(surface.voxels, surface.source);  // which triangle
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
    /// Coordinates from 0 to resolution - 1, each voxel once.
    std::vector<Voxel<3>> voxels;
    /// The smallest index of a triangle, or a point of a cloud, in voxels[i].
    std::vector<std::uint32_t> source;
    /// The smallest corner of the bounding box of all vertices or points, in their unit.
    Vec3d origin = {};
    /// The edge of a cell, in the unit of the vertices: the longest edge of the box divided by the resolution, or 1 if
    /// all of them coincide.
    double cell = 1;
};

/// Every voxel whose closed cube meets a triangle: separating axes, in double precision and so exact but for its
/// rounding. Touching counts, so that a triangle in a face between two cells is in both. Triangles without area count
/// as the segment or point that they are. Tests every cell of the bounding box of each triangle: O(sum of those cells)
/// time, and 16 bytes of memory for each meeting of a triangle and a cell. On the calling thread.
///
/// vertices: finite, or Error{bad_value} with index and axis, as for a box whose size overflows. All of them make the
///           bounding box, used by a triangle or not.
/// triangles: indices of vertices, or Error{bad_shape} with the triangle and its corner. None give no voxels.
/// resolution: cells on the longest edge of the box, 1 to 2^21, or Error{bad_value}.
[[nodiscard]] VoxelisedSurface voxelise(std::span<const Vec3d> vertices, std::span<const Triangle> triangles,
                                        std::uint32_t resolution);

/// The voxels that hold a point; `source` is the first one. Cells are half open here, so that a point on a face is in
/// the upper cell alone, but for the last cell of an axis, which holds its upper face. O(n log n) time, and 40 bytes of
/// memory per point.
///
/// points: finite, or Error{bad_value} as for vertices. None give no voxels.
/// resolution: as for triangles.
[[nodiscard]] VoxelisedSurface voxelise(std::span<const Vec3d> points, std::uint32_t resolution);

}  // namespace quadrat
