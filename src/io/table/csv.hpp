// Tables as text: comma-separated values, also with semicolons, tabs or spaces, with or without a header line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "io/files.hpp"
#include "io/table/table.hpp"

namespace quadrat::io {

/// A table of double, one row per line. The separator is the first of , ; tab space that the first line contains. The
/// first line is a header if none of its fields is a number. Empty lines and lines that start with # are skipped;
/// fields may be quoted. An empty file has no rows and no columns. Throws bad_format or bad_shape naming line and
/// column.
[[nodiscard]] Table parse_csv(std::span<const std::byte> file, std::string_view name);
[[nodiscard]] Table read_csv(const std::string& path);

/// One line per row, no header; every number in the shortest form that reads back to the same value.
void write_csv(AtomicFile& file, const TableView& table);
void write_csv(const std::string& path, const TableView& table);

}  // namespace quadrat::io
