// The room of sampling: blocks with borders, mipmaps, and the set of cells that counts blocks. Other rooms use the
// public headers (blocks.hpp, mipmaps.hpp, sampling.hpp); what is here is shared within the room and with shader text.
#pragma once

#include <quadrat/voxels/blocks.hpp>

#include "base/assert.hpp"

#include <cstdint>

namespace quadrat::voxels {

/// Throws Error{bad_shape} unless each column has a row for each position, and one background or none.
void check_columns(std::span<const ColumnView> columns, std::size_t positions);

/// x / b, rounded down.
[[nodiscard]] inline std::int32_t floor_divide(std::int64_t x, std::int64_t b) {
    QUADRAT_ASSERT(b > 0);
    return static_cast<std::int32_t>(x >= 0 ? x / b : -((b - 1 - x) / b));
}

}  // namespace quadrat::voxels
