// The memory of a hash grid as HHG 3.1 counts it: a pointer to a container, a pointer to neighbour offsets and an index
// per cell; one array of 27 offsets for all inner cells and one for each outer cell; a container per occupied cell. Not
// what DynamicGrids takes (it computes offsets and links objects through arrays): the figure to hold it against.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quadrat::workloads {

/// Eq. 3.1.1a: the cells at the border of a grid of x * y * z cells, each at least 2.
[[nodiscard]] constexpr std::uint64_t outer_cells(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return 2 * x * y + 2 * y * (z - 2) + 2 * (x - 2) * (z - 2);
}

/// The example of 3.1: bytes of a grid on a 64-bit machine with 32-bit offsets, 24 bytes per cell.
[[nodiscard]] constexpr std::uint64_t paper_bytes(std::uint64_t x, std::uint64_t y, std::uint64_t z,
                                                  std::uint64_t occupied_cells, std::uint64_t bytes_per_container) {
    constexpr std::uint64_t bytes_per_cell = 24, bytes_of_offsets = 27 * sizeof(std::int32_t);
    return x * y * z * bytes_per_cell + (1 + outer_cells(x, y, z)) * bytes_of_offsets +
           occupied_cells * bytes_per_container;
}

}  // namespace quadrat::workloads
