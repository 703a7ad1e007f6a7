// The checkpoint of a run: the library's, with a note of where the run is.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace quadrat::cli {

/// What the run notes in its checkpoint.
struct RunNote {
    std::uint64_t next = 0;      ///< the first frame that is not complete; 0: the start, before anything was drawn
    std::uint64_t scene = 0;     ///< FNV-1a of what the scene's text says of the run
    std::uint64_t finished = 0;  ///< 1: the run came to the end that it was asked for
};

/// Bytes that a run can be continued from.
struct Checkpoint {
    RunNote note = {};
    std::vector<std::byte> bytes = {};

    /// Takes the simulation's state, with the note.
    void take(const Simulation& simulation);
};

inline constexpr const char* checkpoint_name = "checkpoint.qsim";

/// That of a folder. Throws cannot_read when there is none, bad_format when it is damaged or not one of a run.
[[nodiscard]] Checkpoint read_checkpoint(const std::string& folder);
void write_checkpoint(const std::string& folder, const Checkpoint& checkpoint);

}  // namespace quadrat::cli
