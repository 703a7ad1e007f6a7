// quadrat lookup: the values of a .qvox file at given positions.
#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>

#include "io/by_ending.hpp"
#include "verb.hpp"
#include "verbs/pack_source.hpp"
#include "verbs/voxel_tables.hpp"

namespace quadrat::cli {
namespace {

struct LookupOptions {
    std::string input, queries, channel, out, found;
    bool json = false;
};

template <int D>
Json lookup(VoxelGrid<D> grid, const LookupOptions& options) {
    const auto any = read_positions(options.queries);
    const auto* positions = std::get_if<std::vector<Voxel<D>>>(&any);
    if (!positions)
        throw Error(ErrorKind::bad_shape, "the voxels have " + std::to_string(D) + " coordinates",
                    {.file = options.queries});
    std::vector<std::uint64_t> numbers(positions->size(), no_sample);
    Timer timer;
    find_samples<D>(grid, *positions, numbers);
    const double seconds = timer.lap();
    std::vector<std::uint8_t> found(numbers.size());
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) count += found[i] = numbers[i] != no_sample;
    if (!options.out.empty()) {
        Channel* c = options.channel.empty() ? (grid.channels.empty() ? nullptr : grid.channels.data())
                                             : grid.channel(options.channel);
        if (!c) throw Error(ErrorKind::bad_shape, "no such channel", {.file = options.input, .field = options.channel});
        write_channel(options.out, gather(*c, numbers, samples_per_value(grid)), numbers.size());
    }
    if (!options.found.empty())
        io::write_table(options.found, io::view(std::span<const std::uint8_t>(found), {found.size()}));
    return {{"queries", numbers.size()}, {"found", count}, {"exact", grid.exact()}, {"seconds", seconds}};
}

}  // namespace

void add_lookup(CLI::App& app) {
    CLI::App* verb = add_verb(app, "lookup", "Values of a .qvox file at given positions",
                              "  quadrat lookup voxels.qvox queries.npy -o values.npy --found found.npy");
    const auto options = std::make_shared<LookupOptions>();
    verb->add_option("input", options->input, "a .qvox file")->required();
    verb->add_option("queries", options->queries, "positions, rows of 2 or 3 integers (.npy .csv)")->required();
    verb->add_option("--channel", options->channel, "the channel (default the first)");
    verb->add_option("-o,--out", options->out, "values, the background where nothing is stored (.npy .csv)");
    verb->add_option("--found", options->found, "1 where something is stored, else 0 (.npy .csv)");
    verb->add_flag("--json", options->json, "print one JSON object");
    verb->callback([options] {
        AnyVoxelGrid any = read_qvox(options->input, {.verify = true});
        const Json json = std::visit([&](auto& grid) { return lookup(std::move(grid), *options); }, any);
        if (options->json)
            std::printf("%s\n", json.dump(2).c_str());
        else
            std::printf("%s of %s found\n", grouped(json["found"]).c_str(), grouped(json["queries"]).c_str());
    });
}

}  // namespace quadrat::cli
