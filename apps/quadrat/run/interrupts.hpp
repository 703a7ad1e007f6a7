// Ctrl-C asks a run to end after the step; a second one ends the program at once, as everywhere else.
#pragma once

#include <quadrat/executor.hpp>

#include <csignal>

#include "io/files.hpp"

namespace quadrat::cli {

/// The signal that asked the run to end, or 0.
inline volatile std::sig_atomic_t interrupted = 0;

/// While it lives, SIGINT and SIGTERM ask `stop` to end. One at a time.
class Interrupts {
  public:
    explicit Interrupts(StopSource& stop) {
        source_ = &stop;
        for (std::size_t k = 0; k < 2; ++k) {
            before_[k] = std::signal(signals[k], on_signal);
            if (before_[k] == SIG_IGN) std::signal(signals[k], SIG_IGN);  // what the caller ignores stays ignored
        }
    }
    ~Interrupts() {
        for (std::size_t k = 0; k < 2; ++k) std::signal(signals[k], before_[k]);
        source_ = nullptr;
    }
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

  private:
    static void on_signal(int number) {
        if (interrupted) {
            io::remove_unfinished_files();
            std::signal(number, SIG_DFL);
            std::raise(number);
            return;
        }
        interrupted = number;
        source_->request_stop();
    }
    static constexpr int signals[2] = {SIGINT, SIGTERM};
    inline static StopSource* source_ = nullptr;
    void (*before_[2])(int) = {};
};

}  // namespace quadrat::cli
