// Copies past the cache, for data that is written once and read much later: write-combining flushes of partitions.
#pragma once

#include <cstddef>

namespace quadrat::base {

/// Copies `bytes`, a multiple of 64, between blocks aligned to 64. The target's lines are not read first.
void stream_copy(void* to, const void* from, std::size_t bytes);

/// Makes streamed data visible to other threads; call once after the last copy.
void stream_fence();

}  // namespace quadrat::base
