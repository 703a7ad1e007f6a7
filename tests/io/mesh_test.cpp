// PLY, OBJ and PNG.
#include "io/by_ending.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "io/png.hpp"
#include "tests/io/scratch.hpp"

namespace {

using namespace quadrat;
using test::bytes_of;
using test::error_of;
using test::Scratch;

io::Mesh ply(std::string_view text) {
    return io::parse_ply(bytes_of(text), "a.ply");
}
io::Mesh obj(std::string_view text) {
    return io::parse_obj(bytes_of(text), "a.obj");
}

const std::string head =
    "ply\nformat ascii 1.0\ncomment hello\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
const std::string vertices = "0 0 0\n1 0 0\n1 1 0\n0 1 0.5\n";

TEST(Ply, AsciiPolygonBecomesAFan) {
    const io::Mesh mesh = ply(head + vertices + "4 0 1 2 3\n");
    ASSERT_EQ(mesh.vertices.size(), 4u);
    EXPECT_EQ(mesh.vertices[3], (Vec3d{0, 1, 0.5}));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
    EXPECT_EQ(mesh.vertex_type, io::ScalarType::f32);
}

TEST(Ply, AnyOrderListsAndUnknownElements) {
    const io::Mesh mesh = ply(
        "ply\r\nformat ascii 1.0\r\nelement face 1\r\nproperty uchar flag\r\nproperty list uchar uint vertex_index\r\n"
        "element junk 2\r\nproperty list ushort float values\r\nelement vertex 3\r\nproperty uchar blue\r\n"
        "property list char int more\r\nproperty double z\r\nproperty uchar red\r\nproperty double x\r\nproperty uchar "
        "green\r\n"
        "property double y\r\nend_header\r\n9 3 2 1 0\r\n0\r\n2 1.5 2.5\r\n"
        "3 0 30 1 10 2 20\r\n3 2 7 8 31 1 11 2 21\r\n3 0 32 1 12 2 22\r\n");
    EXPECT_EQ(mesh.vertices, (std::vector<Vec3d>{{10, 20, 30}, {11, 21, 31}, {12, 22, 32}}));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{2, 1, 0}}));
    EXPECT_EQ(mesh.colors[1], (std::array<std::uint8_t, 4>{1, 2, 3, 255}));
    EXPECT_EQ(mesh.vertex_type, io::ScalarType::f64);
}

TEST(Ply, BinaryOfBothByteOrders) {
    for (const bool big : {false, true}) {
        std::string file = std::string("ply\nformat ") + (big ? "binary_big_endian" : "binary_little_endian") +
                           " 1.0\nelement vertex 3\nproperty double x\nproperty float y\nproperty short z\n"
                           "element face 1\nproperty list uchar ushort vertex_indices\nend_header\n";
        const auto put = [&]<class T>(T value) {
            char bytes[sizeof(T)];
            std::memcpy(bytes, &value, sizeof(T));
            if (big) std::reverse(bytes, bytes + sizeof(T));
            file.append(bytes, sizeof(T));
        };
        for (int k = 0; k < 3; ++k) {
            put(0.1 + k);
            put(static_cast<float>(k) * 0.5f);
            put(static_cast<std::int16_t>(-k));
        }
        put(std::uint8_t{3});
        for (const std::uint16_t k : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{2}}) put(k);
        const io::Mesh mesh = ply(file);
        EXPECT_EQ(mesh.vertices[2], (Vec3d{2.1, 1.0, -2.0}));
        EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
        for (std::size_t n = 0; n < file.size(); ++n)
            EXPECT_NE(error_of([&] { (void)ply(file.substr(0, n)); }), "no error") << n;
        EXPECT_NE(error_of([&] { (void)ply(file + "more"); }).find("bytes after the last element"), std::string::npos);
    }
}

