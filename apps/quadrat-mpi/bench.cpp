// quadrat-mpi bench: time per step of moving boxes, each rank with its own share of scenario B1, so many per rank
// (weak) or in all (strong).
#include <quadrat/distributed.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "common.hpp"

namespace quadrat::mpi_cli {
namespace {

struct BenchOptions {
    std::uint64_t n = 125000;
    bool per_rank = false;
    unsigned steps = 10;
    CommonOptions common;
};

/// Unit cubes at the density of B1, about two pairs per box, in a slab of space per rank that is as long as all ranks
/// need; velocities up to 20 % of the size.
struct Bodies {
    std::vector<Box3f> boxes;
    std::vector<Vec3f> velocities;
    float side;

    Bodies(std::uint64_t all, std::uint64_t mine, int rank) {
        side = static_cast<float>(std::cbrt(static_cast<double>(all)) * 1.25);  // (0.8)^-1: 2.03 pairs per body
        base::SplitMix random(static_cast<std::uint64_t>(rank) + 17);
        boxes.resize(mine);
        velocities.resize(mine);
        for (std::size_t i = 0; i < mine; ++i)
            for (int k = 0; k < 3; ++k) {
                boxes[i].lo[k] = static_cast<float>(random.uniform(0, side));
                boxes[i].hi[k] = boxes[i].lo[k] + 1;
                velocities[i][k] = static_cast<float>(random.uniform(-0.2, 0.2));
            }
    }
    void step() {
        for (std::size_t i = 0; i < boxes.size(); ++i)
            for (int k = 0; k < 3; ++k) {
                boxes[i].lo[k] += velocities[i][k];
                if (boxes[i].lo[k] < 0 || boxes[i].lo[k] > side) velocities[i][k] = -velocities[i][k];
                boxes[i].hi[k] = boxes[i].lo[k] + 1;
            }
    }
};

double middle(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

void run_bench(const BenchOptions& options) {
    const auto comm = std::make_shared<const Communicator>(MPI_COMM_WORLD);
    const auto ranks = static_cast<std::uint64_t>(comm->size());
    const std::uint64_t all = options.per_rank ? options.n * ranks : options.n;
    const auto executor = options.common.executor();
    Bodies bodies(all, all / ranks + (static_cast<std::uint64_t>(comm->rank()) < all % ranks), comm->rank());
    DistributedBroadPhase<3, float> phase(MPI_COMM_WORLD, options.common.decomposition<3, float>(executor.get()));
    const auto follow = [&](const Migration& m) {
        m.apply(bodies.boxes);
        m.apply(bodies.velocities);
    };
    follow(phase.insert(std::span<const Box3f>(bodies.boxes)));
    std::vector<Pair> pairs;
    std::vector<double> wall, migrate, halo, build, find;
    for (unsigned s = 0; s <= options.steps; ++s) {
        bodies.step();
        MPI_Barrier(comm->handle());
        const double start = MPI_Wtime();
        follow(phase.update(std::span<const Box3f>(bodies.boxes)));
        phase.find_pairs(pairs);
        MPI_Barrier(comm->handle());
        if (s == 0) continue;  // to warm up
        wall.push_back(MPI_Wtime() - start);
        migrate.push_back(phase.seconds().migrate);
        halo.push_back(phase.seconds().halo);
        build.push_back(phase.seconds().build_cpu);
        find.push_back(phase.seconds().find_cpu);
    }
    const double mine[5] = {middle(wall), middle(migrate), middle(halo), middle(build), middle(find)};
    double most[5];
    MPI_Allreduce(mine, most, 5, MPI_DOUBLE, MPI_MAX, comm->handle());
    const std::uint64_t ghosts = comm->sum(phase.stats().ghosts), found = comm->sum(pairs.size());
    if (comm->rank() != 0) return;
    const double per_body = 1e9 / (static_cast<double>(all) / static_cast<double>(ranks));
    std::printf(
        "{\"ranks\":%d,\"bodies\":%llu,\"pairs\":%llu,\"ms_per_step\":%.3f,\"migrate_ms\":%.3f,\"halo_ms\":%.3f,"
        "\"build_cpu_ns_per_body\":%.1f,\"find_cpu_ns_per_body\":%.1f,\"ghost_share\":%.4f,\"cuts\":%llu,"
        "\"imbalance\":%.3f}\n",
        comm->size(), static_cast<unsigned long long>(all), static_cast<unsigned long long>(found), 1e3 * most[0],
        1e3 * most[1], 1e3 * most[2], per_body * most[3], per_body * most[4],
        static_cast<double>(ghosts) / static_cast<double>(all), static_cast<unsigned long long>(phase.stats().cuts),
        phase.stats().imbalance);
}

}  // namespace

void add_bench(CLI::App& app) {
    auto options = std::make_shared<BenchOptions>();
    CLI::App* verb = app.add_subcommand("bench", "time per step of moving boxes, as one object of JSON");
    verb->footer("Example:\n  mpirun -n 2 quadrat-mpi bench --n 125000 --per-rank");
    verb->add_option("--n", options->n, "boxes, in all")->check(CLI::Range(1u, 2000000000u));
    verb->add_flag("--per-rank", options->per_rank, "--n is per rank");
    verb->add_option("--steps", options->steps, "timed steps")->check(CLI::Range(1, 100000));
    options->common.add_to(*verb);
    verb->callback([options] { run_bench(*options); });
}

}  // namespace quadrat::mpi_cli
