#include "verb.hpp"

#include "io/peak_rss.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

#include <sys/ioctl.h>
#include <unistd.h>

namespace quadrat::cli {

void CommonOptions::add_to(CLI::App& verb, std::span<const char* const> methods) {
    std::string names = "auto";
    for (const char* name : methods) names += std::string(" ") + name;
    verb.add_option("--method", method, "one of: " + names)->type_name("NAME")->capture_default_str();
    whole_number(verb.add_option("--threads", threads, "how many threads; 0: one per processor"), 0, 1024)
        ->type_name("N")
        ->capture_default_str();
    verb.add_flag("--json", json, "print one JSON object");
}

void CommonOptions::add_repeat_to(CLI::App& verb) {
    whole_number(verb.add_option("--repeat", repeat, "one run to warm up, then R timed runs on the same data"), 1,
                 1000000)
        ->type_name("R");
    whole_number(verb.add_option("--max-bytes", max_bytes, "refuse a result of more bytes than this"), 1,
                 std::numeric_limits<std::uint64_t>::max())
        ->type_name("BYTES");
}

CLI::App* add_verb(CLI::App& app, const std::string& name, const std::string& job, const std::string& example) {
    CLI::App* verb = app.add_subcommand(name, job);
    verb->footer("Example:\n" + example);
    return verb;
}

CLI::Option* whole_number(CLI::Option* option, std::uint64_t least, std::uint64_t most) {
    return option->check([least, most](const std::string& text) -> std::string {
        std::uint64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        const bool octal = text.size() > 1 && text[0] == '0';  // to CLI11, which reads it again
        if (read.ec == std::errc() && read.ptr == end && !octal && value >= least && value <= most) return {};
        return "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", found " +
               text;
    });
}

void check_method(const std::string& method, std::span<const char* const> methods) {
    if (method == "auto") return;
    std::string names = "auto";
    for (const char* name : methods) {
        if (method == name) return;
        names += std::string(", ") + name;
    }
    throw UsageError("--method: unknown method '" + method + "'; choose one of " + names);
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::uint64_t peak_rss_bytes() {
    return io::peak_rss_bytes();
}

std::string printable(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        // In UTF-8 the second set of control characters is C2 80 to C2 9F.
        const bool second =
            c == 0xc2 && i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
        for (std::size_t end = second ? i + 1 : i; i <= end; ++i) {
            const auto b = static_cast<unsigned char>(text[i]);
            if (!second && b >= ' ' && b != 127)
                out += text[i];
            else
                out += {'\\', 'x', digits[b >> 4], digits[b & 15]};
        }
        --i;
    }
    return out;
}

std::string grouped(std::uint64_t value) {
    const std::string digits = std::to_string(value);
    std::string text;
    for (std::size_t k = 0; k < digits.size(); ++k) {
        if (k > 0 && (digits.size() - k) % 3 == 0) text += ',';
        text += digits[k];
    }
    return text;
}

Progress::Progress(std::string what) : what_(std::move(what)) {
    if (!isatty(STDERR_FILENO)) return;
    thread_ = std::thread([this] {
        std::unique_lock lock(mutex_);
        if (ended_.wait_for(lock, std::chrono::seconds(1), [this] { return end_; })) return;
        do draw();
        while (!ended_.wait_for(lock, std::chrono::milliseconds(100), [this] { return end_; }));
        std::fputs("\r\033[K", stderr);
    });
}

void Progress::end() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        end_ = true;
    }
    ended_.notify_all();
    thread_.join();
}

void Progress::now(std::string what) {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
}

void Progress::draw() {
    constexpr std::size_t width = 30;
    const double fraction = fraction_.load(std::memory_order_relaxed);
    std::string line = what_ + " ...";
    if (fraction >= 0) {
        const auto full = static_cast<std::size_t>(std::min(fraction, 1.0) * width);
        char percent[16];
        std::snprintf(percent, sizeof percent, "] %3.0f %%  ", 100 * fraction);
        line = "[" + std::string(full, '#') + std::string(width - full, '-') + percent + what_;
    }
    // One line: what does not fit the terminal is left out.
    winsize window{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
        line.resize(std::min<std::size_t>(line.size(), window.ws_col - 1u));
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
}

}  // namespace quadrat::cli
