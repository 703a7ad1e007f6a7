// mpirun -n P quadrat-mpi VERB INPUT [options]. Exit status: 0 done, 1 bad input, 2 wrong usage; one line on stderr, by
// rank 0, for what all ranks agree on. What happens to one rank alone ends all by MPI_Abort.
#include <mpi.h>

#include <quadrat/error.hpp>
#include <quadrat/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "io/files.hpp"
#include "shared_file.hpp"

namespace quadrat::mpi_cli {

void add_pairs(CLI::App& app);
void add_neighbors(CLI::App& app);
void add_bench(CLI::App& app);

namespace {

void end_by_signal(int signal) {
    remove_shared_files();
    io::remove_unfinished_files();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

int say(int rank, const std::string& line, int status) {
    if (rank == 0) std::fprintf(stderr, "%s\n", line.c_str());
    return status;
}

int run(int argc, char** argv, int rank) {
    CLI::App app("quadrat-mpi: what touches what and what is near what, on many ranks", "quadrat-mpi");
    app.set_version_flag("--version", "quadrat-mpi " QUADRAT_VERSION_STRING);
    app.require_subcommand(1);
    app.footer("mpirun -n 4 quadrat-mpi VERB --help explains a verb, with an example.");
    add_pairs(app);
    add_neighbors(app);
    add_bench(app);
    try {
        app.parse(argc, argv);
        if (rank == 0 && (std::fflush(stdout) != 0 || std::ferror(stdout)))
            return say(rank, "standard output: cannot write", 1);
        return 0;
    } catch (const CLI::ParseError& error) {  // all ranks have the same words
        if (error.get_exit_code() != 0)
            return say(rank, std::string("quadrat-mpi: ") + error.what() + "; see --help", 2);
        if (rank == 0) app.exit(error);
        return 0;
    } catch (const Error& error) {
        return say(rank, error.what(), 1);
    }
}

}  // namespace
}  // namespace quadrat::mpi_cli

int main(int argc, char** argv) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
        if (std::signal(signal, quadrat::mpi_cli::end_by_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int status = 1;
    try {
        status = quadrat::mpi_cli::run(argc, argv, rank);
    } catch (const std::exception& error) {  // not agreed on: the others wait
        std::string what = error.what();
        std::replace(what.begin(), what.end(), '\n', ' ');
        std::fprintf(stderr, "quadrat-mpi: unexpected error on rank %d: %s\n", rank, what.c_str());
        quadrat::mpi_cli::remove_shared_files();
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
