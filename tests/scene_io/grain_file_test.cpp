// Scenes of grains: those that come with the repository run, and what is wrong is refused with its path.
#include "scene_io/grain_file.hpp"
#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace quadrat::test {
namespace {

TEST(GrainFile, ScenesOfTheRepository) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(QUADRAT_SOURCE_DIR "/scenes/grains")) {
        const std::string path = entry.path().string();
        EXPECT_TRUE(scene_io::is_grain_scene(path)) << path;
        const scene_io::GrainFile file = scene_io::read_grain_scene(path);
        EXPECT_EQ(file.colors.size(), file.grains.size());
        EXPECT_EQ(file.entries.size(), file.grains.size());
        Grains grains = scene_io::world_of(file, nullptr);
        EXPECT_EQ(grains.size(), file.grains.size());
        grains.step(file.time_step);
        EXPECT_LT(grains.stats().max_overlap, 1e-3) << path;
        ++count;
    }
    EXPECT_GE(count, 5);
    EXPECT_FALSE(scene_io::is_grain_scene(QUADRAT_SOURCE_DIR "/scenes/fountain.json"));
    EXPECT_FALSE(scene_io::is_grain_scene("not/there.json"));
}

std::string scene(const std::string& grains) {
    return R"({"grains": {"box": {"lo": [0, 0, 0], "hi": [9, 9, 9]}, )" + grains + "}}";
}

TEST(GrainFile, ReadsWhatIsThere) {
    const scene_io::GrainFile file =
        scene_io::parse_grain_scene(scene(R"("substeps": 7, "sleep_time": 0.5, "closed": {"friction": 0.2},
                 "walls": [{"shape": "drum", "radius": 2, "length": 1, "segments": 8}],
                 "bodies": [{"radius": 0.3, "friction": 0.4, "array": {"count": [2, 3], "step": [1, 1, 1]}},
                            {"shape": "box", "size": [1, 2, 3], "position": [5, 5, 5]}])"),
                                    "text");
    EXPECT_EQ(file.options.substeps, 7u);
    EXPECT_EQ(file.options.sleep_time, 0.5);
    EXPECT_EQ(file.planes.size(), 6u);
    EXPECT_EQ(file.planes[5].offset, -9);
    EXPECT_EQ(file.walls.at(0).triangles.size(), 32u);
    ASSERT_EQ(file.grains.size(), 7u);
    EXPECT_EQ(file.grains[5].position, (Vec3d{{1, 2, 0}}));
    EXPECT_EQ(file.grains[5].surface.friction, 0.4);
    EXPECT_EQ(file.grains[6].size, (Vec3d{{1, 2, 3}}));
    EXPECT_EQ(file.entries[6], 1u);
}

void expect_refused(const std::string& grains, const std::string& path) {
    const Error e = thrown_by([&] {
        const auto file = scene_io::parse_grain_scene(scene(grains), "text");
        (void)scene_io::world_of(file, nullptr);
    });
    EXPECT_EQ(e.where().field, path) << grains;
}

TEST(GrainFile, RefusesWithThePath) {
    expect_refused(R"("bodies": [])", "/grains/bodies");
    expect_refused(R"("bodies": [{}, {"radius": 0}])", "/grains/bodies/1/radius");
    expect_refused(R"("bodies": [{"size": [1, 1, 1]}])", "/grains/bodies/0/size");
    expect_refused(R"("bodies": [{"shape": "ball"}])", "/grains/bodies/0/shape");
    expect_refused(R"("bodies": [{"friction": -1}])", "/grains/bodies/0/friction");
    expect_refused(R"("bodies": [{"color": "red"}])", "/grains/bodies/0/color");
    expect_refused(R"("bodies": [{"array": {"count": [10000, 10000], "step": [1, 1, 1]}}])",
                   "/grains/bodies/0/array/count");
    expect_refused(R"("bodies": [{"shape": "convex", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}])",
                   "/grains/bodies/0/points");
    expect_refused(R"("bodies": [{}], "planes": [{"normal": [0, 0, 0]}])", "/grains/planes/0/normal");
    expect_refused(R"("bodies": [{}], "walls": [{"shape": "drum", "radius": -1, "length": 1}])",
                   "/grains/walls/0/radius");
    expect_refused(R"("bodies": [{}], "walls": [{"shape": "funnel", "top": 1, "outlet": 2, "height": 1}])",
                   "/grains/walls/0/top");
    expect_refused(R"("bodies": [{}], "substeps": 0)", "/grains/substeps");
    expect_refused(R"("bodies": [{}], "contacts": "hertz")", "/grains/stiffness");
    expect_refused(R"("bodies": [{}], "time_step": 0)", "/grains/time_step");
    expect_refused(R"("bodies": [{}], "gravitation": [0, 0, 0])", "/grains/gravitation");
    const Error flat = thrown_by([] {
        const auto file = scene_io::parse_grain_scene(
            R"({"grains": {"dimension": 2, "box": {"lo": [0, 0], "hi": [9, 9]}, "bodies": [{"shape": "box"}]}})",
            "text");
        (void)scene_io::world_of(file, nullptr);
    });
    EXPECT_EQ(flat.where().field, "/grains/bodies/0/shape");
    EXPECT_EQ(flat.kind(), ErrorKind::unsupported);
    EXPECT_THROW((void)scene_io::read_grain_scene("x.json", "fast"), scene_io::UnknownVariant);
    EXPECT_EQ(thrown_by([] { (void)scene_io::parse_grain_scene("{\"grains\": ", "text"); }).kind(),
              ErrorKind::bad_format);
}

}  // namespace
}  // namespace quadrat::test
