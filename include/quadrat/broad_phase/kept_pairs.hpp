// Pairs that are kept between steps, for calm scenes: boxes are made fatter by a margin, the pairs of the fat boxes are
// found once, and as long as no box has left its fat box a step only tests those pairs again. The pairs are exactly
// those of the boxes at every step.
#pragma once

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/broad_phase/options.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace quadrat {

struct KeptPairsOptions {
    Executor* executor = nullptr;
    double margin = 0.1;  ///< on every side, as a share of the shortest edge of a box
    double least = 0;     ///< at least this margin, in units of length
    double horizon = 0;   ///< steps that a box is also swept ahead by its velocity, where velocities are given
};

/// A broad phase for boxes of which none moves more than a fraction of its size per step. Cost of a calm step: a pass
/// over the boxes and one test per fat pair; when a box has left its fat box, a bulk update of a HashGridHierarchy.
template <int D, class T>
class KeptPairs {
  public:
    using Options = KeptPairsOptions;

    explicit KeptPairs(const KeptPairsOptions& options = {});

    /// Adds boxes behind those that are there and returns the number of the first. Throws bad_value naming the first
    /// bad one.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box i. velocities, if given, are per step.
    void update(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities = {});
    /// Refills `out` with every overlapping pair once, first < second.
    void find_pairs(std::vector<Pair>& out) const;
    /// Calls fn(Pair) for each of them on the caller's thread, in the same order.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        for (const Pair& p : candidates_)
            if (overlap(boxes_[p.first], boxes_[p.second])) fn(p);
    }
    [[nodiscard]] std::size_t size() const { return boxes_.size(); }

    /// How often the fat pairs were found anew.
    [[nodiscard]] std::size_t rebuilds() const { return rebuilds_; }
    [[nodiscard]] std::size_t candidates() const { return candidates_.size(); }

  private:
    void rebuild(std::span<const Vec<D, T>> velocities);

    KeptPairsOptions options_;
    HashGridHierarchy<D, T> grid_;
    std::vector<Box<D, T>> boxes_, fat_;
    std::vector<Pair> candidates_;
    std::size_t rebuilds_ = 0;
};

}  // namespace quadrat
