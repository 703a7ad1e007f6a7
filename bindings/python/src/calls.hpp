// How a call into the library is made from Python: without the GIL, watched for Ctrl-C and for progress, on threads
// that all calls share, and with a lock on the object that it uses.
#pragma once

#include <pybind11/pybind11.h>
#include <quadrat/executor.hpp>

#include <chrono>
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

/// Guards one object of Python's: readers together, a writer alone. A thread that asks for an object that it is using
/// already (from a progress callback) gets a RuntimeError in place of a deadlock.
class ObjectLock {
  public:
    class Reading {
      public:
        explicit Reading(ObjectLock& lock);
        ~Reading();
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

      private:
        ObjectLock& lock_;
    };
    class Writing {
      public:
        explicit Writing(ObjectLock& lock);
        ~Writing();
        Writing(const Writing&) = delete;
        Writing& operator=(const Writing&) = delete;

      private:
        ObjectLock& lock_;
    };

  private:
    void enter() const;
    void leave() const noexcept;
    std::shared_mutex mutex_;
};

/// One call. Signals are looked at on the calling thread, at most every 20 ms, since that takes the GIL; an exception
/// that they or the progress callback raise stops the library and is what the caller sees.
class Call {
  public:
    /// progress: None, or called with the share that is done, 0 to 1.
    explicit Call(py::object progress = py::none());

    /// To hand to the library. Refers to this object.
    [[nodiscard]] Watch watch();
    /// For a watch that has no stop token of this call: what watch() does, and Error{stopped} once something was
    /// raised.
    void look_or_throw(double fraction);

    /// fn() without the GIL.
    template <class Fn>
    void run(Fn&& fn) {
        run_watched([&] {
            const py::gil_scoped_release release;
            fn();
        });
    }
    /// The same with the object that it reads, or changes.
    template <class Fn>
    void read(ObjectLock& lock, Fn&& fn) {
        run([&] {
            const ObjectLock::Reading held(lock);
            fn();
        });
    }
    template <class Fn>
    void write(ObjectLock& lock, Fn&& fn) {
        run([&] {
            const ObjectLock::Writing held(lock);
            fn();
        });
    }
    /// fn(StopToken) on a thread of its own while this one looks at signals: for calls that can be stopped but do not
    /// report. Starting the thread costs some 30 microseconds.
    template <class Fn>
    void run_aside(Fn&& fn) {
        run_watched([&] { aside([&fn](const StopToken& stop) { fn(stop); }); });
    }

  private:
    template <class Fn>
    void run_watched(Fn&& fn) {
        try {
            fn();
        } catch (const std::exception&) {
            if (failure_) throw py::error_already_set(*failure_);
            throw;
        }
        if (failure_) throw py::error_already_set(*failure_);
    }
    void look(double fraction);
    void look_now(double fraction);
    void aside(const std::function<void(const StopToken&)>& fn);

    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{20};

    py::object progress_;
    std::thread::id caller_ = std::this_thread::get_id();
    Clock::time_point next_ = Clock::now() + interval;
    StopSource stop_;
    std::optional<py::error_already_set> failure_;
};

/// Errors of the library become those of quadrat._errors.
void register_errors();

}  // namespace quadrat::python
