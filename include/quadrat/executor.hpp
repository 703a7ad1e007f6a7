// Where threads come from. The library starts none of its own: it runs on the caller's thread unless an Executor is
// given. Work is cut into tasks whose number depends on the data alone, so that results are the same for any number of
// threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

namespace quadrat {

/// Runs numbered tasks. Implement it to lend quadrat the threads of your own pool.
class Executor {
  public:
    virtual ~Executor() = default;

    /// How many tasks can make progress at once; at least 1. Used to size chunks of work, never to decide a result.
    [[nodiscard]] virtual unsigned threads() const noexcept = 0;

    /// Calls task(context, k) once for every k in [0, count), in any order, on any threads; returns when all have
    /// returned. The task does not throw. Tasks do not wait for each other. May be called from inside a task.
    virtual void run(std::size_t count, void (*task)(void* context, std::size_t k), void* context) = 0;
};

/// Everything on the caller's thread, in order.
class SerialExecutor final : public Executor {
  public:
    [[nodiscard]] unsigned threads() const noexcept override { return 1; }
    void run(std::size_t count, void (*task)(void*, std::size_t), void* context) override;
};

/// A fixed set of std::threads that sleep between calls. One run at a time; a run from inside a task goes serially.
class ThreadExecutor final : public Executor {
  public:
    /// threads counts the calling thread; 0 means one per processor.
    explicit ThreadExecutor(unsigned threads = 0);
    ~ThreadExecutor() override;
    ThreadExecutor(const ThreadExecutor&) = delete;
    ThreadExecutor& operator=(const ThreadExecutor&) = delete;

    [[nodiscard]] unsigned threads() const noexcept override;
    void run(std::size_t count, void (*task)(void*, std::size_t), void* context) override;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The best executor of this build for so many threads: serial for 1, otherwise oneTBB, or std::thread without it.
/// 0 means one per processor.
[[nodiscard]] std::unique_ptr<Executor> make_executor(unsigned threads = 0);

/// Tells a running call to end early. Copies share one flag; may be used from any thread and from a signal handler.
class StopSource {
  public:
    StopSource() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
    void request_stop() noexcept { flag_->store(true, std::memory_order_relaxed); }

  private:
    friend class StopToken;
    std::shared_ptr<std::atomic<bool>> flag_;
};

/// The listening end of a StopSource; a default one never stops.
class StopToken {
  public:
    StopToken() = default;
    StopToken(const StopSource& source) : flag_(source.flag_) {}
    [[nodiscard]] bool stop_requested() const noexcept { return flag_ && flag_->load(std::memory_order_relaxed); }

  private:
    std::shared_ptr<const std::atomic<bool>> flag_;
};

/// How a caller follows and ends a long call. The library looks at it once per chunk of work, on the calling thread or
/// on an executor's thread, one call of `report` at a time.
struct Watch {
    StopToken stop;                               ///< when it asks to stop, the call throws Error{ErrorKind::stopped}
    std::function<void(double fraction)> report;  ///< told how much is done, 0..1, never falling
};

}  // namespace quadrat
