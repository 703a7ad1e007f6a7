#include "io/mesh/points.hpp"

#include "base/assert.hpp"

#include <quadrat/error.hpp>

#include <bit>
#include <charconv>
#include <cstring>

#include "io/files.hpp"

namespace quadrat::io {
namespace {

static_assert(std::endian::native == std::endian::little, "headers below say little endian");

std::string number(double x) {
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

std::uint64_t columns(const TableView& values) {
    return values.shape.size() > 1 ? values.shape[1] : 1;
}

void check(std::span<const Vec3f> points, std::span<const PointField> fields) {
    for (const PointField& field : fields)
        if (field.values.shape.empty() || field.values.shape[0] != points.size() || field.values.shape.size() > 2)
            throw Error(ErrorKind::bad_shape, "expected one row per point", {.field = field.name});
}

const char* ply_type(const PointField& field) {
    switch (field.values.type) {
        case ScalarType::f32:
            return "float";
        case ScalarType::f64:
            return "double";
        case ScalarType::i32:
            return "int";
        case ScalarType::u32:
            return "uint";
        case ScalarType::u8:
            return "uchar";
        default:
            throw Error(ErrorKind::unsupported, "PLY has no 64-bit integers", {.field = field.name});
    }
}

const char* vtk_type(ScalarType type) {
    switch (type) {
        case ScalarType::f32:
            return "Float32";
        case ScalarType::f64:
            return "Float64";
        case ScalarType::i32:
            return "Int32";
        case ScalarType::i64:
            return "Int64";
        case ScalarType::u8:
            return "UInt8";
        case ScalarType::u32:
            return "UInt32";
        default:
            QUADRAT_ASSERT(type == ScalarType::u64);  // nothing narrow is written
    }
    return "UInt64";
}

// The arrays of a VTP file: their descriptions go into the header, their bytes behind it.
class VtpWriter {
  public:
    /// The XML line of an array; its bytes must live until finish().
    std::string array(const std::string& name, ScalarType type, std::uint64_t components, const void* data,
                      std::uint64_t values) {
        const std::uint64_t bytes = values * scalar_size(type);
        std::string line = std::string("        <DataArray type=\"") + vtk_type(type) + "\" Name=\"" + name + "\"";
        if (components > 1) line += " NumberOfComponents=\"" + std::to_string(components) + "\"";
        line += " format=\"appended\" offset=\"" + std::to_string(offset_) + "\"/>\n";
        blocks_.push_back({data, bytes});
        offset_ += bytes + sizeof(std::uint64_t);
        return line;
    }

    void finish(const std::string& path, const std::string& body) {
        AtomicFile file(path);
        file.write(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\">\n  <PolyData>\n");
        file.write(body);
        file.write("  </PolyData>\n  <AppendedData encoding=\"raw\">\n_");
        for (const auto& [data, bytes] : blocks_) {
            file.write(&bytes, sizeof bytes);
            file.write(data, bytes);
        }
        file.write("\n  </AppendedData>\n</VTKFile>\n");
        file.commit();
    }

  private:
    struct Block {
        const void* data;
        std::uint64_t bytes;
    };
    std::vector<Block> blocks_;
    std::uint64_t offset_ = 0;
};

}  // namespace

void write_points_ply(const std::string& path, std::span<const Vec3f> points, std::span<const PointField> fields) {
    check(points, fields);
    std::string header = "ply\nformat binary_little_endian 1.0\nelement vertex " + std::to_string(points.size()) +
                         "\nproperty float x\nproperty float y\nproperty float z\n";
    std::size_t record = sizeof(Vec3f);
    for (const PointField& field : fields) {
        const std::string type = ply_type(field);
        const std::uint64_t n = columns(field.values);
        for (std::uint64_t k = 0; k < n; ++k) {
            const std::string axis(1, "xyz"[k % 3]);
            header += "property " + type + " " +
                      (n == 1                     ? field.name
                       : field.name == "velocity" ? "v" + axis
                                                  : field.name + "_" + axis) +
                      "\n";
        }
        record += n * scalar_size(field.values.type);
    }
    AtomicFile file(path);
    file.write(header + "end_header\n");
    std::vector<char> row(record);
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::memcpy(row.data(), &points[i], sizeof(Vec3f));
        std::size_t at = sizeof(Vec3f);
        for (const PointField& field : fields) {
            const std::size_t bytes = columns(field.values) * scalar_size(field.values.type);
            std::memcpy(row.data() + at, static_cast<const char*>(field.values.data) + i * bytes, bytes);
            at += bytes;
        }
        file.write(row.data(), row.size());
    }
    file.commit();
}

void write_points_vtp(const std::string& path, std::span<const Vec3f> points, std::span<const PointField> fields) {
    check(points, fields);
    const std::string n = std::to_string(points.size());
    std::vector<std::uint32_t> connectivity(points.size()), offsets(points.size());
    for (std::uint32_t i = 0; i < points.size(); ++i) {
        connectivity[i] = i;
        offsets[i] = i + 1;
    }
    VtpWriter out;
    std::string body = "    <Piece NumberOfPoints=\"" + n + "\" NumberOfVerts=\"" + n +
                       "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n      <PointData>\n";
    for (const PointField& field : fields)
        body += out.array(field.name, field.values.type, columns(field.values), field.values.data, field.values.size());
    body += "      </PointData>\n      <Points>\n" +
            out.array("points", ScalarType::f32, 3, points.data(), 3 * points.size()) +
            "      </Points>\n      <Verts>\n" +
            out.array("connectivity", ScalarType::u32, 1, connectivity.data(), connectivity.size()) +
            out.array("offsets", ScalarType::u32, 1, offsets.data(), offsets.size()) + "      </Verts>\n    </Piece>\n";
    out.finish(path, body);
}

void write_mesh_vtp(const std::string& path, const Mesh& mesh) {
    std::vector<std::uint32_t> offsets(mesh.triangles.size());
    for (std::uint32_t i = 0; i < offsets.size(); ++i) offsets[i] = 3 * (i + 1);
    VtpWriter out;
    std::string body = "    <Piece NumberOfPoints=\"" + std::to_string(mesh.vertices.size()) +
                       "\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"" +
                       std::to_string(mesh.triangles.size()) + "\">\n      <PointData>\n";
    if (mesh.colors.size() == mesh.vertices.size() && !mesh.colors.empty())
        body += out.array("color", ScalarType::u8, 4, mesh.colors.data(), 4 * mesh.colors.size());
    body += "      </PointData>\n      <Points>\n" +
            out.array("points", ScalarType::f64, 3, mesh.vertices.data(), 3 * mesh.vertices.size()) +
            "      </Points>\n      <Polys>\n" +
            out.array("connectivity", ScalarType::u32, 1, mesh.triangles.data(), 3 * mesh.triangles.size()) +
            out.array("offsets", ScalarType::u32, 1, offsets.data(), offsets.size()) + "      </Polys>\n    </Piece>\n";
    out.finish(path, body);
}

void write_pvd(const std::string& path, std::span<const PvdEntry> entries) {
    AtomicFile file(path);
    file.write(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
        "  <Collection>\n");
    for (const PvdEntry& e : entries)
        file.write("    <DataSet timestep=\"" + number(e.time) + "\" part=\"" + std::to_string(e.part) + "\" file=\"" +
                   e.file + "\"/>\n");
    file.write("  </Collection>\n</VTKFile>\n");
    file.commit();
}

}  // namespace quadrat::io
