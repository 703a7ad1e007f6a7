// Assertions for programmers' mistakes: live in every build type but Release. The hook lets tests and hosts turn a
// failure into something other than an abort.
#pragma once

namespace quadrat::base {

/// Called with the failed condition; must not return normally (throw, or end the process).
using AssertionHandler = void (*)(const char* condition, const char* file, int line);

/// Replaces the handler and returns the old one; null restores the default, which writes one line to stderr and aborts.
AssertionHandler set_assertion_handler(AssertionHandler handler) noexcept;

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace quadrat::base

#if QUADRAT_ASSERTIONS
#define QUADRAT_ASSERT(condition) \
    ((condition) ? static_cast<void>(0) : ::quadrat::base::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define QUADRAT_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
