// All pairs and all neighbours by testing everything against everything: the oracle that every other structure is held
// against, and the fastest choice for a few hundred objects. Each object is tested against blocks of the others with
// SIMD.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat {

/// Options of a BruteForce. No option but max_bytes changes a result.
struct BruteForceOptions {
    /// Where to run. Must outlive the structure. Default: null, the calling thread.
    Executor* executor = nullptr;
    /// The most bytes of a result; one that would need more throws Error{too_large}, with the size it needs, and leaves
    /// the result empty. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// What a BruteForce holds.
struct BruteForceStats {
    /// Boxes or points.
    std::size_t objects = 0;
    /// Memory held, used or not, without results.
    std::size_t bytes = 0;
};

/// All pairs of boxes or all neighbours of points, by testing everything against everything. Exact for all legal input,
/// with results in ascending order. Take it for up to a few hundred objects and as an oracle in tests; beyond that
/// HashGridHierarchy and CellIndex give the same sets in linear time.
///
///     quadrat::BruteForce<2, float> oracle;
///     oracle.build(std::span<const quadrat::Box2f>(boxes));
///     std::vector<quadrat::Pair> pairs;
///     oracle.find_pairs(pairs);
///
/// Holds its own copy of what it was built from: either boxes or points. Pairs are for boxes and neighbours for points;
/// to ask the wrong ones is Error{bad_shape}. Cost: n^2 / 2 tests for pairs, n^2 for neighbours; memory O(n) beside the
/// result, and with threads O(n) and some rows more per task.
///
/// Threads: const calls may run at the same time; a call that is not const runs alone. Results are the same for any
/// number of threads. Compiled for D = 2, 3 and T = float, double.
template <int D, class T>
class BruteForce {
  public:
    /// Nothing held; no option can be out of range.
    explicit BruteForce(BruteForceOptions options = {}) : options_(options) {}

    /// Takes boxes, in the place of what was there, boxes or points; box i gets number i. O(n). If it throws, what was
    /// there stays.
    ///
    /// boxes: no NaN, lo <= hi, not lo = +infinity nor hi = -infinity, or Error{bad_value} names the index of the first
    /// bad one and the column. Infinite boxes are legal. At most 2^32 - 2, or Error{too_large}.
    void build(std::span<const Box<D, T>> boxes);
    /// Adds boxes behind those that are there and returns the number of the first. Points that were there are
    /// forgotten. Costs a build of all. Throws as build, with the index in `boxes`.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// Gives all boxes new bounds: boxes[i] is the new box i. Costs a build. Throws as build.
    ///
    /// boxes: as many as size(), or Error{bad_shape}.
    void update(std::span<const Box<D, T>> boxes);
    /// Takes points, in the place of what was there, boxes or points; point i gets number i. O(n). If it throws, what
    /// was there stays.
    ///
    /// points: finite, or Error{bad_value} names the index of the first that is not; at most 2^32 - 2.
    void build(std::span<const Vec<D, T>> points);
    /// How many boxes or points. O(1).
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// What is held. O(1).
    [[nodiscard]] BruteForceStats stats() const noexcept { return {size_, columns_.capacity() * sizeof(T)}; }

    /// Every overlapping pair of the boxes once, first < second, sorted by first, then second. Boxes that touch
    /// overlap. Throws Error{bad_shape} after build(points).
    ///
    /// out: replaced; its capacity is kept. Throws Error{too_large} beyond max_bytes, with `out` empty.
    void find_pairs(std::vector<Pair>& out) const;
    /// fn(Pair) for each pair of find_pairs, in the same order, on the calling thread; stores nothing but one row, and
    /// max_bytes does not apply. fn may throw, which ends the search, and must not change the structure.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        check_boxes_held();
        std::vector<std::uint32_t> scratch(size_);
        for (std::uint32_t i = 0; i < size_; ++i)
            for (const std::uint32_t j : overlaps_after(i, scratch)) fn(Pair(i, j));
    }
    /// Every overlapping pair of a box of `a` (first) and one of `b` (second), sorted. Independent of what was built.
    /// a.size() * b.size() tests.
    ///
    /// a, b: as for build; `out` stays as it was if one is bad.
    /// out: replaced; its capacity is kept. Throws Error{too_large} beyond max_bytes, with `out` empty.
    void find_pairs(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b, std::vector<Pair>& out) const;

    /// Row i: the points within `radius` of point i, ascending, never i itself, other points at its very place
    /// included. Near means dx*dx + dy*dy + dz*dz <= r*r, each operation rounded in T (docs/concepts.md). Throws
    /// Error{bad_shape} after build(boxes).
    ///
    /// radius: positive and finite, in the unit of the coordinates, or Error{bad_value}; `out` stays as it was then.
    /// out: replaced, and contiguous(); its memory is used again. Throws Error{too_large} beyond max_bytes, with `out`
    /// empty.
    void find_neighbors(T radius, NeighborList& out) const;
    /// Row q: the points within `radius` of query q, ascending, one at its very place included. Independent of what was
    /// built. queries.size() * points.size() tests.
    ///
    /// queries, points: finite, or Error{bad_value} names the index of one that is not; `out` stays as it was then.
    void find_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points, T radius,
                        NeighborList& out) const;

  private:
    void check_boxes_held() const;
    // The boxes behind i that overlap box i, ascending, in scratch, which has room for size_ of them.
    [[nodiscard]] std::span<const std::uint32_t> overlaps_after(std::uint32_t i,
                                                                std::span<std::uint32_t> scratch) const;

    BruteForceOptions options_;
    std::size_t size_ = 0;
    bool holds_boxes_ = false;
    // One array per coordinate: lo.. hi.., or the points'. Each is padded with NaN, which no test accepts, so that
    // vector code may read beyond the last.
    std::vector<T> columns_;
};

extern template class BruteForce<2, float>;
extern template class BruteForce<2, double>;
extern template class BruteForce<3, float>;
extern template class BruteForce<3, double>;

}  // namespace quadrat
