#include "base/parallel.hpp"

#include <quadrat/error.hpp>
#include <quadrat/executor.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using namespace quadrat;

std::vector<std::unique_ptr<Executor>> executors() {
    std::vector<std::unique_ptr<Executor>> all;
    all.push_back(std::make_unique<SerialExecutor>());
    for (unsigned threads : {1u, 2u, 7u}) {
        all.push_back(std::make_unique<ThreadExecutor>(threads));
        all.push_back(make_executor(threads));
    }
    return all;
}

TEST(Executor, RunsEachTaskOnce) {
    for (const auto& executor : executors()) {
        for (std::size_t count : {0u, 1u, 2u, 1000u}) {
            std::vector<std::atomic<int>> calls(count);
            base::run_tasks(executor.get(), count, [&](std::size_t k) { ++calls[k]; });
            for (auto& c : calls) EXPECT_EQ(c.load(), 1);
        }
    }
}

TEST(Executor, HasTheThreadsThatWereAskedFor) {
    const unsigned all = std::max(1u, std::thread::hardware_concurrency());
    EXPECT_EQ(SerialExecutor().threads(), 1u);
    for (const unsigned threads : {1u, 2u, 5u}) {
        EXPECT_EQ(ThreadExecutor(threads).threads(), threads);
        EXPECT_EQ(make_executor(threads)->threads(), threads);
    }
    EXPECT_EQ(ThreadExecutor(0).threads(), all);
    EXPECT_EQ(make_executor(0)->threads(), all);
}

TEST(Executor, EndsItsThreads) {
    const auto running = [] {
        const std::filesystem::directory_iterator tasks("/proc/self/task"), end;
        return std::distance(tasks, end);
    };
    if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "threads are counted in /proc";
    // With the first thread sanitizers start one of their own, which stays.
    { const ThreadExecutor first(2); }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto before = running();
    {
        ThreadExecutor executor(6);
        EXPECT_EQ(running(), before + 5);
    }
    // The system lists a thread for a moment after it was joined.
    for (int wait = 0; wait < 200 && running() > before; ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(running(), before);
}

// What was started is ended before the error leaves.
TEST(Executor, ThrowsWhereTheSystemGivesNoMoreThreads) {
#if QUADRAT_SANITIZED
    GTEST_SKIP() << "sanitizers need more address space than the limit";
#endif
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(60);
        rlimit limit{};
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = rlim_t{1} << 30;
        setrlimit(RLIMIT_AS, &limit);
        try {
            ThreadExecutor(4000);
        } catch (const std::system_error&) {
            _exit(0);
        }
        _exit(1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// Each of two tasks waits for the other, more than once with the same threads, and after runs inside of tasks.
TEST(Executor, RunsTasksSideBySide) {
    ThreadExecutor executor(2);
    const auto caller = std::this_thread::get_id();
    for (int round = 0; round < 3; ++round) {
        std::atomic<int> arrived{0}, met{0};
        base::run_tasks(&executor, 2, [&](std::size_t) {
            base::run_tasks(&executor, 3, [](std::size_t) {});
            ++arrived;
            const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (arrived < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
            // The run is not over before the slower one is.
            if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(std::chrono::milliseconds(50));
            met += arrived == 2;
        });
        EXPECT_EQ(met, 2) << "round " << round;
    }
}

TEST(Executor, NestedRunsFinish) {
    for (const auto& executor : executors()) {
        std::atomic<int> calls{0};
        base::run_tasks(executor.get(), 8,
                        [&](std::size_t) { base::run_tasks(executor.get(), 8, [&](std::size_t) { ++calls; }); });
        EXPECT_EQ(calls.load(), 64);
    }
}

TEST(Executor, ThrowsTheFirstFailureByTaskNumber) {
    for (const auto& executor : executors()) {
        try {
            base::run_tasks(executor.get(), 100, [](std::size_t k) {
                if (k % 10 == 3) throw std::runtime_error(std::to_string(k));
            });
            FAIL() << "nothing thrown";
        } catch (const std::runtime_error& e) {
            EXPECT_STREQ(e.what(), "3");
        }
    }
}

TEST(Executor, BeginsNoTaskBehindOneThatThrew) {
    for (const auto& executor : executors()) {
        std::atomic<int> begun{0};
        EXPECT_THROW(base::run_tasks(executor.get(), 2000,
                                     [&](std::size_t k) {
                                         if (k == 0) throw std::runtime_error("at once");
                                         ++begun;
                                         std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                     }),
                     std::runtime_error);
        EXPECT_LT(begun.load(), 1000) << executor->threads() << " threads";
    }
}

// A pool's threads stay in the parent: a child that waited for them would wait for ever.
TEST(Executor, WorksInAForkedChild) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer starts no threads in a forked child";
#endif
    for (const auto& executor : executors()) {
        std::atomic<int> calls{0};
        const auto count = [&](std::size_t) { ++calls; };
        base::run_tasks(executor.get(), 100, count);  // its threads are awake
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            alarm(30);  // ends a child that hangs
            base::run_tasks(executor.get(), 100, count);
            base::run_tasks(executor.get(), 100, count);
            _exit(calls.load() == 300 ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << executor->threads() << " threads";
        base::run_tasks(executor.get(), 100, count);
        EXPECT_EQ(calls.load(), 200);
    }
}

TEST(ParallelFor, CoversTheRangeOnce) {
    for (const auto& executor : executors()) {
        std::vector<std::atomic<int>> seen(10'001);
        base::parallel_for(executor.get(), seen.size(), 64, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) ++seen[i];
        });
        for (auto& s : seen) EXPECT_EQ(s.load(), 1);
    }
}

TEST(ParallelReduce, HasTheSameBitsForAnyThreadCount) {
    std::vector<float> values(100'003);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(i + 1);
    auto sum_with = [&](Executor* executor) {
        return base::parallel_reduce(
            executor, values.size(), 1000, 0.0f,
            [&](std::size_t begin, std::size_t end) {
                return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                       values.begin() + static_cast<std::ptrdiff_t>(end), 0.0f);
            },
            [](float a, float b) { return a + b; });
    };
    const float serial = sum_with(nullptr);
    for (const auto& executor : executors()) EXPECT_EQ(sum_with(executor.get()), serial);
}

TEST(Watch, StopsAndReports) {
    StopSource source;
    double last = -1;
    const Watch watch{source, [&](double fraction) { last = fraction; }};
    base::check_in(watch, 1, 4);
    EXPECT_EQ(last, 0.25);
    source.request_stop();
    EXPECT_THROW(base::check_in(watch, 2, 4), Error);
    EXPECT_EQ(last, 0.25);
}

// What reports runs tasks of its own, on whose threads tasks of the call come to their end: nobody may wait.
TEST(TaskProgress, RunsWhatItLikesInAReport) {
    for (const auto& executor : executors()) {
        double last = 0;
        bool fell = false;
        std::atomic<int> inside{0};
        const Watch watch{{}, [&](double part) {
                              fell = fell || part < last;
                              last = part;
                              base::run_tasks(executor.get(), 4, [&](std::size_t) { ++inside; });
                          }};
        base::TaskProgress progress(watch, 300);
        base::run_tasks(executor.get(), 300, [&](std::size_t) { progress.done_one(); });
        progress.finish();
        EXPECT_EQ(last, 1.0);
        EXPECT_FALSE(fell);
        EXPECT_GE(inside.load(), 4);
    }
    StopSource stop;
    stop.request_stop();
    const Watch watch{stop, {}};
    base::TaskProgress progress(watch, 2);
    EXPECT_THROW(progress.done_one(), Error);
}

}  // namespace
