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

struct BruteForceOptions {
    Executor* executor = nullptr;  ///< where to run; null is the calling thread
    /// A result of find_pairs that would need more throws ErrorKind::too_large, with the size it needs.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// Holds its own copy of what it was built from. Const calls may run concurrently. Cost: n^2 / 2 tests for pairs, n^2
/// for neighbours; memory O(n) beside the result. Compiled for D = 2, 3 and T = float, double.
template <int D, class T>
class BruteForce {
  public:
    explicit BruteForce(BruteForceOptions options = {}) : options_(options) {}

    /// Takes boxes; throws Error if one is NaN or has hi < lo. Infinite boxes are legal. Replaces what was there.
    void build(std::span<const Box<D, T>> boxes);
    /// Adds boxes behind those that are there and returns the number of the first.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box i; boxes.size() == size().
    void update(std::span<const Box<D, T>> boxes);
    /// Takes points; throws Error if a coordinate is not finite. Replaces what was there.
    void build(std::span<const Vec<D, T>> points);
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Every overlapping pair of the boxes once, first < second, sorted.
    void find_pairs(std::vector<Pair>& out) const;
    /// As find_pairs, on the calling thread, storing nothing: fn(Pair).
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        std::vector<std::uint32_t> scratch(size_);
        for (std::uint32_t i = 0; i < size_; ++i)
            for (const std::uint32_t j : overlaps_after(i, scratch)) fn(Pair(i, j));
    }
    /// Every overlapping pair of a box of `a` and one of `b`, sorted. Independent of what was built.
    void find_pairs(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b, std::vector<Pair>& out) const;

    /// Row i: the points within `radius` of point i, ascending, never i itself. Throws Error if radius is not positive.
    void find_neighbors(T radius, NeighborList& out) const;
    /// Row q: the points within `radius` of query q, ascending. Independent of what was built.
    void find_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points, T radius,
                        NeighborList& out) const;

  private:
    [[nodiscard]] std::span<const std::uint32_t> overlaps_after(std::uint32_t i,
                                                                std::span<std::uint32_t> scratch) const;

    BruteForceOptions options_;
    std::size_t size_ = 0;
    bool holds_boxes_ = false;
    std::vector<T> columns_;  // one padded array per coordinate: lo.. hi.., or the points'
};

extern template class BruteForce<2, float>;
extern template class BruteForce<2, double>;
extern template class BruteForce<3, float>;
extern template class BruteForce<3, double>;

}  // namespace quadrat
