// Point files: the atoms of chemistry (a count, a comment, then "element x y z" lines) and plain lists of "x y z".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "io/files.hpp"
#include "io/table/table.hpp"

namespace quadrat::io {

/// (N, 3) positions in double. What a line holds besides the element and the position is not kept. In the extended
/// form, "Properties=" in the comment says where the position stands. One frame only: a second one is an error.
[[nodiscard]] Table parse_xyz(std::span<const std::byte> file, std::string_view name);
[[nodiscard]] Table read_xyz(const std::string& path);

/// A (N, 3) table of float or double as atoms of the element X.
void write_xyz(const std::string& path, const TableView& table, std::string_view comment = "");

}  // namespace quadrat::io
