// Pairs that are found by many jobs side by side: each job has a list of its own, and the lists are put behind each
// other in the order of the jobs, so that threads do not show in the result.
#pragma once

#include "base/parallel.hpp"
#include "broad_phase/hierarchy.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

namespace quadrat::broad_phase {

/// Lists for the jobs of a call, with the memory that the calls before it have left. Taken and given back under a lock,
/// which is never held while jobs run: a job may report to a caller who asks the structure something.
template <int D, class T>
class PartScratch {
  public:
    PartScratch(const Hierarchy<D, T>& hierarchy, std::size_t jobs) : h_(hierarchy) {
        {
            const std::lock_guard lock(h_.scratch_mutex);
            parts_.swap(h_.scratch);
        }
        if (parts_.size() < jobs) parts_.resize(jobs);
    }
    PartScratch(const PartScratch&) = delete;
    PartScratch& operator=(const PartScratch&) = delete;
    ~PartScratch() {
        const std::lock_guard lock(h_.scratch_mutex);
        if (h_.scratch.size() < parts_.size()) parts_.swap(h_.scratch);
    }
    [[nodiscard]] std::vector<std::vector<Pair>>& parts() const { return parts_; }

  private:
    const Hierarchy<D, T>& h_;
    mutable std::vector<std::vector<Pair>> parts_;
};

/// How jobs are run, and what their result may take.
struct Collecting {
    Executor* executor;
    const Watch& watch;
    std::size_t max_bytes;
};

/// Refills `out` with what run(k, list) -> number of pairs writes, job by job; a list that holds fewer than it says has
/// dropped some, for there are more than the limit. Returns the number of pairs; `out` is empty where they are too
/// many.
template <class Run>
std::size_t collect(const Collecting& how, std::size_t jobs, std::vector<Pair>& out,
                    std::vector<std::vector<Pair>>& parts, Run&& run) {
    QUADRAT_ASSERT(parts.size() >= jobs);
    out.clear();
    std::atomic<std::size_t> total{0};
    std::vector<std::size_t> counts(jobs, 0);
    const std::size_t limit = how.max_bytes / sizeof(Pair);
    base::TaskProgress progress(how.watch, jobs);
    base::run_tasks(how.executor, jobs, [&](std::size_t k) {
        counts[k] = run(k, parts[k]);
        if ((total += counts[k]) > limit) std::vector<Pair>().swap(parts[k]);
        progress.done_one();
    });
    progress.finish();
    if (total > limit) return total;
    std::vector<std::size_t> begin(jobs + 1, 0);
    for (std::size_t k = 0; k < jobs; ++k) begin[k + 1] = begin[k] + counts[k];
    out.resize(begin.back());
    base::run_tasks(how.executor, jobs, [&](std::size_t k) {
        if (counts[k] != 0) std::copy_n(parts[k].data(), counts[k], out.data() + begin[k]);
    });
    return total;
}

/// Calls visit(set of a, counts, set of b, counts) for the grids of what is sorted and of what rests in both; see
/// Hierarchy::for_each_set.
template <int D, class T, class Visit>
void for_each_set_pair(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, Visit&& visit) {
    a.for_each_set([&](const auto& u, const auto& counts_u) {
        b.for_each_set([&](const auto& v, const auto& counts_v) { visit(u, counts_u, v, counts_v); });
    });
}

/// Calls take(pairs), a block at a time, for the overlapping pairs (id in a, id in b) of a job between two sets whose
/// records both count. `block` is scratch. Returns the number of tests.
template <int D, class T, class CountsA, class CountsB, class Take>
std::uint64_t pairs_of_job(const GridSet<D, T>& a, const GridSet<D, T>& b, const typename GridSet<D, T>::Job& job,
                           std::vector<Pair>& block, CountsA&& counts_a, CountsB&& counts_b, Take&& take) {
    std::uint64_t tests = 0;
    const auto wrong = [&](const Pair& p) { return !counts_a(p.first) || !counts_b(p.second); };
    in_blocks(
        block, [&](PairBuffer& buffer) { tests += GridSet<D, T>::run_between(a, b, job, buffer); },
        [&](std::span<Pair> pairs) {
            if (job.swapped)
                for (Pair& p : pairs) std::swap(p.first, p.second);
            const auto end = std::remove_if(pairs.begin(), pairs.end(), wrong);
            take(pairs.first(static_cast<std::size_t>(end - pairs.begin())));
        });
    return tests;
}

}  // namespace quadrat::broad_phase
