#include "shared_file.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quadrat::mpi_cli {
namespace {

// Names of temporary files of rank 0, for the signal handler: plain storage, filled before `used` is set.
struct Unfinished {
    std::atomic<bool> used{false};
    char name[4096];
};
Unfinished unfinished[4];

void remember(const std::string& name) {
    for (Unfinished& u : unfinished)
        if (!u.used.load() && name.size() < sizeof u.name) {
            std::memcpy(u.name, name.c_str(), name.size() + 1);
            u.used.store(true);
            return;
        }
}

void forget(const std::string& name) {
    for (Unfinished& u : unfinished)
        if (u.used.load() && name == u.name) u.used.store(false);
}

}  // namespace

void remove_shared_files() noexcept {
    for (const Unfinished& u : unfinished)
        if (u.used.load()) ::unlink(u.name);
}

SharedFile::SharedFile(const Communicator& comm, std::string path) : comm_(comm), path_(std::move(path)) {
    std::vector<char> name(4096, '\0');
    together(comm_, [&] {
        if (comm_.rank() != 0) return;
        struct stat info {};
        if (::stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
            if (S_ISDIR(info.st_mode)) {
                errno = EISDIR;
                fail();
            }
            return;  // a device: nothing to rename
        }
        std::string pattern = path_ + ".XXXXXX.tmp";
        if (pattern.size() >= name.size()) {
            errno = ENAMETOOLONG;
            fail();
        }
        const int made = ::mkostemps(pattern.data(), 4, O_CLOEXEC);
        if (made < 0) fail();
        const mode_t mask = ::umask(0);
        ::umask(mask);
        ::fchmod(made, 0666 & ~mask);
        ::close(made);
        temporary_ = pattern;
        remember(temporary_);
        std::copy(pattern.begin(), pattern.end(), name.begin());
    });
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, comm_.handle());
    temporary_ = name.data();
    try {
        together(comm_, [&] {
            file_ = ::open((temporary_.empty() ? path_ : temporary_).c_str(), O_WRONLY | O_CLOEXEC);
            if (file_ < 0) fail();
        });
    } catch (...) {
        discard();
        throw;
    }
}

SharedFile::~SharedFile() {
    discard();
}

void SharedFile::discard() noexcept {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    if (comm_.rank() == 0 && !temporary_.empty()) {
        ::unlink(temporary_.c_str());
        forget(temporary_);
        temporary_.clear();
    }
}

void SharedFile::fail() const {
    throw Error(ErrorKind::cannot_write, std::string("cannot write: ") + std::strerror(errno), {.file = path_});
}

void SharedFile::put(const void* data, std::size_t size, std::uint64_t at) const {
    for (std::size_t done = 0; done < size;) {
        const std::size_t now = std::min(size - done, std::size_t{1} << 30);
        const ssize_t wrote =
            ::pwrite(file_, static_cast<const char*>(data) + done, now, static_cast<off_t>(at + done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote == 0) errno = ENOSPC;
        if (wrote <= 0) fail();
        done += static_cast<std::size_t>(wrote);
    }
}

void SharedFile::write(io::ScalarType type, std::span<const std::byte> mine, std::uint64_t columns) {
    const std::uint64_t row = columns * io::scalar_size(type);
    const std::uint64_t before = comm_.sum_before(mine.size()), total = comm_.sum(mine.size());
    std::vector<std::uint64_t> shape(1, total / row);
    if (columns > 1) shape.push_back(columns);
    const std::string header = io::npy_header(type, shape);
    together(comm_, [&] {
        if (comm_.rank() == 0) put(header.data(), header.size(), 0);
        put(mine.data(), mine.size(), header.size() + before);
        if (::close(std::exchange(file_, -1)) != 0) fail();
    });
}

void SharedFile::commit() {
    together(comm_, [&] {
        if (comm_.rank() != 0 || temporary_.empty()) return;
        if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
        forget(temporary_);
        temporary_.clear();
    });
}

}  // namespace quadrat::mpi_cli
