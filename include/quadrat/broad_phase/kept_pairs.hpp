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
    /// Where all pairs are found anew; single steps run on the caller's thread. Must outlive the structure. Default:
    /// null, everything on the caller's thread.
    Executor* executor = nullptr;
    /// On every side, as a share of the shortest edge of a box: at least 0. Wider boxes stay longer and have more pairs
    /// to test in every step. Flat and infinite boxes have no share. Default: 0.1.
    double margin = 0.1;
    /// No margin is less, in the unit of the coordinates: at least 0. Default: 0; flat boxes need some.
    double least = 0;
    /// Steps that a box is also swept ahead by its velocity, where velocities are given: at least 0. Default: 0.
    double horizon = 0;
    /// Bytes that a call may allocate for the pairs of fat boxes, or for the result of find_pairs. What would need more
    /// throws ErrorKind::too_large, which names the size. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// What KeptPairs has done so far.
struct KeptPairsStats {
    /// How often all fat pairs were found anew, insertions included. If that is most steps, take a HashGridHierarchy.
    std::size_t rebuilds = 0;
    /// Fat pairs that are kept, which each step tests.
    std::size_t candidates = 0;
};

/// A broad phase for boxes of which few move more than a fraction of their size per step: take it when most of them
/// stay for ten steps and more within a few per cent of their size, and measure; HashGridHierarchy is for everything
/// else. Boxes are added in bulk and never removed. Overlap is closed: boxes that touch overlap. Compiled for D = 2, 3
/// and T = float, double.
///
///     KeptPairs<3, float> kept({.margin = 0.2});
///     kept.insert(std::span<const Box3f>(boxes));
///     std::vector<Pair> pairs;
///     for (int step = 0; step < 100; ++step) {
///         kept.update(std::span<const Box3f>(boxes));  // after you moved them
///         kept.find_pairs(pairs);
///     }
///
/// Cost of a step: a pass over the boxes, one test per fat pair, and an edit and a query of a HashGridHierarchy for
/// each box that has left its fat box (or one bulk update of it, if more than one box in 128 has left). Memory: that of
/// the hierarchy, three boxes and two numbers per box, and 16 bytes per fat pair.
///
/// Const members may be called concurrently with each other, and with no other member.
template <int D, class T>
class KeptPairs {
  public:
    using Options = KeptPairsOptions;

    /// An empty set. Throws bad_value for a margin or horizon that is negative or NaN.
    explicit KeptPairs(const KeptPairsOptions& options = {});

    /// Adds boxes behind those that are there and returns the number of the first: in an empty set box i is number i.
    /// Cost: all pairs are found anew. If it throws nothing has changed.
    /// boxes: no NaN, lo <= hi, or bad_value names the first bad one; bounds may be infinite. At most 2^32 - 2 in all,
    /// and within max_bytes the pairs of their fat boxes, or too_large.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// Moves everything. See above for the cost.
    /// boxes: boxes[i] is the new box i; as many as size(), or bad_shape. Throws bad_value naming a NaN or bad box, and
    /// nothing has changed; too_large if the pairs of fat boxes need more than max_bytes.
    /// velocities: per step, one per box, or bad_shape; they may be infinite, not NaN, and count only with a horizon.
    /// Default: none.
    void update(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities = {});
    /// Refills `out` with every overlapping pair once, first < second, in the order of the kept pairs, which no number
    /// of threads changes. Throws too_large beyond max_bytes, with `out` empty. Cost: one test per fat pair; `out`
    /// grows to hold as many pairs as there are candidates, and keeps that capacity.
    void find_pairs(std::vector<Pair>& out) const;
    /// Calls fn(Pair) for each of them on the caller's thread, in the same order, storing nothing. fn may throw, and
    /// must not change the structure.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        for (const Pair& p : candidates_)
            if (overlap(placed_[p.first], placed_[p.second])) fn(pair_of(p));
    }

    /// Boxes in the set.
    [[nodiscard]] std::size_t size() const { return placed_.size(); }
    /// What was done so far. O(1).
    [[nodiscard]] KeptPairsStats stats() const { return {rebuilds_, candidates_.size()}; }

  private:
    // A pair of places as one of the caller's numbers.
    [[nodiscard]] Pair pair_of(const Pair& places) const {
        const std::uint32_t a = index_[places.first], b = index_[places.second];
        return a < b ? Pair{a, b} : Pair{b, a};
    }
    // Fills leavers_ with the boxes that are not inside their fat boxes, bad ones among them.
    void find_leavers(std::span<const Box<D, T>> boxes);
    // Whether new pairs of the leavers could be more than max_bytes allow: then rebuild() counts them first.
    [[nodiscard]] bool may_exceed(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities);
    // Gives boxes their places, in the order in which these pairs name them.
    void place_anew(std::span<const Box<D, T>> boxes, std::span<const Pair> pairs);
    [[nodiscard]] Box<D, T> fat(const Box<D, T>& box, std::size_t i, std::span<const Vec<D, T>> velocities) const;
    // All fat boxes and their pairs anew, or the leavers' alone.
    void rebuild(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities);
    void replace(std::span<const Vec<D, T>> velocities);

    KeptPairsOptions options_;
    HashGridHierarchy<D, T> grid_;  // of the fat boxes; slots are numbers
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
