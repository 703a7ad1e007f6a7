// The folder of a run: what in it is ours, what an earlier run left, and what must not be touched.
#pragma once

#include <cstdint>
#include <string>

namespace quadrat::cli {

/// A folder with a checkpoint is that of a run. Anything else that a run would write over, or beside in its folders, is
/// somebody's: throws cannot_write. So it does for a run that was not finished, unless it may be lost.
void make_way(const std::string& folder, bool overwrite);

/// Removes the files that a run writes beside its frames.
void remove_files_of_run(const std::string& folder);

/// Removes frames and pictures from the number `next` on.
void remove_frames(const std::string& folder, std::uint64_t next);

/// The number of a frame as file names have it: five digits or more.
[[nodiscard]] std::string digits(std::uint64_t frame);

}  // namespace quadrat::cli
