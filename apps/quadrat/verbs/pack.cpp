// quadrat pack: sparse pixels or voxels become a .qvox file.
#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

#include "verb.hpp"
#include "verbs/pack_source.hpp"
#include "voxel_report.hpp"

namespace quadrat::cli {
namespace {

struct PackOptions {
    SourceOptions source;
    std::vector<std::string> notes;  // KEY=TEXT
    VoxelOptions voxels;
    BlockOptions blocks;
    std::string out, block;
    bool mipmap = false;
    int compression = 0;
    unsigned threads = 1;
    bool json = false;
};

template <int D>
GridTransform<D> transform_in(const GridTransform<3>& t) {
    GridTransform<D> out;
    for (int k = 0; k < D; ++k) {
        out.origin[k] = t.origin[k];
        for (std::size_t a = 0; a < D; ++a) out.step[a][k] = t.step[a][k];
    }
    return out;
}

// How many samples are in no block that was kept, which is those of incomplete cells if these were not asked for. A
// sample on the border of a block is in the block before it, too.
template <int D>
std::size_t count_left_out(const std::vector<Voxel<D>>& positions, const VoxelGrid<D>& grid) {
    const auto size = static_cast<std::int32_t>(grid.block);
    return static_cast<std::size_t>(std::count_if(positions.begin(), positions.end(), [&](const Voxel<D>& p) {
        for (unsigned before = 0; before < 1u << D; ++before) {
            Voxel<D> block;
            bool here = true;
            for (int k = 0; k < D; ++k) {
                const std::int32_t floor = p[k] / size - (p[k] % size < 0 ? 1 : 0);
                const bool back = before >> k & 1;
                here = here && (!back || floor * size == p[k]);
                block[k] = floor - (back ? 1 : 0);
            }
            if (here && grid.index.find(block) != VoxelIndex<D>::absent) return false;
        }
        return true;
    }));
}

template <int D>
Json pack(const std::vector<Voxel<D>>& positions, const VoxelSource& source, PackOptions& options) {
    std::size_t value_bytes = 0;
    for (const SourceColumn& c : source.columns) value_bytes += size_of(c.type) * c.components;
    options.voxels.value_bytes = value_bytes;
    const auto executor = options.threads == 1 ? nullptr : make_executor(options.threads);
    options.voxels.executor = executor.get();
    Progress progress("packing " + grouped(positions.size()) + " positions");
    Timer timer;
    VoxelGrid<D> grid;
    options.blocks.given = GivenSamples::remembered;
    const bool coherent = options.voxels.coherence != Coherence::none;
    PerfectHashReport report;
    if (options.block.empty() && !options.mipmap) {
        grid.index = VoxelIndex<D>::build(positions, options.voxels, coherent ? &report : nullptr);
        for (const SourceColumn& c : source.columns) grid.add_channel(c.name, c.type, c.components, positions, c.rows);
    } else {
        std::vector<ColumnView> columns;
        for (const SourceColumn& c : source.columns)
            columns.push_back({c.name, c.type, c.components, c.rows, c.background});
        options.blocks.voxels = options.voxels;
        if (options.mipmap)
            grid = pack_mipmap<D>(positions, columns, {.blocked = !options.block.empty(), .blocks = options.blocks},
                                  coherent ? &report : nullptr);
        else
            grid = pack_blocks<D>(positions, columns, options.blocks, coherent ? &report : nullptr);
    }
    const double seconds = timer.lap();
    const std::size_t left_out = options.mipmap || options.block.empty() ? 0 : count_left_out<D>(positions, grid);
    if (left_out != 0 && left_out == positions.size())
        throw Error(ErrorKind::unsupported,
                    "--cells complete: no cell has all of its samples, so nothing would be kept");
    grid.transform = transform_in<D>(source.transform);
    for (const Note& n : source.notes) grid.set_note(n.key, n.text);
    for (const std::string& n : options.notes) {
        const std::size_t equals = n.find('=');
        grid.set_note(n.substr(0, equals), n.substr(equals + 1));
    }
    for (std::size_t i = 0; i < source.columns.size(); ++i) {
        grid.channels[i].shape = source.columns[i].shape;
        if (grid.channels[i].background.empty())
            for (const std::byte b : source.columns[i].background)
                grid.channels[i].background.push_back(static_cast<std::uint8_t>(b));
    }
    progress.now("writing " + options.out);
    write_qvox(grid, options.out, {.compression = options.compression});
    Json json = voxel_json(grid);
    json["seconds"] = seconds;
    const Layout taken = grid.index.layout();
    if (coherent && (taken == Layout::voxel || taken == Layout::brick)) json["coherent_share"] = report.coherent_share;
    if (left_out != 0) json["left_out"] = left_out;
    if (!source.skipped.empty()) json["skipped"] = source.skipped;
    json["coherence"] = grid.index.layout() == Layout::voxel && grid.block == 0 && grid.mipmap.levels == 0
                            ? Json(coherence<D, D>(grid.index.hash(), positions))
                            : Json();
    return json;
}

// Options of which it matters whether they were given at all.
struct GivenOptions {
    const CLI::Option *construction = nullptr, *coherence = nullptr, *cells = nullptr, *seed = nullptr;
};

// What is packed.
void add_source_options(CLI::App& verb, PackOptions& options) {
    verb.add_option("input", options.source.input,
                    "coordinates (.npy .csv), a picture (.png), a mesh or points (.obj .ply), a grid (.vdb)")
        ->required();
    verb.add_option("--values", options.source.values,
                    "values of the coordinates, FILE or NAME=FILE (.npy .csv); may repeat");
    whole_number(verb.add_option("--resolution", options.source.resolution, "cells on the longest edge of a mesh"), 1,
                 1 << 20);
    verb.add_option("--grid", options.source.grids, "a grid of a .vdb file; may repeat (default all)");
    verb.add_option("--note", options.notes, "KEY=TEXT, kept in the file: name, unit, CHANNEL.unit, ...; may repeat");
    verb.add_option("--background", options.source.background, "pixels of this colour are empty, as r,g,b");
}

// How it is packed.
void add_voxel_options(CLI::App& verb, VoxelOptions& voxels, GivenOptions& given) {
    given.construction =
        verb.add_option("--construction", voxels.construction, "fast or compact (default fast)")
            ->transform(choice<Construction>({{"fast", Construction::fast}, {"compact", Construction::compact}}));
    verb.add_option("--encoding", voxels.encoding, "of the voxel layout (default auto: the smallest exact one)")
        ->transform(choice<Encoding>({{"auto", Encoding::automatic},
                                      {"constrained", Encoding::constrained},
                                      {"domain-bit", Encoding::domain_bit},
                                      {"position-tag", Encoding::position_tag},
                                      {"position-hash", Encoding::position_hash},
                                      {"bucket-tag", Encoding::bucket_tag}}));
    verb.add_option("--layout", voxels.layout, "voxel, brick, bits, keys or auto (default auto: the smallest)")
        ->transform(choice<Layout>({{"auto", Layout::automatic},
                                    {"voxel", Layout::voxel},
                                    {"brick", Layout::brick},
                                    {"bits", Layout::bits},
                                    {"keys", Layout::keys}}));
    verb.add_option("--optimize", voxels.optimize,
                    "of the automatic layout: speed, or size, which may take sorted keys (default speed)")
        ->transform(choice<Optimize>({{"speed", Optimize::speed}, {"size", Optimize::size}}));
    given.coherence =
        verb.add_option("--coherence", voxels.coherence, "none, defined or domain (default none)")
            ->transform(choice<Coherence>(
                {{"none", Coherence::none}, {"defined", Coherence::defined}, {"domain", Coherence::domain}}));
}

// What CLI11 cannot check, and the size of blocks. Throws UsageError.
void check_notes_and_block(PackOptions& options, const GivenOptions& given) {
    if (given.cells->count() != 0 && options.block.empty()) throw UsageError("--cells: needs --block");
    for (const std::string& n : options.notes)
        if (const std::size_t equals = n.find('='); equals == 0 || equals == std::string::npos)
            throw UsageError("--note: expected KEY=TEXT");
    if (options.block.empty() || options.block == "auto") return;
    const bool digits = options.block.find_first_not_of("0123456789") == std::string::npos;
    options.blocks.size =
        digits && options.block.size() < 3 ? static_cast<std::uint32_t>(std::stoul(options.block)) : 0;
    if (options.blocks.size == 0) throw UsageError("--block: expected auto or a size from 1 to 64");
}

// Options that exclude each other. Throws UsageError.
void check_layout(const VoxelOptions& voxels, const GivenOptions& given) {
    const Layout layout = voxels.layout;
    const Encoding encoding = voxels.encoding;
    if (encoding != Encoding::automatic && ((layout == Layout::brick && encoding != Encoding::bucket_tag) ||
                                            (layout == Layout::bits && encoding != Encoding::domain_bit)))
        throw UsageError(std::string("--encoding: ") + name(encoding) + " needs --layout voxel, not " + name(layout));
    if (voxels.optimize == Optimize::size && (layout != Layout::automatic || encoding != Encoding::automatic))
        throw UsageError("--optimize: chooses the layout, so it goes with no --layout and no --encoding");
    for (const CLI::Option* of_hashes : {given.construction, given.coherence, given.seed})
        if ((layout == Layout::bits || layout == Layout::keys) && of_hashes->count() != 0)
            throw UsageError(of_hashes->get_name() + ": the " + name(layout) + " layout has no hash");
}

// What was asked for and could not be, in words on stderr.
void say_what_was_not_done(const GivenOptions& given, const Json& json) {
    const std::string layout = json["layout"].get<std::string>();
    if (layout == name(Layout::bits) || layout == name(Layout::keys))
        for (const CLI::Option* of_hashes : {given.construction, given.coherence, given.seed})
            if (of_hashes->count() != 0)
                std::fprintf(stderr, "note: %s has no effect: the %s layout, which was the smallest, has no hash\n",
                             of_hashes->get_name().c_str(), layout.c_str());
    if (json.contains("coherent_share") && json["coherent_share"] < 1.0)
        std::fprintf(stderr,
                     "note: %.0f %% of the positions were placed coherently: the data leaves no room for more\n",
                     100 * json["coherent_share"].get<double>());
    if (json.contains("left_out"))
        std::fprintf(stderr, "note: %s samples lie in no complete cell and were left out\n",
                     grouped(json["left_out"].get<std::size_t>()).c_str());
}

void run_pack(PackOptions& options, const GivenOptions& given) {
    const VoxelSource source = read_voxel_source(options.source);
    const Json json = std::visit(
        [&](const auto& positions) {
            using V = typename std::decay_t<decltype(positions)>::value_type;
            try {
                return pack<sizeof(V) / 4>(positions, source, options);
            } catch (const Error& e) {
                throw e.in_file(options.source.input);
            }
        },
        source.positions);
    if (!options.json) say_what_was_not_done(given, json);
    std::printf("%s\n", (options.json ? json_text(json) : voxel_text(json)).c_str());
}

}  // namespace

void add_pack(CLI::App& app) {
    CLI::App* verb = add_verb(app, "pack", "Pack sparse pixels or voxels into a perfect hash",
                              "  quadrat pack coordinates.npy --values colors.npy -o voxels.qvox\n"
                              "  quadrat pack bunny.obj --resolution 512 --layout auto -o bunny.qvox --json");
    const auto options = std::make_shared<PackOptions>();
    GivenOptions given;
    add_source_options(*verb, *options);
    add_voxel_options(*verb, options->voxels, given);
    verb->add_option("--block", options->block,
                     "blocks of N^D cells with borders for filtering; auto: the N with the least memory");
    given.cells =
        verb->add_option("--cells", options->blocks.rule,
                         "blocks for cells touched by or complete in samples (default touched)")
            ->transform(choice<BlockRule>({{"touched", BlockRule::touched}, {"complete", BlockRule::complete}}));
    verb->add_flag("--mipmap", options->mipmap, "all levels of detail, by the mean of what is stored");
    given.seed =
        whole_number(verb->add_option("--seed", options->voxels.seed, "the same seed gives the same file (default 1)"),
                     0, ~std::uint64_t{0});
    whole_number(
        verb->add_option("--compress", options->compression, "zstd level 1..19 for storage (default 0: for mapping)"),
        0, 19);
    whole_number(verb->add_option("--threads", options->threads, "0: one per processor (default 1)"), 0, 1024);
    verb->add_option("-o,--out", options->out, "the .qvox file")->required();
    verb->add_flag("--json", options->json, "print one JSON object");
    verb->callback([options, given] {
        check_notes_and_block(*options, given);
        check_layout(options->voxels, given);
        run_pack(*options, given);
    });
}

}  // namespace quadrat::cli
