// Values, blends, blocks, mipmaps, filtered atlases and bare hashes in a shader against the library.
#include <quadrat/voxels.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "gl/shader.hpp"
#include "voxels/data.hpp"

namespace quadrat::test {
namespace {

using Query = std::array<std::int32_t, 3>;

class GlslSample : public testing::Test {
  protected:
    static void SetUpTestSuite() { runner_ = std::make_unique<ShaderRunner>(); }
    static void TearDownTestSuite() { runner_.reset(); }
    void SetUp() override {
        if (!runner_->missing().empty()) GTEST_SKIP() << runner_->missing();
    }
    static std::unique_ptr<ShaderRunner> runner_;
};
std::unique_ptr<ShaderRunner> GlslSample::runner_;

// Points on a lattice of eighths in and around the domain: floats hold them exactly.
template <int D>
std::vector<Query> eighths(const Voxel<D>& low, const Voxel<D>& high, std::size_t count) {
    std::mt19937_64 g(6);
    std::vector<Query> out(count);
    for (Query& q : out)
        for (int a = 0; a < D; ++a)
            q[static_cast<std::size_t>(a)] =
                8 * (low[a] - 2) +
                static_cast<std::int32_t>(g() % static_cast<std::uint64_t>(8 * (high[a] - low[a] + 5)));
    return out;
}

template <int D>
std::string point(double step = 1) {
    return (D == 2 ? "vec2(q.xy) / 8.0 * " : "vec3(q) / 8.0 * ") + std::to_string(step);
}

template <int D>
Vec<D, double> point_of(const Query& q) {
    Vec<D, double> x;
    for (int a = 0; a < D; ++a) x[a] = q[static_cast<std::size_t>(a)] / 8.0;
    return x;
}

template <class Grid>
std::vector<GlslTable> tables_of(const Grid& grid, const Channel& c) {
    std::vector<GlslTable> out = glsl_tables(grid.index);
    out.push_back({"values", glsl_words({c.buffer.data.get(), c.buffer.size})});
    return out;
}

std::vector<ShaderTexture> textures_of(const std::vector<GlslTable>& tables) {
    std::vector<ShaderTexture> out;
    for (const GlslTable& t : tables) out.push_back({"quadrat_" + t.name, t.words});
    return out;
}

// want(query, component), within `tolerance` of the largest.
template <class Want>
void compare(const std::vector<Query>& queries, int components, std::span<const std::array<std::int32_t, 4>> got,
             double tolerance, Want&& want) {
    double largest = 1, worst = 0;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < queries.size(); ++i)
        for (int k = 0; k < components; ++k) {
            const double w = want(i, k), g = std::bit_cast<float>(got[i][static_cast<std::size_t>(k)]);
            largest = std::max(largest, std::fabs(w));
            worst = std::max(worst, std::isfinite(g) ? std::fabs(g - w) : 1e300);
            differ += w != want(0, k);
        }
    EXPECT_LE(worst, tolerance * largest);
    EXPECT_GT(differ, queries.size() / 10) << "the queries should meet more than the background";
}

// A call of type T, as an ivec4 of the bits of its components.
std::string bits_of(const std::string& call, int components) {
    constexpr const char* rest[] = {"", ", 0.0, 0.0, 0.0", ", 0.0, 0.0", ", 0.0", ""};
    return "floatBitsToInt(vec4(" + call + rest[components] + "))";
}

template <class T>
constexpr int components_of = static_cast<int>(ValueTraits<T>::components);
template <class S>
double component(const S& v, int k) {
    if constexpr (std::is_arithmetic_v<S>)
        return static_cast<double>(v);
    else
        return static_cast<double>(v[static_cast<int>(k)]);
}

// A set with values of T, in every kind of grid.
template <class T, int D>
struct Data {
    std::vector<Voxel<D>> points;
    std::vector<T> values;
    T background = {};
    Voxel<D> low = {}, high = {};

