// What a reader of numbers gives: rows and columns of one scalar type, in C order, in the type that the file holds
// (float stays float, double stays double). Text files give double and remember on which line each row stood, for
// errors found later. Others read by ending (io/by_ending.hpp), and use csv.hpp, npy.hpp and xyz.hpp to write.
#pragma once

#include <quadrat/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/array.hpp"
#include "base/assert.hpp"

namespace quadrat::io {

/// The last five are narrow: numbers of 8 and 16 bits, half floats and truth values, which only those read and write
/// who keep arrays as they are (Narrow::kept); nothing computes with them.
enum class ScalarType { f32, f64, i32, i64, u8, u32, u64, i8, i16, u16, f16, b8 };

[[nodiscard]] constexpr bool is_narrow(ScalarType type) {
    return type >= ScalarType::i8;
}

/// What readers make of narrow numbers.
enum class Narrow {
    widened,  ///< i8 and i16 become i32, u16 becomes u32, f16 becomes f32, b8 becomes u8
    kept,
};

[[nodiscard]] constexpr std::size_t scalar_size(ScalarType type) {
    switch (type) {
        case ScalarType::u8:
        case ScalarType::i8:
        case ScalarType::b8:
            return 1;
        case ScalarType::i16:
        case ScalarType::u16:
        case ScalarType::f16:
            return 2;
        case ScalarType::f32:
        case ScalarType::i32:
        case ScalarType::u32:
            return 4;
        case ScalarType::f64:
        case ScalarType::i64:
        case ScalarType::u64:
            break;
    }
    return 8;
}

template <class T>
inline constexpr ScalarType scalar_type_of = [] {
    if constexpr (std::is_same_v<T, float>)
        return ScalarType::f32;
    else if constexpr (std::is_same_v<T, double>)
        return ScalarType::f64;
    else if constexpr (std::is_same_v<T, std::int32_t>)
        return ScalarType::i32;
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return ScalarType::i64;
    else if constexpr (std::is_same_v<T, std::uint8_t>)
        return ScalarType::u8;
    else if constexpr (std::is_same_v<T, std::uint32_t>)
        return ScalarType::u32;
    else {
        static_assert(std::is_same_v<T, std::uint64_t>, "not a scalar that files hold");
        return ScalarType::u64;
    }
}();

/// Calls fn(T{}) with the C++ type of a ScalarType that is not narrow.
template <class Fn>
decltype(auto) with_scalar(ScalarType type, Fn&& fn) {
    QUADRAT_ASSERT(!is_narrow(type));
    switch (type) {
        case ScalarType::f32:
            return fn(float{});
        case ScalarType::f64:
        case ScalarType::i8:
        case ScalarType::i16:
        case ScalarType::u16:
        case ScalarType::f16:
        case ScalarType::b8:
            break;
        case ScalarType::i32:
            return fn(std::int32_t{});
        case ScalarType::i64:
            return fn(std::int64_t{});
        case ScalarType::u8:
            return fn(std::uint8_t{});
        case ScalarType::u32:
            return fn(std::uint32_t{});
        case ScalarType::u64:
            return fn(std::uint64_t{});
    }
    return fn(double{});
}

/// An array that someone else owns, as the writers take it. C order.
struct TableView {
    ScalarType type = ScalarType::f64;
    std::vector<std::uint64_t> shape = {};
    const void* data = nullptr;

    [[nodiscard]] std::uint64_t size() const {
        std::uint64_t n = 1;
        for (const std::uint64_t extent : shape) n *= extent;
        return n;
    }
};

/// values as an array of the given shape; its product must be values.size().
template <class T>
[[nodiscard]] TableView view(std::span<const T> values, std::vector<std::uint64_t> shape) {
    TableView result{scalar_type_of<T>, std::move(shape), values.data()};
    QUADRAT_ASSERT(result.size() == values.size());
    return result;
}

struct Table {
    ScalarType type = ScalarType::f64;
    std::vector<std::uint64_t> shape = {0, 0};  ///< one entry per dimension, as in the file
    std::vector<std::string> names = {};        ///< column names where the file has them
    base::Array<std::byte> bytes = {};          ///< the values in C order, in this machine's byte order

    /// Where rows of a text file stand: row r with segments[k].row <= r < segments[k + 1].row is on line
    /// segments[k].line + (r - segments[k].row). Empty for binary files.
    struct Segment {
        std::uint64_t row;
        std::uint64_t line;
    };
    std::vector<Segment> segments = {};

    [[nodiscard]] std::uint64_t rows() const { return shape.empty() ? 1 : shape[0]; }
    /// Values per row; 1 for a one-dimensional array.
    [[nodiscard]] std::uint64_t columns() const {
        std::uint64_t n = 1;
        for (std::size_t k = 1; k < shape.size(); ++k) n *= shape[k];
        return n;
    }
    [[nodiscard]] std::uint64_t size() const { return bytes.size() / scalar_size(type); }

    /// The values; T must be the table's type.
    template <class T>
    [[nodiscard]] std::span<const T> values() const {
        QUADRAT_ASSERT(scalar_type_of<T> == type);
        return {reinterpret_cast<const T*>(bytes.data()), size()};
    }
    template <class T>
    [[nodiscard]] std::span<T> values() {
        QUADRAT_ASSERT(scalar_type_of<T> == type);
        return {reinterpret_cast<T*>(bytes.data()), size()};
    }

    /// The place of one value, for an Error: row, column and, in text files, the line.
    [[nodiscard]] Where place(std::string_view file, std::uint64_t row, std::uint64_t column) const;

    [[nodiscard]] TableView view() const { return {type, shape, bytes.data()}; }
};

/// The same values in the type that Narrow::widened gives; a copy in any case.
[[nodiscard]] Table widened(const TableView& table);

/// Every value as double. Throws bad_value naming the first 64-bit integer that double cannot hold exactly.
[[nodiscard]] Table to_double(const Table& table, std::string_view file);

}  // namespace quadrat::io
