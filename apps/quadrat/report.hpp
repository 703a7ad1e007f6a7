// What pairs and neighbors say at the end: the keys of --json, or a few lines for people.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "verb.hpp"

namespace quadrat::cli {

struct Report {
    std::uint64_t objects = 0;
    std::uint64_t pairs = 0;
    std::uint64_t checksum = 0;
    std::string method;
    unsigned threads = 1;
    double read = 0;
    double first = 0;
    double build = 0;
    double find = 0;
    std::uint64_t tested = 0;

    /// One cold run, then `repeat` timed ones; build and find are the medians, or those of the cold run.
    /// run(timer, build_seconds, find_seconds).
    template <class Run>
    void time(unsigned repeat, Run&& run) {
        Timer timer;
        std::vector<double> builds, finds;
        for (unsigned k = 0; k <= repeat; ++k) {
            double build_now = 0, find_now = 0;
            (void)timer.lap();
            run(timer, build_now, find_now);
            if (k == 0) first = build_now + find_now;
            if (k > 0 || repeat == 0) {
                builds.push_back(build_now);
                finds.push_back(find_now);
            }
        }
        build = median(std::move(builds));
        find = median(std::move(finds));
    }

    /// On stdout. `objects_name` and `pairs_name` are the words for people.
    void print(bool json, const char* objects_name, const char* pairs_name) const;
};

}  // namespace quadrat::cli
