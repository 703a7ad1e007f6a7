#include "support/scale.hpp"
#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include "voxels/index/state.hpp"

#include <gtest/gtest.h>

#include <limits>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace quadrat {
namespace {

template <int D>
SparseVoxels<std::uint32_t, D> sample(const VoxelOptions& options, std::size_t n = 600) {
    const auto points = test::random_voxels<D>(n, -30, 60);
    std::vector<std::uint32_t> values(n);
    std::iota(values.begin(), values.end(), 5u);
    auto v = SparseVoxels<std::uint32_t, D>::pack(points, values, options);
    const auto heights = v.template add_channel<float>("height");
    for (std::size_t i = 0; i < heights.size(); ++i) heights[i] = static_cast<float>(i);
    return v;
}

template <int D>
void expect_same(const VoxelGrid<D>& a, const VoxelGrid<D>& b) {
    ASSERT_EQ(a.index.values(), b.index.values());
    ASSERT_EQ(a.index.layout(), b.index.layout());
    ASSERT_EQ(a.index.encoding(), b.index.encoding());
    if (a.index.exact()) {
        ASSERT_EQ(a.index.sorted(), b.index.sorted());
    }
    for (const auto& p : test::random_voxels<D>(1000, -30, 60, 9)) ASSERT_EQ(a.index.find(p), b.index.find(p));
    ASSERT_EQ(a.channels.size(), b.channels.size());
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        ASSERT_EQ(a.channels[c].name, b.channels[c].name);
        ASSERT_EQ(a.channels[c].type, b.channels[c].type);
        ASSERT_EQ(a.channels[c].buffer.size, b.channels[c].buffer.size);
        ASSERT_EQ(0, std::memcmp(a.channels[c].buffer.data.get(), b.channels[c].buffer.data.get(),
                                 a.channels[c].buffer.size));
    }
}

const VoxelOptions kinds[] = {{.layout = Layout::voxel, .encoding = Encoding::bucket_tag},
                              {.layout = Layout::voxel, .encoding = Encoding::constrained},
                              {.layout = Layout::voxel, .encoding = Encoding::position_tag},
                              {.layout = Layout::voxel, .encoding = Encoding::domain_bit},
                              {.layout = Layout::voxel, .encoding = Encoding::position_hash},
                              {.layout = Layout::brick},
                              {.layout = Layout::bits},
                              {.layout = Layout::keys}};

TEST(Qvox, RoundTripInEveryLayout) {
    for (const VoxelOptions& o : kinds)
        for (const int compression : {0, 3}) {
            const auto v = sample<3>(o);
            const auto bytes = encode_qvox(v.grid(), {.compression = compression});
            expect_same<3>(v.grid(), std::get<VoxelGrid<3>>(decode_qvox(bytes, {.verify = true})));
            const auto w = sample<2>(o);
            expect_same<2>(w.grid(),
                           std::get<VoxelGrid<2>>(decode_qvox(encode_qvox(w.grid(), {.compression = compression}))));
        }
    const auto empty = SparseVoxels<float>::pack({}, {});
    expect_same<3>(empty.grid(), std::get<VoxelGrid<3>>(decode_qvox(encode_qvox(empty.grid()))));
}

TEST(Qvox, AGridThatWasNeverFilledIsReadAgain) {
    const VoxelGrid<3> none;
    const auto again = std::get<VoxelGrid<3>>(decode_qvox(encode_qvox(none), {.verify = true}));
    EXPECT_EQ(again.index.entries(), 0u);
    EXPECT_TRUE(again.channels.empty());
}

// The last section has no bytes, and a file must still reach to where it begins.
TEST(Qvox, AnEmptySetWithValuesIsReadAgain) {
    const auto path = std::filesystem::temp_directory_path() / "quadrat_qvox_empty_test.qvox";
    const auto empty = SparseVoxels<float>::pack({}, {});
    write_qvox(empty.grid(), path);
    EXPECT_EQ(std::filesystem::file_size(path), encode_qvox(empty.grid()).size());
    expect_same<3>(empty.grid(), std::get<VoxelGrid<3>>(read_qvox(path, {.verify = true})));
    std::filesystem::remove(path);
}

