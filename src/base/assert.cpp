#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace quadrat::base {

void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "quadrat: assertion failed: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace quadrat::base
