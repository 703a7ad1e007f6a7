// The structures that are compared, each as a name, what it cost, and a function that adds up the values at positions.
#pragma once

#include "bench/voxels/octree.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace peers {

using quadrat::bench::Cell;
using Cells = std::span<const Cell>;
using Values = std::span<const std::uint32_t>;

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Absent positions count 0; values are never 0.
struct Rival {
    std::string name;
    double seconds = 0;
    double bytes = 0;
    bool exact = true;  ///< tells absent positions apart
    std::function<std::uint64_t(Cells)> sum;
};

/// Builds one and times that. `make` gives the sum function and sets the bytes.
template <class Make>
Rival build(std::string name, Make&& make) {
    Rival r;
    r.name = std::move(name);
    const double start = now();
    r.sum = make(r.bytes);
    r.seconds = now() - start;
    return r;
}

inline std::uint64_t mix(std::uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

inline std::uint64_t key(const Cell& p) {
    return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint64_t>(p[1]) << 21 |
           static_cast<std::uint64_t>(p[2]) << 42;
}

[[nodiscard]] std::vector<Rival> rivals(Cells cells, Values values);

}  // namespace peers
