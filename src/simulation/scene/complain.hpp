// Errors of a scene: a path, what was expected, what was found.
#pragma once

#include <quadrat/error.hpp>

#include <cstdio>
#include <string>

namespace quadrat::simulation {

/// Of what a run may take; more is a mistake in the units, or would not end.
inline constexpr double most_steps = 1e9;

[[noreturn]] inline void fail(const std::string& path, const std::string& message) {
    throw Error(ErrorKind::bad_value, message, {.field = path});
}

/// A number as messages show it.
[[nodiscard]] inline std::string text(double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.6g", value);
    return buffer;
}

/// "/bodies/2/radius".
[[nodiscard]] inline std::string at(const char* list, std::size_t i, const char* member) {
    return std::string("/") + list + "/" + std::to_string(i) + "/" + member;
}

}  // namespace quadrat::simulation
