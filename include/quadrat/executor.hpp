// Where threads come from. The library starts none of its own: it runs on the caller's thread unless an Executor is
// given. Work is cut into tasks, and what they give is put together in the order of the data, so that results are the
// same for any number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

namespace quadrat {

/// Runs numbered tasks. Implement it to lend quadrat the threads of your own pool; structures take a pointer to one in
/// their options, which must outlive them.
///
///     class Pool final : public quadrat::Executor {
///         unsigned threads() const noexcept override { return 8; }
///         void run(std::size_t count, void (*task)(void*, std::size_t), void* context) override {
///             my_pool.parallel_for(count, [=](std::size_t k) { task(context, k); });
///         }
///     };
///
/// Threads: structures that share an executor, or const calls at the same time on one of them, call run() from several
/// threads at once, so it must allow that.
class Executor {
  public:
    virtual ~Executor() = default;

    /// How many tasks can make progress at once; at least 1. Used to size chunks of work, never to decide a result.
    /// With 1 the library does not call run() at all.
    [[nodiscard]] virtual unsigned threads() const noexcept = 0;

    /// Calls task(context, k) once for every k in [0, count), in any order, on any threads; returns when all have
    /// returned. What the tasks wrote is then visible to the caller. Tasks do not wait for each other. May be called
    /// from inside a task.
    ///
    /// task: does not throw.
    virtual void run(std::size_t count, void (*task)(void* context, std::size_t k), void* context) = 0;
};

/// Everything on the caller's thread, in order: the same as no executor at all, for code that wants an object. Holds
/// nothing and may be shared by any number of threads.
class SerialExecutor final : public Executor {
  public:
    [[nodiscard]] unsigned threads() const noexcept override { return 1; }
    void run(std::size_t count, void (*task)(void*, std::size_t), void* context) override;
};

/// A fixed set of std::threads that sleep between calls; the calling thread works, too. For programs without a pool of
/// their own; make_executor() prefers oneTBB where the build has it.
///
/// Threads: may be shared. One run at a time: a second thread that calls run() waits for the first. A run from inside a
/// task of any ThreadExecutor goes serially on the thread of that task. After fork() the child's first run starts new
/// threads.
class ThreadExecutor final : public Executor {
  public:
    /// Starts the threads. Throws std::system_error if the system does not give so many.
    ///
    /// threads: counts the calling thread, so one fewer is started; 0, the default: one per processor.
    explicit ThreadExecutor(unsigned threads = 0);
    /// Ends the threads. No run may be going on.
    ~ThreadExecutor() override;
    ThreadExecutor(const ThreadExecutor&) = delete;
    ThreadExecutor& operator=(const ThreadExecutor&) = delete;

    [[nodiscard]] unsigned threads() const noexcept override;
    /// Threads take the tasks one by one, in ascending order, as they become free.
    void run(std::size_t count, void (*task)(void*, std::size_t), void* context) override;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The best executor of this build for so many threads: a SerialExecutor for 1, otherwise oneTBB, or a ThreadExecutor
/// without it. Never null. threads() of it is the number that was asked for, also where oneTBB is not allowed as many.
///
///     const auto executor = quadrat::make_executor();
///     quadrat::CellIndex<3, float> index({.radius = 0.1f, .executor = executor.get()});
///
/// threads: counts the calling thread; 0, the default: one per processor.
[[nodiscard]] std::unique_ptr<Executor> make_executor(unsigned threads = 0);

/// Tells a running call to end early. Copies share one flag; may be used from any thread and from a signal handler. A
/// source cannot be set back: take a new one for the next call. One that was moved from can be assigned to or
/// destroyed.
class StopSource {
  public:
    /// A flag of its own, not set.
    StopSource() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
    /// Asks every call that has a token of this source to end. Returns at once: the call throws Error{stopped} when it
    /// next looks at its Watch, or returns if it was done before.
    void request_stop() noexcept { flag_->store(true, std::memory_order_relaxed); }

  private:
    friend class StopToken;
    std::shared_ptr<std::atomic<bool>> flag_;
};

/// The listening end of a StopSource, which it may outlive; copies are cheap and listen to the same.
class StopToken {
  public:
    /// A token that never stops.
    StopToken() = default;
    /// Converts, so that a StopSource can be given where a token is wanted.
    StopToken(const StopSource& source) : flag_(source.flag_) {}
    /// True from request_stop() on. May be asked from any thread; costs a relaxed load.
    [[nodiscard]] bool stop_requested() const noexcept { return flag_ && flag_->load(std::memory_order_relaxed); }

  private:
    std::shared_ptr<const std::atomic<bool>> flag_;
};

/// How a caller follows and ends a long call. The library looks at it once per chunk of work, on the calling thread or
/// on an executor's thread. The default watches nothing.
///
///     quadrat::StopSource stop;
///     index.find_neighbors(list, {.watch = {stop, [](double done) { show(done); }}});
struct Watch {
    /// When it asks to stop, the call throws Error{stopped}, and structures are as they were. What the call has given
    /// until then is not complete. Default: never.
    StopToken stop;
    /// Told how much is done, 0 to 1, one call at a time. It never falls, except that a neighbour list that seemed to
    /// be too large for max_bytes is counted and begun again; the last number before the call returns may be below 1.
    /// What it throws ends the call and reaches the caller. Default: empty, nobody is told.
    std::function<void(double fraction)> report;
};

}  // namespace quadrat