TEST(Qvox, FilesAreMappedAndNotChangedByWrites) {
    const auto path = std::filesystem::temp_directory_path() / "quadrat_qvox_test.qvox";
    const auto v = sample<3>({});
    write_qvox(v.grid(), path);
    const auto p = v.index().sorted().front().first;
    {
        SparseVoxels<std::uint32_t> read(std::get<VoxelGrid<3>>(read_qvox(path)));
        ASSERT_NE(read.find(p), nullptr);
        EXPECT_EQ(*read.find(p), *v.find(p));
        *read.find(p) = 12345;
        EXPECT_EQ(read.at(p), 12345u);
    }
    const SparseVoxels<std::uint32_t> again(std::get<VoxelGrid<3>>(read_qvox(path, {.verify = true})));
    EXPECT_EQ(again.at(p), v.at(p));
    EXPECT_THROW(SparseVoxels<double>(std::get<VoxelGrid<3>>(read_qvox(path))), Error);
    EXPECT_THROW((void)read_qvox(path.string() + ".missing"), Error);
    std::filesystem::resize_file(path, 700);
    try {
        (void)read_qvox(path);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_format);
        EXPECT_EQ(e.where().file, path.string());
    }
    std::filesystem::remove(path);
}

// A flipped bit in the header is always found, one in a section when it is verified; a cut file never opens.
TEST(Qvox, DamageIsFound) {
    for (const int compression : {0, 3}) {
        const auto v = sample<3>({}, 60);
        const auto good = encode_qvox(v.grid(), {.compression = compression});
        std::size_t section_ends = 0;
        for (std::size_t i = 0; i < good.size(); ++i) {
            auto bytes = good;
            bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ 1u << (i % 8));
            bool thrown = false;
            try {
                (void)decode_qvox(bytes, {.verify = true});
            } catch (const Error&) {
                thrown = true;
            }
            section_ends += !thrown;  // padding between sections is not covered
            if (i < 512) {
                ASSERT_TRUE(thrown) << i;
            }
        }
        EXPECT_LT(section_ends, 64 * 5u);
        for (std::size_t size = 0; size < good.size(); size += 1 + size / 7)
            EXPECT_THROW((void)decode_qvox(std::span(good).first(size)), Error) << size;
    }
}

