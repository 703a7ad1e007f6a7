// The end of a run: the film, report.html, and what is printed.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include <cstdint>
#include <string>

#include "run/output.hpp"
#include "run/run.hpp"

namespace quadrat::cli {

struct Summary {
    std::string scene = {};  ///< its name
    std::uint64_t frames = 0;
    std::size_t bodies = 0;
    SimulationStats statistics = {};
    double seconds = 0, seconds_of_pictures = 0;  ///< of all parts of the run
    unsigned threads = 1;
    std::string film = {};  ///< path, or empty
    std::string report = {};

    /// To standard output: a few lines, or one JSON object.
    void print(bool json) const;
};

/// Makes the film and the report. Throws cannot_write, stopped.
/// frames: how many there are of the whole run.
[[nodiscard]] Summary summarize(const Scene& scene, const Simulation& simulation, const Output& output,
                                const SimulateOptions& options, std::uint64_t frames, unsigned threads,
                                const StopToken& stop);

/// A number by a printf format.
[[nodiscard]] std::string rounded(double x, const char* format);

}  // namespace quadrat::cli
