// Memory of tables and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace quadrat::voxels {

/// Zeroed bytes, aligned to 64. Blocks of 2 MiB or more ask the system for huge pages, where it has them: random reads
/// of a large table wait for address translation otherwise (docs/decisions/0043).
[[nodiscard]] std::shared_ptr<std::uint8_t> zeroed(std::size_t bytes);

}  // namespace quadrat::voxels
