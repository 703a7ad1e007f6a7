// What both distributed structures do with ids, and small arrays that all ranks know.
#pragma once

#include <quadrat/distributed/communicator.hpp>
#include <quadrat/distributed/exchange.hpp>
#include <quadrat/error.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace quadrat::distributed {

/// Collective. The given ids, or, where no rank gives any, 0, 1, 2, ... in the order of the ranks.
[[nodiscard]] inline std::vector<std::uint64_t> ids_or_numbers(const Communicator& comm, std::size_t bodies,
                                                               std::span<const std::uint64_t> given) {
    const bool any = comm.max(given.size()) > 0;
    const std::uint64_t before = comm.sum_before(bodies);
    std::vector<std::uint64_t> ids;
    together(comm, [&] {
        ids.resize(bodies);
        if (!any) return std::iota(ids.begin(), ids.end(), before);
        detail::check_length(given.size(), bodies);
        std::copy(given.begin(), given.end(), ids.begin());
    });
    return ids;
}

/// Collective. The items of all ranks one after the other, for what is few.
template <class V>
[[nodiscard]] std::vector<V> gather_all(const Communicator& comm, std::span<const V> mine) {
    static_assert(std::is_trivially_copyable_v<V>);
    const int bytes = static_cast<int>(mine.size_bytes());
    std::vector<int> counts(static_cast<std::size_t>(comm.size())), starts(counts.size());
    MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.handle());
    std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
    std::vector<V> all;
    together(comm, [&] { all.resize(static_cast<std::size_t>(starts.back() + counts.back()) / sizeof(V)); });
    MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), starts.data(), MPI_BYTE, comm.handle());
    return all;
}

}  // namespace quadrat::distributed
