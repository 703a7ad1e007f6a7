// The comments of the options of a scene say what their rows in the tables say: the unit, the range and the default.
// They are written by hand, in include/quadrat/simulation/, and read here.
#include <quadrat/simulation/scene.hpp>

#include "simulation/scene/scene_fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace quadrat::simulation {
namespace {

struct Documented {
    std::string comment, initialiser;
};
using Members = std::map<std::string, Documented>;

// The members of a struct with the comments above them.
Members members_of_text(const std::string& header, const std::string& type) {
    std::ifstream file(std::string(QUADRAT_SOURCE_DIR) + "/include/quadrat/simulation/" + header);
    const std::regex member(R"( ([a-z_]+)(?: = (.*))?;$)");
    Members found;
    std::string line, comment;
    bool inside = false;
    while (std::getline(file, line)) {
        if (line == "struct " + type + " {") inside = true;
        if (inside && line == "};") break;
        std::smatch match;
        if (const std::size_t at = line.find("/// "); inside && at != line.npos)
            comment += line.substr(at + 4) + " ";
        else if (inside && std::regex_search(line, match, member))
            found[match[1]] = {std::exchange(comment, {}), match[2]};
        else
            comment.clear();
    }
    return found;
}

std::string without(std::string text, const std::string& part) {
    for (std::size_t at = 0; (at = text.find(part, at)) != text.npos;) text.erase(at, part.size());
    return text;
}

// "kg/m³" as comments write it: "kg / m^3".
std::string in_words(std::string unit) {
    if (unit == "m") return "etres";  // the first letter may be large
    if (unit == "s") return "econds";
    for (const auto& [from, to] : {std::pair("/", " / "), std::pair("²", "^2"), std::pair("³", "^3")})
        if (const std::size_t at = unit.find(from); at != unit.npos) unit.replace(at, std::string(from).size(), to);
    return unit;
}

template <class Row>
std::string range_of(const Row& row) {
    using M = typename Row::Member;
    constexpr bool whole = std::is_integral_v<M> && !std::is_same_v<M, bool>;
    switch (row.range) {
        case Range::positive:
        case Range::positive_or_unset:
            return "above 0";
        case Range::not_negative:
        case Range::until:
            return "0 or more";
        case Range::share:
            return "0 to 1";
        case Range::direction:
            return "ny length above 0";
        case Range::phase:
            return "below their number";
        case Range::any:
        case Range::corner:
        case Range::turn:
            break;
    }
    if (whole && row.most == row.least + 1) return std::to_string(row.least) + " or " + std::to_string(row.most);
    if (whole && row.most < UINT32_MAX) return std::to_string(row.least) + " to " + std::to_string(row.most);
    return whole && row.least > 0 ? "t least " + std::to_string(row.least) : "";
}

std::string number(double x) {
    char text[40];
    if (std::isinf(x)) return "infinity";
    return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

// What a value may be called after "Default: ".
template <class M>
std::vector<std::string> names_of_value(const M& value, const std::string& initialiser) {
    if constexpr (std::is_enum_v<M>) {
        return {initialiser.substr(initialiser.rfind(':') + 1)};
    } else if constexpr (std::is_same_v<M, bool>) {
        return {value ? "true" : "false"};
    } else if constexpr (std::is_floating_point_v<M>) {
        return {number(value), without(initialiser, ".0")};
    } else if constexpr (std::is_integral_v<M>) {
        return {std::to_string(value)};
    } else if constexpr (std::is_same_v<M, Vec3d>) {
        if (value == Vec3d{}) return {"0"};
        return {"(" + number(value[0]) + ", " + number(value[1]) + ", " + number(value[2]) + ")"};
    } else if constexpr (std::is_same_v<M, std::array<double, 4>>) {
        return {"(1, 0, 0, 0)"};
    } else if constexpr (std::is_same_v<M, std::array<std::uint32_t, 3>>) {
        return {"0"};
    } else if constexpr (requires { value.empty(); }) {
        if (!std::is_same_v<M, std::vector<Phase>>) return {"none", "empty"};
        return {""};
    } else {
        return {"none"};  // periodic axes, open sides
    }
}

// "Default: VALUE" or "VALUE, the default".
bool says_default(const std::string& comment, const std::string& value) {
    if (comment.find(" " + value + ", the default") != comment.npos) return true;
    const std::string before = "Default: ";
    const std::size_t at = comment.find(before);
    if (at == comment.npos) return false;
    // The value as a whole: what goes on after a point or a digit is another one.
    const std::string rest = comment.substr(at + before.size());
    const std::size_t end = value.size();
    return rest.starts_with(value) && (value.empty() || std::string(" ,:;").find(rest[end]) != std::string::npos ||
                                       (rest[end] == '.' && (end + 1 == rest.size() || rest[end + 1] == ' ')));
}

// What an option's comment does not say.
template <class S, class Row>
std::string missing(const Row& row, const Documented& member) {
    std::string text = member.comment;
    // Thousands are set apart in comments.
    for (std::size_t at = 0; (at = text.find(",000", at)) != text.npos;) text.erase(at, 1);
    if (text.find(in_words(row.unit)) == text.npos) return std::string("the unit ") + row.unit;
    if (const std::string range = range_of(row); text.find(range) == text.npos) return "the range " + range;
    const auto names = names_of_value(S{}.*row.member, member.initialiser);
    if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return says_default(text, n); }))
        return "the default " + names.front();
    return {};
}

