// quadrat-mpi neighbors: the neighbours of every point of one file within a radius.
#include <quadrat/distributed.hpp>
#include <quadrat/error.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <optional>

#include "common.hpp"
#include "shared_file.hpp"
#include "slice.hpp"

namespace quadrat::mpi_cli {
namespace {

struct NeighborsOptions {
    std::string input;
    double radius = 0;
    std::vector<double> periodic;
    CommonOptions common;
};

/// Of the row of `first`; an index comes several times if several of its images are near.
struct Entry {
    std::uint64_t first, second;
    friend auto operator<=>(const Entry&, const Entry&) = default;
};

template <int D, class T>
Periodic<D, T> periodic_box(const std::vector<double>& numbers) {
    Periodic<D, T> box;
    if (numbers.empty()) return box;
    const bool lengths = numbers.size() == D;
    if (!lengths && numbers.size() != D * D)
        throw Error(ErrorKind::bad_shape,
                    std::to_string(numbers.size()) + " numbers; expected " + std::to_string(D) + " lengths or " +
                        std::to_string(D * D) + " for the box vectors",
                    {.field = "--periodic"});
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (!std::isfinite(numbers[k]) || (lengths && numbers[k] < 0))
            throw Error(ErrorKind::bad_value, "must be finite and not negative", {.column = k, .field = "--periodic"});
        box.vectors[lengths ? k : k / D][static_cast<int>(lengths ? k : k % D)] = static_cast<T>(numbers[k]);
    }
    return box;
}

template <int D, class T>
void find(const NeighborsOptions& options, const Slice& slice, const Communicator& comm, Report& report,
          std::vector<Entry>& entries) {
    const auto executor = options.common.executor();
    auto settings = options.common.decomposition<D, T>(executor.get());
    together(comm, [&] { settings.periodic = periodic_box<D, T>(options.periodic); });
    DistributedNeighbors<D, T> near(MPI_COMM_WORLD, static_cast<T>(options.radius), settings);
    (void)near.insert(slice.as<Vec<D, T>>());
    NeighborList list;
    near.find_neighbors(list);
    together(comm, [&] {
        if (!options.common.out.empty()) entries.reserve(list.entries());
        for (std::size_t i = 0; i < near.own(); ++i) {
            const std::uint64_t a = near.id(static_cast<std::uint32_t>(i));
            for (const std::uint32_t j : list[i]) {
                report.checksum += pair_term(a, near.id(j));
                if (!options.common.out.empty()) entries.push_back({a, near.id(j)});
            }
        }
    });
    report.pairs = list.entries();
    report.own = near.own();
    report.held = near.held();
    report.stats = near.stats();
    report.seconds = near.seconds();
    report.bytes_sent = near.stats().sent * (sizeof(Vec<D, T>) + sizeof(std::uint64_t));
}

/// Rows go to the rank that has read them; offsets and indices are then written in the order of the file.
void write(const std::shared_ptr<const Communicator>& comm, const Slice& slice, std::vector<Entry> entries,
           SharedFile& offsets_file, SharedFile& indices_file) {
    std::vector<std::uint64_t> firsts;
    for (int r = 1; r < comm->size(); ++r) firsts.push_back(first_row(slice.rows, r, comm->size()));
    entries = sent(comm, entries, [&](const Entry& e) {
        return std::upper_bound(firsts.begin(), firsts.end(), e.first) - firsts.begin();
    });
    const std::uint64_t before = comm->sum_before(entries.size());
    const bool last = comm->rank() == comm->size() - 1;
    const std::uint64_t end = last ? slice.rows : firsts[static_cast<std::size_t>(comm->rank())];
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> indices;
    together(*comm, [&] {
        if (slice.rows > std::uint64_t{1} << 32)
            throw Error(ErrorKind::too_large, "more points than 32-bit indices can name", {.file = slice.file});
        std::sort(entries.begin(), entries.end());
        offsets.reserve(end - slice.first + 1);
        indices.reserve(entries.size());
        std::size_t e = 0;
        for (std::uint64_t row = slice.first; row < end; ++row) {
            offsets.push_back(static_cast<std::int64_t>(before + e));
            for (; e < entries.size() && entries[e].first == row; ++e)
                indices.push_back(static_cast<std::uint32_t>(entries[e].second));
        }
        if (last) offsets.push_back(static_cast<std::int64_t>(before + e));
    });
    offsets_file.write(offsets, 1);
    indices_file.write(indices, 1);
    offsets_file.commit();
    indices_file.commit();
}

void run_neighbors(const NeighborsOptions& options) {
    const auto comm = std::make_shared<const Communicator>(MPI_COMM_WORLD);
    const Progress progress(*comm);
    Report report;
    double start = MPI_Wtime();
    progress.now("reading");
    Slice slice = read_slice(*comm, options.input, Rows::points);
    report.objects = slice.rows;
    report.read = MPI_Wtime() - start;
    std::optional<SharedFile> offsets, indices;
    if (!options.common.out.empty()) {
        offsets.emplace(*comm, options.common.out + ".offsets.npy");
        indices.emplace(*comm, options.common.out + ".indices.npy");
    }
    progress.now("finding neighbours");
    std::vector<Entry> entries;
    dispatch(slice, [&]<int D, class T>() { find<D, T>(options, slice, *comm, report, entries); });
    if (offsets) {
        progress.now("writing");
        start = MPI_Wtime();
        write(comm, slice, std::move(entries), *offsets, *indices);
        report.write = MPI_Wtime() - start;
    }
    progress.now("");
    report.print(*comm, options.common, "points", "pairs");
}

}  // namespace

void add_neighbors(CLI::App& app) {
    auto options = std::make_shared<NeighborsOptions>();
    CLI::App* verb = app.add_subcommand("neighbors", "neighbours within a radius");
    verb->footer("Example:\n  mpirun -n 4 quadrat-mpi neighbors points.npy --radius 0.1 --out near");
    verb->add_option("INPUT", options->input, "(N, D) as .npy, float32 or float64")->required();
    verb->add_option("--radius", options->radius, "how far, closed")->required();
    verb->add_option("--periodic", options->periodic, "lengths (0: open) or D x D numbers of the box vectors")
        ->delimiter(',');
    verb->add_option("-o,--out", options->common.out,
                     "PREFIX.offsets.npy int64 and PREFIX.indices.npy uint32, rows sorted");
    options->common.add_to(*verb);
    verb->callback([options] { run_neighbors(*options); });
}

}  // namespace quadrat::mpi_cli
