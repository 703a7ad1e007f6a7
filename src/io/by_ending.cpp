#include "io/by_ending.hpp"

#include "io/table/csv.hpp"
#include "io/table/npy.hpp"
#include "io/table/xyz.hpp"
#include "io/text.hpp"

namespace quadrat::io {

Mesh read_mesh(const std::string& path) {
    const std::string type = ending(path);
    if (type == ".ply") return read_ply(path);
    if (type == ".obj") return read_obj(path);
    throw Error(ErrorKind::unsupported, "not a mesh: expected .ply or .obj", {.file = path});
}

Table vertex_table(const Mesh& mesh) {
    Table table;
    table.type = mesh.vertex_type == ScalarType::f32 ? ScalarType::f32 : ScalarType::f64;
    table.names = {"x", "y", "z"};
    table.shape = {mesh.vertices.size(), 3};
    table.bytes.resize_discard(mesh.vertices.size() * 3 * scalar_size(table.type));
    const auto fill = [&]<class T>(std::span<T> out) {
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<T>(mesh.vertices[i / 3][static_cast<int>(i % 3)]);
    };
    if (table.type == ScalarType::f32)
        fill(table.values<float>());
    else
        fill(table.values<double>());
    return table;
}

Table read_table(const std::string& path, Narrow narrow) {
    const std::string type = ending(path);
    if (type == ".npy") return read_npy(path, narrow);
    if (type == ".csv" || type == ".txt" || type == ".tsv") return read_csv(path);
    if (type == ".xyz") return read_xyz(path);
    if (type == ".ply" || type == ".obj") return vertex_table(read_mesh(path));
    throw Error(ErrorKind::unsupported, "unknown ending: expected .npy, .csv, .xyz, .ply or .obj", {.file = path});
}

void check_table_ending(const std::string& path) {
    const std::string type = ending(path);
    if (type != ".npy" && type != ".csv")
        throw Error(ErrorKind::unsupported, "unknown ending: expected .npy or .csv", {.file = path});
}

void write_table(AtomicFile& file, const TableView& table) {
    if (ending(file.path()) == ".npy")
        write_npy(file, table);
    else
        write_csv(file, table);
}

void write_table(const std::string& path, const TableView& table) {
    check_table_ending(path);
    AtomicFile file(path);
    write_table(file, table);
    file.commit();
}

}  // namespace quadrat::io
