#include "io/files.hpp"

#include <quadrat/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quadrat::io {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18;

// Names of the temporary files that exist, for the signal handler: plain storage that is filled before `used` is set.
struct UnfinishedFile {
    std::atomic<bool> taken{false};
    std::atomic<bool> used{false};
    char name[4096];
};
UnfinishedFile unfinished_files[16];

int remember(const std::string& name) {
    for (int slot = 0; slot < 16; ++slot) {
        UnfinishedFile& file = unfinished_files[slot];
        if (name.size() >= sizeof file.name || file.taken.exchange(true)) continue;
        std::memcpy(file.name, name.c_str(), name.size() + 1);
        file.used.store(true);
        return slot;
    }
    return -1;
}

void forget(int slot) {
    if (slot < 0) return;
    unfinished_files[slot].used.store(false);
    unfinished_files[slot].taken.store(false);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
    struct stat info {};
    std::string target = path_;
    std::optional<mode_t> existing;
    if (::stat(path_.c_str(), &info) == 0) {
        if (S_ISDIR(info.st_mode)) {
            errno = EISDIR;
            fail();
        }
        if (!S_ISREG(info.st_mode)) {  // /dev/null, a pipe: nothing to rename
            file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
            if (file_ < 0) fail();
            return;
        }
        existing = info.st_mode & 0777;
    }
    // Through symbolic links, the file itself is replaced, or made where they lead.
    std::error_code none;
    for (int links = 0; links < 40 && std::filesystem::is_symlink(target, none); ++links) {
        const std::filesystem::path next = std::filesystem::read_symlink(target, none);
        target = (std::filesystem::path(target).parent_path() / next).string();
    }
    target_ = target;
    temporary_ = target + ".XXXXXX.tmp";
    file_ = ::mkostemps(temporary_.data(), 4, O_CLOEXEC);
    if (file_ < 0) fail();
    slot_ = remember(temporary_);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(file_, existing.value_or(0666 & ~mask));
    buffer_.reserve(buffer_size);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::exchange(other.file_, -1)),
      slot_(std::exchange(other.slot_, -1)),
      buffer_(std::move(other.buffer_)) {}

AtomicFile::~AtomicFile() {
    if (file_ >= 0) discard();
}

void AtomicFile::discard() noexcept {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    forget(std::exchange(slot_, -1));
}

void AtomicFile::fail() const {
    throw Error(ErrorKind::cannot_write, "cannot write: " + std::string(std::strerror(errno)), {.file = path_});
}

void AtomicFile::flush(const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t put = ::write(file_, data, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail();
        data += put;
        size -= static_cast<std::size_t>(put);
    }
}

void AtomicFile::write(const void* data, std::size_t size) {
    const char* from = static_cast<const char*>(data);
    if (buffer_.size() + size > buffer_size) {
        flush(buffer_.data(), buffer_.size());
        buffer_.clear();
    }
    if (size <= buffer_size)
        buffer_.insert(buffer_.end(), from, from + size);
    else
        flush(from, size);
}

void AtomicFile::commit() {
    flush(buffer_.data(), buffer_.size());
    buffer_.clear();
    bool done = ::close(std::exchange(file_, -1)) == 0;
    if (!temporary_.empty()) done = done && ::rename(temporary_.c_str(), target_.c_str()) == 0;
    if (!done) {
        const int code = errno;
        discard();
        errno = code;
        fail();
    }
    forget(std::exchange(slot_, -1));
}

void remove_unfinished_files() noexcept {
    for (const UnfinishedFile& file : unfinished_files)
        if (file.used.load()) ::unlink(file.name);
}

std::string ending(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    if (slash != path.npos) path.remove_prefix(slash + 1);
    const std::size_t dot = path.rfind('.');
    if (dot == path.npos || dot == 0) return {};
    std::string result(path.substr(dot));
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

}  // namespace quadrat::io
