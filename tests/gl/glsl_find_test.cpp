// The shader text gives what VoxelIndex::find gives, for hits and misses, inside and outside, in every layout and
// encoding.
#include <quadrat/voxels.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "gl/shader.hpp"
#include "io/table/npy.hpp"
#include "voxels/data.hpp"

namespace quadrat::test {
namespace {

using Query = std::array<std::int32_t, 3>;

class Glsl : public testing::Test {
  protected:
    static void SetUpTestSuite() { runner_ = std::make_unique<ShaderRunner>(); }
    static void TearDownTestSuite() { runner_.reset(); }
    void SetUp() override {
        if (!runner_->missing().empty()) GTEST_SKIP() << runner_->missing();
    }
    static std::unique_ptr<ShaderRunner> runner_;
};
std::unique_ptr<ShaderRunner> Glsl::runner_;

/// Every stored position, its neighbours, random ones in and around the domain, and the corners of the range.
template <int D>
std::vector<Voxel<D>> queries_for(const VoxelIndex<D>& index, std::span<const Voxel<D>> stored) {
    std::vector<Voxel<D>> out(stored.begin(), stored.end());
    std::mt19937_64 g(5);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        Voxel<D> p = stored[i];
        p[static_cast<int>(g() % D)] += g() % 2 ? 1 : -1;
        out.push_back(p);
    }
    for (int i = 0; i < 20000; ++i) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) {
            const auto e = std::uint64_t{index.extent()[static_cast<std::size_t>(a)]} + 8;
            p[a] = index.origin()[a] - 4 + static_cast<std::int32_t>(g() % e);
        }
        out.push_back(p);
    }
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                           most = std::numeric_limits<std::int32_t>::max();
    for (const std::int32_t v : {least, most, 0, -1}) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) p[a] = v;
        out.push_back(p);
        p[0] = ~v;
        out.push_back(p);
    }
    return out;
}

template <int D>
void check(ShaderRunner& runner, const VoxelIndex<D>& index, std::span<const Voxel<D>> stored, const std::string& text,
           std::span<const ShaderTexture> textures) {
    std::vector<Voxel<D>> positions = queries_for<D>(index, stored);
    if (!index.exact()) positions.resize(stored.size());
    std::vector<Query> queries;
    for (const Voxel<D>& p : positions) queries.push_back({p[0], p[1], D == 3 ? p[D - 1] : 0});
    const auto got = runner.run(text, D == 3 ? "quadrat_find(q)" : "quadrat_find(q.xy)", textures, queries);
    std::size_t hits = 0, wrong = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const std::uint32_t want = index.find(positions[i]);
        hits += want != VoxelIndex<D>::absent;
        wrong += static_cast<std::uint32_t>(got[i]) != want;  // absent is -1
    }
    EXPECT_EQ(wrong, 0u) << text;
    EXPECT_GE(hits, stored.size());
    if (index.exact()) {
        EXPECT_LT(hits, positions.size());
    }
}

template <int D>
void check(ShaderRunner& runner, std::span<const Voxel<D>> stored, const VoxelOptions& options) {
    const auto index = VoxelIndex<D>::build(stored, options);
    SCOPED_TRACE(std::string(name(index.layout())) + " " + name(index.encoding()) + ", tags of " +
                 std::to_string(index.tag_bits()));
    const auto tables = glsl_tables(index);
    std::vector<ShaderTexture> textures;
    for (const GlslTable& t : tables) textures.push_back({"quadrat_" + t.name, t.words});
    check<D>(runner, index, stored, glsl_find(index), textures);
}

template <int D>
void check_all(ShaderRunner& runner, std::span<const Voxel<D>> stored) {
    for (const Encoding e : {Encoding::constrained, Encoding::domain_bit, Encoding::position_tag,
                             Encoding::position_hash, Encoding::bucket_tag})
        check<D>(runner, stored, {.layout = Layout::voxel, .encoding = e});
    for (const Layout l : {Layout::brick, Layout::bits, Layout::keys}) check<D>(runner, stored, {.layout = l});
}

