// How a call into the library is made from Python: without the GIL, watched for Ctrl-C and for progress, on threads
// that all calls share, and with a lock on the object that it uses.
#pragma once

#include <pybind11/pybind11.h>
#include <quadrat/executor.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
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

/// Guards one object of Python's: readers together, a writer alone. A thread that asks for an object that it is using
/// already (from a progress callback) gets a RuntimeError in place of a deadlock.
class ObjectLock {
  public:
    /// Marks the object as used by this thread.
    class Use {
      public:
        explicit Use(const ObjectLock& lock);
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
    };
    /// Held by the thread that works, without the GIL.
    std::shared_mutex mutex;
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
            const std::shared_lock held(lock.mutex);
            fn();
        });
    }
    template <class Fn>
    void write(ObjectLock& lock, Fn&& fn) {
        const ObjectLock::Use use(lock);
        run([&] {
            const std::unique_lock held(lock.mutex);
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

/// Errors of the library become those of quadrat._errors.
void register_errors();

}  // namespace quadrat::python
