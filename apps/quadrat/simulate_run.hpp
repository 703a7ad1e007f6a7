// A run of a scene from its file to its folder: what quadrat simulate and quadrat demo share.
#pragma once

#include <optional>
#include <string>

#include "scene_file.hpp"
#include "simulate_output.hpp"
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
