// The scenarios of quadrat bench simulation that are grains.
#pragma once

#include <cstdint>
#include <string>

namespace quadrat::cli {

struct GrainBench {
    std::string scenario;
    std::uint64_t n;
    unsigned steps, threads;
    bool json;
};

/// G1: a bed of spheres at rest in a box. G2: the paper's box, spheres of radius 0.5 two apart that begin to fall.
[[nodiscard]] bool is_grain_scenario(const std::string& name);
void run_grain_bench(const GrainBench& options);

}  // namespace quadrat::cli
