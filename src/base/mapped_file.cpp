#include "base/mapped_file.hpp"

#include "base/assert.hpp"

#include <quadrat/error.hpp>

#include <cerrno>
#include <cstring>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#include <fstream>
#include <iterator>
#endif

namespace quadrat::base {
#if defined(__unix__) || defined(__APPLE__)
namespace {

#if defined(MAP_NORESERVE)
constexpr int unreserved = MAP_PRIVATE | MAP_NORESERVE;
#else
constexpr int unreserved = MAP_PRIVATE;  // systems without the flag never reserve
#endif

constexpr std::size_t first_read = std::size_t{1} << 18;

Error refusal(const std::string& path, int code) {
    return {ErrorKind::cannot_read, std::string("cannot read: ") + std::strerror(code), {.file = path}};
}

/// Closes the file when it goes.
struct OpenFile {
    int number;
    explicit OpenFile(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (number >= 0) ::close(number);
    }
};

}  // namespace

MappedFile::MappedFile(const std::string& path, MapFor purpose) : purpose_(purpose) {
    const OpenFile file(path);
    struct stat info {};
    if (file.number < 0 || ::fstat(file.number, &info) != 0) throw refusal(path, errno);
    if (S_ISDIR(info.st_mode)) throw refusal(path, EISDIR);
    if (!S_ISREG(info.st_mode)) {
        if (purpose == MapFor::use_in_place) throw refusal(path, ENODEV);
        if (!read_all(file.number)) throw refusal(path, errno);
        return;
    }
    size_ = static_cast<std::size_t>(info.st_size);
    if (size_ == 0) return;  // an empty range cannot be mapped
    const bool in_place = purpose == MapFor::use_in_place;
    void* const data = ::mmap(nullptr, size_, in_place ? PROT_READ | PROT_WRITE : PROT_READ,
                              in_place ? unreserved : MAP_PRIVATE, file.number, 0);
    if (data == MAP_FAILED) throw refusal(path, errno);
    data_ = static_cast<std::byte*>(data);
    mapped_ = true;
    if (!in_place) ::madvise(data, size_, MADV_SEQUENTIAL);
}

bool MappedFile::read_all(int file) {
    for (;;) {
        if (copy_.size() - size_ < first_read) copy_.resize(copy_.size() * 2 + first_read);
        const ssize_t got = ::read(file, copy_.data() + size_, copy_.size() - size_);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        size_ += static_cast<std::size_t>(got);
    }
    data_ = copy_.data();
    return true;
}

MappedFile::~MappedFile() {
    if (mapped_) ::munmap(data_, size_);
}

#else  // no mapping: the file is read

MappedFile::MappedFile(const std::string& path, MapFor purpose) : purpose_(purpose) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(ErrorKind::cannot_read, std::string("cannot read: ") + std::strerror(errno), {.file = path});
    for (std::istreambuf_iterator<char> c(file), end; c != end; ++c) copy_.push_back(static_cast<std::byte>(*c));
    data_ = copy_.data();
    size_ = copy_.size();
}

MappedFile::~MappedFile() = default;

#endif

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      purpose_(other.purpose_),
      mapped_(std::exchange(other.mapped_, false)),
      copy_(std::move(other.copy_)) {}

std::span<std::byte> MappedFile::writable_bytes() {
    QUADRAT_ASSERT(purpose_ == MapFor::use_in_place);
    return {data_, size_};
}

}  // namespace quadrat::base
