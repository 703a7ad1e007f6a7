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
    std::vector<std::uint16_t> shape = {};   ///< of a row; empty where it is a number or a plain row of them
};

struct VoxelSource {
    std::variant<std::vector<Voxel<2>>, std::vector<Voxel<3>>> positions;
    std::vector<SourceColumn> columns;
    GridTransform<3> transform = {};  ///< the first two axes alone in two dimensions
    std::vector<Note> notes = {};
    std::vector<std::string> skipped = {};  ///< what the file holds and we do not
};

struct SourceOptions {
    std::string input;
    std::vector<std::string> values;  ///< FILE or NAME=FILE
    std::vector<std::string> grids;   ///< of a .vdb; empty: all
    std::uint32_t resolution = 0;
    std::string background;  ///< r,g,b or r,g,b,a: pixels that differ are packed
};

/// Throws UsageError for options that say nothing about such an input.
[[nodiscard]] VoxelSource read_voxel_source(const SourceOptions& options);

/// The rows of a table of integers (or of floats that are integers) as positions. Throws Error naming row and column.
[[nodiscard]] std::variant<std::vector<Voxel<2>>, std::vector<Voxel<3>>> read_positions(const std::string& path);

}  // namespace quadrat::cli
