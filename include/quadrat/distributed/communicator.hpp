// The ranks that work together, and how they agree on an error. A rank that throws alone leaves the others waiting for
// ever; so every stage that can fail runs inside together(), which costs one reduction of one number when all is well.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <utility>

namespace quadrat {

/// A duplicate of the caller's communicator, so that no message of the library meets one of the caller's. It keeps the
/// caller's error handler: what fails inside MPI itself (a rank that died) is for that handler, by default the end of
/// the program. Destroy it before MPI_Finalize; later is harmless but leaks.
class Communicator {
  public:
    /// Collective. Throws Error{unsupported} if MPI is not initialised.
    explicit Communicator(MPI_Comm comm);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] MPI_Comm handle() const noexcept { return comm_; }

    /// Collective: the sum, the largest, and the sum over the ranks before this one.
    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const;
    [[nodiscard]] std::uint64_t max(std::uint64_t value) const;
    [[nodiscard]] std::uint64_t sum_before(std::uint64_t value) const;

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 1;
};

/// Collective. If any rank gives a failure, every rank throws that of the lowest such rank: an Error keeps its kind and
/// place and says in its message on which rank it arose (where there is more than one); std::bad_alloc becomes
/// Error{too_large}; any other exception becomes a std::runtime_error with its text.
void agree(const Communicator& comm, std::exception_ptr failure);

/// Collective: runs fn() on every rank, without communication inside, and throws on all ranks what one of them throws.
template <class Fn>
void together(const Communicator& comm, Fn&& fn) {
    std::exception_ptr failure;
    try {
        std::forward<Fn>(fn)();
    } catch (...) {
        failure = std::current_exception();
    }
    agree(comm, std::move(failure));
}

}  // namespace quadrat
