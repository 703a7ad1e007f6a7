// What `quadrat pack` reads: coordinates with values, pictures, meshes and point clouds become positions and named
// columns.
#pragma once

#include <quadrat/voxels.hpp>

#include <string>
#include <variant>
#include <vector>

namespace quadrat::cli {

struct SourceColumn {
    std::string name;
    ValueType type = ValueType::u8;
    std::uint32_t components = 1;
    std::vector<std::byte> rows;
    std::vector<std::byte> background = {};  ///< one row; empty means zeros
};

struct VoxelSource {
    std::variant<std::vector<Voxel<2>>, std::vector<Voxel<3>>> positions;
    std::vector<SourceColumn> columns;
};

struct SourceOptions {
    std::string input;
    std::vector<std::string> values;  ///< FILE or NAME=FILE
    std::uint32_t resolution = 0;
    std::string background;  ///< r,g,b or r,g,b,a: pixels that differ are packed
};

[[nodiscard]] VoxelSource read_voxel_source(const SourceOptions& options);

/// The rows of a table of integers (or of floats that are integers) as positions. Throws Error naming row and column.
[[nodiscard]] std::variant<std::vector<Voxel<2>>, std::vector<Voxel<3>>> read_positions(const std::string& path);

}  // namespace quadrat::cli
