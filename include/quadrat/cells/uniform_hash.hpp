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

/// Options of a UniformHash. No option but max_bytes changes a result; the cell size changes the order of one.
struct UniformHashOptions {
    /// Where to run: checks, pairs and rows; the hashing itself runs on the calling thread. Must outlive the structure.
    /// Default: null, the calling thread.
    Executor* executor = nullptr;
    /// Edge of the cells for boxes, in the unit of the coordinates: positive and finite. Cells for points follow their
    /// radius instead. Default: 0, which chooses twice the mean of the longest edges of the boxes, and doubles it while
    /// more than one box in 64 would cover more than 64 cells.
    double cell_size = 0;
    /// The most bytes of a result; one that would need more throws Error{too_large}, with the size it needs, and leaves
    /// the result empty. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// Boxes (see BoxHash) or points in cells of one size; one object can hold both, and they do not see each other.
/// Correct for every input that is accepted, however it is spread; fast when sizes are alike. Where they are not, take
/// a HierarchicalHash or HashGridHierarchy; for points CellIndex is faster and does more.
///
///     quadrat::UniformHash<3, float> hash;
///     hash.build(points, 0.1f);
///     quadrat::NeighborList list;
///     hash.find_neighbors(list);
///
/// Near means dx*dx + dy*dy + dz*dz <= r*r, each operation rounded in T (docs/concepts.md); distance r counts.
///
/// Threads: as BoxHash. Results are the same for any number of threads.
template <int D, class T>
class UniformHash : public BoxHash<D, T, cells::UniformScheme> {
    using Base = BoxHash<D, T, cells::UniformScheme>;

  public:
    using Options = UniformHashOptions;

    /// Neither boxes nor points. Throws bad_value, naming the field, for an option that is out of its range.
    explicit UniformHash(const Options& options = {});
    ~UniformHash();
    UniformHash(UniformHash&&) noexcept;
    UniformHash& operator=(UniformHash&&) noexcept;

    using Base::build;
    using Base::find_pairs;
    /// Every overlapping pair of a box of `a` (first) and one of `b` (second), by a, in an order that does not depend
    /// on the number of threads. Costs a build of b, which replaces the boxes that were there, and a find() per box of
    /// a.
    ///
    /// a, b: as for build. If one of a is bad, b was built all the same.
    /// out: replaced; its capacity is kept. Throws too_large, with `out` empty, for a result above max_bytes.
    void find_pairs(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b, std::vector<Pair>& out) {
        build(b);
        find_pairs(a, out);
    }

    /// Takes points, replacing those that were there, for one radius; boxes stay. Point i gets index i. O(n) time and
    /// memory, whatever the extent. If it throws, what was there stays.
    ///
    /// points: finite, or bad_value names the index of the first that is not. At most 2^31 - 1; 2^32 - 1 and more are
    /// too_large.
    /// radius: positive and finite, in the unit of the coordinates, or bad_value.
    void build(std::span<const Vec<D, T>> points, T radius);
    /// Row i: the points within the radius of point i, never i itself, others at its very place included. Cell by cell
    /// of those around it, x fastest, then y, then z, and by index inside a cell. O(n + tests).
    ///
    /// Points must have been built before.
    /// out: replaced, and contiguous(); its memory is used again.
    void find_neighbors(NeighborList& out) const;
    /// Row q: the points within the radius of query q, one at its very place included, in the same order.
    ///
    /// queries: finite, anywhere, or bad_value names the index of the first that is not; `out` stays as it was then.
    void find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out) const;
    /// build(points, radius) and find_neighbors(out) in one call; the points stay.
    void find_neighbors(std::span<const Vec<D, T>> points, T radius, NeighborList& out) {
        build(points, radius);
        find_neighbors(out);
    }
    /// build(points, radius) and find_neighbors(queries, out) in one call; the points stay.
    void find_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points, T radius,
                        NeighborList& out) {
        build(points, radius);
        find_neighbors(queries, out);
    }

    /// As that of BoxHash, with the memory of the points and the tests of find_neighbors.
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
