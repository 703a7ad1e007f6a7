// Writes PLY 1.0: a header that names every element and property, then the records in its order, each number in its
// shortest exact form as text or little endian as bytes. What the mesh does not have is not
// declared; single edges and points are left out.

#include <bit>
#include <charconv>

#include "io/mesh/mesh.hpp"

namespace quadrat::io {
namespace {

// One record after another, as text or as bytes.
class PlyWriter {
  public:
    PlyWriter(AtomicFile& file, PlyFormat format) : file_(file), format_(format) {}

    template <class T>
    void number(T value) {
        if (format_ == PlyFormat::binary) {
            file_.write(&value, sizeof value);
            return;
        }
        char text[40];
        if (!first_) file_.write(" ");
        first_ = false;
        file_.write(text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, value).ptr - text));
    }
    void end() {
        if (format_ == PlyFormat::ascii) file_.write("\n");
        first_ = true;
    }

  private:
    AtomicFile& file_;
    PlyFormat format_;
    bool first_ = true;
};

}  // namespace

void write_ply(const std::string& path, const Mesh& mesh, PlyFormat format) {
    static_assert(std::endian::native == std::endian::little, "the header below says little endian");
    const bool floats = mesh.vertex_type == ScalarType::f32;
    const bool normals = !mesh.normals.empty() && mesh.normals.size() == mesh.vertices.size();
    const bool colors = !mesh.colors.empty() && mesh.colors.size() == mesh.vertices.size();
    AtomicFile file(path);
    std::string header = "ply\nformat ";
    header += format == PlyFormat::ascii ? "ascii 1.0\n" : "binary_little_endian 1.0\n";
    header += "element vertex " + std::to_string(mesh.vertices.size()) + "\n";
    for (const char* name : {"x", "y", "z"})
        header += std::string("property ") + (floats ? "float " : "double ") + name + "\n";
    if (normals)
        for (const char* name : {"nx", "ny", "nz"}) header += std::string("property float ") + name + "\n";
    if (colors)
        for (const char* name : {"red", "green", "blue", "alpha"})
            header += std::string("property uchar ") + name + "\n";
    if (!mesh.triangles.empty())
        header +=
            "element face " + std::to_string(mesh.triangles.size()) + "\nproperty list uchar uint vertex_indices\n";
    file.write(header + "end_header\n");

    PlyWriter out(file, format);
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
        for (int k = 0; k < 3; ++k) {
            if (floats)
                out.number(static_cast<float>(mesh.vertices[i][k]));
            else
                out.number(mesh.vertices[i][k]);
        }
        if (normals)
            for (int k = 0; k < 3; ++k) out.number(mesh.normals[i][k]);
        if (colors)
            for (const std::uint8_t level : mesh.colors[i]) out.number(level);
        out.end();
    }
    for (const Triangle& t : mesh.triangles) {
        out.number(std::uint8_t{3});
        for (const std::uint32_t index : {t.a, t.b, t.c}) out.number(index);
        out.end();
    }
    file.commit();
}

}  // namespace quadrat::io
