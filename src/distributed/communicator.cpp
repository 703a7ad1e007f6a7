#include <quadrat/distributed/communicator.hpp>
#include <quadrat/error.hpp>

#include <array>
#include <new>
#include <stdexcept>
#include <string>

namespace quadrat {
namespace {

// An exception as numbers and text, to be told to the other ranks.
struct Message {
    enum Type : std::uint64_t { error, other };
    // type | kind | which of the next four there are, a bit each | index column line byte | lengths of file, field,
    // message
    std::array<std::uint64_t, 10> head{};
    std::string text;
};

constexpr std::optional<std::uint64_t> Where::*places[] = {&Where::index, &Where::column, &Where::line, &Where::byte};

Message pack(const Error& e) {
    Message m;
    m.head[0] = Message::error;
    m.head[1] = static_cast<std::uint64_t>(e.kind());
    for (std::size_t k = 0; k < 4; ++k)
        if (const auto& place = e.where().*places[k]) {
            m.head[2] |= std::uint64_t{1} << k;
            m.head[3 + k] = *place;
        }
    m.head[7] = e.where().file.size();
    m.head[8] = e.where().field.size();
    m.head[9] = e.message().size();
    m.text = e.where().file + e.where().field + e.message();
    return m;
}

Message pack(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& e) {
        return pack(e);
    } catch (const std::bad_alloc&) {
        return pack(Error(ErrorKind::too_large, "not enough memory"));
    } catch (const std::exception& e) {
        Message m;
        m.text = e.what();
        m.head[0] = Message::other;
        m.head[9] = m.text.size();
        return m;
    } catch (...) {
        return pack(std::make_exception_ptr(std::runtime_error("unknown exception")));
    }
}

[[noreturn]] void unpack_and_throw(const Message& m, const std::string& suffix) {
    const std::size_t file = m.head[7], field = m.head[8], message = m.head[9];
    const std::string text = m.text.substr(file + field, message) + suffix;
    if (m.head[0] == Message::other) throw std::runtime_error(text);
    Where where{.file = m.text.substr(0, file), .field = m.text.substr(file, field)};
    for (std::size_t k = 0; k < 4; ++k)
        if (m.head[2] >> k & 1) where.*places[k] = m.head[3 + k];
    throw Error(static_cast<ErrorKind>(m.head[1]), text, std::move(where));
}

}  // namespace

Communicator::Communicator(MPI_Comm comm) {
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (!started || ended) throw Error(ErrorKind::unsupported, "MPI is not running: call MPI_Init_thread first");
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
}

Communicator::~Communicator() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) MPI_Comm_free(&comm_);
}

std::uint64_t Communicator::sum(std::uint64_t value) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, comm_);
    return value;
}

std::uint64_t Communicator::max(std::uint64_t value) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_MAX, comm_);
    return value;
}

std::uint64_t Communicator::sum_before(std::uint64_t value) const {
    std::uint64_t before = 0;
    MPI_Exscan(&value, &before, 1, MPI_UINT64_T, MPI_SUM, comm_);
    return rank_ == 0 ? 0 : before;  // rank 0 gets nothing from Exscan
}

void agree(const Communicator& comm, const std::exception_ptr& failure) {
    int first = failure ? comm.rank() : comm.size();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm.handle());
    if (first == comm.size()) return;
    Message message;
    if (comm.rank() == first) message = pack(failure);
    MPI_Bcast(message.head.data(), static_cast<int>(message.head.size()), MPI_UINT64_T, first, comm.handle());
    message.text.resize(message.head[7] + message.head[8] + message.head[9]);
    MPI_Bcast(message.text.data(), static_cast<int>(message.text.size()), MPI_CHAR, first, comm.handle());
    unpack_and_throw(message, comm.size() > 1 ? " (on rank " + std::to_string(first) + ")" : "");
}

}  // namespace quadrat