template <Described S>
void expect_contracts(const std::string& header, const std::string& type) {
    const Members members = members_of_text(header, type);
    ASSERT_EQ(members.size(), detail::members_of<S>()) << type;
    for_each_field<S>([&](const auto& row) {
        using M = typename std::remove_cvref_t<decltype(row)>::Member;
        if constexpr (!Described<M> && !std::is_pointer_v<M>) {
            const std::string row_name = row.name;
            const std::string name = row_name == "rotation"           ? "orientation"
                                     : row_name == "contact_friction" ? "friction"
                                                                      : row_name;
            ASSERT_TRUE(members.contains(name)) << type << "::" << name;
            EXPECT_EQ(missing<S>(row, members.at(name)), "")
                << type << "::" << name << " does not say it: " << members.at(name).comment;
        }
    });
}

TEST(Contracts, OptionsSayUnitRangeAndDefault) {
    expect_contracts<FluidBlock>("scene.hpp", "FluidBlock");
    expect_contracts<Phase>("scene.hpp", "Phase");
    expect_contracts<FluidParticles>("scene.hpp", "FluidParticles");
    expect_contracts<Emitter>("scene.hpp", "Emitter");
    expect_contracts<SurfaceResponse>("scene.hpp", "SurfaceResponse");
    expect_contracts<WallPlane>("scene.hpp", "WallPlane");
    expect_contracts<Domain>("scene.hpp", "Domain");
    expect_contracts<RigidBody>("scene.hpp", "RigidBody");
    expect_contracts<SceneCloth>("scene.hpp", "SceneCloth");
    expect_contracts<Stepping>("scene.hpp", "Stepping");
    expect_contracts<IncompressibleOptions>("scene.hpp", "IncompressibleOptions");
    expect_contracts<Scene>("scene.hpp", "Scene");
    expect_contracts<ClothOptions>("cloth.hpp", "ClothOptions");
}

TEST(Contracts, TheTestCanFail) {
    EXPECT_TRUE(says_default("Metres. Default: 0.1.", "0.1"));
    EXPECT_TRUE(says_default("Metres. 0, the default: the scene's.", "0"));
    EXPECT_FALSE(says_default("Metres. Default: 0.15.", "0.1"));
    EXPECT_FALSE(says_default("Metres, 0.1.", "0.1"));
    EXPECT_EQ(in_words("kg/m³"), "kg / m^3");
    const auto row = field("radius", &Emitter::radius, "m", "").in(Range::positive);
    EXPECT_EQ(missing<Emitter>(row, {"Metres, above 0. Default: 0.05.", "0.05"}), "");
    EXPECT_EQ(missing<Emitter>(row, {"Above 0. Default: 0.05.", "0.05"}), "the unit m");
    EXPECT_EQ(missing<Emitter>(row, {"Metres. Default: 0.05.", "0.05"}), "the range above 0");
    EXPECT_EQ(missing<Emitter>(row, {"Metres, above 0. Default: 0.06.", "0.05"}), "the default 0.05");
}

}  // namespace
}  // namespace quadrat::simulation
