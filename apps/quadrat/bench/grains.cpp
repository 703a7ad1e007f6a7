// Steps of 10 ms of spheres of radius 0.5 in a box of six planes. G1 lets them fall a little and settle for 4 s first;
// the steps that are timed are then those of a dense bed.
#include "bench/grains.hpp"

#include <quadrat/simulation/grains.hpp>

#include <cmath>
#include <cstdio>

#include "base/random.hpp"
#include "io/checksum.hpp"
#include "verb.hpp"

namespace quadrat::cli {
namespace {

constexpr double dt = 0.01;
constexpr int settling = 400;

void fill(Grains& grains, std::uint64_t n, double spacing) {
    base::SplitMix random(1);
    const auto edge = static_cast<std::uint64_t>(std::max(1.0, std::round(std::cbrt(static_cast<double>(n)))));
    std::vector<Grain> all;
    for (std::uint64_t k = 0; k < n; ++k) {
        const std::uint64_t at[3] = {k % edge, k / edge % edge, k / (edge * edge)};
        Grain g;
        for (int axis = 0; axis < 3; ++axis) {
            g.position[axis] = (static_cast<double>(at[axis]) + 0.5) * spacing;
            g.velocity[axis] = random.uniform(-0.2, 0.2);
        }
        all.push_back(g);
    }
    grains.add(all);
    const double width = static_cast<double>(edge) * spacing;
    for (int axis = 0; axis < 3; ++axis) {
        GrainPlane side{.normal = {{0, 0, 0}}};
        side.normal[axis] = 1;
        grains.add(side);
        side.normal[axis] = -1;
        side.offset = axis == 2 ? -2 * width : -width;
        grains.add(side);
    }
}

}  // namespace

bool is_grain_scenario(const std::string& name) {
    return name == "G1" || name == "G2";
}

void run_grain_bench(const GrainBench& options) {
    Progress progress("measuring " + options.scenario);
    const auto executor = make_executor(options.threads);
    const bool bed = options.scenario == "G1";
    Timer timer;
    Grains grains({.executor = executor.get()});
    fill(grains, options.n, bed ? 1.02 : 2);
    grains.step(dt);
    const double setup = timer.lap();
    for (int k = 1; k < (bed ? settling : 3); ++k) {
        grains.step(dt);
        progress.at(k / static_cast<double>(settling));
    }
    std::vector<double> seconds;
    const std::uint64_t searches = grains.stats().searches;
    for (unsigned step = 0; step < options.steps; ++step) {
        (void)timer.lap();
        grains.step(dt);
        seconds.push_back(timer.lap());
    }
    const GrainStats s = grains.stats();
    const double each = median(seconds), rate = each > 0 ? static_cast<double>(s.grains) / each : 0;
    const std::uint64_t checksum =
        base::fnv1a({reinterpret_cast<const char*>(grains.positions().data()), grains.positions().size_bytes()});
    progress.end();
    if (options.json) {
        const Json object = {{"bench", "simulation"},
                             {"scenario", options.scenario},
                             {"n", s.grains},
                             {"threads", executor->threads()},
                             {"steps", options.steps},
                             {"setup_ms", setup * 1e3},
                             {"ms_per_step", each * 1e3},
                             {"grain_steps_per_second", rate},
                             {"time_step", dt},
                             {"contacts", s.contacts},
                             {"touching", s.touching},
                             {"pairs", s.pairs},
                             {"searches", s.searches - searches},
                             {"max_overlap", s.max_overlap},
                             {"checksum", io::hex16(checksum)},
                             {"peak_rss_bytes", peak_rss_bytes()}};
        std::printf("%s\n", object.dump().c_str());
        return;
    }
    std::printf("%-9s %9s %7s %10s %12s %14s %10s %10s %9s  %s\n", "scenario", "n", "threads", "setup ms",
                "ms per step", "grain-steps/s", "contacts", "touching", "searches", "checksum");
    std::printf("%-9s %9s %7u %10.2f %12.3f %14s %10s %10s %9llu  %s\n", options.scenario.c_str(),
                grouped(s.grains).c_str(), executor->threads(), setup * 1e3, each * 1e3,
                grouped(static_cast<std::uint64_t>(rate)).c_str(), grouped(s.contacts).c_str(),
                grouped(s.touching).c_str(), static_cast<unsigned long long>(s.searches - searches),
                io::hex16(checksum).c_str());
}

}  // namespace quadrat::cli
