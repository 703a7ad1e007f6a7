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
        channels.push_back({{"name", c.name}, {"type", name(c.type)}, {"components", c.components}});
    const std::size_t value_bytes = grid.value_bytes();
    const double offset_bits = h.entries() == 0
                                   ? 0.0
                                   : static_cast<double>(D * h.offset_bits()) * h.buckets() / x.entries();
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
            {"exact", x.exact()},
            {"tag_bits", x.tag_bits()},
            {"value_bytes", value_bytes},
            {"block", grid.block},
            {"levels", grid.mipmap.levels},
            {"channels", channels}};
}

/// The same as lines of text, the last one not ended.
[[nodiscard]] inline std::string voxel_text(const Json& json) {
    std::string text;
    for (const auto& [key, value] : json.items()) {
        if (key == "channels") {
            for (const auto& c : value)
                text += "channel " + c["name"].get<std::string>() + ": " + c["type"].get<std::string>() + " x " +
                        std::to_string(c["components"].get<unsigned>()) + "\n";
            continue;
        }
        if (!value.is_null()) text += key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
    }
    if (!text.empty()) text.pop_back();
    return text;
}

}  // namespace quadrat::cli
