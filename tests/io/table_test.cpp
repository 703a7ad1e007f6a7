// NPY, CSV and XYZ.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/by_ending.hpp"
#include "io/table/csv.hpp"
#include "io/table/npy.hpp"
#include "io/table/xyz.hpp"
#include "io/text.hpp"
#include "tests/io/scratch.hpp"

namespace {

using namespace quadrat;
using io::ScalarType;
using test::bytes_of;
using test::error_of;
using test::Scratch;

std::string npy(std::string_view dict, std::string_view data, int version = 1) {
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    const std::size_t n = dict.size();
    file += static_cast<char>(n & 255);
    file += static_cast<char>(n >> 8);
    if (version > 1) file += std::string(2, '\0');
    file += dict;
    return file + std::string(data);
}

template <class T>
std::string raw(std::initializer_list<T> values, bool big = false) {
    std::string text;
    for (const T value : values) {
        char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T));
        if (big) std::reverse(bytes, bytes + sizeof(T));
        text.append(bytes, sizeof(T));
    }
    return text;
}

io::Table parse_npy(const std::string& file) {
    return io::parse_npy(bytes_of(file), "a.npy");
}
io::Table parse_csv(std::string_view file) {
    return io::parse_csv(bytes_of(file), "a.csv");
}
io::Table parse_xyz(std::string_view file) {
    return io::parse_xyz(bytes_of(file), "a.xyz");
}

template <class T>
std::vector<T> list(const io::Table& table) {
    const auto values = table.values<T>();
    return {values.begin(), values.end()};
}

