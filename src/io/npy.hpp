// NumPy's array files. Versions 1 to 3, C and Fortran order, both byte orders. Format: numpy.lib.format, "NPY format".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "io/files.hpp"
#include "io/table.hpp"

namespace quadrat::io {

/// f4 f8 i4 i8 u1 u4 u8 keep their type; i1 i2 become i4, u2 becomes u4, b1 becomes u1. Fortran order is turned into C
/// order. Throws bad_format naming the byte when the header is malformed or the size is not exactly what the header
/// says, before anything is allocated.
[[nodiscard]] Table parse_npy(std::span<const std::byte> file, std::string_view name);
[[nodiscard]] Table read_npy(const std::string& path);

/// Version 1, C order, little endian.
void write_npy(AtomicFile& file, const TableView& table);
void write_npy(const std::string& path, const TableView& table);

}  // namespace quadrat::io
