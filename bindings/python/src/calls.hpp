// How a call into the library is made from Python: without the GIL, watched for Ctrl-C and for progress, on threads
// that all calls share, and with a lock on the object that it uses.
#pragma once

#include <pybind11/pybind11.h>
#include <quadrat/error.hpp>
#include <quadrat/executor.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>

namespace quadrat::python {

namespace py = pybind11;
using namespace pybind11::literals;

/// The threads for a call, or null for the calling thread alone. One pool per number of threads, which lives as long as
/// the process; a call that finds it at work runs on its own thread, so that callers never wait for each other and a
/// forked child never waits for threads that stayed in its parent.
///
/// threads: 0 for one per processor that the process may use.
[[nodiscard]] Executor* executor_of(unsigned threads);

/// Whether a call on so many things is watched from the thread that made it while another does the work: on several
/// threads the library may report from any of them, and Python's signals are seen by one alone. Starting the thread
/// costs some 30 microseconds.
[[nodiscard]] inline bool worth_a_thread(const Executor* executor, std::size_t count) {
    return executor && count >= 20'000;
}

/// How many forks lie between this process and the one that loaded the module. A forked child has one thread: locks
/// that others held in the parent stay locked for ever, and are made anew where this number has grown.
[[nodiscard]] unsigned forks() noexcept;

/// A mutex that a forked child gets anew.
template <class Mutex>
class ForkSafe {
  public:
    /// With the GIL, before get() is asked by whoever works without it. True if the process was forked since.
    bool renew() {
        if (born_ == forks()) return false;
        (void)mutex_.release();  // locked by a thread that is not here: it can be neither unlocked nor destroyed
        mutex_ = std::make_unique<Mutex>();
        born_ = forks();
        return true;
    }
    [[nodiscard]] Mutex& get() const { return *mutex_; }

  private:
    std::unique_ptr<Mutex> mutex_ = std::make_unique<Mutex>();
    unsigned born_ = forks();
};

/// Guards one object of Python's: readers together, a writer alone. A thread that asks for an object that it is using
/// already (from a progress callback) gets a RuntimeError in place of a deadlock, and so does a forked child for an
/// object that another thread was changing when it was forked.
class ObjectLock {
  public:
    /// Marks the object as used by this thread. Made and destroyed with the GIL.
    class Use {
      public:
        explicit Use(ObjectLock& lock);
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
    };
    /// Both are asked for by the thread that works, without the GIL.
    [[nodiscard]] std::shared_lock<std::shared_mutex> to_read() { return std::shared_lock(mutex_.get()); }
    [[nodiscard]] std::shared_lock<std::shared_mutex> to_read_later() {
        return std::shared_lock(mutex_.get(), std::defer_lock);
    }
    class Writing {
      public:
        explicit Writing(ObjectLock& lock) : lock_(lock), held_(lock.mutex_.get()) { lock_.changing_ = true; }
        ~Writing() { lock_.changing_ = false; }
        Writing(const Writing&) = delete;
        Writing& operator=(const Writing&) = delete;

      private:
        ObjectLock& lock_;
        std::unique_lock<std::shared_mutex> held_;
    };

  private:
    ForkSafe<std::shared_mutex> mutex_;
    std::atomic<bool> changing_ = false;
    bool torn_ = false;  // a thread that is not here was changing the object
};

/// One call. Signals are looked at on the calling thread, at most every 20 ms, since that takes the GIL; an exception
/// that they or the progress callback raise stops the library and is what the caller sees.
class Call {
  public:
    enum class Work { here, aside };

    /// progress: None, or called with the share that is done, 0 to 1.
    /// work: on the calling thread, or on one of its own.
    explicit Call(py::object progress = py::none(), Work work = Work::here);

    /// To hand to the library. Refers to this object.
    [[nodiscard]] Watch watch();
    /// The stop token of that watch.
    [[nodiscard]] StopToken stop() const { return stop_; }
    /// For a watch that has no stop token of this call: what watch() does, and Error{stopped} once something was
    /// raised.
    void look_or_throw(double fraction);
    /// True once an exception was raised, which ends the call.
    [[nodiscard]] bool failed() const { return stop().stop_requested(); }

    /// fn() without the GIL.
    template <class Fn>
    void run(Fn&& fn) {
        try {
            if (work_ == Work::aside) {
                run_aside(fn);
            } else {
                const py::gil_scoped_release release;
                fn();
            }
        } catch (const std::exception&) {
            if (failure_) throw py::error_already_set(*failure_);
            throw;
        }
        if (failure_) throw py::error_already_set(*failure_);
    }
    /// The same with the object that it reads, or changes.
    template <class Fn>
    void read(ObjectLock& lock, Fn&& fn) {
        const ObjectLock::Use use(lock);
        run([&] {
            const auto held = lock.to_read();
            fn();
        });
    }
    template <class Fn>
    void write(ObjectLock& lock, Fn&& fn) {
        const ObjectLock::Use use(lock);
        run([&] {
            const ObjectLock::Writing held(lock);
            fn();
        });
    }

  private:
    void look(double fraction);
    void look_now(double fraction);
    void run_aside(const std::function<void()>& fn);

    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{20};

    py::object progress_;
    Work work_;
    std::thread::id caller_ = std::this_thread::get_id();
    Clock::time_point next_ = Clock::now() + interval;
    // What was reported last, for the thread that looks.
    std::atomic<double> fraction_ = 0;
    StopSource stop_;
    std::optional<py::error_already_set> failure_;
};

/// For calls of the library that have no watch: an executor that looks at signals between its tasks, and ends what runs
/// on it by Error{stopped} once something was raised.
class StoppingExecutor final : public Executor {
  public:
    /// inner: null for the calling thread; like the call it must outlive this.
    StoppingExecutor(Call& call, Executor* inner) : watch_(call.watch()), inner_(inner) {}

    /// At least 2, with which the library asks for run().
    [[nodiscard]] unsigned threads() const noexcept override { return inner_ ? inner_->threads() : 2; }
    void run(std::size_t count, void (*task)(void*, std::size_t), void* context) override;

  private:
    Watch watch_;
    Executor* inner_;
};

/// fn(), whose errors about a row name the argument that it is a row of, where the library names none, or a part of it.
template <class Fn>
decltype(auto) naming(const char* argument, Fn&& fn) {
    try {
        return fn();
    } catch (const Error& e) {
        Where where = e.where();
        const bool part = where.field == "center" || where.field == "radius";
        if (!where.index || (!where.field.empty() && !part)) throw;
        const std::string message = part ? where.field + " " + e.message() : e.message();
        where.field = argument;
        throw Error(e.kind(), message, where);
    }
}

/// Errors of the library become those of quadrat._errors.
void register_errors();

}  // namespace quadrat::python
