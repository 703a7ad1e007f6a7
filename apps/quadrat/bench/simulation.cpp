// quadrat bench simulation: whole time steps of a fluid. S1 is a weakly compressible dam break in a box, S2 the same
// with the incompressible solver. A few steps warm up, then each one is timed. G1 and G2 are grains (grains.hpp).
#include <quadrat/simulation/simulation.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>

#include "base/random.hpp"
#include "bench/grains.hpp"
#include "io/checksum.hpp"
#include "verb.hpp"

namespace quadrat::cli {
namespace {

struct SimulationBenchOptions {
    std::string scenario = "S1";
    std::uint64_t n = 100000;
    unsigned steps = 10, threads = 1;
    bool json = false;
};

// A column of n particles at one end of a box of three times its length.
Scene dam(std::uint64_t n, SolverKind solver) {
    Scene scene;
    const auto edge = static_cast<std::uint32_t>(std::max(1.0, std::round(std::cbrt(static_cast<double>(n)))));
    const std::uint32_t rows = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(n / (std::uint64_t{edge} * edge)));
    scene.spacing = 0.5 / edge;
    scene.solver = solver;
    scene.domain.box = {{{0, 0, 0}}, {{1.5, 0.5, 1}}};
    FluidBlock block;
    block.box = {{{0, 0, 0}}, {{scene.spacing * edge, scene.spacing * edge, scene.spacing * rows}}};
    block.count = {edge, edge, rows};
    scene.blocks.push_back(block);
    return scene;
}

void run_simulation(const SimulationBenchOptions& options) {
    if (is_grain_scenario(options.scenario))
        return run_grain_bench({options.scenario, options.n, options.steps, options.threads, options.json});
    if (options.scenario != "S1" && options.scenario != "S2")
        throw UsageError("--scenario: unknown scene '" + options.scenario + "'; choose S1, S2, G1 or G2");
    Progress progress("measuring " + options.scenario);
    const auto executor = make_executor(options.threads);
    Timer timer;
    Simulation simulation(
        dam(options.n, options.scenario == "S2" ? SolverKind::incompressible : SolverKind::weakly_compressible),
        executor.get());
    simulation.step();
    const double setup = timer.lap();
    for (int k = 0; k < 2; ++k) simulation.step();
    std::vector<double> seconds;
    for (unsigned step = 0; step < options.steps; ++step) {
        (void)timer.lap();
        simulation.step();
        seconds.push_back(timer.lap());
    }
    const SimulationStats s = simulation.stats();
    std::vector<std::byte> state;
    simulation.save(state);
    const std::uint64_t checksum = base::fnv1a(
        {reinterpret_cast<const char*>(simulation.positions().data()), simulation.positions().size_bytes()});
    const double each = median(seconds), rate = each > 0 ? static_cast<double>(s.particles) / each : 0;
    progress.end();
    if (options.json) {
        const Json object = {{"bench", "simulation"},
                             {"scenario", options.scenario},
                             {"n", s.particles},
                             {"threads", executor->threads()},
                             {"steps", options.steps},
                             {"setup_ms", setup * 1e3},
                             {"ms_per_step", each * 1e3},
                             {"particle_steps_per_second", rate},
                             {"time_step", s.time_step},
                             {"neighbors", s.neighbors},
                             {"pairs", s.pairs},
                             {"checksum", io::hex16(checksum)},
                             {"checkpoint_bytes", state.size()},
                             {"peak_rss_bytes", peak_rss_bytes()}};
        std::printf("%s\n", object.dump().c_str());
        return;
    }
    std::printf("%-9s %9s %7s %10s %12s %16s %11s %12s  %s\n", "scenario", "n", "threads", "setup ms", "ms per step",
                "particle-steps/s", "neighbours", "time step", "checksum");
    std::printf("%-9s %9s %7u %10.2f %12.3f %16s %11.1f %12.3g  %s\n", options.scenario.c_str(),
                grouped(s.particles).c_str(), executor->threads(), setup * 1e3, each * 1e3,
                grouped(static_cast<std::uint64_t>(rate)).c_str(), s.neighbors, s.time_step,
                io::hex16(checksum).c_str());
}

}  // namespace

void add_bench_simulation(CLI::App& bench) {
    auto options = std::make_shared<SimulationBenchOptions>();
    CLI::App* verb = add_verb(bench, "simulation", "time steps of a fluid or of grains",
                              "  quadrat bench simulation --scenario S1 --n 1000000");
    verb->add_option("--scenario", options->scenario,
                     "S1 weakly compressible dam break, S2 incompressible, G1 bed of spheres, G2 spheres that fall")
        ->type_name("NAME")
        ->capture_default_str();
    whole_number(verb->add_option("--n", options->n, "how many particles or grains"), 8, 100000000)
        ->type_name("N")
        ->capture_default_str();
    whole_number(verb->add_option("--steps", options->steps, "how many timed steps"), 1, 1000000)
        ->type_name("S")
        ->capture_default_str();
    whole_number(verb->add_option("--threads", options->threads, "how many threads; 0: one per processor"), 0, 1024)
        ->type_name("N")
        ->capture_default_str();
    verb->add_flag("--json", options->json, "print one JSON object");
    verb->callback([options] { run_simulation(*options); });
}

}  // namespace quadrat::cli