TEST(Ply, HostileFilesNameLineOrByte) {
    EXPECT_EQ(error_of([] { (void)ply("plx\n"); }), "a.ply: line 1: not a PLY file");
    EXPECT_EQ(error_of([] { (void)ply(head + vertices + "4 0 1 2 4\n"); }),
              "a.ply: line 15: a corner that is no vertex; there are 4");
    EXPECT_EQ(error_of([] { (void)ply(head + vertices + "4 0 1 2 -1\n"); }),
              "a.ply: line 15: a corner that is no vertex; there are 4");
    EXPECT_EQ(error_of([] { (void)ply(head + vertices); }), "a.ply: line 15: the file is truncated");
    EXPECT_EQ(error_of([] { (void)ply(head + vertices + "2 0 1\n"); }),
              "a.ply: line 15: a face of fewer than 3 corners");
    EXPECT_EQ(error_of([] { (void)ply(head + "0 0 zero\n"); }), "a.ply: line 11, z: 'zero' is not a number");
    EXPECT_EQ(error_of([] { (void)ply(head + "0 0 1 1\n"); }), "a.ply: line 11: more numbers than properties");
    EXPECT_NE(error_of([] { (void)ply(head + vertices + "4294967295 0 1 2\n"); }), "no error");
    const std::string huge =
        "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000000000000\nproperty float x\n"
        "property float y\nproperty float z\nend_header\n123456789012";
    EXPECT_EQ(error_of([&] { (void)ply(huge); }), "a.ply: byte 133: element 'vertex' does not fit in the file");
    EXPECT_NE(
        error_of([] { (void)ply("ply\nformat ascii 1.0\nelement vertex 1\nproperty list float int x\nend_header\n"); }),
        "no error");
    EXPECT_NE(error_of([] { (void)ply("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n"); }),
              "no error");
}

TEST(Ply, RoundTrip) {
    const Scratch scratch;
    io::Mesh mesh;
    mesh.vertices = {{0.1, -1e300, 5e-324}, {1, 2, 3}, {4, 5, 6}};
    mesh.normals = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    mesh.colors = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    mesh.triangles = {{2, 1, 0}};
    for (const io::PlyFormat format : {io::PlyFormat::ascii, io::PlyFormat::binary}) {
        io::write_ply(scratch.file("a.ply"), mesh, format);
        const io::Mesh copy = io::read_mesh(scratch.file("a.ply"));
        EXPECT_EQ(copy.vertices, mesh.vertices);
        EXPECT_EQ(copy.normals, mesh.normals);
        EXPECT_EQ(copy.colors, mesh.colors);
        EXPECT_EQ(copy.triangles, mesh.triangles);
    }
}

TEST(Ply, FloatVerticesStayFloat) {
    const io::Table table = io::vertex_table(ply(head + vertices + "3 0 1 2\n"));
    EXPECT_EQ(table.type, io::ScalarType::f32);
    EXPECT_EQ(table.values<float>()[11], 0.5f);
}

TEST(Obj, FacesOfAllForms) {
    const io::Mesh mesh =
        obj("# comment\nmtllib x.mtl\nv 0 0 0\nv 1 0 0 # end\r\nv 1 1 0\nv 0 \\\n1 0\nvn 0 0 1\nvt 0 0\n"
            "f 1 2 3 4\nf 1/1 2/1 3/1\nf 1//1 2//1 3//1\nf -4/1/1 -3/1/1 -1/1/1\nf 1 2 5\nv 9 9 9\n");
    EXPECT_EQ(mesh.vertices.size(), 5u);
    EXPECT_EQ(mesh.vertices[3], (Vec3d{0, 1, 0}));
    EXPECT_EQ(mesh.triangles,
              (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 2}, {0, 1, 2}, {0, 1, 3}, {0, 1, 4}}));
    EXPECT_EQ(obj("v 0 0 0\n# C:\\x\\\nv 1 0 0\nv 0 1 \\\n0 # y\\\nv 0 0 1\n").vertices.size(), 4u);
    EXPECT_EQ(obj("v 0 0 0 1 0.5 0\n").colors[0], (std::array<std::uint8_t, 4>{255, 128, 0, 255}));
}

TEST(Obj, NumbersAreCorrectlyRounded) {
    const io::Mesh mesh =
        obj("v 0.1 2.2250738585072011e-308 9007199254740993\nv 1.00000000000000011102230246251565 -0.0 "
            "123456789.123456789\n");
    EXPECT_EQ(mesh.vertices[0], (Vec3d{0.1, 2.2250738585072011e-308, 9007199254740992.0}));
    EXPECT_EQ(mesh.vertices[1], (Vec3d{1.00000000000000011102230246251565, -0.0, 123456789.123456789}));
}

