// Time for reports; nothing is decided by it.
#pragma once

#include <mpi.h>

#include <ctime>
#include <utility>

namespace quadrat::distributed {

/// Seconds since construction or the last lap.
class Stopwatch {
  public:
    double lap() {
        const double now = MPI_Wtime();
        return now - std::exchange(last_, now);
    }

  private:
    double last_ = MPI_Wtime();
};

/// Processor time of this thread, which does not grow while another rank has the processor.
[[nodiscard]] inline double thread_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Runs fn and says how long it took; if it throws, the times stay as they were.
template <class Fn>
void timed(double& wall, double& cpu, Fn&& fn) {
    Stopwatch watch;
    const double start = thread_seconds();
    std::forward<Fn>(fn)();
    wall = watch.lap();
    cpu = thread_seconds() - start;
}

}  // namespace quadrat::distributed
