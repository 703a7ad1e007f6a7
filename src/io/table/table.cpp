#include "io/table/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace quadrat::io {

Where Table::place(std::string_view file, std::uint64_t row, std::uint64_t column) const {
    Where where{.file = std::string(file), .index = row};
    if (shape.size() > 1) where.column = column;
    const auto after = std::upper_bound(segments.begin(), segments.end(), row,
                                        [](std::uint64_t r, const Segment& s) { return r < s.row; });
    if (after != segments.begin()) where.line = after[-1].line + (row - after[-1].row);
    return where;
}

namespace {

template <class From, class To>
void widen(const void* from, base::Array<std::byte>& out, std::uint64_t count) {
    out.resize_discard(count * sizeof(To));
    for (std::uint64_t i = 0; i < count; ++i) {
        From value;
        std::memcpy(&value, static_cast<const std::byte*>(from) + i * sizeof(From), sizeof(From));
        const To wide = static_cast<To>(value);
        std::memcpy(out.data() + i * sizeof(To), &wide, sizeof(To));
    }
}

// A float of 16 bits: a sign, 5 bits of exponent, 10 of the fraction.
struct HalfBits {
    std::uint16_t bits;

    explicit operator float() const {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const float sign = bits >> 15 ? -1.0f : 1.0f;
        if (exponent == 31)
            return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                                 : std::bit_cast<float>(0x7f800000u | static_cast<unsigned>(bits >> 15) << 31 |
                                                        static_cast<unsigned>(fraction) << 13);
        return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25));
    }
};

}  // namespace

Table widened(const TableView& table) {
    Table out;
    out.type = table.type;
    out.shape = table.shape;
    const std::uint64_t count = table.size();
    switch (table.type) {
        case ScalarType::i8:
            out.type = ScalarType::i32;
            widen<std::int8_t, std::int32_t>(table.data, out.bytes, count);
            return out;
        case ScalarType::i16:
            out.type = ScalarType::i32;
            widen<std::int16_t, std::int32_t>(table.data, out.bytes, count);
            return out;
        case ScalarType::u16:
            out.type = ScalarType::u32;
            widen<std::uint16_t, std::uint32_t>(table.data, out.bytes, count);
            return out;
        case ScalarType::f16:
            out.type = ScalarType::f32;
            widen<HalfBits, float>(table.data, out.bytes, count);
            return out;
        case ScalarType::b8:
            out.type = ScalarType::u8;
            break;
        default:
            break;
    }
    out.bytes.resize_discard(count * scalar_size(table.type));
    if (count != 0) std::memcpy(out.bytes.data(), table.data, count * scalar_size(table.type));
    return out;
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
