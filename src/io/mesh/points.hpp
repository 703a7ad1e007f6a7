// Clouds of points with named values, as frames of a simulation hold them: PLY for every mesh viewer, VTP and its index
// PVD for ParaView (VTK's XML PolyData with raw appended data).
#pragma once

#include <quadrat/geometry.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/mesh/mesh.hpp"
#include "io/table/table.hpp"

namespace quadrat::io {

/// values has the shape (N) or (N, 3).
struct PointField {
    std::string name = {};
    TableView values = {};
};

/// The points as float vertices; a field of three columns becomes the properties name_x, name_y, name_z (velocity: vx,
/// vy, vz). Binary, little endian. 64-bit integers are unsupported by PLY and refused.
void write_points_ply(const std::string& path, std::span<const Vec3f> points, std::span<const PointField> fields);

/// Points with their fields as one vertex cell each.
void write_points_vtp(const std::string& path, std::span<const Vec3f> points, std::span<const PointField> fields);
/// Triangles; colours as a field "color" if the mesh has them.
void write_mesh_vtp(const std::string& path, const Mesh& mesh);

/// One file of a series in time.
struct PvdEntry {
    double time = 0;
    std::uint32_t part = 0;
    std::string file = {};  ///< relative to the index
};
void write_pvd(const std::string& path, std::span<const PvdEntry> entries);

}  // namespace quadrat::io
