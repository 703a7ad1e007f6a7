// Assertions for programmers' mistakes: live in every build type but Release. One that fails writes one line to stderr
// and aborts.
#pragma once

namespace quadrat::base {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace quadrat::base

#if QUADRAT_ASSERTIONS
#define QUADRAT_ASSERT(condition) \
    ((condition) ? static_cast<void>(0) : ::quadrat::base::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define QUADRAT_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
