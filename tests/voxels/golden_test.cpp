// The bytes of hashes and indices, so that a change of a construction shows even where its result is still perfect: the
// same data must give the same files in every version. Write other numbers here only together with a line in
// CHANGELOG.md.
#include "voxels/data.hpp"

#include <quadrat/voxels.hpp>

#include "voxels/hash/build.hpp"
#include "voxels/index/estimates.hpp"
#include "voxels/index/state.hpp"

#include <gtest/gtest.h>

namespace quadrat {
namespace {

template <int D, int E = D>
std::uint64_t hash_bytes(const std::vector<Voxel<D>>& points, const PerfectHashOptions& options,
                         const voxels::HashVariant& variant = {}) {
    return qvox_checksum(voxels::HashBuild<D, E>::build(points, options, variant).offsets());
}

TEST(Golden, Hashes) {
    const auto random = test::random_voxels<3>(4000, -40, 90);
    const auto dense = test::random_voxels<3>(9000, -40, 40);
    const auto flat = test::random_voxels<2>(3000, 0, 200);
    const auto sphere = test::sphere_voxels(20);
    const auto glyphs = test::glyph_voxels(300);
    const PerfectHashOptions compact{.construction = Construction::compact};
    EXPECT_EQ(hash_bytes<3>(random, {}), 0xc82533dbc5de66ffu);
    EXPECT_EQ(hash_bytes<3>(dense, {.short_tags = 1}), 0x2eedc608a01a34e8u);
    EXPECT_EQ(hash_bytes<3>(dense, {.construction = Construction::compact, .short_tags = 1}), 0x5121de222fab7cddu);
    EXPECT_EQ(hash_bytes<3>(random, {}, {.random_matrices = true}), 0x98c4e2569091b8c9u);
    EXPECT_EQ(hash_bytes<2>(flat, compact), 0x855519b3093fe786u);
    EXPECT_EQ(hash_bytes<2>(flat, {.seed = 7, .offset_bits = 4}), 0x299020c804842223u);
    EXPECT_EQ(hash_bytes<2>(glyphs, {}), 0x2cf8745d0017ca85u);
    EXPECT_EQ(hash_bytes<2>(glyphs, {.coherence = Coherence::defined}), 0xa121052d42025231u);
    EXPECT_EQ(hash_bytes<3>(sphere, compact), 0x7ac8e9b7246594dau);
    EXPECT_EQ(hash_bytes<3>(sphere, {.coherence = Coherence::defined}), 0x7fb12ffd9fb9a004u);
    EXPECT_EQ(hash_bytes<3>(sphere, {.coherence = Coherence::domain, .short_tags = 1}), 0xdf8c0afd8c4eb134u);
    EXPECT_EQ((hash_bytes<3, 2>(sphere, {.coherence = Coherence::defined})), 0x524b5ebec9eedae8u);
    EXPECT_EQ((hash_bytes<3, 2>(sphere, {})), 0x679e14edb7750b8du);
}

// Each table of an index, and the numbers beside them.
template <int D>
std::uint64_t index_bytes(const std::vector<Voxel<D>>& points, const VoxelOptions& options) {
    const auto index = VoxelIndex<D>::build(points, options);
    const auto parts = voxels::IndexFiles<D>::parts(index);
    std::vector<std::uint64_t> sums{parts.entries, parts.tag_bits, static_cast<std::uint64_t>(parts.layout),
                                    static_cast<std::uint64_t>(parts.encoding)};
    for (const Buffer& table : parts.tables) sums.push_back(qvox_checksum({table.data.get(), table.size}));
    return qvox_checksum({reinterpret_cast<const std::uint8_t*>(sums.data()), sums.size() * 8});
}

TEST(Golden, Indices) {
    const auto random = test::random_voxels<3>(2000, -40, 90);
    const auto sphere = test::sphere_voxels(20);
    const auto wide = test::random_voxels<3>(500, 0, 20000);
    const auto flat = test::random_voxels<2>(3000, 0, 80);
    EXPECT_EQ(index_bytes<3>(random, {}), 0xab3330d791231b8au);
    EXPECT_EQ(index_bytes<3>(sphere, {}), 0x857d1cb2f60ecebeu);
    EXPECT_EQ(index_bytes<3>(wide, {}), 0x6cb453600c7f4506u);
    EXPECT_EQ(index_bytes<2>(flat, {}), 0x38e0321b65410770u);
    EXPECT_EQ(index_bytes<3>(random, {.optimize = Optimize::size}), 0x23a64f02302c5730u);
    EXPECT_EQ(index_bytes<3>(sphere, {.layout = Layout::bits}), 0x91c48d6bf45af687u);
    EXPECT_EQ(index_bytes<3>(random, {.encoding = Encoding::position_hash}), 0x89b80f432043cd62u);
    EXPECT_EQ(index_bytes<2>(flat, {.encoding = Encoding::position_tag}), 0x6d4c9adcf025de14u);
    EXPECT_EQ(index_bytes<2>(flat, {.encoding = Encoding::domain_bit}), 0xa139c399826bbe0cu);
    EXPECT_EQ(index_bytes<3>(sphere, {.encoding = Encoding::bucket_tag}), 0xafa3d671d4787022u);
    EXPECT_EQ(index_bytes<2>(flat, {.layout = Layout::brick}), 0x4d610946a20a898eu);
}

// Some bytes more, and the automatic layout would take keys.
TEST(Golden, BitsOfASmallSquare) {
    std::vector<Voxel<2>> points;
    for (std::int32_t y = 0; y < 6; ++y)
        for (std::int32_t x = 0; x < 6; ++x)
            if (x == 0 || (x * 3 + y * 5 + x * y) % 2 != 0) points.push_back({x, y});
    const auto index = VoxelIndex<2>::build(points);
    EXPECT_EQ(index.layout(), Layout::bits);
    EXPECT_EQ(index.bytes(), 12u);
}

// They decide which size blocks have and which layout is tried first.
TEST(Golden, Estimates) {
    const auto random = test::random_voxels<3>(2000, -40, 90);
    const auto sphere = test::sphere_voxels(20);
    const auto bytes = [](const auto& points, Layout layout, Construction construction) {
        return voxels::estimate_bytes<3>(points, {.layout = layout, .construction = construction});
    };
    EXPECT_EQ(bytes(random, Layout::voxel, Construction::fast), 3377u);
    EXPECT_EQ(bytes(random, Layout::voxel, Construction::compact), 3281u);
    EXPECT_EQ(bytes(random, Layout::keys, Construction::fast), 2674u);
    EXPECT_EQ(bytes(random, Layout::bits, Construction::fast), 96820u);
    EXPECT_EQ(bytes(sphere, Layout::brick, Construction::fast), 5989u);
    EXPECT_EQ(bytes(sphere, Layout::brick, Construction::compact), 6019u);
    EXPECT_EQ(bytes(sphere, Layout::automatic, Construction::fast), 5989u);
    VoxelOptions tagged{.encoding = Encoding::bucket_tag};
    EXPECT_EQ(voxels::estimate_bytes<3>(random, tagged), 3377u);
    tagged.construction = Construction::compact;
    EXPECT_EQ(voxels::estimate_bytes<3>(random, tagged), 3281u);
    EXPECT_NEAR(voxels::position_hash_chance(2000 * 800.0, 2000), 0.960031818323, 1e-9);
    EXPECT_NEAR(voxels::position_hash_chance(2000 * 1000.0, 2000), 0.000001952624, 1e-9);
}

}  // namespace
}  // namespace quadrat
