// fail_on_rank MODE: a program as users write it, in which the last rank fails in the middle of its work.
//   throw     a stage inside together() throws          value   NaN in one rank's boxes at the third step
//   memory    one rank's memory ends                    kill    one rank is killed with SIGKILL
#include <quadrat/distributed.hpp>
#include <quadrat/error.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace quadrat;

// So many bytes more than now.
void limit_memory(std::size_t bytes) {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    file >> pages;
    const rlimit limit{pages * 4096 + bytes, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
}

void work(const std::string& mode) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool guilty = rank == ranks - 1;
    DistributedBroadPhase<3, float> phase(MPI_COMM_WORLD, {.imbalance = 1e9});
    std::vector<Box3f> boxes;
    for (int i = 0; i < 2000; ++i) {
        const auto x = static_cast<float>(i % 20 + 20 * rank), y = static_cast<float>(i / 20 % 10),
                   z = static_cast<float>(i / 200);
        boxes.push_back({{x, y, z}, {x + 1, y + 1, z + 1}});
    }
    phase.insert(std::span<const Box3f>(boxes)).apply(boxes);
    std::vector<Pair> pairs;
    for (int step = 0; step < 6; ++step) {
        if (step == 3 && guilty && mode == "value") boxes[5].hi[1] = NAN;
        if (step == 3 && guilty && mode == "kill") ::kill(::getpid(), SIGKILL);
        phase.update(std::span<const Box3f>(boxes)).apply(boxes);
        phase.find_pairs(pairs);
        together(*phase.decomposition().comm(), [&] {
            if (step != 3 || !guilty) return;
            if (mode == "throw") throw std::runtime_error("the solver does not converge");
            if (mode == "memory") {
                limit_memory(std::size_t{16} << 20);
                std::vector<Box3f> many(std::size_t{1} << 26);
                boxes[0] = many[boxes.size()];
            }
        });
    }
}

}  // namespace

int main(int argc, char** argv) {
    int level = 0, rank = 0, status = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        work(argc > 1 ? argv[1] : "");
    } catch (const std::exception& error) {
        if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
