// quadrat VERB INPUT... [options]. Exit status: 0 done, 1 bad input (one line on stderr), 2 wrong usage.
#include <quadrat/error.hpp>
#include <quadrat/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "io/files.hpp"
#include "verb.hpp"
#include "verbs.hpp"

namespace quadrat::cli {

namespace {

// Leaves no half-written file, then ends as the signal would have.
void end_by_signal(int signal) {
    io::remove_unfinished_files();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

// Under mpirun every rank would do the whole work and write the same file.
void refuse_ranks() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
        if (const char* ranks = std::getenv(name); ranks && std::atoi(ranks) > 1)
            throw UsageError(
                std::string("started ") + ranks +
                " times by mpirun, each of which would do all the work: use quadrat-mpi, or start it once");
}

int run(int argc, char** argv) {
    CLI::App app("quadrat: what touches what, what is near what, what is at this cell", "quadrat");
    app.set_version_flag("--version", "quadrat " QUADRAT_VERSION_STRING);
    app.require_subcommand(1);
    app.footer("quadrat VERB --help explains a verb, with an example.");
    for (AddVerb* add : verbs) add(app);
    try {
        refuse_ranks();
        const std::string given = argc > 1 ? argv[1] : "-";
        std::string names;
        bool known = given.starts_with('-');
        for (const CLI::App* verb : app.get_subcommands({})) {
            known = known || verb->get_name() == given;
            names += ' ' + verb->get_name();
        }
        if (!known) throw UsageError("unknown verb '" + given + "'; the verbs are:" + names);
        app.parse(argc, argv);
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            throw Error(ErrorKind::cannot_write, "cannot write", {.file = "standard output"});
        return 0;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // --help, --version
            app.exit(error);
            if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout) return 0;
            std::fputs("standard output: cannot write\n", stderr);
            return 1;
        }
        std::fprintf(stderr, "quadrat: %s; see --help\n", printable(error.what()).c_str());
        return 2;
    } catch (const UsageError& error) {
        std::fprintf(stderr, "quadrat: %s\n", printable(error.what()).c_str());
        return 2;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", printable(error.what()).c_str());
        return 1;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr,
                     "not enough memory: use less data; pairs and neighbors say with --max-bytes how much they need\n");
        return 1;
    } catch (const std::exception& error) {  // of a library below us; never a reason to abort
        std::fprintf(stderr, "quadrat: unexpected error: %s\n", printable(error.what()).c_str());
        return 1;
    }
}

}  // namespace
}  // namespace quadrat::cli

int main(int argc, char** argv) {
    // What the caller ignores stays ignored (nohup). A file that grows too long is an error of its write.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
        if (std::signal(signal, quadrat::cli::end_by_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    return quadrat::cli::run(argc, argv);
}
