#include "slice.hpp"

#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cells/validate.hpp"
#include "io/table/npy.hpp"

namespace quadrat::mpi_cli {
namespace {

class File {
  public:
    explicit File(const std::string& path) : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (file_ < 0) fail();
    }
    ~File() {
        if (file_ >= 0) ::close(file_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    [[nodiscard]] std::uint64_t size() const {
        struct stat info {};
        if (::fstat(file_, &info) != 0) fail();
        if (!S_ISREG(info.st_mode))
            throw Error(ErrorKind::cannot_read, "not a regular file: every rank reads its part", {.file = path_});
        return static_cast<std::uint64_t>(info.st_size);
    }
    /// As many bytes as there are, at most size; fewer only at the end of the file.
    std::size_t read(void* to, std::size_t size, std::uint64_t at) const {
        std::size_t done = 0;
        while (done < size) {
            const std::size_t now = std::min(size - done, std::size_t{1} << 30);
            const ssize_t got = ::pread(file_, static_cast<char*>(to) + done, now, static_cast<off_t>(at + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail();
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

  private:
    [[noreturn]] void fail() const {
        throw Error(ErrorKind::cannot_read, std::string("cannot read: ") + std::strerror(errno), {.file = path_});
    }
    std::string path_;
    int file_;
};

void check_values(const Slice& slice, Rows what) {
    try {
        dispatch(slice, [&]<int D, class T>() {
            if (what == Rows::boxes)
                cells::check_boxes<D, T>(slice.as<Box<D, T>>());
            else
                cells::check_points<D, T>(slice.as<Vec<D, T>>());
        });
    } catch (const Error& e) {
        throw Error(
            e.kind(), e.message(),
            {.file = slice.file, .index = e.where().index.value_or(0) + slice.first, .column = e.where().column});
    }
}

void read_rows(Slice& slice, const Communicator& comm, Rows what) {
    const File file(slice.file);
    const std::uint64_t size = file.size();
    std::vector<std::byte> head(static_cast<std::size_t>(std::min<std::uint64_t>(size, 1 << 16)));
    head.resize(file.read(head.data(), head.size(), 0));
    const io::NpyLayout layout = io::npy_layout(head, size, slice.file);
    const std::uint64_t per_axis = what == Rows::boxes ? 2 : 1;
    const bool real = layout.type == io::ScalarType::f32 || layout.type == io::ScalarType::f64;
    if (!real || !layout.as_in_memory)
        throw Error(ErrorKind::unsupported, "expected float32 or float64 in C order, little endian",
                    {.file = slice.file});
    const std::uint64_t columns = layout.shape.size() == 2 ? layout.shape[1] : 0;
    if (columns != 2 * per_axis && columns != 3 * per_axis)
        throw Error(ErrorKind::bad_shape,
                    std::string("expected (N, ") + (what == Rows::boxes ? "4) or (N, 6): lo.. hi.." : "2) or (N, 3)"),
                    {.file = slice.file});
    slice.rows = layout.shape[0];
    slice.dimension = static_cast<int>(columns / per_axis);
    slice.is_float = layout.type == io::ScalarType::f32;
    slice.first = first_row(slice.rows, comm.rank(), comm.size());
    const std::uint64_t row_bytes = columns * io::scalar_size(layout.type);
    const std::uint64_t end = first_row(slice.rows, comm.rank() + 1, comm.size());
    slice.bytes.resize((end - slice.first) * row_bytes);
    if (file.read(slice.bytes.data(), slice.bytes.size(), layout.begin + slice.first * row_bytes) != slice.bytes.size())
        throw Error(ErrorKind::cannot_read, "the file became shorter", {.file = slice.file});
    check_values(slice, what);
}

}  // namespace

Slice read_slice(const Communicator& comm, const std::string& path, Rows what) {
    Slice slice{.file = path, .bytes = {}};
    together(comm, [&] { read_rows(slice, comm, what); });
    return slice;
}

}  // namespace quadrat::mpi_cli
