// quadrat bench broad-phase: moving boxes; each step moves them (not timed), updates the structure and finds the pairs.
#include "base/kinds.hpp"
#include "bench/bench_report.hpp"
#include "io/checksum.hpp"
#include "pair_methods.hpp"
#include "workloads/scenes.hpp"

#include <CLI/CLI.hpp>

namespace quadrat::cli {
namespace {

template <int D, class T>
BenchReport measure(const BenchOptions& options, workloads::BoxScene scene, const std::string& method) {
    workloads::MovingBoxes<D, T> boxes(scene, options.n, options.seed);
    const auto executor = options.common.executor();
    BenchReport report;
    std::vector<Pair> pairs;
    Timer timer;
    const auto finder = make_pair_finder<D, T>(method, {.executor = executor.get()});
    finder->build(boxes.boxes());
    finder->find(pairs);
    report.setup = timer.lap();
    for (unsigned step = 0; step < options.steps; ++step) {
        boxes.step();
        (void)timer.lap();
        finder->build(boxes.boxes());
        finder->find(pairs);
        report.steps.push_back(timer.lap());
    }
    report.pairs = pairs.size();
    report.checksum = io::checksum(pairs);
    report.tested = finder->tested();
    return report;
}

void run_broad_phase(const BenchOptions& options) {
    check_method(options.common.method, pair_methods);
    const std::optional<workloads::BoxScene> scene = workloads::box_scene(options.scenario);
    if (!scene) throw UsageError("--scenario: unknown scene '" + options.scenario + "'; choose one of B1 to B6");
    const std::string method = resolve_pair_method(options.common.method);
    Progress progress("measuring " + options.scenario);
    const BenchReport report =
        base::dispatch(options.dimension, options.type == "float" ? base::Scalar::f32 : base::Scalar::f64,
                       [&]<int D, class T>() { return measure<D, T>(options, *scene, method); });
    progress.end();
    report.print(options, "broad-phase", method);
}

}  // namespace

void add_bench_broad_phase(CLI::App& bench) {
    auto options = std::make_shared<BenchOptions>();
    CLI::App* verb = add_verb(bench, "broad-phase", "overlapping pairs of moving boxes",
                              "  quadrat bench broad-phase --scenario B4 --n 100000 --threads 2 --steps 20 --json");
    options->add_to(*verb, "B1 equal cubes, B2 sizes 1..12, B3 sticks, B4 sizes 2^3 2^6 2^10, B5 slow, B6 clustered",
                    "B1", pair_methods);
    verb->callback([options] { run_broad_phase(*options); });
}

}  // namespace quadrat::cli
