// quadrat unpack: a .qvox file becomes arrays again, OpenVDB grids, or the textures that a shader needs.
#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "io/table/npy.hpp"
#include "io/text.hpp"
#include "verb.hpp"
#include "verbs/voxel_tables.hpp"
#include "voxel_report.hpp"

#if QUADRAT_HAS_OPENVDB
#include "verbs/openvdb/write_vdb.hpp"
#endif

namespace quadrat::cli {
namespace {

struct UnpackOptions {
    std::string input, out;
    bool textures = false, json = false;
};

// Names of channels come from the file: they must not lead elsewhere, nor hide another array.
void check_names(std::span<const Channel> channels, std::set<std::string> taken) {
    for (const Channel& c : channels) {
        if (!std::all_of(c.name.begin(), c.name.end(), [](unsigned char b) { return b > ' ' && b != '/' && b != 127; }))
            throw Error(ErrorKind::unsupported, "a name that no file can have", {.field = "channel " + c.name});
        if (!taken.insert(c.name).second)
            throw Error(ErrorKind::duplicate, "another array has this name already", {.field = "channel " + c.name});
    }
}

template <int D>
Json unpack_vdb([[maybe_unused]] const VoxelGrid<D>& grid, const std::string& path) {
#if QUADRAT_HAS_OPENVDB
    write_vdb(grid, path);
    return {{"entries", sorted_samples(grid).size()}, {"files", Json::array({path})}};
#else
    throw Error(ErrorKind::unsupported, "this build cannot write OpenVDB files (QUADRAT_WITH_OPENVDB)", {.file = path});
#endif
}

template <int D>
Json unpack(const VoxelGrid<D>& grid, const UnpackOptions& options) {
    Json files = Json::array();
    const auto path = [&](const std::string& name) {
        files.push_back(options.out + "." + name + ".npy");
        return options.out + "." + name + ".npy";
    };
    if (options.textures) {
        const auto tables = glsl_tables(grid.index);
        std::set<std::string> taken;
        for (const GlslTable& table : tables) taken.insert(table.name);
        check_names(grid.channels, taken);
        for (const GlslTable& table : tables)
            io::write_npy(path(table.name), io::view(std::span<const std::uint32_t>(table.words),
                                                     {table.words.size() / glsl_texture_width, glsl_texture_width}));
        for (const Channel& c : grid.channels) write_channel(path(c.name), c, grid.index.values());
        return {{"entries", grid.index.entries()}, {"files", files}};
    }
    if (io::ending(options.out) == ".vdb") return unpack_vdb(grid, options.out);
    check_names(grid.channels, {"coordinates"});
    const auto sorted = sorted_samples(grid);
    std::vector<std::int32_t> coordinates;
    std::vector<std::uint64_t> numbers;
    for (const auto& [p, number] : sorted) {
        for (int a = 0; a < D; ++a) coordinates.push_back(p[a]);
        numbers.push_back(number);
    }
    io::write_npy(path("coordinates"), io::view(std::span<const std::int32_t>(coordinates), {sorted.size(), D}));
    for (const Channel& c : grid.channels)
        write_channel(path(c.name), gather(c, numbers, samples_per_value(grid)), numbers.size());
    return {{"entries", sorted.size()}, {"files", files}};
}

}  // namespace

void add_unpack(CLI::App& app) {
    CLI::App* verb = add_verb(app, "unpack", "Write the positions and values of a .qvox file as arrays",
                              "  quadrat unpack voxels.qvox -o voxels");
    const auto options = std::make_shared<UnpackOptions>();
    verb->add_option("input", options->input, "a .qvox file")->required();
    verb->add_option("-o,--out", options->out,
                     "PREFIX of PREFIX.coordinates.npy and PREFIX.CHANNEL.npy, sorted by z, y, x; or FILE.vdb")
        ->required();
    verb->add_flag("--textures", options->textures, "the tables as they are, for a shader (info --glsl)");
    verb->add_flag("--json", options->json, "print one JSON object");
    verb->callback([options] {
        const AnyVoxelGrid any = read_qvox(options->input, {.verify = true});
        const Json json = std::visit(
            [&](const auto& grid) {
                try {
                    return unpack(grid, *options);
                } catch (const Error& e) {
                    throw e.in_file(options->input);
                }
            },
            any);
        if (options->json)
            std::printf("%s\n", json_text(json).c_str());
        else
            for (const auto& f : json["files"]) std::printf("%s\n", f.get<std::string>().c_str());
    });
}

}  // namespace quadrat::cli
