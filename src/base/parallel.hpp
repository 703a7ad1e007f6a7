// Loops over an Executor. The number of chunks depends on the size and the grain only, and partial results are combined
// in chunk order, so a floating point sum has the same bits for any number of threads.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/executor.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

namespace quadrat::base {

[[nodiscard]] inline unsigned thread_count(const Executor* executor) {
    return executor ? std::max(1u, executor->threads()) : 1u;
}

/// Calls task(k) for k in [0, count). If tasks throw, the exception of the smallest k is thrown here after all that run
/// have ended. Tasks behind one that threw are not begun, so that a stop ends a call on threads as soon as a serial
/// one; those before it are, so that which exception it is does not depend on the threads.
template <class Task>
void run_tasks(Executor* executor, std::size_t count, Task&& task) {
    if (!executor || executor->threads() <= 1 || count <= 1) {
        for (std::size_t k = 0; k < count; ++k) task(k);
        return;
    }
    struct Call {
        Task& task;
        std::mutex mutex;
        std::exception_ptr failure;
        std::atomic<std::size_t> failed_at = std::numeric_limits<std::size_t>::max();
    } call{task, {}, {}};
    executor->run(
        count,
        [](void* context, std::size_t k) {
            Call& c = *static_cast<Call*>(context);
            if (k > c.failed_at.load(std::memory_order_relaxed)) return;
            try {
                c.task(k);
            } catch (...) {
                const std::lock_guard lock(c.mutex);
                if (k < c.failed_at) {
                    c.failed_at = k;
                    c.failure = std::current_exception();
                }
            }
        },
        &call);
    if (call.failure) std::rethrow_exception(call.failure);
}

[[nodiscard]] constexpr std::size_t chunk_count(std::size_t n, std::size_t grain) {
    return (n + grain - 1) / grain;
}

/// Calls body(begin, end) for consecutive ranges of at most `grain` that cover [0, n).
template <class Body>
void parallel_for(Executor* executor, std::size_t n, std::size_t grain, Body&& body) {
    run_tasks(executor, chunk_count(n, grain), [&](std::size_t k) { body(k * grain, std::min(n, (k + 1) * grain)); });
}

/// combine(... combine(combine(first, map(chunk 0)), map(chunk 1)) ...), always in this order.
template <class T, class Map, class Combine>
[[nodiscard]] T parallel_reduce(Executor* executor, std::size_t n, std::size_t grain, T first, Map&& map,
                                Combine&& combine) {
    const std::size_t count = chunk_count(n, grain);
    std::vector<T> part(count, first);
    run_tasks(executor, count, [&](std::size_t k) { part[k] = map(k * grain, std::min(n, (k + 1) * grain)); });
    for (T& p : part) first = combine(std::move(first), std::move(p));
    return first;
}

/// Throws if the caller asked to stop.
inline void check_stop(const Watch& watch) {
    if (watch.stop.stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
}

/// Throws if the caller asked to stop; otherwise reports how much is done.
inline void check_in(const Watch& watch, std::size_t done, std::size_t total) {
    check_stop(watch);
    if (watch.report) watch.report(total ? static_cast<double>(done) / static_cast<double>(total) : 1.0);
}

/// check_in() for tasks side by side: report hears of one at a time, of numbers that never fall, and no thread waits
/// for it. A task that ends meanwhile is counted and told with the next; whoever reports may thus call anything that
/// runs tasks of its own, on whose threads this call's tasks may come to their end.
class TaskProgress {
  public:
    TaskProgress(const Watch& watch, std::size_t total) : watch_(watch), total_(total) {}
    TaskProgress(const TaskProgress&) = delete;
    TaskProgress& operator=(const TaskProgress&) = delete;

    /// One task more is done. Throws as check_in().
    void done_one() { done(1); }
    /// So many more of what is counted are done.
    void done(std::size_t count) {
        check_stop(watch_);
        done_.fetch_add(count, std::memory_order_relaxed);
        if (!watch_.report || busy_.exchange(true, std::memory_order_acquire)) return;
        const Leave leave{busy_};
        tell(done_.load(std::memory_order_relaxed));
    }
    /// All tasks have returned: tells what nobody was told.
    void finish() {
        if (watch_.report && told_ != total_) tell(total_);
    }

  private:
    struct Leave {
        std::atomic<bool>& busy;
        ~Leave() { busy.store(false, std::memory_order_release); }
    };
    void tell(std::size_t done) {
        told_ = done;
        check_in(watch_, done, total_);
    }

    const Watch& watch_;
    const std::size_t total_;
    std::atomic<std::size_t> done_{0};
    std::atomic<bool> busy_{false};
    std::size_t told_ = 0;  // guarded by busy_
};

}  // namespace quadrat::base
