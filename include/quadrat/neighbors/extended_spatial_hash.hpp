// Extended spatial hashing (Onderik & Durikovic 2008, CI 4.1): points in hashed cells that may be smaller than the
// radius, searched with an H-mask of the cells that can hold a neighbour, and a radius per point that selects its mask.
// The mask has the form that loses no neighbour (src/cells/hash.hpp).
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/neighbors/radius_rule.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace quadrat {

/// What a table holds and did. Neither number depends on the number of threads.
struct ExtendedSpatialHashStats {
    /// Distance tests of the last find_neighbors, those of points with themselves included.
    std::uint64_t tests = 0;
    /// Memory held in bytes, spare capacity included; results and masks, which do not grow with the points, not.
    std::uint64_t bytes = 0;
};

/// All neighbours within a radius, in the paper's own structure. For experiments with it, and as a check of CellIndex,
/// which finds the same neighbours, is faster and does more (periodic boxes, groups, distances, the k
/// nearest). Near means dx*dx + dy*dy + dz*dz <= r*r, each operation rounded in T; distance r counts.
///
///     quadrat::ExtendedSpatialHash<3, float> table({.radius = 0.1f, .subdivision = 2});
///     table.build(points);
///     quadrat::NeighborList list;
///     table.find_neighbors(list);
///
/// Holds a copy of the points. Compiled for D = 2, 3 and T = float, double.
///
/// Threads: const calls may run at the same time; a call that is not const runs alone. Results do not depend on the
/// number of threads. One that was moved from can be assigned to or destroyed.
template <int D, class T>
class ExtendedSpatialHash {
  public:
    /// What is near, and how it is searched. Which neighbours there are depends on radius and rule alone.
    struct Options {
        /// How near is near, in the unit of the coordinates: positive and finite, or 0 if build() is given radii and
        /// no query is asked. Default: 0.
        T radius = 0;
        /// How two radii make one when build() is given radii. Default: the row's own point decides.
        RadiusRule rule = RadiusRule::own;
        /// Cells per radius, or per mean radius: the H of the paper, 1 to 8. More are smaller cells: fewer tests, and
        /// more cells to look into. Default: 1.
        unsigned subdivision = 1;
        /// Where points are checked and rows are found; the hashing itself runs on the calling thread. Must outlive the
        /// table. Default: null, the calling thread.
        Executor* executor = nullptr;
        /// The most bytes of a result; one that would need more throws Error{too_large}, with the size it needs, and
        /// leaves the result empty. Default: no limit.
        std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    };

    /// A table of no points. Throws Error{bad_value} for options out of their range, naming the field.
    explicit ExtendedSpatialHash(const Options& options);
    ~ExtendedSpatialHash();
    ExtendedSpatialHash(ExtendedSpatialHash&&) noexcept;
    ExtendedSpatialHash& operator=(ExtendedSpatialHash&&) noexcept;

    /// Hashes the points, in the place of those that were there; point i has index i. O(n) time and memory for any
    /// finite coordinates, whatever their extent; memory is kept from build to build. Errors leave the table as it was.
    ///
    /// points: finite, or Error{bad_value} names the index of the first that is not. At most 2^31 - 1; 2^32 - 1
    /// and more are Error{too_large}. options.radius must be positive, or Error{bad_value}.
    void build(std::span<const Vec<D, T>> points);
    /// The same with a radius of its own for each point. Cells are made for the mean of the radii.
    ///
    /// radii: one per point, or Error{bad_shape}; positive and finite, or Error{bad_value} names the index. Nor may the
    /// rule make of the largest one with itself something that is not finite, which is Error{bad_value}, too.
    void build(std::span<const Vec<D, T>> points, std::span<const T> radii);
    /// How many points. O(1).
    [[nodiscard]] std::size_t size() const;

    /// Row i: the neighbours of point i, never i itself, a point at its very place included. In the order of the mask:
    /// cell by cell, x fastest, then y, then z, and by index inside a cell. O(n + tests) time. A point that can see
    /// further than eight cells is tested against all points, and its row is by index.
    ///
    /// out: what it held is gone; its memory is used again. contiguous() afterwards.
    void find_neighbors(NeighborList& out) const;
    /// Row q: the points within options.radius of query q, a point at its very place included, in the same order. For
    /// tables with radii that is Error{unsupported}.
    ///
    /// queries: finite, anywhere, or Error{bad_value} names the index of one that is not. Then, or if options.radius is
    /// 0, the list is empty.
    void find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out) const;

    /// What the table holds and did last. O(1).
    [[nodiscard]] ExtendedSpatialHashStats stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

extern template class ExtendedSpatialHash<2, float>;
extern template class ExtendedSpatialHash<3, float>;
extern template class ExtendedSpatialHash<2, double>;
extern template class ExtendedSpatialHash<3, double>;

}  // namespace quadrat
