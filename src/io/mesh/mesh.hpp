// Triangle meshes and point clouds as the PLY and OBJ readers give them. Others read by ending
// (io/by_ending.hpp) and use the readers here only where the format is known; points.hpp is for writers of frames.
#pragma once

#include <quadrat/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.hpp"
#include "io/table/table.hpp"

namespace quadrat::io {

/// Vertices are double whatever the file holds. Every index of a triangle, segment or point is smaller than the number
/// of vertices.
struct Mesh {
    std::vector<Vec3d> vertices = {};
    std::vector<Triangle> triangles = {};                     ///< polygons are cut into fans around their first corner
    std::vector<std::array<std::uint32_t, 2>> segments = {};  ///< single edges; polylines are cut into them
    std::vector<std::uint32_t> points = {};                   ///< vertices that are named as points
    std::vector<Vec3f> normals = {};                          ///< one per vertex, or none
    std::vector<std::array<std::uint8_t, 4>> colors = {};     ///< red, green, blue, alpha; one per vertex, or none
    ScalarType vertex_type = ScalarType::f64;  ///< f32 if the file holds floats, so that nothing is gained
};

/// PLY 1.0: ascii, binary little and big endian; elements and properties in any order; those that are not known are
/// skipped. vertex: x y z, nx ny nz, red green blue alpha (integers 0..255, or floats 0..1); face: a list
/// vertex_indices or vertex_index. Throws bad_format with the line (ascii, header) or byte (binary).
[[nodiscard]] Mesh parse_ply(std::span<const std::byte> file, std::string_view name);
[[nodiscard]] Mesh read_ply(const std::string& path);

enum class PlyFormat { ascii, binary };

/// The vertices as float if mesh.vertex_type says so, otherwise as double. Binary files are little endian.
void write_ply(const std::string& path, const Mesh& mesh, PlyFormat format = PlyFormat::binary);

/// Wavefront OBJ: v (with optional colours), f, l (polylines) and p (points), with texture and normal indices and
/// negative ones; other statements are skipped. Vertices are correctly rounded to double. Throws bad_format with the
/// line.
[[nodiscard]] Mesh parse_obj(std::span<const std::byte> file, std::string_view name);
[[nodiscard]] Mesh read_obj(const std::string& path);

}  // namespace quadrat::io
