// quadrat pairs: overlapping boxes of one set, or between two.
#include <quadrat/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "input.hpp"
#include "io/by_ending.hpp"
#include "io/checksum.hpp"
#include "pair_methods.hpp"
#include "report.hpp"
#include "verb.hpp"

namespace quadrat::cli {
namespace {

struct PairsOptions {
    std::vector<std::string> inputs;
    std::string out;
    CommonOptions common;
};

template <int D, class T>
std::vector<Pair> find_pairs(const PairsOptions& options, const Input& a, const Input* b, Report& report,
                             Progress& progress) {
    const auto executor = options.common.executor();
    const auto finder = make_pair_finder<D, T>(
        report.method, {.executor = executor.get(),
                        .max_bytes = options.common.max_bytes,
                        .watch = {.stop = {}, .report = [&](double part) { progress.at(part); }}});
    std::vector<Pair> pairs;
    report.time(options.common.repeat, [&](Timer& timer, double& build, double& find) {
        b ? finder->build(a.rows<Box<D, T>>(), b->rows<Box<D, T>>()) : finder->build(a.rows<Box<D, T>>());
        build = timer.lap();
        finder->find(pairs);
        find = timer.lap();
    });
    report.tested = finder->tested();
    return pairs;
}

void run_pairs(const PairsOptions& options) {
    check_method(options.common.method, pair_methods);
    if (!options.out.empty()) io::check_table_ending(options.out);
    Progress progress("reading");
    Report report;
    Timer timer;
    Input a = read_boxes(options.inputs[0]);
    std::optional<Input> b;
    if (options.inputs.size() == 2) {
        b = read_boxes(options.inputs[1]);
        match(a, *b);
    }
    report.read = timer.lap();
    // Opened before the work, so that a place that cannot be written is not found out at the end.
    std::optional<io::AtomicFile> out;
    if (!options.out.empty()) out.emplace(options.out);
    report.objects = a.size() + (b ? b->size() : 0);
    report.method = resolve_pair_method(options.common.method);
    report.threads = options.common.thread_count();

    progress.now("finding pairs");
    std::vector<Pair> pairs = base::dispatch(a.dimension, a.scalar(), [&]<int D, class T>() {
        return find_pairs<D, T>(options, a, b ? &*b : nullptr, report, progress);
    });
    report.pairs = pairs.size();
    if (options.common.max_bytes && pairs.size() * sizeof(Pair) > options.common.max_bytes)
        throw Error(ErrorKind::too_large, "the pairs take " + grouped(pairs.size() * sizeof(Pair)) + " bytes",
                    {.field = "--max-bytes"});
    report.checksum = io::checksum(pairs);
    if (out) {
        progress.now("writing " + options.out);
        std::sort(pairs.begin(), pairs.end());
        const std::span<const std::uint32_t> flat(reinterpret_cast<const std::uint32_t*>(pairs.data()),
                                                  pairs.size() * 2);
        io::write_table(*out, io::view(flat, {pairs.size(), 2}));
        out->commit();
    }
    progress.end();
    report.print(options.common.json, "boxes", "pairs");
}

}  // namespace

void add_pairs(CLI::App& app) {
    auto options = std::make_shared<PairsOptions>();
    CLI::App* verb = add_verb(app, "pairs", "overlapping boxes, of one set or between two",
                              "  quadrat pairs boxes.npy --out pairs.npy\n"
                              "  quadrat pairs bodies.csv walls.csv --method hhg --threads 2 --json");
    verb->add_option("INPUT", options->inputs, "(N, 2 D) lo.. hi.. as .npy or .csv; with two files, pairs between them")
        ->required()
        ->type_name("")
        ->expected(1, 2);
    verb->add_option("-o,--out", options->out, "(P, 2) uint32, sorted: .npy or .csv")->type_name("FILE");
    options->common.add_to(*verb, pair_methods);
    options->common.add_repeat_to(*verb);
    verb->callback([options] { run_pairs(*options); });
}

}  // namespace quadrat::cli
