// Files as arrays of boxes and points: the shape decides the dimension, the file's type decides the scalar.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/kinds.hpp"
#include "io/table/table.hpp"
#include "io/table/xyz.hpp"

namespace quadrat::cli {

/// A table of float or double that has passed the checks for boxes or points.
struct Input {
    std::string file;
    io::Table table;
    int dimension = 3;

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(table.rows()); }
    /// float or double, for base::dispatch.
    [[nodiscard]] base::Scalar scalar() const {
        return table.type == io::ScalarType::f32 ? base::Scalar::f32 : base::Scalar::f64;
    }

    /// The rows as Box<D, T> or Vec<D, T>.
    template <class Row>
    [[nodiscard]] std::span<const Row> rows() const {
        return {reinterpret_cast<const Row*>(table.bytes.data()), size()};
    }
};

/// (N, 2 D) lo.. hi..; throws Error that names file, row and column.
[[nodiscard]] Input read_boxes(const std::string& path);
/// (N, D).
[[nodiscard]] Input read_points(const std::string& path);
/// A frame of an .xyz file, and its box; other files have neither and throw unsupported.
[[nodiscard]] Input read_frame(const std::string& path, std::optional<std::uint64_t> frame, io::XyzBox& box);
/// (N,) groups from 0 to 63, one per point.
[[nodiscard]] std::vector<std::uint8_t> read_groups(const std::string& path, const Input& points);
/// (N,) positive numbers, in the type of the points.
[[nodiscard]] io::Table read_radii(const std::string& path, const Input& points);
/// Makes two inputs agree in type (double, if they differ); throws bad_shape for mixed dimensions.
void match(Input& a, Input& b);

}  // namespace quadrat::cli
