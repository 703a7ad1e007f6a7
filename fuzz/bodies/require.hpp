// How a fuzz body says that something is wrong.
#pragma once

#include <cstdlib>

namespace quadrat::fuzz {

inline void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace quadrat::fuzz
