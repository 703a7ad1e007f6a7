// Lookups in batches, by tables and by division must agree on every SIMD target; the hidden domain bit; sizes beyond 4
// GB.
#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include "base/simd.hpp"
#include "fuzz/bodies/qvox.hpp"
#include "voxels/index/state.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace quadrat {
namespace {

template <int D>
void expect_batches(const std::vector<Voxel<D>>& points, const VoxelOptions& options) {
    const auto index = VoxelIndex<D>::build(points, options);
    std::vector<Voxel<D>> queries = points;
    for (const auto& p : points) {  // and around them, some outside the box
        Voxel<D> q = p;
        q[0] += 1;
        q[D - 1] -= 3;
        queries.push_back(q);
    }
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                           most = std::numeric_limits<std::int32_t>::max();
    for (const std::int32_t far : {least, least + 1, -1, 0, most}) {
        Voxel<D> q;
        for (int a = 0; a < D; ++a) q[a] = far;
        queries.push_back(q);
    }
    std::vector<std::uint32_t> out;
    for (const std::size_t n : {queries.size(), std::size_t{1}, std::size_t{31}, std::size_t{33}, std::size_t{97}}) {
        const std::size_t count = std::min(n, queries.size());
        out.assign(count, 7);
        index.find(std::span(queries).first(count), out);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], index.find(queries[i])) << i;
    }
}

TEST(Batch, EqualsSingleLookupsOnEveryTarget) {
    const auto cloud = test::random_voxels<3>(3000, -40, 90);
    const auto wide = test::random_voxels<3>(500, -1000000, 2000000);  // no tables: the domain is too large
    const auto shell = test::sphere_voxels(12);
    const auto flat = test::random_voxels<2>(70000, -300, 600);  // scaled offsets
    base::for_each_simd_target([&] {
        for (const Layout layout : {Layout::voxel, Layout::brick, Layout::bits}) {
            expect_batches<3>(cloud, {.layout = layout});
            expect_batches<3>(shell, {.layout = layout});
            expect_batches<2>(flat, {.layout = layout});
        }
        for (const Encoding e : {Encoding::constrained, Encoding::position_tag, Encoding::domain_bit}) {
            expect_batches<3>(cloud, {.layout = Layout::voxel, .encoding = e});
            expect_batches<2>(flat, {.layout = Layout::voxel, .encoding = e});
        }
        expect_batches<3>(wide, {.layout = Layout::voxel});
        expect_batches<3>(cloud, {.layout = Layout::voxel, .offset_bits = 0});
    });
}

TEST(PerfectHash, TablesEqualDivision) {
    const auto points = test::random_voxels<3>(40000, -50, 100);
    const auto hash = PerfectHash<3>::build(points);
    ASSERT_TRUE(hash.tabled());
    auto copy = PerfectHash<3>::from_parts(hash.shape(), hash.owner(), hash.offsets().size());
    for (const auto& p : test::random_voxels<3>(5000, -50, 100, 3)) {
        std::array<std::uint32_t, 3> local, at;
        if (!hash.inside(p, local)) continue;
        for (std::size_t a = 0; a < 3; ++a) at[a] = local[a] + hash.table_starts()[a];
        std::uint32_t bucket = 0, slot = 0, by_bucket = 1, by_slot = 1;
        for (int a = 0; a < 3; ++a) {
            bucket += local[static_cast<std::size_t>(a)] % hash.offset_size(a) * by_bucket;
            by_bucket *= hash.offset_size(a);
        }
        for (int a = 0; a < 3; ++a) {
            slot += (local[static_cast<std::size_t>(a)] + hash.stored_offset(bucket, a) * hash.scale(a)) %
                    hash.table_size(a) * by_slot;
            by_slot *= hash.table_size(a);
        }
        ASSERT_EQ(hash.place_by_tables(at).slot, slot);
        ASSERT_EQ(hash.place_by_tables(at).bucket, bucket);
        ASSERT_EQ(copy.place(local).slot, slot);
    }
}

TEST(HiddenBit, TellsAbsenceExactly) {
    const auto points = test::random_voxels<2>(300, 5, 40);
    std::vector<float> values(points.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const auto voxels =
        SparseVoxels<float, 2>::pack(points, values, {.layout = Layout::voxel, .encoding = Encoding::constrained});
    std::vector<std::uint8_t> image(64 * 50 * 4, 201);
    const DenseChannel<2> channel{image.data() + 3, 4, {0, 0}, {64, 50}};
    hide_domain_bits<2>(channel, points);
    std::size_t found = 0;
    for (std::int32_t y = -2; y < 55; ++y)
        for (std::int32_t x = -2; x < 70; ++x) {
            const auto it = std::find(points.begin(), points.end(), Voxel<2>{x, y});
            const float* f = find_hidden(voxels, channel, {x, y});
            ASSERT_EQ(f != nullptr, it != points.end());
            if (f) {
                ASSERT_EQ(*f, static_cast<float>(it - points.begin()));
                ++found;
            }
        }
    EXPECT_EQ(found, points.size());
    for (std::size_t i = 0; i < image.size(); ++i) ASSERT_EQ(image[i] | 1, 201);  // only the lowest bit changes
    const std::vector<Voxel<2>> outside{{1, 1}, {64, 0}};
    EXPECT_THROW(hide_domain_bits<2>(channel, outside), Error);
}

// The arithmetic of sections beyond 4 GB, without the memory.
TEST(Qvox, SizesBeyondFourGigabytes) {
    voxels::IndexParts<3> p;
    p.entries = 100000000;
    p.extent = {1 << 21, 1 << 21, 1 << 21};
    p.tag_bits = 56;
    p.shape.extent = p.extent;
    p.shape.entries = p.entries;
    p.shape.table = {1001, 1001, 1001};
    p.shape.offset = {1499, 1499, 1499};
    p.shape.scale = {4, 4, 4};
    const auto sizes = voxels::IndexFiles<3>::table_sizes(p);
    EXPECT_EQ(sizes[voxels::Table::tags], std::uint64_t{1001} * 1001 * 1001 * 7 + 8);
    EXPECT_GT(sizes[voxels::Table::tags], std::uint64_t{1} << 32);
    EXPECT_EQ(sizes[voxels::Table::offsets], std::uint64_t{1499} * 1499 * 1499 * 3 + 8);
    EXPECT_GT(sizes[voxels::Table::offsets], std::uint64_t{1} << 32);
    p.layout = Layout::bits;
    p.extent = {1 << 13, 1 << 13, 1 << 13};
    EXPECT_EQ(voxels::IndexFiles<3>::table_sizes(p)[voxels::Table::bits], (std::uint64_t{1} << 36) + 8);
    p.extent = {1 << 20, 1 << 20, 1 << 20};
    EXPECT_THROW((void)voxels::IndexFiles<3>::table_sizes(p), Error);
}

// Every file of the fuzzer's corpus; those named ok* must open.
TEST(Qvox, Corpus) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(QUADRAT_SOURCE_DIR "/fuzz/corpus/qvox")) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        const bool good = fuzz::qvox(std::as_bytes(std::span(bytes)));
        const std::string name = entry.path().filename().string();
        if (name.starts_with("ok")) {
            EXPECT_TRUE(good) << name;
        }
        ++files;
    }
    EXPECT_GT(files, 10u);
}

}  // namespace
}  // namespace quadrat
