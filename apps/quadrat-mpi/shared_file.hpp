// One .npy file written by all ranks, each at its place, that appears under its name when all have written. pwrite and
// not MPI-IO, which reports success on a full disk.
#pragma once

#include <quadrat/distributed/communicator.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/table/npy.hpp"

namespace quadrat::mpi_cli {

class SharedFile {
  public:
    /// Collective: creates the temporary file before the work, so that a place that cannot be written is not found out
    /// at the end. Throws Error{cannot_write}.
    SharedFile(const Communicator& comm, std::string path);
    /// Without commit() nothing is left.
    ~SharedFile();
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    /// Collective: a one-dimensional array, or with columns > 1 a table, of the values of all ranks one after the
    /// other.
    template <class V>
    void write(const std::vector<V>& mine, std::uint64_t columns) {
        write(io::scalar_type_of<V>, std::as_bytes(std::span<const V>(mine)), columns);
    }
    /// Collective: gives the file its name.
    void commit();

  private:
    void write(io::ScalarType type, std::span<const std::byte> mine, std::uint64_t columns);
    void put(const void* data, std::size_t size, std::uint64_t at) const;
    [[noreturn]] void fail() const;
    void discard() noexcept;

    const Communicator& comm_;
    std::string path_;
    std::string temporary_;  ///< empty for a device, which is written directly
    int file_ = -1;
};

/// For a signal handler that ends the process: removes the files that are not complete.
void remove_shared_files() noexcept;

}  // namespace quadrat::mpi_cli
