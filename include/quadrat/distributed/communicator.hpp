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
/// the program. Neither copied nor moved; the structures share one by std::shared_ptr.
///
/// Threads: rank(), size() and handle() may be called at any time. What is collective is called by all ranks in the
/// same order, by one thread of each at a time, and needs MPI_THREAD_FUNNELED: it talks to MPI on the calling thread.
class Communicator {
  public:
    /// Collective over the ranks of `comm`. Throws Error{unsupported} if MPI is not initialised, or not any more.
    ///
    /// comm: an intracommunicator; the caller keeps it and may free it at any time.
    explicit Communicator(MPI_Comm comm);
    /// Collective, as freeing a communicator is: destroy it on all ranks, before MPI_Finalize. Later is harmless but
    /// leaks.
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    /// The number of this rank, from 0 to size() - 1.
    [[nodiscard]] int rank() const noexcept { return rank_; }
    /// How many ranks there are, at least 1.
    [[nodiscard]] int size() const noexcept { return size_; }
    /// The duplicate, for MPI calls of your own; it is freed with this object.
    [[nodiscard]] MPI_Comm handle() const noexcept { return comm_; }

    /// Collective: the sum of all ranks' values, modulo 2^64, on every rank. One reduction of 8 bytes, as are the next
    /// two.
    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const;
    /// Collective: the largest of all ranks' values, on every rank.
    [[nodiscard]] std::uint64_t max(std::uint64_t value) const;
    /// Collective: the sum over the ranks before this one, 0 on rank 0: where a rank's part begins if the parts of all
    /// are put one after the other.
    [[nodiscard]] std::uint64_t sum_before(std::uint64_t value) const;

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 1;
};

/// Collective. If any rank gives a failure, every rank throws that of the lowest such rank: an Error keeps its kind and
/// place and says in its message on which rank it arose (where there is more than one); std::bad_alloc becomes
/// Error{too_large}; any other exception becomes a std::runtime_error with its text. Without a failure it returns,
/// after one reduction of one number; with one the text is sent to all besides.
///
/// failure: what went wrong on this rank, or null.
void agree(const Communicator& comm, const std::exception_ptr& failure);

/// Collective: runs fn() on every rank, without communication inside, and throws on all ranks what one of them throws,
/// as agree() says. What fn() changed on the other ranks stays changed: let it compute, and change things after it.
///
///     std::vector<float> room;
///     together(comm, [&] { room.resize(n); });  // a rank without memory does not leave the others waiting
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
