#include "run/end/film.hpp"

#include <quadrat/error.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quadrat::cli {

namespace {

// A folder of links that number the pictures from 0 without a gap, as ffmpeg wants them: parts of a run may have been
// without pictures.
class Sequence {
  public:
    Sequence(const std::vector<std::string>& pictures, std::filesystem::path folder) : folder_(std::move(folder)) {
        std::error_code failed;
        std::filesystem::remove_all(folder_, failed);
        std::filesystem::create_directory(folder_, failed);
        for (std::size_t k = 0; k < pictures.size() && !failed; ++k) {
            char name[32];
            std::snprintf(name, sizeof name, "%05zu.png", k);
            std::filesystem::create_symlink(std::filesystem::absolute(pictures[k], failed), folder_ / name, failed);
        }
        whole_ = !failed && !pictures.empty();
    }
    ~Sequence() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;

    [[nodiscard]] bool whole() const { return whole_; }

  private:
    std::filesystem::path folder_;
    bool whole_ = false;
};

}  // namespace

bool make_film(const std::vector<std::string>& pictures, const std::string& film, double frames_per_second,
               const StopToken& stop) {
    const std::filesystem::path target(film);
    const std::string part = (target.parent_path() / (".part-" + target.filename().string())).string();
    const std::string links = part + "-pictures";
    const Sequence sequence(pictures, links);
    if (!sequence.whole()) return false;
    std::string pattern;  // in which a percent sign of the path is two
    for (const char c : links) pattern += c == '%' ? "%%" : std::string(1, c);
    char rate[32];
    std::snprintf(rate, sizeof rate, "%.6g", frames_per_second);
    // A path that starts with a dash or holds a colon must not look like an option or a protocol.
    const std::vector<std::string> words = {
        "ffmpeg",    "-hide_banner", "-loglevel", "error", "-nostdin",
        "-y",        "-framerate",   rate,        "-i",    "file:" + pattern + "/%05d.png",
        "-c:v",      "libx264",      "-crf",      "19",    "-preset",
        "medium",    "-pix_fmt",     "yuv420p",   "-vf",   "pad=ceil(iw/2)*2:ceil(ih/2)*2",
        "-movflags", "+faststart",   "-f",        "mp4",   "file:" + part};
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, "ffmpeg", &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) return false;

    int status = 0;
    bool stopped = false;
    for (;;) {
        const pid_t done = ::waitpid(child, &status, stopped ? 0 : WNOHANG);
        if (done == child || (done < 0 && errno != EINTR)) break;
        if (!stopped && stop.stop_requested()) {
            ::kill(child, SIGTERM);
            stopped = true;
        } else if (!stopped) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    std::error_code ignored;
    const bool good = !stopped && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (good) std::filesystem::rename(part, film, ignored);
    if (!good || ignored) std::filesystem::remove(part, ignored);
    if (stopped) throw Error(ErrorKind::stopped, "stopped on request");
    return good && std::filesystem::exists(film);
}

}  // namespace quadrat::cli
