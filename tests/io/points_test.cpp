// Clouds of points with values: PLY, VTP and PVD.
#include "io/mesh/points.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/io/scratch.hpp"

namespace {

using namespace quadrat;
using test::error_of;
using test::Scratch;

const std::vector<Vec3f> points = {{1, 2, 3}, {-4, 5.5f, 0}};
const std::vector<Vec3f> velocity = {{0, 0, 1}, {0.25f, 0, 0}};
const std::vector<float> density = {1000, 998};
const std::vector<std::uint32_t> ids = {7, 9};

std::vector<io::PointField> fields() {
    return {{"velocity", {io::ScalarType::f32, {2, 3}, velocity.data()}},
            {"density", {io::ScalarType::f32, {2}, density.data()}},
            {"id", {io::ScalarType::u32, {2}, ids.data()}}};
}

template <class T>
T at(const std::string& bytes, std::size_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

TEST(Points, PlyHoldsEveryField) {
    const Scratch scratch;
    io::write_points_ply(scratch.file("p.ply"), points, fields());
    const io::Mesh mesh = io::read_ply(scratch.file("p.ply"));
    ASSERT_EQ(mesh.vertices.size(), 2u);
    EXPECT_EQ(mesh.vertices[1], (Vec3d{-4, 5.5, 0}));
    const std::string text = scratch.read("p.ply");
    for (const char* line :
         {"property float vx\n", "property float vz\n", "property float density\n", "property uint id\n"})
        EXPECT_NE(text.find(line), text.npos) << line;
    const std::size_t body = text.find("end_header\n") + 11, record = 3 * 4 + 3 * 4 + 4 + 4;
    ASSERT_EQ(text.size(), body + 2 * record);
    EXPECT_EQ(at<float>(text, body + record + 12), 0.25f);
    EXPECT_EQ(at<float>(text, body + record + 24), 998);
    EXPECT_EQ(at<std::uint32_t>(text, body + record + 28), 9u);
    EXPECT_EQ(scratch.files(), 1u);
}

TEST(Points, VtpOffsetsPointAtTheArrays) {
    const Scratch scratch;
    io::write_points_vtp(scratch.file("p.vtp"), points, fields());
    const std::string text = scratch.read("p.vtp");
    const std::size_t data = text.find("<AppendedData encoding=\"raw\">\n_") + 31;
    const auto array = [&](const std::string& name) {
        const std::size_t line = text.find("Name=\"" + name + "\"");
        EXPECT_NE(line, text.npos) << name;
        const std::size_t offset = text.find("offset=\"", line) + 8;
        return data + std::stoul(text.substr(offset));
    };
    EXPECT_EQ(at<std::uint64_t>(text, array("velocity")), 24u);
    EXPECT_EQ(at<float>(text, array("velocity") + 8 + 8), 1.0f);
    EXPECT_EQ(at<float>(text, array("density") + 8 + 4), 998.0f);
    EXPECT_EQ(at<float>(text, array("points") + 8), 1.0f);
    EXPECT_EQ(at<std::uint32_t>(text, array("offsets") + 8 + 4), 2u);
    EXPECT_NE(text.find("NumberOfPoints=\"2\" NumberOfVerts=\"2\""), text.npos);
}

TEST(Points, MeshesAndSeries) {
    const Scratch scratch;
    io::Mesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    mesh.triangles = {{0, 1, 2}};
    mesh.colors.assign(3, {1, 2, 3, 255});
    io::write_mesh_vtp(scratch.file("m.vtp"), mesh);
    EXPECT_NE(scratch.read("m.vtp").find("NumberOfPolys=\"1\""), std::string::npos);
    const std::vector<io::PvdEntry> entries = {{0, 0, "a.vtp"}, {0.5, 1, "b.vtp"}};
    io::write_pvd(scratch.file("s.pvd"), entries);
    EXPECT_NE(scratch.read("s.pvd").find("<DataSet timestep=\"0.5\" part=\"1\" file=\"b.vtp\"/>"), std::string::npos);
}

TEST(Points, RefusesRowsThatAreNotOnePerPoint) {
    const Scratch scratch;
    const std::vector<io::PointField> wrong = {{"density", {io::ScalarType::f32, {1}, density.data()}}};
    EXPECT_EQ(error_of([&] { io::write_points_ply(scratch.file("p.ply"), points, wrong); }),
              "density: expected one row per point");
    const std::vector<std::uint64_t> wide = {1, 2};
    const std::vector<io::PointField> big = {{"id", {io::ScalarType::u64, {2}, wide.data()}}};
    EXPECT_EQ(error_of([&] { io::write_points_ply(scratch.file("p.ply"), points, big); }),
              "id: PLY has no 64-bit integers");
    EXPECT_EQ(scratch.files(), 0u);
}

}  // namespace
