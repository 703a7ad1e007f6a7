// Errors of a scene: a path, what was expected, what was found.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>

#include <cstdio>
#include <span>
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

/// Throws unless there are triangles, all of them of vertices that there are. path: what has them.
inline void check_triangles(const std::string& path, std::span<const Triangle> triangles, std::size_t vertices) {
    if (triangles.empty()) fail(path + "/triangles", "expected at least one triangle, found none");
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (const std::uint32_t v : {triangles[t].a, triangles[t].b, triangles[t].c})
            if (v >= vertices)
                fail(path + "/triangles/" + std::to_string(t),
                     "expected vertices below " + std::to_string(vertices) + ", found " + std::to_string(v));
}

}  // namespace quadrat::simulation
