// Files of continuous collision queries with their exact answers: eight rows a query (four points at the start, then at
// the end), columns x-numerator, x-denominator, y.., z.., truth. Numerators and denominators may be longer than 64
// bits. Quotients that are no doubles are rounded to the nearest one, and the query says so. Used by the command line,
// tests and benchmarks.
#pragma once

#include <quadrat/geometry.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quadrat::io {

struct FileQuery {
    std::array<Vec3d, 4> start;
    std::array<Vec3d, 4> end;
    bool truth = false;
    bool rounded = false;  ///< a coordinate is no double: the truth may be that of slightly different points
    std::size_t line = 0;  ///< of its first row, from 1
};

/// Throws Error that names file, line and column.
[[nodiscard]] std::vector<FileQuery> read_query_file(const std::string& path);
[[nodiscard]] std::vector<FileQuery> parse_queries(std::string_view text);

}  // namespace quadrat::io
