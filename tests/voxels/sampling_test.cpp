// Interpolation, blocks and mipmaps against dense arrays.
#include "support/thrown.hpp"
#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace quadrat {
namespace {

using test::VoxelLess;

template <class T, int D>
struct Dense {  // an oracle without any structure: a map with a background
    std::map<Voxel<D>, T, VoxelLess<D>> values;
    T background = {};

    [[nodiscard]] double at(const Voxel<D>& p) const {
        const auto it = values.find(p);
        return static_cast<double>(it == values.end() ? background : it->second);
    }
    [[nodiscard]] double sample(const Vec<D, double>& x) const {
        double sum = 0;
        for (int k = 0; k < 1 << D; ++k) {
            Voxel<D> p;
            double w = 1;
            for (int a = 0; a < D; ++a) {
                const double low = std::floor(x[a]), t = x[a] - low;
                p[a] = static_cast<std::int32_t>(low) + (k >> a & 1);
                w *= k >> a & 1 ? t : 1 - t;
            }
            sum += w * at(p);
        }
        return sum;
    }
};

template <class T, int D>
struct Case {
    std::vector<Voxel<D>> positions;
    std::vector<T> values;
    Dense<T, D> dense;
};

template <class T, int D>
Case<T, D> make_case(std::vector<Voxel<D>> positions, T background) {
    Case<T, D> c{std::move(positions), {}, {{}, background}};
    std::mt19937_64 g(3);
    for (const auto& p : c.positions) {
        c.values.push_back(static_cast<T>(g() % 200));
        c.dense.values[p] = c.values.back();
    }
    return c;
}

// Points on and around the data: on samples, on faces, inside cells.
template <int D>
std::vector<Vec<D, double>> points_around(const std::vector<Voxel<D>>& positions, std::size_t n) {
    std::mt19937_64 g(5);
    std::vector<Vec<D, double>> out;
    for (std::size_t i = 0; i < n; ++i) {
        Vec<D, double> x;
        const auto& p = positions[g() % positions.size()];
        for (int a = 0; a < D; ++a) {
            const double step =
                g() % 3 ? static_cast<double>(g() % 4096) / 1024.0 - 2 : static_cast<double>(g() % 3) - 1;
            x[a] = p[a] + step;
        }
        out.push_back(x);
    }
    return out;
}

template <class T, int D>
void expect_filters_agree(const Case<T, D>& c, const BlockOptions& options) {
    const auto voxels = SparseVoxels<T, D>::pack(c.positions, c.values, options.voxels);
    const auto blocks = BlockedVoxels<T, D>::pack(c.positions, c.values, c.dense.background, options);
    if (options.size) {
        ASSERT_EQ(blocks.block_size(), options.size);
    }
    const auto points = points_around<D>(c.positions, 2000);
    std::vector<Blended<T>> batch(points.size());
    sample<T, D, double>(voxels, points, batch, c.dense.background);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double want = c.dense.sample(points[i]);
        const auto plain = sample(voxels, points[i], c.dense.background);
        ASSERT_NEAR(plain, want, 1e-4);
        ASSERT_EQ(batch[i], plain);
        ASSERT_EQ(blocks.sample(points[i]), plain) << "block size " << blocks.block_size();  // to the last bit
    }
    for (const auto& p : c.positions) ASSERT_EQ(static_cast<double>(blocks.at(p)), c.dense.at(p));
}

TEST(Sampling, EqualsADenseArray) {
    const auto flat = make_case<std::uint8_t, 2>(test::random_voxels<2>(400, -17, 40), 7);
    const auto solid = make_case<float, 3>(test::sphere_voxels(9), -1.5f);
    for (const std::uint32_t size : {0u, 1u, 2u, 3u, 5u, 8u}) {
        expect_filters_agree<std::uint8_t, 2>(flat, {.size = size});
        expect_filters_agree<float, 3>(solid, {.size = size});
        expect_filters_agree<float, 3>(solid, {.size = size, .voxels = {.layout = Layout::brick}});
        expect_filters_agree<float, 3>(solid, {.size = size, .voxels = {.layout = Layout::bits}});
        expect_filters_agree<float, 3>(
            solid, {.size = size, .voxels = {.layout = Layout::voxel, .encoding = Encoding::position_tag}});
    }
    expect_filters_agree<double, 3>(make_case<double, 3>(test::random_voxels<3>(50, 1000000, 2000), 3), {});
}

