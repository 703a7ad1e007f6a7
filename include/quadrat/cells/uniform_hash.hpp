// Cells of one size in a hash table (Teschner et al. 2003; HSH 2.1; CI 4.1): the classic for points with one radius and
// for boxes of like size, and the baseline of the other structures. The XOR hash with 73856093, 19349663, 83492791 is
// the paper's; cells are contiguous runs instead of chains. Boxes over more than 64 cells are kept in a list of their
// own, so memory is O(n).
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

struct UniformHashOptions {
    Executor* executor = nullptr;  ///< where to run; null is the calling thread
    double cell_size = 0;          ///< edge of the cells for boxes; 0 chooses it from the mean of their sizes
    /// A result of find_pairs that would need more throws ErrorKind::too_large, with the size it needs.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// Holds its own copy of what it was built from. Const calls may run concurrently. Correct for every finite input,
/// however it is spread; fast when sizes are alike. Compiled for D = 2, 3 and T = float, double.
template <int D, class T>
class UniformHash {
  public:
    using Options = UniformHashOptions;

    explicit UniformHash(const Options& options = {});
    ~UniformHash();
    UniformHash(UniformHash&&) noexcept;
    UniformHash& operator=(UniformHash&&) noexcept;

    /// Takes boxes, replacing what was there; memory is kept. Throws Error if one is NaN or has hi < lo. Infinite boxes
    /// are legal.
    void build(std::span<const Box<D, T>> boxes);
    /// Adds boxes behind those that are there and returns the number of the first.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box i: every step hashes everything again. boxes.size() == size().
    void update(std::span<const Box<D, T>> boxes);
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t slots() const { return size(); }

    /// Every overlapping pair once, first < second, in an order that does not depend on the number of threads.
    void find_pairs(std::vector<Pair>& out) const;
    /// fn(Pair) for each of them, in the same order, on the calling thread; nothing is stored.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t q = 0; q < size(); ++q) {
            found.clear();
            partners(q, found);
            for (const std::uint32_t o : found) fn(o < q ? Pair(o, q) : Pair(q, o));
        }
    }
    /// Every overlapping pair of a box of `queries` (first) and one of the set (second), by query.
    void find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const;
    /// The same of a box of `a` and one of `b`, which replaces what was built.
    void find_pairs(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b, std::vector<Pair>& out) {
        build(b);
        find_pairs(a, out);
    }
    /// The boxes that overlap `box`, each once, in no particular order.
    void find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const;

    /// Takes points, replacing those that were there; boxes and points do not see each other. Throws Error if a
    /// coordinate is not finite or radius not positive.
    void build(std::span<const Vec<D, T>> points, T radius);
    /// Row i: the points within the radius of point i, never i itself, in the order of the cells.
    void find_neighbors(NeighborList& out) const;
    /// Row q: the points within the radius of query q.
    void find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out) const;
    /// Both in one call.
    void find_neighbors(std::span<const Vec<D, T>> points, T radius, NeighborList& out) {
        build(points, radius);
        find_neighbors(out);
    }
    void find_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points, T radius,
                        NeighborList& out) {
        build(points, radius);
        find_neighbors(queries, out);
    }

    /// Box or distance tests made by the last find_pairs or find_neighbors.
    [[nodiscard]] std::uint64_t tests() const;

    /// Memory held, without results.
    [[nodiscard]] std::size_t bytes() const;

  private:
    void partners(std::uint32_t q, std::vector<std::uint32_t>& found) const;

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

extern template class UniformHash<2, float>;
extern template class UniformHash<2, double>;
extern template class UniformHash<3, float>;
extern template class UniformHash<3, double>;

}  // namespace quadrat
