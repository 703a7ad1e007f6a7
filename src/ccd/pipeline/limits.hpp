// What the public calls on meshes check first, and the limit on their work.
#pragma once

#include <quadrat/ccd/contacts.hpp>
#include <quadrat/error.hpp>

#include <atomic>
#include <cmath>
#include <string>

namespace quadrat::ccd {

inline void check(const ContactOptions& options) {
    if (!(options.tolerance >= 1e-9 && options.tolerance <= 1))
        throw Error(ErrorKind::bad_value, "must be in [1e-9, 1]", {.field = "tolerance"});
    if (!(options.min_distance >= 0 && std::isfinite(options.min_distance)))
        throw Error(ErrorKind::bad_value, "must be finite and not negative", {.field = "min_distance"});
}

/// Ends a search that became hopeless. Which part notices depends on the threads; that one does, and what it says, does
/// not.
class CandidateLimit {
  public:
    explicit CandidateLimit(std::uint64_t limit) : limit_(limit) {}
    [[nodiscard]] bool reached() const { return sum_.load(std::memory_order_relaxed) > limit_; }
    void add(std::size_t candidates) {
        if (sum_.fetch_add(candidates, std::memory_order_relaxed) + candidates > limit_)
            throw Error(ErrorKind::too_large,
                        "more than " + std::to_string(limit_) +
                            " candidates: features move far against their size; shorten the step or raise this limit",
                        {.field = "max_candidates"});
    }

  private:
    std::uint64_t limit_;
    std::atomic<std::uint64_t> sum_{0};
};

}  // namespace quadrat::ccd
