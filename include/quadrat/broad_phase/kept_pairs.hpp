// Pairs that are kept between steps, for calm scenes: boxes are made fatter by a margin, the pairs of the fat boxes are
// found once, and a step only tests those pairs again. A box that has left its fat box gets a new one and looks for its
// pairs alone; only when many have left are all pairs found anew. The pairs are exactly those of the boxes at every
// step.
#pragma once

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/broad_phase/options.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat {

/// Options of KeptPairs. The margins trade tests in every step for steps without a search; no result depends on them.
struct KeptPairsOptions {
    /// Where all pairs are found anew; null: on the caller's thread. Must outlive the structure.
    Executor* executor = nullptr;
    double margin = 0.1;  ///< on every side, as a share of the shortest edge of a box; at least 0
    double least = 0;     ///< at least this margin, in units of length; at least 0
    /// Steps that a box is also swept ahead by its velocity, where velocities are given; at least 0.
    double horizon = 0;
    /// Bytes that a call may allocate for the pairs of fat boxes, or for the result of find_pairs. What would need more
    /// throws ErrorKind::too_large, which names the size.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// What KeptPairs has done so far.
struct KeptPairsStats {
    std::size_t rebuilds = 0;    ///< how often all fat pairs were found anew
    std::size_t candidates = 0;  ///< fat pairs that are kept, which each step tests
};

/// A broad phase for boxes of which few move more than a fraction of their size per step. Cost of a step: a pass over
/// the boxes, one test per fat pair, and an edit and a query of a HashGridHierarchy for each box that has left its fat
/// box (or one bulk update of it, if more than one box in 128 has left). Const members may be called concurrently.
template <int D, class T>
class KeptPairs {
  public:
    using Options = KeptPairsOptions;

    /// An empty set. Throws bad_value for a negative option.
    explicit KeptPairs(const KeptPairsOptions& options = {});

    /// Adds boxes behind those that are there and returns the number of the first. Cost: all pairs are found anew.
    /// Throws bad_value naming the first bad one.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box i. velocities, if given, are per step; they may be infinite and count only with a
    /// horizon. Throws bad_value naming a NaN or bad box, and nothing has changed.
    void update(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities = {});
    /// Refills `out` with every overlapping pair once, first < second, in the order of the kept pairs, which no number
    /// of threads changes. Throws too_large beyond max_bytes, with `out` empty.
    void find_pairs(std::vector<Pair>& out) const;
    /// Calls fn(Pair) for each of them on the caller's thread, in the same order.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        for (const Pair& p : candidates_)
            if (overlap(placed_[p.first], placed_[p.second])) fn(pair_of(p));
    }

    /// Boxes in the set.
    [[nodiscard]] std::size_t size() const { return placed_.size(); }
    [[nodiscard]] KeptPairsStats stats() const { return {rebuilds_, candidates_.size()}; }

  private:
    [[nodiscard]] Pair pair_of(const Pair& places) const {
        const std::uint32_t a = index_[places.first], b = index_[places.second];
        return a < b ? Pair{a, b} : Pair{b, a};
    }
    void find_leavers(std::span<const Box<D, T>> boxes);
    [[nodiscard]] bool may_exceed(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities);
    void place_anew(std::span<const Box<D, T>> boxes, std::span<const Pair> pairs);
    [[nodiscard]] Box<D, T> fat(const Box<D, T>& box, std::size_t i, std::span<const Vec<D, T>> velocities) const;
    void rebuild(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities);
    void replace(std::span<const Vec<D, T>> velocities);

    KeptPairsOptions options_;
    HashGridHierarchy<D, T> grid_;
    // Boxes lie in the order in which the candidates name them, so that testing these walks through memory.
    std::vector<Box<D, T>> placed_;
    std::vector<std::uint32_t> place_, index_;    // of a box, by its number; and back
    std::vector<Box<D, T>> fat_, next_fat_;       // by number
    std::vector<Pair> candidates_;                // of places
    std::vector<std::uint32_t> leavers_, found_;  // scratch of a step
    std::vector<Pair> fat_pairs_;
    std::vector<std::uint8_t> left_;  // by place: it is one of the leavers
    std::size_t rebuilds_ = 0, rebuilt_candidates_ = 0;
};

}  // namespace quadrat