TEST(Npy, VersionsOrdersAndByteOrders) {
    for (const int version : {1, 2, 3}) {
        const std::string dict = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
        const io::Table table = parse_npy(npy(dict, raw({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}), version));
        EXPECT_EQ(table.shape, (std::vector<std::uint64_t>{2, 3}));
        EXPECT_EQ(list<double>(table), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    }
    const io::Table fortran = parse_npy(
        npy("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3)}", raw({1.f, 4.f, 2.f, 5.f, 3.f, 6.f}, true)));
    EXPECT_EQ(fortran.type, ScalarType::f32);
    EXPECT_EQ(list<float>(fortran), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    const io::Table cube =
        parse_npy(npy("{'shape':(2,2,2),'fortran_order':True,\"descr\":\"|u1\"}", std::string("\0\4\2\6\1\5\3\7", 8)));
    EXPECT_EQ(list<std::uint8_t>(cube), (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(cube.rows(), 2u);
    EXPECT_EQ(cube.columns(), 4u);
}

TEST(Npy, KeepsOrWidensTypes) {
    const auto type_of = [](const std::string& descr, std::size_t size) {
        return parse_npy(
            npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,)}", std::string(size, '\xff')));
    };
    EXPECT_EQ(list<std::int32_t>(type_of("<i4", 4)), std::vector<std::int32_t>{-1});
    EXPECT_EQ(list<std::int32_t>(type_of("|i1", 1)), std::vector<std::int32_t>{-1});
    EXPECT_EQ(list<std::int32_t>(type_of(">i2", 2)), std::vector<std::int32_t>{-1});
    EXPECT_EQ(list<std::int64_t>(type_of("<i8", 8)), std::vector<std::int64_t>{-1});
    EXPECT_EQ(list<std::uint8_t>(type_of("|u1", 1)), std::vector<std::uint8_t>{255});
    EXPECT_EQ(list<std::uint32_t>(type_of("<u2", 2)), std::vector<std::uint32_t>{65535});
    EXPECT_EQ(list<std::uint32_t>(type_of(">u4", 4)), std::vector<std::uint32_t>{0xffffffffu});
    EXPECT_EQ(list<std::uint64_t>(type_of("<u8", 8)), std::vector<std::uint64_t>{~std::uint64_t{0}});
}

TEST(Npy, HostileFilesNameTheByte) {
    const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
    const std::string data = raw({1.0, 2.0});
    EXPECT_EQ(error_of([&] { (void)parse_npy("hello"); }), "a.npy: byte 0: not an NPY file");
    EXPECT_EQ(error_of([&] { (void)parse_npy(npy(good, data.substr(1))); }),
              "a.npy: byte 82: the shape needs more bytes than the file has");
    EXPECT_EQ(error_of([&] { (void)parse_npy(npy(good, data + "x")); }),
              "a.npy: byte 83: bytes after the end of the array");
    for (const char* dict :
         {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
          "{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}", "{'descr': '<f8', 'fortran_order': False}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)",
          "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}",
          "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}",
          "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}",
          "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", ""})
        EXPECT_EQ(error_of([&] { (void)parse_npy(npy(dict, data)); }).substr(0, 12), "a.npy: byte ") << dict;
    std::string absurd = npy(good, data, 2);
    absurd[11] = '\x7f';
    EXPECT_EQ(error_of([&] { (void)parse_npy(absurd); }), "a.npy: byte 85: the header is truncated");
    for (std::size_t n = 0; n < npy(good, data).size(); ++n)
        EXPECT_NE(error_of([&] { (void)parse_npy(npy(good, data).substr(0, n)); }), "no error");
}

TEST(Npy, EmptyShapesAreLegal) {
    const io::Table table = parse_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 6), }", ""));
    EXPECT_EQ(table.rows(), 0u);
    EXPECT_EQ(table.columns(), 6u);
    EXPECT_EQ(parse_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", raw({1.f}))).size(), 1u);
}

TEST(Npy, RoundTrip) {
    const Scratch scratch;
    const std::vector<std::uint32_t> values = {1, 2, 3, 4, 5, 0xffffffffu};
    io::write_npy(scratch.file("a.npy"), io::view(std::span<const std::uint32_t>(values), {3, 2}));
    const io::Table table = io::read_npy(scratch.file("a.npy"));
    EXPECT_EQ(table.shape, (std::vector<std::uint64_t>{3, 2}));
    EXPECT_EQ(list<std::uint32_t>(table), values);
    EXPECT_EQ((scratch.read("a.npy").size() - 24) % 64, 0u);
}

TEST(Csv, HeadersSeparatorsAndComments) {
    const std::vector<double> expected = {1, -2.5, 3e4, 4};
    for (const char* text :
         {"1,-2.5\n3e4,4\n", "x,y\n1,-2.5\n3e4,4",
          "\xEF\xBB\xBF"
          "a;b\r\n1;-2.5\r\n3e4;4\r\n",
          "1\t-2.5\n3e4\t4\n", "  1   -2.5\n3e4 4  \n", "# made by hand\n\nx, y\n 1 , -2.5 \n\n+3e4,\"4\"\n"}) {
        const io::Table table = parse_csv(text);
        EXPECT_EQ(list<double>(table), expected) << text;
        EXPECT_EQ(table.shape, (std::vector<std::uint64_t>{2, 2})) << text;
    }
    EXPECT_EQ(parse_csv("x, \"y\"\n1,2\n").names, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(parse_csv("\"lo, x\",\"hi, x\"\n1,2\n").names, (std::vector<std::string>{"lo, x", "hi, x"}));
    EXPECT_EQ(parse_csv("first,2nd,x\n1,2,3\n").rows(), 1u);
    EXPECT_EQ(parse_csv("").rows(), 0u);
    EXPECT_EQ(parse_csv("x0,y0,x1,y1\n").columns(), 4u);
}

TEST(Csv, ErrorsNameLineRowAndColumn) {
    EXPECT_EQ(error_of([] { (void)parse_csv("x,y\n1,2\n\n3,abc\n"); }),
              "a.csv: line 4, row 1, column 1: 'abc' is not a number");
    EXPECT_EQ(error_of([] { (void)parse_csv("1,2\n3,\n"); }), "a.csv: line 2, row 1, column 1: a number is missing");
    EXPECT_EQ(error_of([] { (void)parse_csv("1,2\n3,4,5\n"); }),
              "a.csv: line 2, row 1: 3 columns, but the lines before have 2");
    EXPECT_EQ(error_of([] { (void)parse_csv("1,2\n3\n"); }),
              "a.csv: line 2, row 1: 1 columns, but the lines before have 2");
    EXPECT_EQ(error_of([] { (void)parse_csv("1,b\n"); }), "a.csv: line 1, row 0, column 1: 'b' is not a number");
    EXPECT_EQ(error_of([] { (void)parse_csv("1e400,1\n"); }),
              "a.csv: line 1, row 0, column 0: '1e400' is out of range");
    // A first line of what looks like values is no header.
    EXPECT_EQ(error_of([] { (void)parse_csv("0x0,0x1\n1,2\n"); }),
              "a.csv: line 1, row 0, column 0: '0x0' is not a number");
    EXPECT_EQ(error_of([] { (void)parse_csv("NA,\n1,2\n"); }), "a.csv: line 1, row 0, column 0: 'NA' is not a number");
    const io::Table table = parse_csv("x,y\n1,2\n\n3,4\n5,6\n");
    EXPECT_EQ(Error(ErrorKind::bad_value, "NaN", table.place("a.csv", 2, 1)).what(),
              std::string("a.csv: line 5, row 2, column 1: NaN"));
}

TEST(Csv, NumbersAreCorrectlyRounded) {
    const io::Table table =
        parse_csv("0.1,1e-400,4.9e-324,2.2250738585072011e-308,9007199254740993,inf,-INF,1.7976931348623157e308\n");
    EXPECT_EQ(list<double>(table), (std::vector<double>{0.1, 0.0, 4.9e-324, 2.2250738585072011e-308, 9007199254740992.0,
                                                        HUGE_VAL, -HUGE_VAL, 1.7976931348623157e308}));
    EXPECT_TRUE(std::isnan(list<double>(parse_csv("1,NaN\n"))[1]));
}

TEST(Csv, EveryDoubleRoundTrips) {
    const Scratch scratch;
    rc::check([&](const std::vector<std::uint64_t>& bits) {
        std::vector<double> values;
        for (const std::uint64_t b : bits) {
            double value;
            std::memcpy(&value, &b, 8);
            if (!std::isnan(value)) values.push_back(value);
        }
        if (values.empty()) return;
        io::write_csv(scratch.file("a.csv"), io::view(std::span<const double>(values), {values.size(), 1}));
        RC_ASSERT(list<double>(io::read_csv(scratch.file("a.csv"))) == values);
    });
}

TEST(Xyz, AtomsPlainAndExtended) {
    const std::vector<double> expected = {1, 2, 3, 4, 5, 6};
    for (const char* text :
         {"2\ncomment\nH 1 2 3\nO 4 5 6\n", "1 2 3\n4 5 6\n", "H 1 2 3\nHe 4 5 6 9 9\n", "1 2 3 255 0 0\n4 5 6 1 2 3\n",
          "2\nLattice=\"1 0 0\" Properties=id:I:1:pos:R:3:species:S:1\n7 1 2 3 H\n8 4 5 6 O\n",
          "2\n\n1 1 2 3\n8 4 5 6\n\n"})
        EXPECT_EQ(list<double>(parse_xyz(text)), expected) << text;
    EXPECT_EQ(parse_xyz("0\n\n").rows(), 0u);
    EXPECT_EQ(parse_xyz("").rows(), 0u);
}

TEST(Xyz, ErrorsNameTheLine) {
    EXPECT_EQ(error_of([] { (void)parse_xyz("2\nc\nH 1 2 3\n"); }), "a.xyz: line 3: truncated: 1 of 2 points");
    EXPECT_EQ(error_of([] { (void)parse_xyz("1\nc\nH 1 2\n"); }),
              "a.xyz: line 3, row 0, column 2: a number is missing");
    EXPECT_EQ(error_of([] { (void)parse_xyz("999999999999\nc\nH 1 2 3\n"); }),
              "a.xyz: line 1: more points than the file can hold");
    EXPECT_NE(error_of([] { (void)parse_xyz("1\nc\nH 1 2 3\n1\nc\nH 1 2 3\n"); }).find("line 4"), std::string::npos);
    EXPECT_EQ(error_of([] { (void)parse_xyz("-1\nc\n"); }), "a.xyz: line 1: the number of points is negative");
}

TEST(Xyz, NumbersAreReadToTheLastBit) {
    const std::vector<double> values = {0.1, -1e300, 3, 4, 5, 1.0 / 3};
    EXPECT_EQ(list<double>(parse_xyz("2\ntwo atoms\nX 0.1 -1e+300 3\nX 4 5 0.3333333333333333\n")), values);
}

TEST(Table, IntegersBecomeDoubleOnlyIfExact) {
    const std::string ok =
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2)}", raw<std::int64_t>({-5, 1ll << 53}));
    EXPECT_EQ(list<double>(io::to_double(parse_npy(ok), "a.npy")), (std::vector<double>{-5, 9007199254740992.0}));
    const std::string bad =
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2)}", raw<std::int64_t>({0, (1ll << 53) + 1}));
    EXPECT_EQ(error_of([&] { (void)io::to_double(parse_npy(bad), "a.npy"); }),
              "a.npy: row 0, column 1: integer beyond 2^53 does not fit a double");
}

TEST(Table, UnknownEndings) {
    EXPECT_EQ(error_of([] { (void)io::read_table("a.dat"); }),
              "a.dat: unknown ending: expected .npy, .csv, .xyz, .ply or .obj");
    EXPECT_EQ(error_of([] { io::check_table_ending("a.xyz"); }), "a.xyz: unknown ending: expected .npy or .csv");
}

}  // namespace