TEST(Sampling, HostilePointsAreBackground) {
    const auto c = make_case<float, 3>(test::sphere_voxels(4), 9.0f);
    const auto voxels = SparseVoxels<float>::pack(c.positions, c.values);
    const auto blocks = BlockedVoxels<float>::pack(c.positions, c.values, 9.0f, {.size = 3});
    const auto mip = MipmapVoxels<float>::pack(c.positions, c.values, 9.0f);
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Vec3d> points;
    for (const double bad : {nan, inf, -inf, 1e30, -1e30, 0x1p31, -0x1p31, 2147483647.0, 2147483646.5, -2147483647.5})
        for (int a = 0; a < 3; ++a) {
            Vec3d x{0, 0, 0};
            x[a] = bad;
            points.push_back(x);
        }
    std::vector<float> out(points.size());
    sample<float, 3, double>(voxels, points, out, 9.0f);
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(sample(voxels, points[i], 9.0f), 9.0f);
        EXPECT_EQ(out[i], 9.0f);
        EXPECT_EQ(blocks.sample(points[i]), 9.0f);
        EXPECT_EQ(mip.sample(points[i], 1.5), 9.0f);
        const Vec3f single{static_cast<float>(points[i][0]), static_cast<float>(points[i][1]),
                           static_cast<float>(points[i][2])};
        EXPECT_EQ(blocks.sample(single), 9.0f);
    }
    EXPECT_EQ(blocks.at({std::numeric_limits<std::int32_t>::min(), 0, 0}), 9.0f);
    EXPECT_EQ(blocks.at({std::numeric_limits<std::int32_t>::max(), 0, 0}), 9.0f);
    EXPECT_EQ(mip.at(40, {0, 0, 0}), 9.0f);
    EXPECT_EQ(mip.sample({0, 0, 0}, nan), mip.sample({0, 0, 0}, 0));
}