    explicit Data(std::vector<Voxel<D>> set) : points(std::move(set)), values(points.size()) {
        std::mt19937_64 g(3);
        const auto fill = [&](T& v) {
            auto* bytes = reinterpret_cast<std::uint8_t*>(&v);
            for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<std::uint8_t>(g() % 120);
        };
        for (T& v : values) fill(v);
        fill(background);
        if constexpr (ValueTraits<T>::type == ValueType::f32) {
            for (T& v : values) v = random(g);
            background = random(g);
        }
        low = high = points[0];
        for (const auto& p : points)
            for (int a = 0; a < D; ++a) {
                low[a] = std::min(low[a], p[a]);
                high[a] = std::max(high[a], p[a]);
            }
    }
    static T random(std::mt19937_64& g) {
        const auto one = [&] { return static_cast<float>(g() % 2000) / 16 - 60; };
        if constexpr (std::is_same_v<T, float>)
            return one();
        else if constexpr (std::is_same_v<T, Vec3f>)
            return {one(), one(), one()};
        else
            return T{};
    }
};

template <class T, int D, class Sample>
void check(ShaderRunner& runner, const VoxelGrid<D>& grid, const Data<T, D>& data, const std::string& call,
           Sample&& sample, double tolerance) {
    const Channel& c = grid.channels[0];
    const auto tables = tables_of(grid, c);
    const auto textures = textures_of(tables);
    const auto queries = eighths<D>(data.low, data.high, 4000);
    const std::string text = glsl_sample(grid);
    const auto got = runner.run4(text, bits_of(call, components_of<T>), textures, queries);
    compare(queries, components_of<T>, got, tolerance,
            [&](std::size_t i, int at) { return component(sample(point_of<D>(queries[i])), at); });
}

template <class T, int D>
void check_all(ShaderRunner& runner, std::vector<Voxel<D>> set, bool whole, double tolerance = 1e-5) {
    const Data<T, D> data(std::move(set));
    SCOPED_TRACE(std::string(name(ValueTraits<T>::type)) + " x " + std::to_string(components_of<T>));
    for (const Layout layout : {Layout::voxel, Layout::brick, Layout::keys}) {
        if (!whole && layout != Layout::voxel) continue;
        SCOPED_TRACE(name(layout));
        auto plain = SparseVoxels<T, D>::pack(data.points, data.values, {.layout = layout});
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&data.background);
        plain.grid().channels[0].background.assign(bytes, bytes + sizeof(T));
        check<T, D>(
            runner, plain.grid(), data, "quadrat_sample(" + point<D>() + ")",
            [&](const auto& x) { return quadrat::sample(plain, x, data.background); }, tolerance);
    }
    for (const std::uint32_t b : {1u, 2u, 3u}) {
        if (!whole && b != 3) continue;
        const auto blocks = BlockedVoxels<T, D>::pack(data.points, data.values, data.background, {.size = b});
        check<T, D>(
            runner, blocks.grid(), data, "quadrat_sample(" + point<D>() + ")",
            [&](const auto& x) { return blocks.sample(x); }, tolerance);
    }
    for (const bool blocked : {false, true}) {
        const auto levels = MipmapVoxels<T, D>::pack(data.points, data.values, data.background,
                                                     {.blocked = blocked, .blocks = {.size = 2}});
        for (const double lod : {0.25, -1.0, 1.0, 2.5, 99.0}) {
            if (!whole && lod != 0.25) continue;
            check<T, D>(
                runner, levels.grid(), data, "quadrat_sample(" + point<D>() + ", " + std::to_string(lod) + ")",
                [&](const auto& x) { return levels.sample(x, lod); }, tolerance);
        }
    }
}

TEST_F(GlslSample, EqualsTheLibrary) {
    check_all<float, 3>(*runner_, sphere_voxels(7), true);
    check_all<float, 2>(*runner_, glyph_voxels(40), false);
    check_all<std::array<std::uint8_t, 4>, 3>(*runner_, random_voxels<3>(800, -9, 20), false);
    check_all<std::array<std::uint8_t, 3>, 2>(*runner_, random_voxels<2>(300, -40, 30), true);
    check_all<std::int16_t, 2>(*runner_, random_voxels<2>(300, 5, 30), false);
    check_all<std::array<std::uint16_t, 2>, 3>(*runner_, random_voxels<3>(500, 5, 14), false);
    check_all<Vec3f, 3>(*runner_, random_voxels<3>(500, -5, 14), false);
}

// Half floats are exact until they are blended.
TEST_F(GlslSample, OtherTypes) {
    const auto points = random_voxels<3>(300, -5, 14);
    std::vector<Query> queries;
    for (const auto& p : points) queries.push_back({p[0], p[1], p[2]});
    const auto values_of = [&](auto zero, const char* call) {
        using T = decltype(zero);
        std::vector<T> values;
        for (std::size_t i = 0; i < points.size(); ++i) {
            if constexpr (std::is_same_v<T, Half>)
                values.push_back(Half(static_cast<float>(i) * 0.37f - 40));
            else
                values.push_back(static_cast<T>(i * 1000003));
        }
        const auto voxels = SparseVoxels<T>::pack(points, values);
        const auto tables = tables_of(voxels.grid(), voxels.grid().channels[0]);
        const auto got = runner_->run(glsl_sample(voxels.grid()), call, textures_of(tables), queries);
        for (std::size_t i = 0; i < points.size(); ++i)
            ASSERT_EQ(std::bit_cast<float>(got[i]), static_cast<float>(values[i])) << i;
    };
    const char* call = "floatBitsToInt(quadrat_value(quadrat_find(q)))";
    values_of(Half{}, call);
    values_of(std::uint8_t{}, call);
    values_of(std::int8_t{}, call);
    values_of(std::int32_t{}, call);
    values_of(std::uint32_t{}, call);
    EXPECT_THROW(values_of(double{}, call), Error);
    EXPECT_THROW(values_of(std::int64_t{}, call), Error);
}

