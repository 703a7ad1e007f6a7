// quadrat neighbors: the neighbours of every point within a radius.
#include <quadrat/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cells/validate.hpp"
#include "input.hpp"
#include "io/table/xyz.hpp"
#include "neighbor_methods.hpp"
#include "neighbor_outputs.hpp"
#include "neighbor_rows.hpp"
#include "report.hpp"
#include "verb.hpp"

namespace quadrat::cli {
namespace {

struct NeighborsOptions {
    std::string input;
    std::string out;
    std::optional<double> radius;
    std::string radii_file;
    std::string rule = "own";
    std::vector<double> periodic;
    std::string queries_file;
    std::string groups_file;
    std::vector<std::uint64_t> searches;
    std::optional<std::uint64_t> frame;
    std::optional<std::uint32_t> k;
    double skin = 0;
    std::uint32_t subdivision = 0;
    bool lattice = false;
    bool half = false;
    bool self = false;
    bool distances = false;
    bool vectors = false;
    bool shifts = false;
    CommonOptions common;
};

void check_usage(const NeighborsOptions& options) {
    check_method(options.common.method, neighbor_methods);
    if (!options.radius && options.radii_file.empty() && !options.k)
        throw UsageError("neighbors: --radius R is required (or --radii FILE, or --k K)");
    if (options.radius && !options.radii_file.empty()) throw UsageError("neighbors: --radius or --radii, not both");
    const bool filtered = options.self || options.vectors || options.shifts || !options.groups_file.empty();
    if (options.k && (options.half || !options.radii_file.empty() || options.skin != 0 || filtered))
        throw UsageError("neighbors: --k goes with --radius, --periodic, --lattice, --queries and --distances only");
    if ((options.distances || options.vectors || options.shifts) && options.out.empty())
        throw UsageError("neighbors: --distances, --vectors and --shifts need --out");
    if (options.half && !options.queries_file.empty()) throw UsageError("neighbors: --queries have no half list");
    if (!options.queries_file.empty() && !options.radii_file.empty())
        throw UsageError("neighbors: --queries need --radius or --k");
    if (options.groups_file.empty() != options.searches.empty())
        throw UsageError("neighbors: --groups and --searches go together");
    if (options.lattice && !options.periodic.empty()) throw UsageError("neighbors: --lattice or --periodic, not both");
}

std::vector<std::string> rule_names() {
    std::vector<std::string> names;
    for (const RadiusRule rule : all_radius_rules) names.emplace_back(name_of(rule));
    return names;
}

template <int D, class T>
Periodic<D, T> periodic_box(const std::vector<double>& numbers) {
    Periodic<D, T> box;
    if (numbers.empty()) return box;
    if (numbers.size() != D && numbers.size() != D * D)
        throw Error(ErrorKind::bad_shape,
                    std::to_string(numbers.size()) + " numbers; expected " + std::to_string(D) + " lengths or " +
                        std::to_string(D * D) + " for the box vectors",
                    {.field = "--periodic"});
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (!std::isfinite(numbers[k]) || (numbers.size() == D && numbers[k] < 0))
            throw Error(ErrorKind::bad_value, "must be finite and not negative", {.column = k, .field = "--periodic"});
        const int row = static_cast<int>(numbers.size() == D ? k : k / D);
        const int column = static_cast<int>(numbers.size() == D ? k : k % D);
        box.vectors[row][column] = static_cast<T>(numbers[k]);
        // A length that the type of the points takes for zero would silently leave the axis open.
        if ((numbers[k] != 0) != (box.vectors[row][column] != T(0)) || !std::isfinite(box.vectors[row][column]))
            throw Error(ErrorKind::bad_value, "is too small or too large for the type of the points",
                        {.column = k, .field = "--periodic"});
    }
    return box;
}

// The box of a frame: vectors along which nothing repeats are left out.
std::vector<double> numbers_of(const io::XyzBox& box, const std::string& file) {
    std::vector<double> numbers(9, 0.0);
    bool any = false;
    for (std::size_t k = 0; k < 9; ++k) {
        if (box.repeats[k / 3]) numbers[k] = box.vectors[k];
        any = any || numbers[k] != 0;
    }
    if (!any) throw Error(ErrorKind::bad_format, "the comment has no Lattice that repeats", {.file = file});
    return numbers;
}

// Without a radius, the k nearest are searched in cells of about k points.
template <int D, class T>
T radius_for(std::uint32_t k, std::span<const Vec<D, T>> points) {
    double volume = 1, widest = 0;
    for (int axis = 0; axis < D; ++axis) {
        const auto [lo, hi] = std::minmax_element(points.begin(), points.end(),
                                                  [&](const auto& a, const auto& b) { return a[axis] < b[axis]; });
        const double extent =
            points.empty() ? 0 : static_cast<double>((*hi)[axis]) / 2 - static_cast<double>((*lo)[axis]) / 2;
        widest = std::max(widest, 2 * extent);
        volume *= 2 * extent;
    }
    const double share = static_cast<double>(k + 1) / static_cast<double>(points.size() + 1);
    double radius = std::pow(volume * share, 1.0 / D);
    if (!(radius > widest * 1e-6) || !std::isfinite(radius)) radius = widest * share;
    const T result = static_cast<T>(radius);
    return result > 0 && std::isfinite(result) ? result : T(1);
}

// The other structures store as they find: what they would need is counted before.
template <int D, class T>
void check_size(std::span<const Vec<D, T>> points, const NeighborSettings<D, T>& settings) {
    CellIndex<D, T> index({.radius = settings.radius, .rule = settings.rule, .executor = settings.executor});
    settings.radii.empty() ? index.build(points) : index.build(points, settings.radii);
    const std::uint64_t entries = index.count_pairs() * (settings.radii.empty() || is_symmetric(settings.rule) ? 2 : 1);
    const std::uint64_t need = entries * sizeof(std::uint32_t) + points.size() * sizeof(std::uint64_t);
    if (need > settings.max_bytes)
        throw Error(ErrorKind::too_large,
                    "the lists need " + std::to_string(need) + " bytes for " + std::to_string(entries) + " entries",
                    {.field = "--max-bytes"});
}

// A half list from a full one.
void keep_upper(NeighborList& list) {
    NeighborList upper;
    upper.start();
    std::vector<std::uint32_t> row;
    for (std::size_t i = 0; i < list.size(); ++i) {
        row.clear();
        for (const std::uint32_t j : list[i])
            if (j > i) row.push_back(j);
        upper.append(row);
    }
    list = std::move(upper);
}

struct Inputs {
    Input points;
    std::optional<Input> queries;
    std::vector<std::uint8_t> groups;
    std::vector<double> periodic;
};

Inputs read_all(const NeighborsOptions& options) {
    Inputs all;
    all.periodic = options.periodic;
    io::XyzBox box;
    all.points =
        options.lattice || options.frame ? read_frame(options.input, options.frame, box) : read_points(options.input);
    if (options.lattice) all.periodic = numbers_of(box, options.input);
    if (!options.groups_file.empty()) all.groups = read_groups(options.groups_file, all.points);
    if (!options.queries_file.empty()) {
        all.queries = read_points(options.queries_file);
        match(all.points, *all.queries);
    }
    return all;
}

template <int D, class T>
void find(const NeighborsOptions& options, const Inputs& inputs, Report& report, Timer& timer, Progress& progress) {
    const Input& input = inputs.points;
    const auto points = input.rows<Vec<D, T>>();
    const auto executor = options.common.executor();
    NeighborSettings<D, T> settings{.executor = executor.get(),
                                    .max_bytes = options.common.max_bytes,
                                    .rule = *radius_rule_named(options.rule),
                                    .periodic = periodic_box<D, T>(inputs.periodic),
                                    .k = options.k.value_or(0),
                                    .skin = static_cast<T>(options.skin),
                                    .half = options.half,
                                    .self = options.self,
                                    .distances = options.distances,
                                    .vectors = options.vectors,
                                    .shifts = options.shifts,
                                    .searched_elsewhere = inputs.queries.has_value(),
                                    .groups = inputs.groups,
                                    .searches = options.searches,
                                    .subdivision = options.subdivision,
                                    .watch = {.stop = {}, .report = [&](double part) { progress.at(part); }}};
    if (!(options.skin >= 0) || !std::isfinite(settings.skin))
        throw Error(ErrorKind::bad_value, "must be finite and not negative", {.field = "--skin"});
    io::Table radii;
    if (options.radius) {
        settings.radius = static_cast<T>(*options.radius);
        cells::check_radius(settings.radius, "--radius");
        settings.limit = settings.radius;
    } else if (!options.radii_file.empty()) {
        radii = read_radii(options.radii_file, input);
        settings.radii = radii.values<T>();
        if (settings.radii.empty()) settings.radius = T(1);
    }
    if (inputs.queries) settings.queries = inputs.queries->template rows<Vec<D, T>>();
    report.read += timer.lap();
    NeighborOutputs<D, T> outputs(options.out, options.distances, options.vectors, options.shifts);

    progress.now("finding neighbours");
    const auto finder = [&] {
        if (!settings.k || settings.radius > 0) return make_neighbor_finder<D, T>(report.method, settings);
        NeighborSettings<D, T> guessed = settings;
        guessed.radius = radius_for<D, T>(settings.k, points);
        return make_neighbor_finder<D, T>(report.method, guessed);
    }();
    if (options.common.max_bytes && report.method != "cell-index") check_size<D, T>(points, settings);
    NeighborList list;
    report.time(options.common.repeat, [&](Timer& lap, double& build, double& find_seconds) {
        finder->build(points);
        build = lap.lap();
        finder->find(list);
        find_seconds = lap.lap();
    });
    report.tested = finder->tested();
    if (options.half && report.method != "cell-index") keep_upper(list);
    report.pairs = list.entries();
    report.checksum = neighbor_checksum(list, options.half);
    if (options.common.max_bytes && list.entries() * sizeof(std::uint32_t) > options.common.max_bytes)
        throw Error(ErrorKind::too_large,
                    "the lists take " + grouped(list.entries() * sizeof(std::uint32_t)) + " bytes",
                    {.field = "--max-bytes"});
    if (!outputs.wanted()) return;
    progress.now("writing " + options.out + ".*.npy");
    const bool given = list.distance_kind() == DistanceKind::distance;
    const RowSort sort = options.k ? RowSort::as_given : RowSort::by_index;
    NeighborRows<T> rows = sorted_rows<D, T>(list, options.half, sort, options.distances && given);
    if (options.distances && !given) fill_distances<D, T>(rows, points);
    outputs.write(rows);
}

void run_neighbors(const NeighborsOptions& options) {
    check_usage(options);
    Progress progress("reading");
    Report report;
    Timer timer;
    const Inputs inputs = read_all(options);
    const Input& input = inputs.points;
    report.objects = input.size();
    report.method = resolve_neighbor_method(options.common.method);
    report.threads = options.common.thread_count();
    base::dispatch(input.dimension, input.scalar(),
                   [&]<int D, class T>() { find<D, T>(options, inputs, report, timer, progress); });
    progress.end();
    report.print(options.common.json, "points", options.half ? "pairs of neighbours" : "neighbours");
}

}  // namespace

