// The most memory that this program has had at once.
#pragma once

#include <cstdint>

namespace quadrat::io {

/// Bytes of this program since it was started, not of the one that started it: getrusage() keeps the figure of the
/// parent across exec, so a small program that a large one starts would seem as large. 0 where the system does not
/// tell.
[[nodiscard]] std::uint64_t peak_rss_bytes();

}  // namespace quadrat::io
