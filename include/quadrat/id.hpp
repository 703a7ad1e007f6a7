// How an object is named in structures in which objects come and go.
#pragma once

#include <cstdint>

namespace quadrat {

/// Names an object of a structure in which objects come and go. Null when zero-initialised; a structure never gives one
/// twice. It means nothing to another structure.
struct Id {
    std::uint32_t slot = 0;        ///< what Pair holds
    std::uint32_t generation = 0;  ///< 0 means null

    friend constexpr bool operator==(const Id&, const Id&) = default;
};

}  // namespace quadrat