TEST(Sampling, VectorsAndColours) {
    using Rgba = std::array<std::uint8_t, 4>;
    const std::vector<Voxel<2>> positions{{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    const std::vector<Rgba> colours{{0, 0, 0, 255}, {100, 0, 0, 255}, {0, 100, 0, 255}, {100, 100, 200, 255}};
    const auto blocks = BlockedVoxels<Rgba, 2>::pack(positions, colours);
    const auto c = blocks.sample(Vec2d{0.5, 0.25});
    EXPECT_FLOAT_EQ(c[0], 50);
    EXPECT_FLOAT_EQ(c[1], 25);
    EXPECT_FLOAT_EQ(c[2], 25);
    EXPECT_FLOAT_EQ(c[3], 255);
    const std::vector<Vec3f> normals{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    const auto voxels = SparseVoxels<Vec3f, 2>::pack(positions, normals);
    const auto n = sample(voxels, Vec2f{0.5f, 0.0f});
    EXPECT_FLOAT_EQ(n[0], 0.5f);
    EXPECT_FLOAT_EQ(n[1], 0.5f);
    EXPECT_FLOAT_EQ(n[2], 0.0f);
}

TEST(Blocks, AutoTakesTheLeastMemory) {
    const auto c = make_case<std::uint32_t, 3>(test::sphere_voxels(14), 0);
    const auto costs = block_costs<3>(c.positions, 4);
    ASSERT_GE(costs.size(), 3u);
    const auto best = BlockedVoxels<std::uint32_t>::pack(c.positions, c.values);
    std::uint64_t least = ~std::uint64_t{0};
    for (const BlockCost& cost : costs) {
        const auto one = BlockedVoxels<std::uint32_t>::pack(c.positions, c.values, 0, {.size = cost.size});
        EXPECT_EQ(one.grid().index.entries(), cost.blocks);
        // The estimate is made without building: within a tenth.
        EXPECT_NEAR(static_cast<double>(cost.bytes), static_cast<double>(one.stats().bytes()),
                    0.1 * static_cast<double>(one.stats().bytes()));
        least = std::min(least, one.stats().bytes());
    }
    EXPECT_LE(static_cast<double>(best.stats().bytes()), 1.05 * static_cast<double>(least));
    EXPECT_TRUE(block_costs<3>({}, 4).empty());
    EXPECT_EQ(BlockedVoxels<float>::pack({}, {}, 4.0f).sample(Vec3d{0, 0, 0}), 4.0f);
}

// Samples made for given cells, as the paper's textures: only the blocks of those cells are kept.
TEST(Blocks, CompleteCells) {
    std::set<Voxel<3>, VoxelLess<3>> corners;
    const auto cells = test::sphere_voxels(8);
    for (const auto& c : cells)
        for (int k = 0; k < 8; ++k) corners.insert({c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2)});
    const auto c = make_case<float, 3>(std::vector<Voxel<3>>(corners.begin(), corners.end()), 0);
    for (const Encoding e : {Encoding::automatic, Encoding::constrained}) {
        const BlockOptions options{
            .size = 2, .rule = BlockRule::complete, .voxels = {.layout = Layout::voxel, .encoding = e}};
        const auto blocks = BlockedVoxels<float>::pack(c.positions, c.values, 0, options);
        const auto touched = BlockedVoxels<float>::pack(c.positions, c.values, 0, {.size = 2});
        EXPECT_LT(blocks.grid().index.entries(), touched.grid().index.entries());
        for (const auto& cell : cells) {
            const Vec3d x{cell[0] + 0.25, cell[1] + 0.5, cell[2] + 0.875};
            ASSERT_NEAR(blocks.sample(x), c.dense.sample(x), 1e-4);
        }
    }
}

TEST(Blocks, WritingReachesEveryCopy) {
    const auto c = make_case<float, 3>(test::sphere_voxels(6), 0);
    for (const std::uint32_t size : {1u, 2u, 3u}) {
        auto blocks = BlockedVoxels<float>::pack(c.positions, c.values, 0, {.size = size});
        auto dense = c.dense;
        for (std::size_t i = 0; i < c.positions.size(); i += 3) {
            ASSERT_TRUE(blocks.set(c.positions[i], 1000.0f + static_cast<float>(i)));
            dense.values[c.positions[i]] = 1000.0f + static_cast<float>(i);
        }
        EXPECT_FALSE(blocks.set({100, 100, 100}, 1));
        for (const auto& x : points_around<3>(c.positions, 1000)) ASSERT_NEAR(blocks.sample(x), dense.sample(x), 1e-2);
    }
}

TEST(Blocks, BadInput) {
    const std::vector<Voxel<3>> twice{{1, 2, 3}, {4, 5, 6}, {1, 2, 3}};
    const std::vector<float> values(3);
    try {
        (void)BlockedVoxels<float>::pack(twice, values);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::duplicate);
        EXPECT_EQ(e.where().index, 2u);
    }
    const auto kind = [](auto&& call) {
        try {
            call();
        } catch (const Error& e) {
            return e.kind();
        }
        return ErrorKind::stopped;
    };
    const std::vector<Voxel<3>> wide{{0, 0, 0}, {1 << 21, 0, 0}}, one{{0, 0, 0}};
    EXPECT_EQ(kind([&] { (void)BlockedVoxels<float>::pack(twice, std::span(values).first(2)); }), ErrorKind::bad_shape);
    EXPECT_EQ(kind([&] { (void)BlockedVoxels<float>::pack(wide, std::span(values).first(2)); }), ErrorKind::bad_value);
    EXPECT_EQ(kind([&] { (void)BlockedVoxels<float>::pack(one, std::span(values).first(1), 0, {.size = 16}); }),
              ErrorKind::bad_value);
    EXPECT_EQ(kind([&] { BlockedVoxels<float> b(VoxelGrid<3>{}); }), ErrorKind::bad_shape);
    struct Odd {
        char c[3];
    };
    const std::vector<Odd> odd(1);
    const ColumnView column{"odd", ValueType::bytes, 3, std::as_bytes(std::span<const Odd>(odd))};
    EXPECT_EQ(kind([&] { (void)pack_mipmap<3>(one, {&column, 1}); }), ErrorKind::unsupported);
}

// Level k from its definition: the mean over 2^k samples per axis.
template <class T, int D>
Dense<double, D> level_of(const Case<T, D>& c, int k, MipmapMean mean) {
    std::map<Voxel<D>, std::pair<double, double>, VoxelLess<D>> sums;
    for (const auto& [p, v] : c.dense.values) {
        Voxel<D> q = p;
        for (int a = 0; a < D; ++a) q[a] >>= k;
        sums[q].first += static_cast<double>(v);
        sums[q].second += 1;
    }
    Dense<double, D> level{{}, static_cast<double>(c.dense.background)};
    const double below = std::ldexp(1.0, k * D);
    for (const auto& [q, s] : sums)
        level.values[q] = mean == MipmapMean::stored
                              ? s.first / s.second
                              : (s.first + (below - s.second) * static_cast<double>(c.dense.background)) / below;
    return level;
}

template <class T, int D>
void expect_mipmap(const Case<T, D>& c, const MipmapOptions& options, double tolerance) {
    const auto mip = MipmapVoxels<T, D>::pack(c.positions, c.values, c.dense.background, options);
    std::vector<Dense<double, D>> levels;
    for (std::uint32_t k = 0; k < mip.levels(); ++k) {
        levels.push_back(level_of<T, D>(c, static_cast<int>(k), options.mean));
        for (const auto& [q, v] : levels[k].values) ASSERT_NEAR(static_cast<double>(mip.at(k, q)), v, tolerance);
    }
    for (const auto& x : points_around<D>(c.positions, 300))
        for (const double lod : {0.0, 0.25, 1.0, 1.75, 2.5, 30.0}) {
            const double l = std::min(lod, mip.levels() - 1.0);
            double want = 0;
            for (int k = 0; k < 2; ++k) {
                const auto level = static_cast<std::size_t>(std::floor(l)) + static_cast<std::size_t>(k);
                const double w = k ? l - std::floor(l) : 1 - (l - std::floor(l));
                if (w == 0) continue;
                Vec<D, double> y = x;
                for (int a = 0; a < D; ++a) y[a] = (x[a] + 0.5) / std::ldexp(1.0, static_cast<int>(level)) - 0.5;
                want += w * levels[level].sample(y);
            }
            ASSERT_NEAR(mip.sample(x, lod), want, tolerance) << lod;
        }
}

TEST(Mipmap, EqualsItsDefinition) {
    const auto flat = make_case<std::uint8_t, 2>(test::random_voxels<2>(300, -23, 37), 40);
    const auto solid = make_case<float, 3>(test::sphere_voxels(7), 2.0f);
    for (const MipmapMean mean : {MipmapMean::stored, MipmapMean::background})
        for (const std::uint32_t size : {0u, 1u, 2u, 3u, 4u}) {
            expect_mipmap<float, 3>(solid, {.mean = mean, .blocked = size != 0, .blocks = {.size = size}}, 1e-3);
            expect_mipmap<std::uint8_t, 2>(flat, {.mean = mean, .blocked = size != 0, .blocks = {.size = size}}, 0.51);
        }
    expect_mipmap<float, 3>(solid, {.levels = 2, .blocked = true}, 1e-3);
    EXPECT_EQ((MipmapVoxels<float, 3>::pack(solid.positions, solid.values, 0, {.levels = 2}).levels()), 2u);
    EXPECT_EQ((MipmapVoxels<float, 3>::pack({}, {}, 8.0f).sample({1, 2, 3}, 4)), 8.0f);
}

// Through a file, and sample by sample.
TEST(Blocks, FilesKeepBlocksAndMipmaps) {
    const auto c = make_case<float, 3>(test::sphere_voxels(6), 4.5f);
    for (const int compression : {0, 3})
        for (const bool blocked : {false, true}) {
            auto mip =
                MipmapVoxels<float>::pack(c.positions, c.values, 4.5f, {.blocked = blocked, .blocks = {.size = 3}});
            const MipmapVoxels<float> read(
                std::get<VoxelGrid<3>>(decode_qvox(encode_qvox(mip.grid(), {.compression = compression}))));
            EXPECT_EQ(read.background(), 4.5f);
            EXPECT_EQ(read.levels(), mip.levels());
            for (const auto& x : points_around<3>(c.positions, 200)) ASSERT_EQ(read.sample(x, 0.7), mip.sample(x, 0.7));
            const auto all = sorted_samples(read.grid());
            ASSERT_EQ(all.size(), c.positions.size());
            auto it = c.dense.values.begin();
            for (const auto& [p, number] : all) {
                ASSERT_EQ(p, it->first);
                ASSERT_EQ(reinterpret_cast<const float*>(read.grid().channels[0].buffer.data.get())[number],
                          it++->second);
            }
            for (const auto& p : c.positions) {
                const std::uint64_t number = find_sample(read.grid(), p);
                ASSERT_NE(number, no_sample);
                ASSERT_EQ(reinterpret_cast<const float*>(read.grid().channels[0].buffer.data.get())[number],
                          c.dense.at(p));
            }
            EXPECT_EQ(find_sample(read.grid(), {1000, 0, 0}), no_sample);
        }
    const auto blocks = BlockedVoxels<float>::pack(c.positions, c.values, 4.5f, {.size = 4});
    const BlockedVoxels<float> again(std::get<VoxelGrid<3>>(decode_qvox(encode_qvox(blocks.grid()))));
    for (const auto& x : points_around<3>(c.positions, 500)) ASSERT_EQ(again.sample(x), blocks.sample(x));
    EXPECT_EQ(sorted_samples(again.grid()).size(), c.positions.size());
}

// Which samples of blocks were given is known where it was asked for, and kept by files; one by one and many at a time.
TEST(Blocks, RememberWhatWasGiven) {
    const auto points = test::random_voxels<3>(2996, 0, 100);
    std::vector<float> values(points.size(), 0.0f);  // like the background
    values[0] = 1;
    const ColumnView column{"values", ValueType::f32, 1, std::as_bytes(std::span<const float>(values))};
    const std::set<Voxel<3>, VoxelLess<3>> stored(points.begin(), points.end());
    std::vector<Voxel<3>> queries = points;
    for (const Voxel<3>& p : points)
        for (int a = 0; a < 3; ++a) {
            Voxel<3> q = p;
            q[a] += a % 2 ? 1 : -1;
            queries.push_back(q);
        }
    const auto expect_known = [&](const VoxelGrid<3>& grid) {
        EXPECT_TRUE(grid.exact());
        std::vector<std::uint64_t> found(queries.size());
        find_samples<3>(grid, queries, found);
        for (std::size_t i = 0; i < queries.size(); ++i) {
            ASSERT_EQ(found[i] != no_sample, stored.count(queries[i]) == 1) << i;
            ASSERT_EQ(found[i], find_sample(grid, queries[i]));
        }
        ASSERT_EQ(sorted_samples(grid).size(), points.size());
    };
    const ColumnView columns[] = {column};
    const BlockOptions options{.size = 2, .given = GivenSamples::remembered};
    const auto blocks = pack_blocks<3>(points, columns, options);
    expect_known(blocks);
    expect_known(std::get<VoxelGrid<3>>(decode_qvox(encode_qvox(blocks), {.verify = true})));
    expect_known(pack_mipmap<3>(points, columns, {.blocked = true, .blocks = options}));
    expect_known(pack_mipmap<3>(points, columns));
    const auto forgotten = pack_blocks<3>(points, columns, {.size = 2});
    EXPECT_FALSE(forgotten.exact());
    EXPECT_EQ(sorted_samples(forgotten).size(), 1u);
    // What is set later is given, too.
    BlockedVoxels<float> writable(pack_blocks<3>(points, columns, options));
    Voxel<3> beside = points[0];
    while (stored.count(beside)) ++beside[0];
    ASSERT_EQ(find_sample(writable.grid(), beside), no_sample);
    ASSERT_TRUE(writable.set(beside, 5));
    EXPECT_NE(find_sample(writable.grid(), beside), no_sample);
}

TEST(Half, EveryValueAndEveryRounding) {
    std::mt19937_64 g(1);
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        Half h;
        h.bits = static_cast<std::uint16_t>(bits);
        const auto f = static_cast<float>(h);
        const std::uint32_t exponent = bits >> 10 & 31;
        if (exponent < 31) {
            const double want =
                std::ldexp((bits & 1023) + (exponent ? 1024.0 : 0.0), exponent ? static_cast<int>(exponent) - 25 : -24);
            ASSERT_EQ(f, static_cast<float>(bits >> 15 ? -want : want));
        }
        // A NaN comes back as one, but may be made quiet on the way.
        ASSERT_EQ(Half(f).bits, exponent == 31 && (bits & 1023) != 0 ? h.bits | 0x200 : h.bits);
        if (exponent >= 30) continue;
        // Between this one and the next: the nearest, halves to even.
        Half next;
        next.bits = static_cast<std::uint16_t>(bits + 1);
        const float up = static_cast<float>(next), middle = (f + up) / 2;
        ASSERT_EQ(Half(middle).bits, bits % 2 ? bits + 1 : bits);
        ASSERT_EQ(Half(std::nextafter(middle, f)).bits, bits);
        ASSERT_EQ(Half(std::nextafter(middle, up)).bits, bits + 1);
    }
    EXPECT_EQ(Half(65519.0f).bits, 0x7bff);
    EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
    EXPECT_EQ(Half(1e-30f).bits, 0);
    EXPECT_EQ(Half(-1e30f).bits, 0xfc00);
}