void add_neighbors(CLI::App& app) {
    auto options = std::make_shared<NeighborsOptions>();
    CLI::App* verb = add_verb(app, "neighbors", "neighbours of every point within a radius",
                              "  quadrat neighbors points.npy --radius 0.1 --out near\n"
                              "  quadrat neighbors atoms.xyz --radius 6 --periodic 40,40,40 --half --json");
    verb->add_option("INPUT", options->input, "(N, D) points as .npy, .csv, .xyz or .ply")->required();
    verb->add_option("--radius", options->radius, "how near is near")->type_name("R");
    verb->add_option("-o,--out", options->out,
                     "writes PREFIX.offsets.npy (int64, N + 1), PREFIX.indices.npy (uint32) and, where asked for, "
                     "PREFIX.distances.npy, .vectors.npy and .shifts.npy")
        ->type_name("PREFIX");
    verb->add_option("--radii", options->radii_file, "(N,) one radius per point, .npy or .csv")->type_name("FILE");
    verb->add_option("--radius-rule", options->rule, "how two radii combine")
        ->type_name("RULE")
        ->check(CLI::IsMember(rule_names()))
        ->capture_default_str();
    verb->add_option("--periodic", options->periodic, "Lx,Ly,Lz (0: open), or nine numbers: the three box vectors")
        ->type_name("L,...")
        ->delimiter(',')
        ->expected(1, 9);
    verb->add_flag("--lattice", options->lattice, "the periodic box is that of the .xyz file: Lattice= and pbc=");
    verb->add_option("--frame", options->frame, "which frame of an .xyz file, from 0 on")->type_name("F");
    whole_number(verb->add_option("--k", options->k, "only the K nearest, nearest first"), 1, 0xFFFFFFFF)
        ->type_name("K");
    verb->add_option("--skin", options->skin, "lists reach radius + skin")->type_name("S");
    verb->add_flag("--half", options->half, "each pair once, in the row of the smaller index");
    verb->add_flag("--self", options->self, "each point is in its own row, too");
    verb->add_flag("--distances", options->distances, "write the distances too");
    verb->add_flag("--vectors", options->vectors, "write the vectors to the neighbours too, (P, D)");
    verb->add_flag("--shifts", options->shifts, "write the periodic images too, in box vectors, (P, D) int32");
    verb->add_option("--queries", options->queries_file, "(Q, D) points whose neighbours are wanted, one row for each")
        ->type_name("FILE");
    verb->add_option("--groups", options->groups_file, "(N,) the group of each point, 0 to 63, .npy or .csv")
        ->type_name("FILE");
    verb->add_option("--searches", options->searches,
                     "number g has bit h set if rows of group g hold points of group h: 2,1 for two groups that see "
                     "each other and not themselves")
        ->type_name("M,...")
        ->delimiter(',')
        ->expected(1, 64);
    whole_number(verb->add_option("--subdivision", options->subdivision, "cells per radius, for experiments"), 0, 64)
        ->type_name("H");
    options->common.add_to(*verb, neighbor_methods);
    options->common.add_repeat_to(*verb);
    verb->callback([options] { run_neighbors(*options); });
}

}  // namespace quadrat::cli