TEST(Obj, ErrorsNameTheLine) {
    EXPECT_EQ(error_of([] { (void)obj("v 0 0 0\nv 1 x 0\n"); }), "a.obj: line 2, column 1: 'x' is not a number");
    EXPECT_EQ(error_of([] { (void)obj("v 0 0 0\nv 1 0 nan\n"); }), "a.obj: line 2, column 2: NaN");
    EXPECT_EQ(error_of([] { (void)obj("v -inf 0 0\n"); }), "a.obj: line 1, column 0: infinite coordinate");
    EXPECT_EQ(error_of([] { (void)obj("v 0 0\n"); }), "a.obj: line 1, column 2: a number is missing");
    EXPECT_EQ(error_of([] { (void)obj("v 0 0 0\nf 1 1 2\n"); }), "a.obj: line 2: vertex 2 of 1 does not exist");
    EXPECT_EQ(error_of([] { (void)obj("v 0 0 0\nf 1 1 -2\n"); }), "a.obj: line 2, column 2: vertex -2 does not exist");
    EXPECT_EQ(error_of([] { (void)obj("v 0 0 0\nf 1 1 0\n"); }), "a.obj: line 2, column 2: vertex 0 does not exist");
    EXPECT_EQ(error_of([] { (void)obj("v 0 0 0\nf 1 1\n"); }), "a.obj: line 2: a face of fewer than 3 corners");
    EXPECT_EQ(error_of([] { (void)obj("f 1 2 99999999999\n"); }),
              "a.obj: line 1: vertex 99999999999 of 0 does not exist");
    EXPECT_NE(error_of([] { (void)obj("v 0 0 0\nf 1/x 1 1\n"); }), "no error");
}

TEST(Obj, NumbersAreReadToTheLastBit) {
    const io::Mesh mesh = obj("v 0.1 -1e+300 5e-324\nv 1 2 3\nv 4 5 6\nf 3 2 1\n");
    EXPECT_EQ(mesh.vertices, (std::vector<Vec3d>{{0.1, -1e300, 5e-324}, {1, 2, 3}, {4, 5, 6}}));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{2, 1, 0}}));
}

TEST(Mesh, SharedDataReads) {
    const std::string data = QUADRAT_SHARED_DATA;
    if (!std::filesystem::exists(data + "/meshes/horse.ply")) GTEST_SKIP() << "no shared data";
    EXPECT_EQ(io::read_mesh(data + "/meshes/horse.ply").triangles.size(), 96966u);
    EXPECT_EQ(io::read_mesh(data + "/ccd/frames/cloth-ball/cloth_ball92.ply").vertices.size(), 46598u);
    EXPECT_EQ(io::read_mesh(data + "/ccd/frames/cloth-funnel/227.ply").vertices.size(), 9450u);
    EXPECT_GT(io::read_mesh(data + "/meshes/stanford-bunny.obj").triangles.size(), 60000u);
    EXPECT_GT(io::read_mesh(data + "/meshes/spot.obj").triangles.size(), 5000u);
    EXPECT_GT(io::read_mesh(data + "/meshes/teapot.obj").triangles.size(), 6000u);
}

TEST(Png, RoundTripOfEveryChannelCount) {
    const Scratch scratch;
    for (std::uint32_t kind = 1; kind <= 8; ++kind) {
        const std::uint32_t channels = (kind - 1) % 4 + 1, depth = kind > 4 ? 16 : 8;
        io::Image image{.width = 5, .height = 3, .channels = channels, .pixels = {}, .depth = depth};
        for (std::uint32_t k = 0; k < 15 * image.pixel_bytes(); ++k)
            image.pixels.push_back(static_cast<std::uint8_t>(k * 17));
        io::write_png(scratch.file("a.png"), image);
        const io::Image copy = io::read_png(scratch.file("a.png"));
        EXPECT_EQ(copy.width, 5u);
        EXPECT_EQ(copy.channels, channels);
        EXPECT_EQ(copy.depth, depth);
        EXPECT_EQ(copy.pixels, image.pixels);
        const std::string file = scratch.read("a.png");
        for (std::size_t n = 0; n < file.size(); ++n)
            EXPECT_NE(error_of([&] { (void)io::parse_png(bytes_of(std::string_view(file).substr(0, n)), "a.png"); }),
                      "no error");
    }
    EXPECT_NE(error_of([&] { io::write_png(scratch.file("b.png"), {.width = 2, .height = 2, .channels = 3}); }),
              "no error");
}

TEST(Png, AbsurdSizeIsRefused) {
    const Scratch scratch;
    io::Image image{.width = 1, .height = 1, .channels = 4, .pixels = {1, 2, 3, 4}};
    io::write_png(scratch.file("a.png"), image);
    std::string file = scratch.read("a.png");
    file.replace(16, 8, std::string("\x40\0\0\0\x40\0\0\0", 8));
    EXPECT_NE(error_of([&] { (void)io::parse_png(bytes_of(file), "a.png"); }), "no error");
}

}  // namespace
