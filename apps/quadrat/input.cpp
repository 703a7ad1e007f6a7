#include "input.hpp"

#include "cells/validate.hpp"
#include "io/by_ending.hpp"

namespace quadrat::cli {
namespace {

// Runs a check of the library and gives its error the place in the file.
template <class Check>
void check_in_file(const Input& input, Check&& check) {
    try {
        check();
    } catch (const Error& error) {
        if (!error.where().index) throw error.in_file(input.file);
        throw Error(error.kind(), error.message(),
                    input.table.place(input.file, *error.where().index, error.where().column.value_or(0)));
    }
}

Input check_rows(io::Table table, const std::string& path, std::uint64_t per_axis, const char* what) {
    Input input{.file = path, .table = std::move(table)};
    if (input.table.type != io::ScalarType::f32 && input.table.type != io::ScalarType::f64)
        input.table = io::to_double(input.table, path);
    if (input.table.shape.size() > 2)
        throw Error(ErrorKind::bad_shape,
                    std::to_string(input.table.shape.size()) + " dimensions; expected rows and columns: " + what,
                    {.file = path});
    const std::uint64_t columns = input.table.columns();
    if (columns == 2 * per_axis || columns == 3 * per_axis) {
        input.dimension = static_cast<int>(columns / per_axis);
    } else if (input.table.rows() != 0 || (columns != 0 && input.table.shape.size() != 1)) {
        throw Error(ErrorKind::bad_shape,
                    std::to_string(columns) + (columns == 1 ? " column" : " columns") + "; expected " + what,
                    {.file = path});
    }
    return input;
}

Input check_points_of(io::Table table, const std::string& path) {
    Input input = check_rows(std::move(table), path, 1, "3 (3D points) or 2 (2D)");
    check_in_file(input, [&] {
        base::dispatch(input.dimension, input.scalar(),
                       [&]<int D, class T>() { cells::check_points<D, T>(input.rows<Vec<D, T>>()); });
    });
    return input;
}

}  // namespace

Input read_boxes(const std::string& path) {
    Input input = check_rows(io::read_table(path), path, 2, "6 (3D boxes, lo lo lo hi hi hi) or 4 (2D, lo lo hi hi)");
    check_in_file(input, [&] {
        base::dispatch(input.dimension, input.scalar(),
                       [&]<int D, class T>() { cells::check_boxes<D, T>(input.rows<Box<D, T>>()); });
    });
    return input;
}

Input read_points(const std::string& path) {
    return check_points_of(io::read_table(path), path);
}

Input read_frame(const std::string& path, std::optional<std::uint64_t> frame, io::XyzBox& box) {
    const std::string ending = path.size() < 4 ? "" : path.substr(path.size() - 4);
    if (ending != ".xyz" && ending != ".XYZ")
        throw Error(ErrorKind::unsupported, "only .xyz files have frames and boxes", {.file = path});
    return check_points_of(io::read_xyz(path, frame, &box), path);
}

std::vector<std::uint8_t> read_groups(const std::string& path, const Input& points) {
    const io::Table table = io::to_double(io::read_table(path), path);
    const std::span<const double> values = table.values<double>();
    if (values.size() != points.size())
        throw Error(ErrorKind::bad_shape,
                    std::to_string(values.size()) + " groups for " + std::to_string(points.size()) + " points",
                    {.file = path});
    std::vector<std::uint8_t> groups;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(values[i] >= 0 && values[i] <= 63) || values[i] != static_cast<int>(values[i]))
            throw Error(ErrorKind::bad_value, "a group is a whole number from 0 to 63", table.place(path, i, 0));
        groups.push_back(static_cast<std::uint8_t>(values[i]));
    }
    return groups;
}

io::Table read_radii(const std::string& path, const Input& points) {
    Input input{.file = path, .table = io::to_double(io::read_table(path), path)};
    const std::span<double> radii = input.table.values<double>();
    if (radii.size() != points.size())
        throw Error(ErrorKind::bad_shape,
                    std::to_string(radii.size()) + " radii for " + std::to_string(points.size()) + " points",
                    {.file = path});
    if (points.scalar() == base::Scalar::f32) {
        io::Table narrow;
        narrow.type = io::ScalarType::f32;
        narrow.shape = input.table.shape;
        narrow.segments = input.table.segments;
        narrow.bytes.resize_discard(radii.size() * sizeof(float));
        for (std::size_t i = 0; i < radii.size(); ++i) narrow.values<float>()[i] = static_cast<float>(radii[i]);
        input.table = std::move(narrow);
    }
    check_in_file(input, [&] {
        if (points.scalar() == base::Scalar::f32)
            cells::check_radii<float>(input.table.values<float>(), points.size());
        else
            cells::check_radii<double>(input.table.values<double>(), points.size());
    });
    return std::move(input.table);
}

void match(Input& a, Input& b) {
    if (a.size() == 0) a.dimension = b.dimension;
    if (b.size() == 0) b.dimension = a.dimension;
    if (a.dimension != b.dimension)
        throw Error(ErrorKind::bad_shape,
                    std::to_string(b.dimension) + "D, but " + a.file + " is " + std::to_string(a.dimension) + "D",
                    {.file = b.file});
    if (a.table.type == b.table.type) return;
    for (Input* input : {&a, &b}) input->table = io::to_double(input->table, input->file);
}

}  // namespace quadrat::cli
