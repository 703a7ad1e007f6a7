// NumPy's array files. Versions 1 to 3, C and Fortran order, both byte orders. Format: numpy.lib.format, "NPY format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.hpp"
#include "io/table/table.hpp"

namespace quadrat::io {

/// f4 f8 i4 i8 u1 u4 u8 keep their type; f2 i1 i2 u2 b1 become wider, unless they are to be kept. Fortran order is
/// turned into C order. Throws bad_format naming the byte when the header is malformed or the size is not exactly what
/// the header says, before anything is allocated.
[[nodiscard]] Table parse_npy(std::span<const std::byte> file, std::string_view name, Narrow narrow = Narrow::widened);
[[nodiscard]] Table read_npy(const std::string& path, Narrow narrow = Narrow::widened);

/// Where the values of a file are, for those who read parts of it.
struct NpyLayout {
    ScalarType type;                   ///< as parse_npy gives it
    std::vector<std::uint64_t> shape;  ///< as in the file
    std::uint64_t begin;               ///< the byte of the first value
    bool as_in_memory;                 ///< C order, this machine's byte order, nothing to widen
};
/// From the beginning of a file (its header must be in it) of file_size bytes. Throws as parse_npy.
[[nodiscard]] NpyLayout npy_layout(std::span<const std::byte> head, std::uint64_t file_size, std::string_view name);

/// What stands before the values: version 1, C order, little endian.
[[nodiscard]] std::string npy_header(ScalarType type, const std::vector<std::uint64_t>& shape);
/// Header and values.
void write_npy(AtomicFile& file, const TableView& table);
void write_npy(const std::string& path, const TableView& table);

}  // namespace quadrat::io
