#include <quadrat/distributed/exchange.hpp>
#include <quadrat/error.hpp>

#include <algorithm>
#include <string>

#include "base/assert.hpp"

namespace quadrat {
namespace {

// MPI counts in int: longer messages go in parts of so many items.
constexpr std::uint32_t most_items = std::uint32_t{1} << 30;
constexpr int tag = 1;

// Items as one MPI type, so that counts are of items and not of bytes.
class ItemType {
  public:
    explicit ItemType(std::size_t bytes) {
        MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
        MPI_Type_commit(&type_);
    }
    ~ItemType() { MPI_Type_free(&type_); }
    ItemType(const ItemType&) = delete;
    ItemType& operator=(const ItemType&) = delete;
    [[nodiscard]] MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_;
};

}  // namespace

Exchange::Exchange(std::shared_ptr<const Communicator> comm, std::span<const std::uint32_t> counts)
    : comm_(std::move(comm)) {
    QUADRAT_ASSERT(counts.size() == static_cast<std::size_t>(comm_->size()));
    std::vector<std::uint32_t> come(counts.size());
    MPI_Alltoall(counts.data(), 1, MPI_UINT32_T, come.data(), 1, MPI_UINT32_T, comm_->handle());
    for (std::size_t r = 0; r < counts.size(); ++r) {
        if (counts[r]) to_.push_back({static_cast<int>(r), counts[r]});
        if (come[r]) from_.push_back({static_cast<int>(r), come[r]});
        outgoing_ += counts[r];
        incoming_ += come[r];
    }
}

void Exchange::run(std::span<const Part> to, std::span<const Part> from, const void* out, void* in,
                   std::size_t bytes) const {
    QUADRAT_ASSERT(bytes > 0 && bytes <= std::size_t{1} << 30);
    const ItemType type(bytes);
    std::vector<MPI_Request> requests;
    const auto in_parts = [&](const Part& part, auto&& post) {
        for (std::uint32_t done = 0; done < part.count;) {
            const std::uint32_t now = std::min(part.count - done, most_items);
            requests.emplace_back();
            post(static_cast<int>(now), part.rank, &requests.back());
            done += now;
        }
    };
    auto* to_here = static_cast<std::byte*>(in);
    for (const Part& part : from)
        in_parts(part, [&](int count, int rank, MPI_Request* request) {
            MPI_Irecv(to_here, count, type.get(), rank, tag, comm_->handle(), request);
            to_here += static_cast<std::size_t>(count) * bytes;
        });
    const auto* from_here = static_cast<const std::byte*>(out);
    for (const Part& part : to)
        in_parts(part, [&](int count, int rank, MPI_Request* request) {
            MPI_Isend(from_here, count, type.get(), rank, tag, comm_->handle(), request);
            from_here += static_cast<std::size_t>(count) * bytes;
        });
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void detail::check_length(std::size_t given, std::size_t expected) {
    if (given != expected)
        throw Error(ErrorKind::bad_shape,
                    std::to_string(given) + " entries; expected " + std::to_string(expected) + ", one per body");
}

Migration::Migration(Exchange exchange, std::vector<std::uint32_t> leaving, std::size_t before)
    : exchange_(std::move(exchange)), leaving_(std::move(leaving)), holes_(leaving_), before_(before) {
    QUADRAT_ASSERT(leaving_.size() == exchange_.outgoing());
    std::sort(holes_.begin(), holes_.end());
    QUADRAT_ASSERT(holes_.empty() || holes_.back() < before);
}

Halo::Halo(Exchange exchange, std::vector<std::uint32_t> sent, std::size_t own)
    : exchange_(std::move(exchange)), sent_(std::move(sent)), own_(own) {
    QUADRAT_ASSERT(sent_.size() == exchange_.outgoing());
}

}  // namespace quadrat
