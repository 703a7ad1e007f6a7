#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include "voxels/index/estimates.hpp"
#include "voxels/index/state.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

namespace quadrat {
namespace {

struct Choice {
    Layout layout;
    Encoding encoding;
};
constexpr Choice choices[] = {
    {Layout::automatic, Encoding::automatic}, {Layout::voxel, Encoding::automatic},
    {Layout::voxel, Encoding::domain_bit},    {Layout::voxel, Encoding::position_tag},
    {Layout::voxel, Encoding::position_hash}, {Layout::voxel, Encoding::bucket_tag},
    {Layout::brick, Encoding::automatic},     {Layout::bits, Encoding::automatic},
};

// Every stored value is found, and every other position in and around the bounding box is absent.
template <int D>
void expect_exact(const std::vector<Voxel<D>>& points, const VoxelOptions& options) {
    std::vector<std::uint32_t> values(points.size());
    std::iota(values.begin(), values.end(), 100u);
    auto voxels = SparseVoxels<std::uint32_t, D>::pack(points, values, options);
    ASSERT_TRUE(voxels.index().exact());
    std::map<Voxel<D>, std::uint32_t, test::VoxelLess<D>> oracle;
    for (std::size_t i = 0; i < points.size(); ++i) oracle[points[i]] = values[i];
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto* v = voxels.find(points[i]);
        ASSERT_NE(v, nullptr);
        ASSERT_EQ(*v, values[i]);
    }
    // A sweep with a margin where that is small, random positions otherwise.
    std::vector<Voxel<D>> queries = points;
    Voxel<D> p;
    double cells = 1;
    for (int a = 0; a < D; ++a) {
        p[a] = voxels.index().origin()[a] - 3;
        cells *= voxels.index().extent()[a] + 6.0;
    }
    const Voxel<D> corner = p;
    if (cells < 2e6) {
        for (double k = 0; k < cells; ++k) {
            queries.push_back(p);
            for (int a = 0; a < D; ++a) {
                if (++p[a] < corner[a] + static_cast<std::int32_t>(voxels.index().extent()[a]) + 6) break;
                p[a] = corner[a];
            }
        }
    } else {
        std::mt19937_64 g(3);
        for (int k = 0; k < 200000; ++k) {
            for (int a = 0; a < D; ++a)
                p[a] = corner[a] + static_cast<std::int32_t>(g() % (voxels.index().extent()[a] + 6));
            queries.push_back(p);
        }
    }
    std::vector<std::uint32_t> batch(queries.size());
    voxels.at(queries, batch, 7u);
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const auto it = oracle.find(queries[i]);
        const std::uint32_t want = it == oracle.end() ? 7u : it->second;
        ASSERT_EQ(voxels.at(queries[i], 7u), want) << i;
        ASSERT_EQ(batch[i], want) << i;
    }
    // Both orders list every entry once.
    std::size_t seen = 0;
    voxels.for_each([&](const Voxel<D>& q, std::uint32_t& v) {
        ++seen;
        ASSERT_EQ(oracle.at(q), v);
    });
    ASSERT_EQ(seen, points.size());
    auto it = oracle.begin();
    voxels.for_each_in_space([&](const Voxel<D>& q, std::uint32_t& v) {
        ASSERT_EQ(it->first, q);
        ASSERT_EQ(it->second, v);
        ++it;
    });
    ASSERT_EQ(it, oracle.end());
}

TEST(SparseVoxels, EveryLayoutAndEncodingIsExact) {
    for (const Choice& c : choices) {
        SCOPED_TRACE(std::string(name(c.layout)) + " " + name(c.encoding));
        const VoxelOptions options{.layout = c.layout, .encoding = c.encoding};
        expect_exact<2>(test::random_voxels<2>(900, -70, 150), options);
        expect_exact<2>(test::glyph_voxels(96), options);
        expect_exact<3>(test::random_voxels<3>(2000, -33, 50), options);
        expect_exact<3>(test::sphere_voxels(20), options);
        expect_exact<3>({{-5, 6, 7}}, options);
        expect_exact<2>({{1, 1}, {2, 1}, {1, 2}, {2, 2}}, options);
    }
}

TEST(SparseVoxels, HugeDomains) {
    const auto far = test::random_voxels<3>(3000, -(1 << 20), 1 << 21);
    expect_exact<3>(far, {});
    expect_exact<3>(far, {.layout = Layout::voxel, .encoding = Encoding::position_tag});
    expect_exact<2>(test::random_voxels<2>(50, -(1 << 20), 1 << 21), {});
    EXPECT_THROW(expect_exact<3>(far, {.layout = Layout::bits}), Error);
    EXPECT_THROW(expect_exact<3>(far, {.layout = Layout::voxel, .encoding = Encoding::position_hash}), Error);
}