// Hostile contents under a right checksum: whatever opens must answer lookups in bounds.
TEST(Qvox, HostileContentsStayInBounds) {
    std::mt19937_64 g(5);
    for (const VoxelOptions& o : kinds)
        for (int round = 0; round < test::scaled(100, 100, 15); ++round) {
            const auto v = sample<3>(o, 300);
            auto bytes = encode_qvox(v.grid());
            std::uint32_t count;
            std::memcpy(&count, bytes.data() + 56, 4);
            const std::size_t head = 512 + 80 * count;
            for (int k = 0; k < 1 + round % 4; ++k) {
                const std::size_t where = round % 3 ? 12 + g() % 240 : g() % bytes.size();
                bytes[where] = static_cast<std::uint8_t>(g() % 4 ? bytes[where] + g() % 3 - 1 : g());
            }
            if (round % 5 == 0)
                for (std::size_t i = head; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(g());
            std::memset(bytes.data() + 504, 0, 8);
            const std::uint64_t sum = qvox_checksum(std::span(bytes).first(std::min(head, bytes.size())));
            std::memcpy(bytes.data() + 504, &sum, 8);
            try {
                const auto any = decode_qvox(bytes);
                std::visit(
                    [&](const auto& grid) {
                        constexpr int D = std::is_same_v<std::decay_t<decltype(grid)>, VoxelGrid<2>> ? 2 : 3;
                        for (int q = 0; q < 200; ++q) {
                            Voxel<D> p;
                            for (int a = 0; a < D; ++a) p[a] = static_cast<std::int32_t>(g() % 100) - 50;
                            const std::uint32_t at = grid.index.find(p);
                            ASSERT_TRUE(at == VoxelIndex<D>::absent || at < grid.index.values());
                        }
                    },
                    any);
            } catch (const Error&) {
            }
        }
}

// A section of more than 4 GB and one behind it, in a file with a hole: only what is looked at is read.
TEST(Qvox, MoreThanFourGigabytes) {
    const std::size_t n = 140000;
    const auto points = test::random_voxels<3>(n, -30, 100);
    std::vector<std::uint32_t> values(n);
    std::iota(values.begin(), values.end(), 5u);
    VoxelGrid<3> grid;
    grid.index = VoxelIndex<3>::build(points, {.layout = Layout::voxel});
    grid.add_channel("wide", ValueType::u8, 1);
    grid.add_channel("tail", ValueType::u32, 1, points, std::as_bytes(std::span<const std::uint32_t>(values)));
    auto bytes = encode_qvox(grid);
    std::uint32_t count;
    std::memcpy(&count, bytes.data() + 56, 4);
    std::uint8_t* wide = bytes.data() + 512 + 80 * (count - 2);
    std::uint8_t* tail = wide + 80;
    const std::uint32_t type = 10, components = 4096;  // f64
    const std::uint64_t size = std::uint64_t{grid.index.values()} * 8 * components;
    ASSERT_GT(size, std::uint64_t{1} << 32);
    std::uint64_t begin, old, tail_bytes;
    std::memcpy(&begin, wide + 40, 8);
    std::memcpy(&old, tail + 40, 8);
    std::memcpy(&tail_bytes, tail + 48, 8);
    std::memcpy(wide + 4, &type, 4);
    std::memcpy(wide + 8, &components, 4);
    std::memcpy(wide + 48, &size, 8);
    std::memcpy(wide + 56, &size, 8);
    const std::uint64_t end = begin + (size + 63) / 64 * 64;
    std::memcpy(tail + 40, &end, 8);
    std::memset(bytes.data() + 504, 0, 8);
    const std::uint64_t sum = qvox_checksum(std::span(bytes).first(512 + 80 * count));
    std::memcpy(bytes.data() + 504, &sum, 8);
    const auto path = std::filesystem::temp_directory_path() / "quadrat_qvox_large.qvox";
    const double last = 0.25;
    {
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(begin));
        file.seekp(static_cast<std::streamoff>(begin + size - 8));
        file.write(reinterpret_cast<const char*>(&last), 8);
        file.seekp(static_cast<std::streamoff>(end));
        file.write(reinterpret_cast<const char*>(bytes.data() + old), static_cast<std::streamsize>(tail_bytes));
        ASSERT_TRUE(file.flush());
    }
    EXPECT_EQ(std::filesystem::file_size(path), end + tail_bytes);
    {
        SparseVoxels<std::uint32_t> read(std::get<VoxelGrid<3>>(read_qvox(path)), "tail");
        for (std::size_t i = 0; i < n; i += 97) ASSERT_EQ(read.at(points[i]), values[i]);
        const auto rows = read.channel<std::array<double, 4096>>("wide");
        ASSERT_EQ(rows.size(), grid.index.values());
        EXPECT_EQ(rows.back()[4095], last);
        EXPECT_EQ(rows[rows.size() / 2][17], 0.0);
    }
    std::filesystem::resize_file(path, begin + size - 8);
    EXPECT_THROW((void)read_qvox(path), Error);
    std::filesystem::remove(path);
}

TEST(Qvox, KeepsTransformNotesTypesAndShapes) {
    const auto points = test::random_voxels<3>(50, 0, 9);
    for (const int compression : {0, 3}) {
        VoxelGrid<3> grid;
        grid.index = VoxelIndex<3>::build(points);
        grid.transform = GridTransform<3>::uniform({1.5, -2, 1e9}, 0.25);
        grid.transform.step[1] = {0.5, 0.25, -1};
        grid.set_note("name", "a grid");
        grid.set_note("unit", "m");
        grid.set_note("unit", "mm");
        grid.set_note("gone", "soon");
        grid.set_note("gone", "");
        for (int t = 0; t <= static_cast<int>(ValueType::boolean); ++t) {
            const auto type = static_cast<ValueType>(t);
            grid.add_channel(name(type), type, 12);
        }
        grid.channel("f16")->shape = {2, 3, 2};
        grid.channel("bool")->shape = {12, 1};
        const auto read = std::get<VoxelGrid<3>>(decode_qvox(encode_qvox(grid, {.compression = compression})));
        EXPECT_EQ(read.transform, grid.transform);
        EXPECT_EQ(read.note("name"), "a grid");
        EXPECT_EQ(read.note("unit"), "mm");
        EXPECT_EQ(read.notes.size(), 2u);
        ASSERT_EQ(read.channels.size(), grid.channels.size());
        for (std::size_t c = 0; c < grid.channels.size(); ++c) {
            EXPECT_EQ(read.channels[c].type, grid.channels[c].type);
            EXPECT_EQ(read.channels[c].shape, grid.channels[c].shape);
        }
        const auto at = read.transform.to_world({2, 4, 8});
        EXPECT_EQ(at, (Vec3d{1.5 + 0.5 + 2, -2 + 1, 1e9 - 4 + 2}));
    }
    VoxelGrid<3> grid;
    EXPECT_THROW(grid.set_note("", "x"), Error);
    EXPECT_THROW(grid.set_note("x", std::string("a\0b", 3)), Error);
}

