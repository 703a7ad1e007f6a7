// Each rank reads its rows of one .npy file: rank r of P has rows [N r / P, N (r + 1) / P).
#pragma once

#include <quadrat/distributed/communicator.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/kinds.hpp"
#include "io/table/table.hpp"

namespace quadrat::mpi_cli {

struct Slice {
    std::string file;
    std::uint64_t rows = 0;   ///< of the whole file
    std::uint64_t first = 0;  ///< row of this rank
    int dimension = 3;
    bool is_float = true;
    std::vector<std::byte> bytes;

    template <class Row>
    [[nodiscard]] std::span<const Row> as() const {
        return {reinterpret_cast<const Row*>(bytes.data()), bytes.size() / sizeof(Row)};
    }
};

/// Rows before those of rank r.
[[nodiscard]] inline std::uint64_t first_row(std::uint64_t rows, int rank, int ranks) {
    const auto r = static_cast<std::uint64_t>(rank), p = static_cast<std::uint64_t>(ranks);
    return rows / p * r + rows % p * r / p;
}

enum class Rows { boxes, points };

/// Collective. Float or double, in C order and this machine's byte order. Throws Error on all ranks that names file,
/// row and column of the first bad value of the file.
[[nodiscard]] Slice read_slice(const Communicator& comm, const std::string& path, Rows what);

/// Calls fn.operator()<D, T>() for the slice's dimension and type.
template <class Fn>
void dispatch(const Slice& slice, Fn&& fn) {
    base::dispatch(slice.dimension, slice.is_float ? base::Scalar::f32 : base::Scalar::f64, std::forward<Fn>(fn));
}

}  // namespace quadrat::mpi_cli
