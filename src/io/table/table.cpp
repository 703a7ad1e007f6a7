#include "io/table/table.hpp"

#include <algorithm>

namespace quadrat::io {

Where Table::place(std::string_view file, std::uint64_t row, std::uint64_t column) const {
    Where where{.file = std::string(file), .index = row};
    if (shape.size() > 1) where.column = column;
    const auto after = std::upper_bound(segments.begin(), segments.end(), row,
                                        [](std::uint64_t r, const Segment& s) { return r < s.row; });
    if (after != segments.begin()) where.line = after[-1].line + (row - after[-1].row);
    return where;
}

Table to_double(const Table& table, std::string_view file) {
    Table result;
    result.shape = table.shape;
    result.names = table.names;
    result.segments = table.segments;
    result.bytes.resize_discard(table.size() * sizeof(double));
    const std::span<double> out = result.values<double>();
    with_scalar(table.type, [&]<class T>(T) {
        const std::span<const T> in = table.values<T>();
        for (std::size_t i = 0; i < in.size(); ++i) {
            out[i] = static_cast<double>(in[i]);
            if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
                constexpr T limit = T{1} << 53;
                bool exact = in[i] <= limit;
                if constexpr (std::is_signed_v<T>) exact = exact && in[i] >= -limit;
                if (!exact) {
                    const std::uint64_t columns = std::max<std::uint64_t>(1, table.columns());
                    throw Error(ErrorKind::bad_value, "integer beyond 2^53 does not fit a double",
                                table.place(file, i / columns, i % columns));
                }
            }
        }
    });
    return result;
}

}  // namespace quadrat::io
