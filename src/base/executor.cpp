#include <quadrat/executor.hpp>

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#if QUADRAT_HAS_TBB
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace quadrat {
namespace {

// True on a thread that is running a task of some ThreadExecutor.
thread_local bool inside_task = false;

#if QUADRAT_HAS_TBB
// oneTBB starts no more threads than this and complains on stderr when an arena asks for more.
unsigned most_threads() {
    using oneapi::tbb::global_control;
    return static_cast<unsigned>(global_control::active_value(global_control::max_allowed_parallelism));
}

class TbbExecutor final : public Executor {
  public:
    explicit TbbExecutor(unsigned threads)
        : arena_(static_cast<int>(std::min(threads, most_threads()))), threads_(threads) {}

    [[nodiscard]] unsigned threads() const noexcept override { return threads_; }

    void run(std::size_t count, void (*task)(void*, std::size_t), void* context) override {
        arena_.execute([&] {
            oneapi::tbb::parallel_for(
                std::size_t{0}, count, [&](std::size_t k) { task(context, k); }, oneapi::tbb::simple_partitioner{});
        });
    }

  private:
    oneapi::tbb::task_arena arena_;
    unsigned threads_;
};
#endif

}  // namespace

void SerialExecutor::run(std::size_t count, void (*task)(void*, std::size_t), void* context) {
    for (std::size_t k = 0; k < count; ++k) task(context, k);
}

struct ThreadExecutor::State {
    const pid_t process = getpid();
    std::mutex run_mutex;  // one run at a time
    std::mutex mutex;      // guards what follows
    std::condition_variable work_ready;
    std::condition_variable work_done;
    std::size_t generation = 0;
    unsigned busy = 0;
    bool quit = false;
    void (*task)(void*, std::size_t) = nullptr;
    void* context = nullptr;
    std::size_t count = 0;
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> workers;

    void take_tasks() {
        inside_task = true;
        for (std::size_t k; (k = next.fetch_add(1, std::memory_order_relaxed)) < count;) task(context, k);
        inside_task = false;
    }

    void work() {
        std::size_t seen = 0;
        for (;;) {
            {
                std::unique_lock lock(mutex);
                work_ready.wait(lock, [&] { return quit || generation != seen; });
                if (quit) return;
                seen = generation;
            }
            take_tasks();
            const std::lock_guard lock(mutex);
            if (--busy == 0) work_done.notify_one();
        }
    }

    void start(unsigned threads) {
        try {
            for (unsigned t = 1; t < threads; ++t) workers.emplace_back([this] { work(); });
        } catch (...) {  // the system gives no more threads
            end();
            throw;
        }
    }

    void end() {
        {
            const std::lock_guard lock(mutex);
            quit = true;
        }
        work_ready.notify_all();
        for (std::thread& worker : workers) worker.join();
    }
};

ThreadExecutor::ThreadExecutor(unsigned threads) : state_(std::make_unique<State>()) {
    state_->start(threads ? threads : std::max(1u, std::thread::hardware_concurrency()));
}

ThreadExecutor::~ThreadExecutor() {
    if (state_->process == getpid())
        state_->end();
    else
        static_cast<void>(state_.release());  // its threads stayed in the parent
}

unsigned ThreadExecutor::threads() const noexcept {
    return static_cast<unsigned>(state_->workers.size()) + 1;
}

void ThreadExecutor::run(std::size_t count, void (*task)(void*, std::size_t), void* context) {
    if (inside_task || state_->workers.empty()) {
        for (std::size_t k = 0; k < count; ++k) task(context, k);
        return;
    }
    if (state_->process != getpid()) {
        // A forked child has this thread only: the workers, and whoever held a lock, stayed in the parent. What they
        // left cannot be joined or freed; new ones are started.
        const unsigned before = threads();
        static_cast<void>(state_.release());
        state_ = std::make_unique<State>();
        state_->start(before);
    }
    State& s = *state_;
    const std::lock_guard only_one(s.run_mutex);
    {
        const std::lock_guard lock(s.mutex);
        s.task = task;
        s.context = context;
        s.count = count;
        s.next.store(0, std::memory_order_relaxed);
        s.busy = static_cast<unsigned>(s.workers.size());
        ++s.generation;
    }
    s.work_ready.notify_all();
    s.take_tasks();
    std::unique_lock lock(s.mutex);
    s.work_done.wait(lock, [&] { return s.busy == 0; });
}

std::unique_ptr<Executor> make_executor(unsigned threads) {
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    if (threads == 1) return std::make_unique<SerialExecutor>();
#if QUADRAT_HAS_TBB
    return std::make_unique<TbbExecutor>(threads);
#else
    return std::make_unique<ThreadExecutor>(threads);
#endif
}

}  // namespace quadrat