TEST(Mipmap, DoesNotDependOnTheOrder) {
    auto c = make_case<float, 3>(test::sphere_voxels(6), 0);
    const auto a = MipmapVoxels<float>::pack(c.positions, c.values);
    std::reverse(c.positions.begin(), c.positions.end());
    std::reverse(c.values.begin(), c.values.end());
    const auto b = MipmapVoxels<float>::pack(c.positions, c.values);
    for (const auto& x : points_around<3>(c.positions, 300)) ASSERT_EQ(a.sample(x, 1.3), b.sample(x, 1.3));
}

TEST(Blocks, TheLastCoordinatesAreRefused) {
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                           most = std::numeric_limits<std::int32_t>::max();
    const std::vector<float> values{1, 2};
    for (const std::uint32_t size : {0u, 1u, 2u}) {
        BlockOptions options;
        options.size = size;
        for (const std::int32_t end : {least, most}) {
            const std::vector<Voxel<2>> at{{end, 7}, {end == least ? end + 5 : end - 5, 3}};
            const Error e = test::thrown_by([&] { (void)BlockedVoxels<float, 2>::pack(at, values, 0.0f, options); });
            EXPECT_EQ(e.kind(), ErrorKind::bad_value);
        }
        const std::vector<Voxel<2>> inside{{least + 1, most - 1}, {least + 9, most - 8}};
        const auto blocks = BlockedVoxels<float, 2>::pack(inside, values, 0.0f, options);
        EXPECT_EQ(blocks.at(inside[0]), 1);
        EXPECT_EQ(blocks.at(inside[1]), 2);
        EXPECT_EQ(blocks.at({least, most}), 0);
    }
}

TEST(Sampling, PointsOutsideOfABatchAreTheBackground) {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    const std::vector<Voxel<3>> at{{most, most, most}};
    const auto voxels = SparseVoxels<float>::pack(at, std::vector<float>{4});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Vec<3, double>> x{{{nan, 0, 0}}, {{1e300, 0, 0}}};
    std::vector<Blended<float>> out(2);
    sample(voxels, std::span<const Vec<3, double>>(x), std::span(out), 9.0f);
    EXPECT_EQ(out[0], 9);
    EXPECT_EQ(out[1], 9);
}

TEST(Mipmaps, DuplicatesAreNamedAsGiven) {
    const std::vector<Voxel<3>> at{{5, 5, 5}, {1, 1, 1}, {9, 2, 2}, {1, 1, 1}};
    const std::vector<float> values(4, 1);
    const Error plain = test::thrown_by([&] { (void)SparseVoxels<float>::pack(at, values); });
    const Error mipmap = test::thrown_by([&] { (void)MipmapVoxels<float>::pack(at, values); });
    EXPECT_EQ(std::string(mipmap.what()), plain.what());
}

}  // namespace
}  // namespace quadrat