template <class T, int D>
void check_atlas(ShaderRunner& runner, std::vector<Voxel<D>> set, std::uint32_t b, std::uint32_t largest,
                 double tolerance) {
    const Data<T, D> data(std::move(set));
    const auto blocks = BlockedVoxels<T, D>::pack(data.points, data.values, data.background, {.size = b});
    const GlslAtlas atlas = glsl_atlas(blocks.grid(), {}, largest);
    ASSERT_LE(std::max({atlas.width, atlas.height, atlas.depth}), largest);
    const ShaderAtlas texture{"quadrat_atlas",
                              D == 3,
                              static_cast<int>(atlas.width),
                              static_cast<int>(atlas.height),
                              static_cast<int>(atlas.depth),
                              atlas.type == ValueType::f16,
                              static_cast<int>(atlas.components),
                              atlas.texels.data()};
    const auto tables = glsl_tables(blocks.grid().index);
    const auto queries = eighths<D>(data.low, data.high, 4000);
    const auto got = runner.run4(atlas.text, bits_of("quadrat_filtered(" + point<D>() + ")", components_of<T>),
                                 textures_of(tables), queries, &texture);
    compare(queries, components_of<T>, got, tolerance,
            [&](std::size_t i, int at) { return component(blocks.sample(point_of<D>(queries[i])), at); });
}

// Weights of GPUs have 8 bits.
TEST_F(GlslSample, BlocksAreFilteredByTheGpu) {
    check_atlas<std::uint8_t, 3>(*runner_, sphere_voxels(9), 3, 64, 0.02);
    check_atlas<std::array<std::uint8_t, 4>, 3>(*runner_, random_voxels<3>(700, -9, 20), 2, 256, 0.02);
    check_atlas<std::array<std::uint8_t, 2>, 2>(*runner_, glyph_voxels(60), 4, 128, 0.02);
    const auto blocks =
        BlockedVoxels<std::uint8_t>::pack(sphere_voxels(9), std::vector<std::uint8_t>(sphere_voxels(9).size()));
    EXPECT_THROW((void)glsl_atlas(blocks.grid(), {}, 8), Error);
    EXPECT_THROW((void)glsl_atlas(blocks.grid(), "colour"), Error);
    const auto plain =
        SparseVoxels<std::uint8_t>::pack(sphere_voxels(3), std::vector<std::uint8_t>(sphere_voxels(3).size()));
    EXPECT_THROW((void)glsl_atlas(plain.grid()), Error);
}

template <int D, int E>
void check_slots(ShaderRunner& runner, const std::vector<Voxel<D>>& points) {
    const auto hash = PerfectHash<D, E>::build(points);
    std::vector<Query> queries;
    std::mt19937_64 g(2);
    for (const auto& p : points) queries.push_back({p[0], p[1], D == 3 ? p[D - 1] : 0});
    for (int i = 0; i < 5000; ++i) {
        Query q = queries[g() % points.size()];
        q[g() % D] += static_cast<std::int32_t>(g() % 41) - 20;
        queries.push_back(q);
    }
    const GlslTable offsets{"offsets", glsl_words(hash.offsets())};
    const auto got =
        runner.run(glsl_slot(hash), D == 3 ? "quadrat_slot(q)" : "quadrat_slot(q.xy)", textures_of({offsets}), queries);
    std::size_t outside = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) p[a] = queries[i][static_cast<std::size_t>(a)];
        std::array<std::uint32_t, D> local;
        const bool in = hash.inside(p, local);
        outside += !in;
        ASSERT_EQ(got[i], in ? static_cast<std::int32_t>(hash.place(local).slot) : -1);
    }
    EXPECT_GT(outside, 0u);
}

TEST_F(GlslSample, SlotsOfBareHashes) {
    check_slots<3, 2>(*runner_, sphere_voxels(25));
    check_slots<3, 2>(*runner_, random_voxels<3>(4000, -700000, 1400000));
    check_slots<3, 3>(*runner_, sphere_voxels(25));
    check_slots<2, 2>(*runner_, glyph_voxels(80));
}

}  // namespace
}  // namespace quadrat::test
