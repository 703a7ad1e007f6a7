// quadrat bench neighbors: points; each step sorts them again and finds all neighbours. W4 moves them between steps
// (not timed).
#include "base/kinds.hpp"
#include "bench/bench_report.hpp"
#include "neighbor_methods.hpp"
#include "neighbor_rows.hpp"
#include "workloads/scenes.hpp"

#include <CLI/CLI.hpp>

namespace quadrat::cli {
namespace {

struct NeighborBenchOptions : BenchOptions {
    std::string order = "shuffled";
    bool half = false;
};

workloads::PointOrder order_named(const std::string& name) {
    if (name == "generated") return workloads::PointOrder::generated;
    return name == "z-order" ? workloads::PointOrder::z_order : workloads::PointOrder::shuffled;
}

template <int D, class T>
BenchReport measure(const NeighborBenchOptions& options, workloads::PointScene scene, const std::string& method) {
    workloads::MovingPoints<D, T> points(scene, options.n, order_named(options.order), options.seed);
    const auto executor = options.common.executor();
    BenchReport report;
    NeighborList list;
    Timer timer;
    const auto finder = make_neighbor_finder<D, T>(
        method, {.executor = executor.get(), .radius = points.radius(), .half = options.half});
    finder->build(points.points());
    finder->find(list);
    report.setup = timer.lap();
    for (unsigned step = 0; step < options.steps; ++step) {
        if (scene == workloads::PointScene::moving) points.step();
        (void)timer.lap();
        if (scene == workloads::PointScene::moving)
            finder->update(points.points());
        else
            finder->build(points.points());
        finder->find(list);
        report.steps.push_back(timer.lap());
    }
    report.pairs = list.entries();
    report.checksum = neighbor_checksum(list, options.half);
    report.tested = finder->tested();
    return report;
}

void run_neighbors(const NeighborBenchOptions& options) {
    check_method(options.common.method, neighbor_methods);
    const std::optional<workloads::PointScene> scene = workloads::point_scene(options.scenario);
    if (!scene)
        throw UsageError("--scenario: unknown scene '" + options.scenario +
                         "'; choose one of W1 to W4, shell, clustered");
    const std::string method = resolve_neighbor_method(options.common.method);
    if (options.half && method != "cell-index") throw UsageError("--half: only with --method cell-index");
    Progress progress("measuring " + options.scenario);
    const BenchReport report =
        base::dispatch(options.dimension, options.type == "float" ? base::Scalar::f32 : base::Scalar::f64,
                       [&]<int D, class T>() { return measure<D, T>(options, *scene, method); });
    progress.end();
    report.print(options, "neighbors", method);
}

}  // namespace

void add_bench_neighbors(CLI::App& bench) {
    auto options = std::make_shared<NeighborBenchOptions>();
    CLI::App* verb = add_verb(bench, "neighbors", "neighbours of points within a radius",
                              "  quadrat bench neighbors --scenario W1 --n 1000000 --order z-order --json");
    options->add_to(*verb, "W1 jittered lattice, W2 uniform, W3 sparse, W4 moving, shell, clustered", "W1",
                    neighbor_methods);
    verb->add_option("--order", options->order, "how the points lie in memory: shuffled, generated, z-order")
        ->check(CLI::IsMember({"shuffled", "generated", "z-order"}))
        ->type_name("ORDER")
        ->capture_default_str();
    verb->add_flag("--half", options->half, "each pair once");
    verb->callback([options] { run_neighbors(*options); });
}

}  // namespace quadrat::cli
