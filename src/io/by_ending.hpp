// The reader or writer that the ending of a file asks for: what programs call that take any file of numbers or any
// mesh.
#pragma once

#include <string>

#include "io/files.hpp"
#include "io/mesh/mesh.hpp"
#include "io/table/table.hpp"

namespace quadrat::io {

/// A mesh by the ending of the file, .ply or .obj. Throws unsupported for another one.
[[nodiscard]] Mesh read_mesh(const std::string& path);

/// The vertices as a (N, 3) table of the type that the file holds.
[[nodiscard]] Table vertex_table(const Mesh& mesh);

/// Numbers or points by the ending of the file: .npy, .csv (also .txt and .tsv), .xyz, .ply, .obj.
[[nodiscard]] Table read_table(const std::string& path, Narrow narrow = Narrow::widened);

/// .npy or .csv by the ending. check_table_ending throws unsupported for any other, before work is done.
void write_table(const std::string& path, const TableView& table);
void write_table(AtomicFile& file, const TableView& table);
void check_table_ending(const std::string& path);

}  // namespace quadrat::io
