// A film of the pictures through ffmpeg, if it is installed.
#pragma once

#include <quadrat/executor.hpp>

#include <string>
#include <vector>

namespace quadrat::cli {

/// Runs ffmpeg (found by PATH, started without a shell) over the pictures, in their order. False when it is not
/// installed or fails; then there is no file. Throws stopped.
[[nodiscard]] bool make_film(const std::vector<std::string>& pictures, const std::string& film,
                             double frames_per_second, const StopToken& stop);

}  // namespace quadrat::cli
