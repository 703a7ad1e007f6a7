// Options and results that the sub-verbs of bench share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verb.hpp"

namespace quadrat::cli {

struct BenchOptions {
    std::string scenario;
    std::uint64_t n = 100000;
    unsigned steps = 10;
    int dimension = 3;
    std::string type = "float";
    std::uint64_t seed = 12345;
    CommonOptions common;

    void add_to(CLI::App& verb, const std::string& scenarios, const std::string& first,
                std::span<const char* const> methods);
};

struct BenchReport {
    double setup = 0;            ///< seconds until the first result
    std::vector<double> steps;   ///< seconds of each step after it
    std::uint64_t pairs = 0;     ///< of the last step
    std::uint64_t checksum = 0;  ///< of the last step
    std::uint64_t tested = 0;

    void print(const BenchOptions& options, const std::string& question, const std::string& method) const;
};

}  // namespace quadrat::cli
