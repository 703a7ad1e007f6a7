// What all verbs share: how a verb adds itself, its common options, wrong usage, time, memory, and progress.
#pragma once

#include <quadrat/executor.hpp>

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

// CLI11 and JSON take seconds to compile: files that use them include them.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace quadrat::cli {

using Json = nlohmann::ordered_json;

/// Wrong usage: exit status 2. Bad input is quadrat::Error: exit status 1.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// --method --threads --json, and for pairs and neighbors --repeat and --max-bytes.
struct CommonOptions {
    std::string method = "auto";
    unsigned threads = 1;
    bool json = false;
    unsigned repeat = 0;
    std::uint64_t max_bytes = 0;  ///< 0: no limit

    void add_to(CLI::App& verb, std::span<const char* const> methods);
    void add_repeat_to(CLI::App& verb);
    /// threads, with 0 replaced by the number of processors.
    [[nodiscard]] unsigned thread_count() const {
        return threads ? threads : std::max(1u, std::thread::hardware_concurrency());
    }
    /// Null for one thread.
    [[nodiscard]] std::unique_ptr<Executor> executor() const {
        return thread_count() == 1 ? nullptr : make_executor(threads);
    }
};

/// A verb with its --help text, whose last lines are an example.
CLI::App* add_verb(CLI::App& app, const std::string& name, const std::string& job, const std::string& example);

/// Takes whole numbers from least to most and nothing else: CLI11 alone reads -1 as the largest one.
CLI::Option* whole_number(CLI::Option* option, std::uint64_t least, std::uint64_t most);

/// Throws UsageError unless the method is "auto" or one of the list.
void check_method(const std::string& method, std::span<const char* const> methods);

/// Seconds since construction or the last lap.
class Timer {
  public:
    [[nodiscard]] double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] std::uint64_t peak_rss_bytes();

/// "1234567" as "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t value);

/// Text from a file or an argument as it may be shown: control characters, which can steer a terminal, become \xNN.
[[nodiscard]] std::string printable(std::string_view text);

/// A line on stderr that says what goes on, when stderr is a terminal and the work takes more than a second. Removed at
/// the end, so that only results stay on the screen.
class Progress {
  public:
    explicit Progress(std::string what);
    ~Progress() { end(); }
    /// Takes the line away; results are printed after this.
    void end();
    void now(std::string what);
    /// 0..1; a bar is drawn from the first call on.
    void at(double fraction) { fraction_.store(fraction, std::memory_order_relaxed); }

  private:
    void draw();

    std::string what_;
    std::atomic<double> fraction_{-1};
    std::mutex mutex_;
    std::condition_variable ended_;
    bool end_ = false;
    std::thread thread_;
};

}  // namespace quadrat::cli
