// docs/scenes.md says what the reader reads: its tables are made from the tables that the reader uses, and the keys in
// them are those that the reader asks for.
#include "scene_io/page.hpp"
#include "scene_io/scene_file.hpp"
#include "simulation/scene/scene_fields.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace {

using namespace quadrat;

TEST(ScenesPage, IsUpToDate) {
    const std::string path = std::string(QUADRAT_SOURCE_DIR) + "/docs/scenes.md";
    std::stringstream page;
    page << std::ifstream(path).rdbuf();
    const std::string renewed = scene_io::renewed_page(page.str());
    if (renewed == page.str()) return;
    const std::string beside = testing::TempDir() + "scenes.md";
    std::ofstream(beside) << renewed;
    FAIL() << "the tables of scenes have changed: cp " << beside << " " << path;
}

// The keys that the reader lists when it meets one that it does not know.
std::set<std::string> asked_for(const std::string& text) {
    try {
        (void)scene_io::parse_scene(text, "scene.json");
    } catch (const Error& error) {
        const std::string start = "unknown key; expected one of ";
        EXPECT_TRUE(error.message().starts_with(start)) << error.what();
        std::set<std::string> keys;
        std::stringstream list(error.message().substr(std::min(start.size(), error.message().size())));
        for (std::string key; list >> key;) keys.insert(key.back() == ',' ? key.substr(0, key.size() - 1) : key);
        return keys;
    }
    ADD_FAILURE() << "accepted: " << text;
    return {};
}

// A scene with one entry of a list.
std::string with(const std::string& entries) {
    return R"({"domain": {"lo": [0, 0, 0], "hi": [1, 1, 1]}, )" + entries + "}";
}

TEST(ScenesPage, HasTheKeysThatTheReaderAsksFor) {
    const std::string z = R"("zzzzzzzzzzzz": 1)", box = R"("lo": [0, 0, 0], "hi": [1, 1, 1])";
    const auto expect = [](const char* section, std::initializer_list<std::string> texts) {
        std::set<std::string> asked;
        for (const std::string& text : texts) asked.merge(asked_for(text));
        const auto keys = scene_io::keys_of(section);
        EXPECT_EQ(asked, std::set<std::string>(keys.begin(), keys.end())) << section;
        EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size()) << section << ": a key twice";
    };
    expect("scene", {with(z)});
    expect("stepping", {with(R"("stepping": {)" + z + "}")});
    expect("incompressible", {with(R"("incompressible": {)" + z + "}")});
    expect("domain", {R"({"domain": {)" + box + ", " + z + "}}"});
    expect("planes", {R"({"domain": {)" + box + R"(, "planes": [{"normal": [0, 0, 1], )" + z + "}]}}"});
    expect("phases", {with(R"("phases": [{)" + z + "}]")});
    expect("blocks", {with(R"("blocks": [{)" + box + ", " + z + "}]")});
    expect("particles", {with(R"("particles": [{"positions": [[0.5, 0.5, 0.5]], )" + z + "}]")});
    expect("emitters", {with(R"("emitters": [{"position": [0.5, 0.5, 0.5], )" + z + "}]")});
    const std::string mesh = std::string(R"("file": ")") + "ball.obj\", ";
    const std::string folder = testing::TempDir();
    std::ofstream(folder + "ball.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    const auto mesh_keys = [&](const std::string& list, const std::string& entry) {
        try {
            (void)scene_io::parse_scene(with("\"" + list + "\": [{" + entry + mesh + z + "}]"), folder + "scene.json");
        } catch (const Error& error) {
            return error.message();
        }
        return std::string();
    };
    for (const char* key : {"scale", "height", "center", "y_up", "file"}) {
        EXPECT_NE(mesh_keys("bodies", R"("shape": "mesh", )").find(key), std::string::npos) << key;
        EXPECT_NE(mesh_keys("cloths", "").find(key), std::string::npos) << key;
    }
    std::set<std::string> bodies = {"file", "scale", "height", "center", "y_up"}, cloths = bodies;
    for (const char* shape : {R"("radius": 0.1, )", R"("shape": "box", "size": [1, 1, 1], )", R"("shape": "plane", )",
                              R"("shape": "torus", "radius": 1, "tube": 0.1, )"})
        bodies.merge(asked_for(with(R"("bodies": [{)" + std::string(shape) + z + "}]")));
    const auto body_keys = scene_io::keys_of("bodies"), cloth_keys = scene_io::keys_of("cloths");
    EXPECT_EQ(bodies, std::set<std::string>(body_keys.begin(), body_keys.end()));
    EXPECT_EQ(bodies.size(), body_keys.size()) << "a key twice";
    cloths.insert("position");
    cloths.merge(asked_for(with(R"("cloths": [{"sheet": {"cells": [1, 1], "size": [1, 1]}, )" + z + "}]")));
    EXPECT_EQ(cloths, std::set<std::string>(cloth_keys.begin(), cloth_keys.end()));
    expect("view", {with(R"("view": {)" + z + "}")});
}

// What stands on the page about the shape is text: it must name all of them.
TEST(ScenesPage, NamesEveryShape) {
    const std::string table = scene_io::keys_table("bodies");
    const std::size_t begin = table.find("| `shape` |");
    ASSERT_NE(begin, std::string::npos);
    const std::string row = table.substr(begin, table.find('\n', begin) - begin);
    for (const char* name : simulation::names_of<BodyShape>)
        EXPECT_NE(row.find(std::string("`") + name + "`"), std::string::npos) << name;
}

TEST(ScenesPage, NeedsEverySection) {
    EXPECT_THROW((void)scene_io::renewed_page("no table at all"), Error);
    EXPECT_THROW((void)scene_io::renewed_page("<!-- keys: scene -->\nno end"), Error);
    EXPECT_THROW((void)scene_io::keys_table("no such section"), Error);
}

}  // namespace