TEST(SparseVoxels, AutomaticTakesTheSmallest) {
    std::vector<Voxel<2>> dense;
    for (std::int32_t y = 0; y < 60; ++y)
        for (std::int32_t x = 0; x < 60; ++x)
            if ((x * 7 + y * 5) % 3) dense.push_back({x, y});
    EXPECT_EQ(VoxelIndex<2>::build(dense).layout(), Layout::bits);
    EXPECT_EQ(VoxelIndex<3>::build(test::sphere_voxels(60)).layout(), Layout::brick);
    EXPECT_EQ(VoxelIndex<3>::build(test::random_voxels<3>(60000, 0, 250)).layout(), Layout::voxel);
    // So sparse that a hash is larger than a list of its keys.
    EXPECT_EQ(VoxelIndex<3>::build(test::random_voxels<3>(5000, 0, 1000)).layout(), Layout::keys);
    // No layout that can be asked for is smaller than the one chosen.
    for (const auto& points : {test::sphere_voxels(30), test::random_voxels<3>(3000, 0, 200)}) {
        const double chosen = VoxelIndex<3>::build(points).overhead_bits_per_entry(4);
        for (const Layout l : {Layout::voxel, Layout::brick, Layout::bits})
            EXPECT_LE(chosen, VoxelIndex<3>::build(points, {.layout = l}).overhead_bits_per_entry(4)) << name(l);
        for (const Encoding e : {Encoding::domain_bit, Encoding::position_tag, Encoding::bucket_tag}) {
            const auto automatic = VoxelIndex<3>::build(points, {.layout = Layout::voxel});
            EXPECT_LE(automatic.bytes(),
                      VoxelIndex<3>::build(points, {.layout = Layout::voxel, .encoding = e}).bytes());
        }
    }
}

TEST(SparseVoxels, ConstrainedFindsWhatIsStored) {
    const auto points = test::random_voxels<3>(3000, -100, 300);
    std::vector<float> values(points.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.5f;
    auto v = SparseVoxels<float>::pack(points, values, {.encoding = Encoding::constrained});
    for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(v.at(points[i]), values[i]);
    EXPECT_FALSE(v.index().exact());
    EXPECT_EQ(v.find({100000, 0, 0}), nullptr);
    EXPECT_THROW(v.for_each([](const auto&, float&) {}), Error);
}

TEST(SparseVoxels, ValuesCanBeWrittenAndChannelsAdded) {
    const auto points = test::random_voxels<2>(500, 0, 100);
    const std::vector<std::array<std::uint8_t, 4>> colors(500, {1, 2, 3, 4});
    auto v = SparseVoxels<std::array<std::uint8_t, 4>, 2>::pack(points, colors);
    (*v.find(points[7]))[2] = 99;
    EXPECT_EQ(v.at(points[7])[2], 99);
    EXPECT_EQ(v.at(points[8])[2], 3);
    const auto heights = v.add_channel<double>("height");
    EXPECT_EQ(heights.size(), v.values().size());
    heights[v.index().find(points[3])] = 2.5;
    EXPECT_EQ(v.channel<double>("height")[v.index().find(points[3])], 2.5);
    EXPECT_EQ(v.at(points[7])[2], 99);
    EXPECT_THROW((void)v.channel<float>("height"), Error);
    EXPECT_THROW((void)v.channel<float>("depth"), Error);
    EXPECT_THROW((void)v.add_channel<float>("height"), Error);
    EXPECT_THROW((void)v.add_channel<float>("a name that is much too long for a file"), Error);
}

TEST(SparseVoxels, BadInput) {
    const std::vector<Voxel<3>> two{{1, 2, 3}, {4, 5, 6}};
    const std::vector<float> three(3);
    EXPECT_THROW((void)SparseVoxels<float>::pack(two, three), Error);
    const auto empty = SparseVoxels<float>::pack({}, {});
    EXPECT_EQ(empty.find({0, 0, 0}), nullptr);
    EXPECT_EQ(empty.size(), 0u);
    auto points = test::random_voxels<3>(400, -5, 30);
    points.push_back(points[123]);
    for (const Layout l : {Layout::voxel, Layout::brick, Layout::bits, Layout::automatic}) try {
            (void)VoxelIndex<3>::build(points, {.layout = l});
            FAIL() << name(l);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::duplicate) << name(l);
            EXPECT_EQ(e.where().index, 400u);
            EXPECT_NE(e.message().find("row 123"), std::string::npos) << e.what();
        }
}

