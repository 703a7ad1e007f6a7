// Every rank runs every test in the same order; rank 0 prints, and the others say what failed on them. A test that
// fails on one rank goes on (EXPECT, not ASSERT), so that no rank waits for another.
#include <mpi.h>

#include <gtest/gtest.h>

#include <cstdio>

namespace {

class FailuresOnly : public testing::EmptyTestEventListener {
  public:
    explicit FailuresOnly(int rank) : rank_(rank) {}
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed())
            std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(),
                         result.summary());
    }

  private:
    int rank_;
};

}  // namespace

int main(int argc, char** argv) {
    int level = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing::InitGoogleTest(&argc, argv);
    if (rank != 0) {
        auto& listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new FailuresOnly(rank));
    }
    int failed = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