TEST_F(Glsl, FindsWhatTheLibraryFinds2D) {
    check_all<2>(*runner_, glyph_voxels(96));
    check_all<2>(*runner_, random_voxels<2>(3000, -700, 900));
}

TEST_F(Glsl, FindsWhatTheLibraryFinds3D) {
    check_all<3>(*runner_, sphere_voxels(20));
    check_all<3>(*runner_, random_voxels<3>(20000, -33, 150));
}

TEST_F(Glsl, SmallSets) {
    const std::vector<Voxel<3>> one = {{-7, 2000000000, -2000000000}};
    check_all<3>(*runner_, one);
    const std::vector<Voxel<2>> two = {{3, 4}, {5, 4}};
    check_all<2>(*runner_, two);
    check<3>(*runner_, std::span<const Voxel<3>>(), {});
}

// Tags longer than a word, offsets of other widths, tables of many rows.
TEST_F(Glsl, WideFields) {
    const auto far = random_voxels<3>(40000, -1000000, 2000000);
    check<3>(*runner_, far, {.layout = Layout::voxel, .encoding = Encoding::position_tag});
    check<3>(*runner_, far, {.layout = Layout::keys});
    std::vector<Voxel<3>> clusters = random_voxels<3>(50, -1000000, 2000000);
    for (std::int32_t i = 0; i < 5000; ++i) clusters.push_back({i * 3, 5, -900000});
    check<3>(*runner_, clusters, {.layout = Layout::keys});
    const auto near = random_voxels<3>(30000, -50, 128);
    for (const int bits : {5, 8, 11, 16, 0})
        check<3>(*runner_, near, {.layout = Layout::voxel, .encoding = Encoding::bucket_tag, .offset_bits = bits});
    const auto many = random_voxels<2>(200000, 0, 4000);
    check<2>(*runner_, many, {.layout = Layout::voxel, .encoding = Encoding::position_tag});
}

#ifdef QUADRAT_CLI
// What the command line prints and writes is all that a renderer needs.
TEST_F(Glsl, CommandLine) {
    const auto folder = std::filesystem::temp_directory_path() / "quadrat_test_gl";
    std::filesystem::create_directories(folder);
    const auto stored = sphere_voxels(15);
    const std::vector<float> values(stored.size(), 1.0f);
    for (const Layout layout : {Layout::voxel, Layout::brick}) {
        const auto voxels = SparseVoxels<float>::pack(stored, values, {.layout = layout});
        const std::string file = (folder / "sphere.qvox").string(), prefix = (folder / "sphere").string();
        write_qvox(voxels.grid(), file);
        const std::string cli = "\"" QUADRAT_CLI "\" ";
        ASSERT_EQ(std::system((cli + "info --glsl \"" + file + "\" > \"" + prefix + ".glsl\"").c_str()), 0);
        ASSERT_EQ(std::system((cli + "unpack --textures \"" + file + "\" -o \"" + prefix + "\" > /dev/null").c_str()),
                  0);
        std::ifstream in(prefix + ".glsl");
        std::stringstream text;
        text << in.rdbuf();
        std::vector<io::Table> tables;
        std::vector<std::string> names;
        for (const char* part : {"offsets", "tags", "bits", "ranks", "bricks"})
            if (text.str().find(std::string("usampler2D quadrat_") + part) != std::string::npos) {
                tables.push_back(io::read_npy(prefix + "." + part + ".npy"));
                names.push_back(std::string("quadrat_") + part);
            }
        std::vector<ShaderTexture> textures;
        for (std::size_t i = 0; i < tables.size(); ++i)
            textures.push_back({names[i], tables[i].values<std::uint32_t>()});
        EXPECT_FALSE(textures.empty());
        check<3>(*runner_, voxels.index(), stored, text.str(), textures);
    }
    std::filesystem::remove_all(folder);
}
#endif

}  // namespace
}  // namespace quadrat::test
