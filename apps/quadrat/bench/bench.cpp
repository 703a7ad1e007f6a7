// quadrat bench: measures on the scenes that tests and demos share. One sub-verb per question.
#include "verb.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

namespace quadrat::cli {

void add_bench(CLI::App& app) {
    CLI::App* verb = add_verb(app, "bench", "measure on a standard scene",
                              "  quadrat bench broad-phase --scenario B1 --n 100000 --method brute --json");
    verb->require_subcommand(1);
    for (AddVerb* add : bench_verbs) add(*verb);
}

}  // namespace quadrat::cli
