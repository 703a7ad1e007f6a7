#include "common.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include "io/checksum.hpp"
#include "io/peak_rss.hpp"

namespace quadrat::mpi_cli {
namespace {

double largest(const Communicator& comm, double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm.handle());
    return value;
}

}  // namespace

void CommonOptions::add_to(CLI::App& verb) {
    verb.add_option("--threads", threads, "threads inside each rank; 0: one per processor")->check(CLI::Range(0, 4096));
    verb.add_flag("--json", json, "one object on standard output");
    verb.add_option("--max-bytes", max_bytes, "limit of a rank's memory for bodies that come in and for results");
    verb.add_option("--cuts", cuts, "where cuts come from")->check(CLI::IsMember({"auto", "zoltan", "sample"}));
}

void Report::print(const Communicator& comm, const CommonOptions& options, const char* what, const char* found) const {
    const std::uint64_t all_pairs = comm.sum(pairs), sum = comm.sum(checksum), ghosts = comm.sum(held - own);
    const std::uint64_t bytes = comm.sum(bytes_sent), most_held = comm.max(held), rss = comm.max(io::peak_rss_bytes());
    const double split[] = {read, seconds.migrate, seconds.halo, seconds.build, seconds.find, write};
    double most[6];
    for (int k = 0; k < 6; ++k) most[k] = largest(comm, split[k]);
    const double cpu = largest(comm, seconds.build_cpu + seconds.find_cpu);
    if (comm.rank() != 0) return;
    if (options.json) {
        const nlohmann::ordered_json object = {
            {"objects", objects},
            {found, all_pairs},
            {"checksum", io::hex16(sum)},
            {"ranks", comm.size()},
            {"threads", options.threads},
            {"seconds",
             {{"read", most[0]},
              {"migrate", most[1]},
              {"halo", most[2]},
              {"build", most[3]},
              {"find", most[4]},
              {"write", most[5]},
              {"local_cpu", cpu}}},
            {"ghosts", ghosts},
            {"ghost_bytes", bytes},
            {"most_held", most_held},
            {"imbalance", stats.imbalance},
            {"cuts", stats.cuts},
            {"peak_rss_bytes", rss},
        };
        std::printf("%s\n", object.dump().c_str());
        return;
    }
    std::printf("%llu %s, %llu %s on %d rank%s\n", static_cast<unsigned long long>(objects), what,
                static_cast<unsigned long long>(all_pairs), found, comm.size(), comm.size() == 1 ? "" : "s");
    std::printf("checksum  %s\n", io::hex16(sum).c_str());
    std::printf("seconds   read %.3f, migrate %.3f, halo %.3f, build %.3f, find %.3f, write %.3f\n", most[0], most[1],
                most[2], most[3], most[4], most[5]);
    std::printf("ghosts    %llu, imbalance %.3f\n", static_cast<unsigned long long>(ghosts), stats.imbalance);
}

Progress::Progress(const Communicator& comm) : shown_(comm.rank() == 0 && ::isatty(2)) {}

void Progress::now(const char* what) const {
    if (shown_) std::fprintf(stderr, "\r\x1b[K%s", what);
}

std::uint64_t pair_term(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = a << 32 | (b & 0xffffffff), high = (a >> 32) << 32 | b >> 32;
    return io::mix(low + 0xD6E8FEB86659FD93u * high);
}

std::string part_name(const std::string& out, int rank) {
    std::string number = std::to_string(rank);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
    const std::string stem = out.ends_with(".npy") ? out.substr(0, out.size() - 4) : out;
    return stem + ".part-" + number + ".npy";
}

}  // namespace quadrat::mpi_cli
