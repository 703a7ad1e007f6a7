// Values of a JSON file as a cursor reads them: what is taken, and where and how the rest is refused.
#include "scene_io/json.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace quadrat;
using scene_io::Json;
using scene_io::JsonCursor;
using scene_io::JsonObject;
using scene_io::Range;

// What reading a value says; empty when it is taken.
template <class Read>
std::string said(const std::string& text, Read&& read, int dimension = 3) {
    const Json value = Json::parse(text);
    try {
        read(JsonCursor(value, "/a", dimension));
    } catch (const Error& e) {
        return e.where().field + ": " + e.message();
    }
    return "";
}

TEST(Json, WholeNumbersHaveEnds) {
    const auto count = [](const JsonCursor& at) { (void)at.count(2, 4); };
    for (const char* good : {"2", "3", "4"}) EXPECT_EQ(said(good, count), "");
    for (const char* bad : {"1", "5", "-3", "3.0", "\"3\"", "null"})
        EXPECT_EQ(said(bad, count), std::string("/a: expected a whole number from 2 to 4, found ") + bad);
}

TEST(Json, VectorsHaveOneNumberPerAxis) {
    const auto positive = [](const JsonCursor& at) { (void)at.vector(Range::positive); };
    EXPECT_EQ(said("[1, 2, 3]", positive), "");
    EXPECT_EQ(said("[1, 2]", positive), "/a: expected an array of 3 numbers, found an array of 2");
    EXPECT_EQ(said("7", positive), "/a: expected an array of 3 numbers, found 7");
    EXPECT_EQ(said("[1, 2, 0]", positive), "/a/2: expected a positive number, found 0");
    EXPECT_EQ(said("[1, 2]", positive, 2), "");
    EXPECT_EQ(said("[1, 2, 0]", positive, 2), "");
    EXPECT_EQ(said("[1, 2, 1]", positive, 2), "/a/2: expected 0 in two dimensions, found 1");
    EXPECT_EQ(said("[1, 0]", positive, 2), "/a/1: expected a positive number, found 0");
    EXPECT_EQ(said("[1]", positive, 2), "/a: expected an array of 2 numbers, found an array of 1");
    EXPECT_EQ(said("[1, 2, 0, 0]", positive, 2), "/a: expected an array of 2 numbers, found an array of 4");
    const Json value = Json::parse("[1, 2]");
    EXPECT_EQ(JsonCursor(value, "", 2).vector(), (Vec3d{{1, 2, 0}}));
}

TEST(Json, ChoicesAreListed) {
    constexpr const char* one[] = {"a"};
    constexpr const char* three[] = {"a", "b", "c"};
    EXPECT_EQ(said("1", [&](const JsonCursor& at) { (void)at.choice(one); }), "/a: expected a, found 1");
    EXPECT_EQ(said("\"d\"", [&](const JsonCursor& at) { (void)at.choice(three); }),
              "/a: expected a, b or c, found \"d\"");
    const Json value = "b";
    EXPECT_EQ(JsonCursor(value, "").choice(three), 1u);
}

TEST(Json, LongValuesAreShownShort) {
    const auto read = [](const JsonCursor& at) { (void)at.number(); };
    const std::string fits(58, 'x'), longer(59, 'x');  // with quotes 60 and 61
    EXPECT_EQ(said("\"" + fits + "\"", read), "/a: expected a finite number, found \"" + fits + "\"");
    EXPECT_EQ(said("\"" + longer + "\"", read),
              "/a: expected a finite number, found \"" + std::string(56, 'x') + "...");
    EXPECT_EQ(said("{}", read), "/a: expected a finite number, found an object");
    EXPECT_EQ(said("[[]]", read), "/a: expected a finite number, found an array of 1");
}

TEST(Json, KeysAreTokensOfAPath) {
    EXPECT_EQ(scene_io::token("a~b/c d"), "a~0b~1c d");
    EXPECT_EQ(scene_io::token("\x1f \x7e\x7f\xc3"), "? ~0??");
    EXPECT_EQ(scene_io::token(std::string(80, 'x')), std::string(80, 'x'));
    EXPECT_EQ(scene_io::token(std::string(81, 'x')), std::string(77, 'x') + "...");
}

// Up to two letters are taken for a slip; of several keys the nearest is named, and of equal ones the first.
TEST(Json, UnknownKeysAreComparedWithTheKnown) {
    const auto unknown = [](const std::string& key) {
        return said("{\"" + key + "\": 1, \"radius\": 2}", [](const JsonCursor& at) {
            JsonObject object(at);
            for (const char* known : {"radius", "radios", "mass"}) (void)object.find(known);
            object.end();
        });
    };
    EXPECT_EQ(unknown("mass"), "");
    EXPECT_EQ(unknown("rads"), "/a/rads: unknown key; did you mean radius?");
    EXPECT_EQ(unknown("radio"), "/a/radio: unknown key; did you mean radios?");
    EXPECT_EQ(unknown("ass"), "/a/ass: unknown key; did you mean mass?");
    EXPECT_EQ(unknown("xmassx"), "/a/xmassx: unknown key; did you mean mass?");
    EXPECT_EQ(unknown("xmasxx"), "/a/xmasxx: unknown key; expected one of radius, radios, mass");
    EXPECT_EQ(unknown(""), "/a/: unknown key; expected one of radius, radios, mass");
    EXPECT_EQ(said("{}", [](const JsonCursor& at) { (void)JsonObject(at).need("radius"); }), "/a/radius: missing");
    EXPECT_EQ(said("[]", [](const JsonCursor& at) { (void)JsonObject(at); }),
              "/a: expected an object, found an array of 0");
}

}  // namespace
