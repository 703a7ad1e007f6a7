#include "bench/bench_report.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

#include "io/checksum.hpp"

namespace quadrat::cli {

void BenchOptions::add_to(CLI::App& verb, const std::string& scenarios, const std::string& first,
                          std::span<const char* const> methods) {
    scenario = first;
    verb.add_option("--scenario", scenario, scenarios)->type_name("NAME")->capture_default_str();
    whole_number(verb.add_option("--n", n, "how many objects"), 0, 0xFFFFFFFD)->type_name("N")->capture_default_str();
    whole_number(verb.add_option("--steps", steps, "how many timed steps"), 1, 1000000)
        ->type_name("S")
        ->capture_default_str();
    verb.add_option("--dimension", dimension, "2 or 3")
        ->check(CLI::IsMember({2, 3}))
        ->type_name("D")
        ->capture_default_str();
    verb.add_option("--type", type, "float or double")
        ->check(CLI::IsMember({"float", "double"}))
        ->type_name("T")
        ->capture_default_str();
    whole_number(verb.add_option("--seed", seed, "another scene of the same kind"), 0, ~std::uint64_t{0})
        ->type_name("SEED")
        ->capture_default_str();
    common.add_to(verb, methods);
}

void BenchReport::print(const BenchOptions& options, const std::string& question, const std::string& method) const {
    const double ms = median(steps) * 1e3;
    const double fastest = steps.empty() ? 0 : *std::min_element(steps.begin(), steps.end()) * 1e3;
    if (options.common.json) {
        const Json object = {
            {"bench", question},
            {"scenario", options.scenario},
            {"n", options.n},
            {"dimension", options.dimension},
            {"type", options.type},
            {"method", method},
            {"threads", options.common.thread_count()},
            {"steps", options.steps},
            {"setup_ms", setup * 1e3},
            {"ms_per_step", ms},
            {"fastest_ms", fastest},
            {"pairs", pairs},
            {"checksum", io::hex16(checksum)},
            {"tested", tested},
            {"peak_rss_bytes", peak_rss_bytes()},
        };
        std::printf("%s\n", object.dump().c_str());
        return;
    }
    std::printf("%-9s %9s %-12s %7s %10s %12s %11s %14s  %s\n", "scenario", "n", "method", "threads", "setup ms",
                "ms per step", "fastest ms", "pairs", "checksum");
    std::printf("%-9s %9s %-12s %7u %10.2f %12.3f %11.3f %14s  %s\n", options.scenario.c_str(),
                grouped(options.n).c_str(), method.c_str(), options.common.thread_count(), setup * 1e3, ms, fastest,
                grouped(pairs).c_str(), io::hex16(checksum).c_str());
}

}  // namespace quadrat::cli
