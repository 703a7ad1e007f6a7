// The options of quadrat collide, which its two jobs share.
#pragma once

#include <quadrat/ccd.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "verb.hpp"

namespace quadrat::cli {

struct CollideOptions {
    std::vector<std::string> meshes;
    std::vector<std::string> with;
    std::vector<std::string> queries;
    std::string kind = "auto";
    std::string out;
    std::string vertex_times;
    double distance = 0;
    double tolerance = 1e-6;
    unsigned threads = 1;
    std::uint64_t max_candidates = ContactOptions{}.max_candidates;
    bool no_self = false;
    bool earliest = false;
    bool json = false;
};

// The shortest text that reads back as the same number.
inline std::string number(double x) {
    return std::isfinite(x) ? Json(x).dump() : "inf";
}

/// Files of single queries with their exact answers.
void run_queries(const CollideOptions& options);

}  // namespace quadrat::cli