TEST(SparseVoxels, EncodingsOfLayouts) {
    const auto points = test::random_voxels<3>(300, 0, 20);
    for (const Layout l : {Layout::brick, Layout::bits})
        for (int i = 1; i <= 5; ++i) {
            const auto e = static_cast<Encoding>(i);
            const bool own = e == (l == Layout::brick ? Encoding::bucket_tag : Encoding::domain_bit);
            try {
                EXPECT_EQ(VoxelIndex<3>::build(points, {.layout = l, .encoding = e}).encoding(), e);
                EXPECT_TRUE(own) << name(l) << ' ' << name(e);
            } catch (const Error& error) {
                EXPECT_FALSE(own) << name(l) << ' ' << name(e);
                EXPECT_EQ(error.where().field, "encoding");
            }
        }
    EXPECT_THROW((void)VoxelIndex<2>::build({}, {.layout = Layout::brick, .encoding = Encoding::constrained}), Error);
}

TEST(PositionHash, TheBoundOfTheAppendix) {
    // 26 % at a density of 1/800 with 256^2 slots, 99 % at 1/700, 45 % at 1/700 with 5.9 million slots.
    const double m = 65536;
    EXPECT_NEAR(voxels::position_hash_chance(800 * m, m), 0.26, 0.04);
    EXPECT_NEAR(voxels::position_hash_chance(700 * m, m), 0.99, 0.01);
    EXPECT_NEAR(voxels::position_hash_chance(700 * 5.9e6, 5.9e6), 0.45, 0.06);
}

TEST(PositionHash, Golden) {  // part of the file format: change the version of .qvox with it
    EXPECT_EQ(voxels::position_hash(0, 0, 0, 0), 0u);
    const std::uint32_t a = voxels::position_hash(1, 2, 3, 4), b = voxels::position_hash(511, 7, 0, 255);
    EXPECT_NE(a, b);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) sum = sum * 31 + voxels::position_hash(i, i * 3, i * 7, i & 255);
    EXPECT_EQ(sum, 4278971560u);
}

RC_GTEST_PROP(SparseVoxels, AnySetInAnyLayout, ()) {
    const auto& c = *rc::gen::elementOf(std::vector<Choice>(std::begin(choices), std::end(choices)));
    const auto n = *rc::gen::inRange<std::size_t>(1, 60);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto side = *rc::gen::inRange<std::int32_t>(5, 20);
    expect_exact<3>(test::random_voxels<3>(n, -side, side, seed),
                    {.layout = c.layout, .encoding = c.encoding, .seed = seed});
}

TEST(SparseVoxels, AChannelThatIsRefusedLeavesNothing) {
    const auto points = test::random_voxels<3>(50, 0, 20);
    auto voxels = SparseVoxels<float>::pack(points, std::vector<float>(points.size(), 1));
    VoxelGrid<3>& grid = voxels.grid();
    const std::vector<Voxel<3>> absent{{100, 100, 100}};
    const std::vector<float> row{1};
    EXPECT_THROW(grid.add_channel("more", ValueType::f32, 1, absent, std::as_bytes(std::span(row))), Error);
    EXPECT_EQ(grid.channel("more"), nullptr);
    grid.add_channel("more", ValueType::f32, 1, std::span(points).first(1), std::as_bytes(std::span(row)));
}

TEST(SparseVoxels, TwoFarPointsAreTooSparseForPositionHashes) {
    const std::vector<Voxel<2>> far{{0, 0}, {2097151, 2048}};
    try {
        (void)VoxelIndex<2>::build(far, {.layout = Layout::voxel, .encoding = Encoding::position_hash});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    }
}

TEST(SparseVoxels, AHashOfAnotherDomainIsRefused) {
    const auto points = test::random_voxels<3>(300, -20, 20);
    for (const Layout layout : {Layout::voxel, Layout::brick}) {
        const auto index = VoxelIndex<3>::build(points, {.layout = layout});
        EXPECT_NO_THROW((void)voxels::IndexFiles<3>::from_parts(voxels::IndexFiles<3>::parts(index)));
        auto parts = voxels::IndexFiles<3>::parts(index);
        parts.shape.origin[1] += 1;
        EXPECT_THROW((void)voxels::IndexFiles<3>::from_parts(std::move(parts)), Error);
    }
}

}  // namespace
}  // namespace quadrat
