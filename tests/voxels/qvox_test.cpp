#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <gtest/gtest.h>

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
                              {.layout = Layout::bits}};

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
        for (int round = 0; round < 100; ++round) {
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

TEST(Qvox, MemoryIsBounded) {
    const auto v = sample<3>({});
    const auto bytes = encode_qvox(v.grid(), {.compression = 3});
    EXPECT_THROW((void)decode_qvox(bytes, {.max_bytes = 100}), Error);
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
