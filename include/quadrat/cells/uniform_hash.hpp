// Cells of one size in a hash table (Teschner et al. 2003; HSH 2.1; CI 4.1): the classic for points with one radius and
// for boxes of like size, and the baseline of the other structures. The XOR hash with 73856093, 19349663, 83492791 is
// the paper's; cells are contiguous runs instead of chains. Boxes over more than 64 cells are kept in a list of their
// own, so memory is O(n).
#pragma once

#include <quadrat/cells/box_hash.hpp>
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
    /// Edge of the cells for boxes, a length: positive and finite, or 0, which chooses it from the mean of their sizes.
    double cell_size = 0;
    /// Bytes that a call may allocate for its result; one that would need more throws too_large, with the size it
    /// needs.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// Boxes (see BoxHash) or points in cells of one size; they do not see each other. Correct for every finite input,
/// however it is spread; fast when sizes are alike.
template <int D, class T>
class UniformHash : public BoxHash<D, T, cells::UniformScheme> {
    using Base = BoxHash<D, T, cells::UniformScheme>;

  public:
    using Options = UniformHashOptions;

    /// Throws bad_value for an option that is out of its range.
    explicit UniformHash(const Options& options = {});
    ~UniformHash();
    UniformHash(UniformHash&&) noexcept;
    UniformHash& operator=(UniformHash&&) noexcept;

    using Base::build;
    using Base::find_pairs;
    /// Every overlapping pair of a box of `a` (first) and one of `b` (second), which replaces what was built.
    void find_pairs(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b, std::vector<Pair>& out) {
        build(b);
        find_pairs(a, out);
    }

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

    /// The points are counted too.
    [[nodiscard]] HashStats stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

extern template class UniformHash<2, float>;
extern template class UniformHash<2, double>;
extern template class UniformHash<3, float>;
extern template class UniformHash<3, double>;

}  // namespace quadrat
