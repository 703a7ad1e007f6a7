// What pack and info say about a grid.
#pragma once

#include <quadrat/voxels.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <string>

#include "verb.hpp"

namespace quadrat::cli {

/// Turns one of the names into its value; anything else is a wrong usage that lists them.
template <class Value>
[[nodiscard]] CLI::Validator choice(std::map<std::string, Value> values) {
    std::string names;
    for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
    CLI::Validator validator(
        [values = std::move(values), names](std::string& given) -> std::string {
            const auto found = values.find(given);
            if (found == values.end()) return "'" + given + "' is none of " + names;
            given = CLI::detail::value_string(found->second);
            return {};
        },
        "");
    return validator;
}

/// As text to print; bytes that are no UTF-8 become replacement characters.
[[nodiscard]] inline std::string json_text(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

template <int D>
[[nodiscard]] Json transform_json(const GridTransform<D>& t) {
    Json origin = Json::array(), steps = Json::array();
    for (int k = 0; k < D; ++k) origin.push_back(t.origin[k]);
    for (const auto& step : t.step) {
        Json row = Json::array();
        for (int k = 0; k < D; ++k) row.push_back(step[k]);
        steps.push_back(row);
    }
    return {{"origin", origin}, {"step", steps}};
}

template <int D>
[[nodiscard]] Json voxel_json(const VoxelGrid<D>& grid) {
    const VoxelIndex<D>& x = grid.index;
    const PerfectHash<D>& h = x.hash();
    Json domain = Json::array(), origin = Json::array(), table = Json::array(), offsets = Json::array(),
         channels = Json::array();
    for (int a = 0; a < D; ++a) {
        domain.push_back(x.extent()[static_cast<std::size_t>(a)]);
        origin.push_back(x.origin()[a]);
        if (h.entries() == 0) continue;
        table.push_back(h.table_size(a));
        offsets.push_back(h.offset_size(a));
    }
    for (const Channel& c : grid.channels)
        channels.push_back(
            {{"name", c.name}, {"type", name(c.type)}, {"components", c.components}, {"shape", c.shape}});
    Json notes = Json::object();
    for (const Note& n : grid.notes) notes[n.key] = n.text;
    const std::size_t value_bytes = grid.value_bytes();
    const double offset_bits =
        h.entries() == 0 ? 0.0 : static_cast<double>(D * h.offset_bits()) * h.buckets() / x.entries();
    return {{"entries", x.entries()},
            {"dimension", D},
            {"domain", domain},
            {"origin", origin},
            {"table", table},
            {"offsets", offsets},
            {"offset_bits_per_entry", offset_bits},
            {"overhead_bits_per_entry", x.overhead_bits_per_entry(value_bytes)},
            {"encoding", name(x.encoding())},
            {"layout", name(x.layout())},
            {"exact", grid.exact()},
            {"tag_bits", x.tag_bits()},
            {"value_bytes", value_bytes},
            {"block", grid.block},
            {"levels", grid.mipmap.levels},
            {"transform", transform_json(grid.transform)},
            {"notes", notes},
            {"channels", channels}};
}

/// The same as lines of text, the last one not ended.
[[nodiscard]] inline std::string voxel_text(const Json& json) {
    std::string text;
    for (const auto& [key, value] : json.items()) {
        if (key == "channels") {
            for (const auto& c : value)
                text += "channel " + printable(c["name"].get<std::string>()) + ": " + c["type"].get<std::string>() +
                        " x " + std::to_string(c["components"].get<unsigned>()) + "\n";
            continue;
        }
        if (!value.is_null())
            text += key + ": " +
                    (value.is_string() ? value.get<std::string>()
                                       : value.dump(-1, ' ', false, Json::error_handler_t::replace)) +
                    "\n";
    }
    if (!text.empty()) text.pop_back();
    return text;
}

}  // namespace quadrat::cli
