#include "calls.hpp"

#include <quadrat/error.hpp>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace quadrat::python {
namespace {

class SharedPool final : public Executor {
  public:
    explicit SharedPool(unsigned threads) : pool_(threads), threads_(threads) {}

    [[nodiscard]] unsigned threads() const noexcept override { return threads_; }
    void run(std::size_t count, void (*task)(void*, std::size_t), void* context) override {
        if (busy_.exchange(true, std::memory_order_acquire)) {
            for (std::size_t k = 0; k < count; ++k) task(context, k);
            return;
        }
        pool_.run(count, task, context);
        busy_.store(false, std::memory_order_release);
    }
    /// In a forked child, to which no thread at work came along.
    void after_fork() { busy_.store(false); }

  private:
    ThreadExecutor pool_;
    unsigned threads_;
    std::atomic<bool> busy_ = false;
};

// What the process may use, which in a container or under taskset is less than what the machine has.
unsigned processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    return std::max(1u, std::thread::hardware_concurrency());
}

// Both never destroyed: threads that sleep end with the process, and joining them while a module is unloaded may hang.
struct Pools {
    std::mutex mutex;
    std::map<unsigned, std::unique_ptr<SharedPool>> by_threads;
};
Pools& pools() {
    static auto* const all = new Pools;
    return *all;
}

std::atomic<unsigned> forks_so_far = 0;

// Nobody is making a pool while the process is copied, so that the child finds the map whole.
[[maybe_unused]] const bool watching_forks = [] {
    return pthread_atfork([] { pools().mutex.lock(); }, [] { pools().mutex.unlock(); },
                          [] {
                              for (const auto& entry : pools().by_threads) entry.second->after_fork();
                              ++forks_so_far;
                              pools().mutex.unlock();
                          }) == 0;
}();

// The objects that this thread is using, innermost last.
thread_local std::vector<const ObjectLock*> held_here;

const char* name(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::bad_value:
            return "bad_value";
        case ErrorKind::bad_shape:
            return "bad_shape";
        case ErrorKind::bad_format:
            return "bad_format";
        case ErrorKind::unsupported:
            return "unsupported";
        case ErrorKind::cannot_read:
            return "cannot_read";
        case ErrorKind::cannot_write:
            return "cannot_write";
        case ErrorKind::stale_id:
            return "stale_id";
        case ErrorKind::duplicate:
            return "duplicate";
        case ErrorKind::too_large:
            return "too_large";
        case ErrorKind::stopped:
            return "stopped";
    }
    return "unknown";
}

}  // namespace

Executor* executor_of(unsigned threads) {
    if (threads == 0) threads = processors();
    if (threads == 1) return nullptr;
    const std::lock_guard lock(pools().mutex);
    std::unique_ptr<SharedPool>& pool = pools().by_threads[threads];
    if (!pool) pool = std::make_unique<SharedPool>(threads);
    return pool.get();
}

unsigned forks() noexcept {
    return forks_so_far;
}

ObjectLock::Use::Use(ObjectLock& lock) {
    if (lock.mutex_.renew()) lock.torn_ = lock.changing_;
    if (lock.torn_)
        throw std::runtime_error("another thread was changing this object when the process was forked: make a new one");
    if (std::find(held_here.begin(), held_here.end(), &lock) != held_here.end())
        throw std::runtime_error("an object cannot be used by the progress callback of its own call");
    held_here.push_back(&lock);
}
ObjectLock::Use::~Use() {
    held_here.pop_back();
}

Call::Call(py::object progress, Work work) : progress_(std::move(progress)), work_(work) {}

Watch Call::watch() {
    return {.stop = stop_, .report = [this](double fraction) { look(fraction); }};
}

void Call::look(double fraction) {
    if (work_ == Work::aside) {
        fraction_.store(fraction, std::memory_order_relaxed);
        return;
    }
    if (std::this_thread::get_id() != caller_ || failure_ || Clock::now() < next_) return;
    look_now(fraction);
}

void Call::look_or_throw(double fraction) {
    look(fraction);
    if (stop().stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
}

void Call::look_now(double fraction) {
    {
        const py::gil_scoped_acquire gil;
        try {
            if (PyErr_CheckSignals() != 0) throw py::error_already_set();
            if (!progress_.is_none()) progress_(fraction);
        } catch (const py::error_already_set& e) {
            failure_.emplace(e);
            stop_.request_stop();
        }
    }
    next_ = Clock::now() + interval;
}

void Call::run_aside(const std::function<void()>& fn) {
    const py::gil_scoped_release release;
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    std::exception_ptr thrown;
    std::thread worker([&] {
        try {
            fn();
        } catch (...) {
            thrown = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        done = true;
        ended.notify_one();
    });
    const auto is_done = [&] {
        std::unique_lock lock(mutex);
        return ended.wait_for(lock, interval, [&] { return done; });
    };
    while (!is_done())
        if (!failure_) look_now(fraction_.load(std::memory_order_relaxed));
    worker.join();
    if (thrown) std::rethrow_exception(thrown);
}

void StoppingExecutor::run(std::size_t count, void (*task)(void*, std::size_t), void* context) {
    struct Tasks {
        const Watch& watch;
        void (*task)(void*, std::size_t);
        void* context;
    } tasks{watch_, task, context};
    const auto watched = [](void* given, std::size_t k) {
        const Tasks& t = *static_cast<Tasks*>(given);
        if (t.watch.stop.stop_requested()) return;
        t.task(t.context, k);
        t.watch.report(0);
    };
    if (inner_) {
        inner_->run(count, watched, &tasks);
    } else {
        for (std::size_t k = 0; k < count; ++k) watched(&tasks, k);
    }
    if (watch_.stop.stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
}

void register_errors() {
    py::register_exception_translator([](std::exception_ptr pointer) {
        try {
            if (pointer) std::rethrow_exception(pointer);
        } catch (const Error& e) {
            const Where& w = e.where();
            const auto number = [](const std::optional<std::uint64_t>& n) -> py::object {
                return n ? py::object(py::int_(*n)) : py::object(py::none());
            };
            const py::object made = py::module_::import("quadrat._errors")
                                        .attr("make")(name(e.kind()), e.what(), number(w.index), number(w.column),
                                                      number(w.line), number(w.byte), w.field, w.file);
            PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
        }
    });
}

}  // namespace quadrat::python
