// What the fuzzers run, shared with the tests that replay the corpus: each body gives arbitrary bytes to one reader,
// which must return a consistent result or throw quadrat::Error, and nothing else.
#pragma once

#include <quadrat/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/bodies/require.hpp"
#include "io/mesh/mesh.hpp"
#include "io/png.hpp"
#include "io/table/csv.hpp"
#include "io/table/npy.hpp"
#include "io/table/xyz.hpp"

namespace quadrat::fuzz {

/// True if the reader accepted the bytes.
template <class Parse, class Check>
bool survives(Parse&& parse, Check&& check) {
    try {
        check(parse());
        return true;
    } catch (const Error& error) {
        const std::string_view text = error.what();
        require(text.find('\n') == text.npos && error.where().file == "input");
        return false;
    }
}

inline void check_table(const io::Table& table, std::size_t file_size) {
    require(table.rows() * table.columns() * io::scalar_size(table.type) == table.bytes.size());
    require(table.bytes.size() <= 16 * file_size);
}

inline bool npy(std::span<const std::byte> file) {
    survives([&] { return io::parse_npy(file, "input", io::Narrow::kept); },
             [&](const io::Table& table) { require(table.bytes.size() <= file.size()); });
    return survives([&] { return io::parse_npy(file, "input"); },
                    [&](const io::Table& table) { require(table.bytes.size() <= 4 * file.size()); });
}

inline bool csv(std::span<const std::byte> file) {
    return survives([&] { return io::parse_csv(file, "input"); },
                    [&](const io::Table& t) { check_table(t, file.size()); });
}

inline bool xyz(std::span<const std::byte> file) {
    return survives([&] { return io::parse_xyz(file, "input"); },
                    [&](const io::Table& t) { check_table(t, file.size()); });
}

inline void check_mesh(const io::Mesh& mesh) {
    for (const Triangle& t : mesh.triangles)
        require(t.a < mesh.vertices.size() && t.b < mesh.vertices.size() && t.c < mesh.vertices.size());
    require(mesh.normals.empty() || mesh.normals.size() == mesh.vertices.size());
    require(mesh.colors.empty() || mesh.colors.size() == mesh.vertices.size());
}

inline bool ply(std::span<const std::byte> file) {
    return survives([&] { return io::parse_ply(file, "input"); }, check_mesh);
}

inline bool obj(std::span<const std::byte> file) {
    return survives([&] { return io::parse_obj(file, "input"); }, check_mesh);
}

inline bool png(std::span<const std::byte> file) {
    return survives([&] { return io::parse_png(file, "input"); },
                    [&](const io::Image& image) {
                        require(image.pixels.size() == std::size_t{image.width} * image.height * image.pixel_bytes());
                    });
}

}  // namespace quadrat::fuzz