TEST(Qvox, ManySectionsAreReadOrNotWritten) {
    const auto points = test::random_voxels<2>(3, 0, 9);
    VoxelGrid<2> grid;
    grid.index = VoxelIndex<2>::build(points);
    for (int k = 0; k < 1100; ++k) grid.add_channel("c" + std::to_string(k), ValueType::u8, 1);
    const auto read = std::get<VoxelGrid<2>>(decode_qvox(encode_qvox(grid)));
    EXPECT_EQ(read.channels.size(), 1100u);
    EXPECT_EQ(read.channels[1099].name, "c1099");
    for (int k = 1100; k < 65536; ++k) grid.channels.push_back({"c" + std::to_string(k), ValueType::u8, 1, {}});
    EXPECT_THROW((void)encode_qvox(grid), Error);
}

// A domain of 2^63 positions would be walked for ever: the sizes do not allow it.
TEST(Qvox, DomainsOfPositionHashesAreBounded) {
    const auto points = test::random_voxels<3>(200, 0, 20);
    const auto index = VoxelIndex<3>::build(points, {.layout = Layout::voxel, .encoding = Encoding::position_hash});
    auto parts = voxels::IndexFiles<3>::parts(index);
    EXPECT_NO_THROW((void)voxels::IndexFiles<3>::from_parts(parts));
    parts.extent.fill(1u << 21);
    parts.shape.extent.fill(1u << 21);
    EXPECT_THROW((void)voxels::IndexFiles<3>::from_parts(parts), Error);
    parts.extent = parts.shape.extent = {100, 100, 100};  // more than 4096 positions for each slot
    EXPECT_THROW((void)voxels::IndexFiles<3>::from_parts(parts), Error);
}

TEST(Qvox, MemoryIsBounded) {
    const auto v = sample<3>({});
    const auto bytes = encode_qvox(v.grid(), {.compression = 3});
    EXPECT_THROW((void)decode_qvox(bytes, {.max_bytes = 100}), Error);
    // What is not compressed stays where it is, and needs none.
    EXPECT_NO_THROW((void)decode_qvox(encode_qvox(sample<3>({}).grid()), {.max_bytes = 0}));
}

TEST(Qvox, TransformsThatAreNotFiniteAreRefused) {
    const std::vector<Voxel<3>> one{{1, 2, 3}};
    for (int k = 0; k < 12; ++k) {
        auto v = SparseVoxels<float>::pack(one, std::vector<float>{1});
        GridTransform<3>& t = v.grid().transform;
        double& number = k < 3 ? t.origin[k] : t.step[static_cast<std::size_t>(k / 3 - 1)][k % 3];
        number = std::numeric_limits<double>::infinity();
        EXPECT_THROW((void)decode_qvox(encode_qvox(v.grid())), Error) << k;
    }
}

TEST(Qvox, Golden) {  // regenerate when the version of the format changes
    const std::vector<std::uint8_t> abc{'a', 'b', 'c'};
    std::vector<std::uint8_t> long_one(1000);
    std::iota(long_one.begin(), long_one.end(), std::uint8_t{0});
    EXPECT_EQ(qvox_checksum({}), 1086226033667583677u);
    EXPECT_EQ(qvox_checksum(abc), 10049484947940962774u);
    EXPECT_EQ(qvox_checksum(long_one), 17659183876221007849u);
}

}  // namespace
}  // namespace quadrat
