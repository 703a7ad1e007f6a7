#include "scene_io/page.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "scene_io/extra_keys.hpp"
#include "scene_io/read_fields.hpp"
#include "scene_io/view_fields.hpp"
#include "simulation/scene/scene_fields.hpp"

namespace quadrat::scene_io {
namespace {

using simulation::Described;
using simulation::Range;

std::string number(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.4g", x);
    return text;
}

// A value as a file would give it; empty where there is nothing to say.
template <class M>
std::string shown(const M& value) {
    if constexpr (std::is_enum_v<M>) {
        return std::string("`").append(simulation::names_of<M>[static_cast<std::size_t>(value)]).append("`");
    } else if constexpr (std::is_same_v<M, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<M>) {
        return std::is_integral_v<M> ? std::to_string(value) : number(static_cast<double>(value));
    } else if constexpr (std::is_same_v<M, Vec3d>) {
        return value == Vec3d{} ? "0"
                                : "[" + number(value[0]) + ", " + number(value[1]) + ", " + number(value[2]) + "]";
    } else if constexpr (std::is_same_v<M, std::array<bool, 3>>) {
        return "[" + shown(value[0]) + ", " + shown(value[1]) + ", " + shown(value[2]) + "]";
    } else if constexpr (requires { requires Described<typename M::value_type>; }) {
        return "none";
    } else {
        return "";
    }
}

// What a member is that a file leaves out, in two dimensions, too, where that is something else.
template <Described S, class M>
std::string default_of(M S::*member) {
    const S usual = blank<S>(3), flat = blank<S>(2);
    std::string text = shown(usual.*member);
    if constexpr (std::is_same_v<M, Vec3d>) {
        const Vec3d& v = flat.*member;
        if (v != usual.*member) text += "; 2D [" + number(v[0]) + ", " + number(v[1]) + "]";
    }
    return text;
}

// "m, above 0": the unit and what is allowed.
template <class Row>
std::string limits(const Row& row) {
    using M = typename Row::Member;
    std::string range;
    if constexpr (std::is_enum_v<M>) {
        for (const char* name : simulation::names_of<M>)
            range += (range.empty() ? "`" : ", `") + std::string(name) + "`";
    } else if constexpr (std::is_same_v<M, std::array<std::uint32_t, 3>> ||
                         (std::is_integral_v<M> && !std::is_same_v<M, bool>)) {
        if (row.range != Range::phase && row.most < UINT32_MAX)
            range = std::to_string(row.least) + " to " + std::to_string(row.most);
        else if (row.range != Range::phase && row.least > 0)
            range = "at least " + std::to_string(row.least);
    } else if (row.range == Range::positive || row.range == Range::positive_or_unset) {
        range = "above 0";
    } else if (row.range == Range::not_negative || row.range == Range::until) {
        range = "0 or more";
    } else if (row.range == Range::share) {
        range = "0 to 1";
    }
    const std::string unit = row.unit;
    return unit + (unit.empty() || range.empty() ? "" : ", ") + range;
}

struct Line {
    std::string key, otherwise, limits, about;
};

template <Described S>
void add_lines(std::vector<Line>& lines) {
    simulation::for_each_field<S>([&](const auto& row) {
        if (row.use != simulation::Use::file) return;
        using M = typename std::remove_cvref_t<decltype(row)>::Member;
        if constexpr (Described<M>)
            if (row.is_group()) return add_lines<M>(lines);
        lines.push_back({row.name,
                         row.needed      ? "needed"
                         : row.otherwise ? row.otherwise
                                         : default_of<S>(row.member),
                         limits(row), row.about});
    });
    for (const ExtraKey& key : extra_keys<S>) lines.push_back({key.name, key.otherwise, key.unit, key.about});
}

struct Section {
    const char* name;
    void (*add)(std::vector<Line>&);
};
constexpr Section sections[] = {{"scene", add_lines<Scene>},
                                {"stepping", add_lines<Stepping>},
                                {"incompressible", add_lines<IncompressibleOptions>},
                                {"domain", add_lines<Domain>},
                                {"planes", add_lines<WallPlane>},
                                {"phases", add_lines<Phase>},
                                {"blocks", add_lines<FluidBlock>},
                                {"particles", add_lines<FluidParticles>},
                                {"emitters", add_lines<Emitter>},
                                {"bodies", add_lines<RigidBody>},
                                {"cloths", add_lines<SceneCloth>},
                                {"view", add_lines<SceneView>}};

std::vector<Line> lines_of(std::string_view section) {
    std::vector<Line> lines;
    for (const Section& s : sections)
        if (s.name == section) s.add(lines);
    if (lines.empty()) throw Error(ErrorKind::bad_value, "no such section", {.field = std::string(section)});
    return lines;
}

}  // namespace

std::span<const char* const> page_sections() {
    static const std::vector<const char*> names = [] {
        std::vector<const char*> all;
        for (const Section& s : sections) all.push_back(s.name);
        return all;
    }();
    return names;
}

std::vector<std::string> keys_of(std::string_view section) {
    std::vector<std::string> keys;
    for (const Line& line : lines_of(section)) keys.push_back(line.key);
    return keys;
}

std::string keys_table(std::string_view section) {
    std::string text = "| key | default | unit, range | what it is |\n|---|---|---|---|\n";
    for (const Line& line : lines_of(section))
        text += "| `" + line.key + "` | " + line.otherwise + " | " + line.limits + " | " + line.about + " |\n";
    return text;
}

std::string renewed_page(std::string_view page) {
    constexpr std::string_view begin = "<!-- keys: ", close = " -->\n", end = "<!-- end -->";
    std::string out;
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < page.size();) {
        const std::size_t mark = std::min(page.find(begin, at), page.size());
        out += page.substr(at, mark - at);
        if (mark == page.size()) break;
        const std::size_t name_end = page.find(close, mark), stop = page.find(end, mark);
        if (name_end == page.npos || stop == page.npos || stop < name_end)
            throw Error(ErrorKind::bad_format, "a part of the page has no end", {.byte = mark});
        seen.emplace_back(page.substr(mark + begin.size(), name_end - mark - begin.size()));
        out += page.substr(mark, name_end + close.size() - mark);
        out += keys_table(seen.back());
        out += end;
        at = stop + end.size();
    }
    for (const char* name : page_sections())
        if (std::find(seen.begin(), seen.end(), name) == seen.end())
            throw Error(ErrorKind::bad_format, "the page has no table", {.field = name});
    return out;
}

}  // namespace quadrat::scene_io
