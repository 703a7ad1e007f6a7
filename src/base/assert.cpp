#include "base/assert.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace quadrat::base {
namespace {

void print_and_abort(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "quadrat: assertion failed: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

std::atomic<AssertionHandler> current_handler{print_and_abort};

}  // namespace

AssertionHandler set_assertion_handler(AssertionHandler handler) noexcept {
    return current_handler.exchange(handler ? handler : print_and_abort);
}

void assertion_failed(const char* condition, const char* file, int line) {
    current_handler.load()(condition, file, line);
    std::abort();
}

}  // namespace quadrat::base
