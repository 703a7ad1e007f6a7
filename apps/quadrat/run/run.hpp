// A run of a scene from its file to its folder: what quadrat simulate and quadrat demo share. In this room:
//   run          frame after frame, stopped and continued; this header is what verbs use
//   frame        the state of one frame; solids: bodies, cloths and planes as triangles
//   output       files of a frame and the rows of statistics; folder: what in a folder is a run's
//   checkpoint   what --resume continues from; interrupts: Ctrl-C
//   stage        a frame for the ray tracer
//   end/         the end: summary, which is printed, film, and report_page
#pragma once

#include <optional>
#include <string>

#include "run/output.hpp"
#include "scene_io/scene_file.hpp"
#include "verb.hpp"

namespace quadrat::cli {

struct SimulateOptions {
    std::string scene;  ///< the file's name
    std::string variant;
    OutputOptions output;
    std::optional<std::uint64_t> frames;
    std::optional<std::uint32_t> width, samples;
    unsigned threads = 0;
    bool film = true;
    bool resume = false;
    bool json = false;
};

/// Throws Error; stopped after a checkpoint was left.
void run_simulation(const SceneFile& file, const SimulateOptions& options);

/// --frames, --no-pictures, --vtp and the rest.
void add_simulate_options(CLI::App& verb, SimulateOptions& options);

}  // namespace quadrat::cli
