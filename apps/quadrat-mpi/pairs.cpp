// quadrat-mpi pairs: overlapping boxes of one file.
#include <quadrat/distributed.hpp>
#include <quadrat/error.hpp>

#include <CLI/CLI.hpp>

#include <optional>

#include "common.hpp"
#include "io/table/npy.hpp"
#include "shared_file.hpp"
#include "slice.hpp"

namespace quadrat::mpi_cli {
namespace {

struct PairsOptions {
    std::string input;
    CommonOptions common;
};

/// Ids as wide as the file needs: uint32 as `quadrat pairs` writes, uint64 beyond 2^32 boxes.
template <class V>
std::vector<V> flat(const std::vector<GlobalPair>& pairs) {
    std::vector<V> values;
    values.reserve(pairs.size() * 2);
    for (const GlobalPair& p : pairs) {
        values.push_back(static_cast<V>(p.first));
        values.push_back(static_cast<V>(p.second));
    }
    return values;
}

template <class V>
void write(const Communicator& comm, const CommonOptions& options, const std::vector<GlobalPair>& pairs,
           std::optional<SharedFile>& out) {
    std::vector<V> values;
    together(comm, [&] { values = flat<V>(pairs); });
    if (out) {
        out->write(values, 2);
        out->commit();
        return;
    }
    std::optional<io::AtomicFile> part;
    together(comm, [&] {
        part.emplace(part_name(options.out, comm.rank()));
        io::write_npy(*part, io::view(std::span<const V>(values), {pairs.size(), 2}));
    });
    together(comm, [&] { part->commit(); });
}

template <int D, class T>
void find(const PairsOptions& options, const Slice& slice, Report& report, std::vector<GlobalPair>& pairs) {
    const auto executor = options.common.executor();
    DistributedBroadPhase<D, T> phase(MPI_COMM_WORLD, options.common.decomposition<D, T>(executor.get()));
    (void)phase.insert(slice.as<Box<D, T>>());
    phase.find_pairs(pairs);
    report.own = phase.own();
    report.held = phase.held();
    report.stats = phase.stats();
    report.seconds = phase.seconds();
    report.bytes_sent = phase.stats().sent * (sizeof(Box<D, T>) + sizeof(std::uint64_t));
}

void run_pairs(const PairsOptions& options) {
    const auto comm = std::make_shared<const Communicator>(MPI_COMM_WORLD);
    const Progress progress(*comm);
    Report report;
    double start = MPI_Wtime();
    progress.now("reading");
    Slice slice = read_slice(*comm, options.input, Rows::boxes);
    report.objects = slice.rows;
    report.read = MPI_Wtime() - start;
    std::optional<SharedFile> out;
    if (!options.common.out.empty() && !options.common.parts) out.emplace(*comm, options.common.out);
    progress.now("finding pairs");
    std::vector<GlobalPair> pairs;
    dispatch(slice, [&]<int D, class T>() { find<D, T>(options, slice, report, pairs); });
    slice.bytes = {};
    report.pairs = pairs.size();
    for (const GlobalPair& p : pairs) report.checksum += pair_term(p.first, p.second);
    if (!options.common.out.empty()) {
        progress.now("writing");
        start = MPI_Wtime();
        sort_over_ranks(comm, pairs);
        if (slice.rows <= std::uint64_t{1} << 32)
            write<std::uint32_t>(*comm, options.common, pairs, out);
        else
            write<std::uint64_t>(*comm, options.common, pairs, out);
        report.write = MPI_Wtime() - start;
    }
    progress.now("");
    report.print(*comm, options.common, "boxes", "pairs");
}

}  // namespace

void add_pairs(CLI::App& app) {
    auto options = std::make_shared<PairsOptions>();
    CLI::App* verb = app.add_subcommand("pairs", "overlapping boxes");
    verb->footer("Example:\n  mpirun -n 4 quadrat-mpi pairs boxes.npy --out pairs.npy");
    verb->add_option("INPUT", options->input, "(N, 2 D) lo.. hi.. as .npy, float32 or float64")->required();
    verb->add_option("-o,--out", options->common.out,
                     "(P, 2) uint32, sorted, .npy: the same bytes on any number of ranks");
    verb->add_flag("--parts", options->common.parts,
                   "one file per rank, OUT.part-0000.npy ..., in the order of the ranks");
    options->common.add_to(*verb);
    verb->callback([options] { run_pairs(*options); });
}

}  // namespace quadrat::mpi_cli
