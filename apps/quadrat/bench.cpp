// quadrat bench: measures on the scenes that tests and demos share. One sub-verb per question.
#include "verb.hpp"

#include <CLI/CLI.hpp>

namespace quadrat::cli {

#define BENCH(name) void add_bench_##name(CLI::App& bench);
#include "bench_verbs.def"
#undef BENCH

void add_bench(CLI::App& app) {
    CLI::App* verb = add_verb(app, "bench", "measure on a standard scene",
                              "  quadrat bench broad-phase --scenario B1 --n 100000 --method brute --json");
    verb->require_subcommand(1);
#define BENCH(name) add_bench_##name(*verb);
#include "bench_verbs.def"
#undef BENCH
}

}  // namespace quadrat::cli
