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
#include <memory>
#include <span>

namespace quadrat {

/// What a table holds and did.
struct ExtendedSpatialHashStats {
    std::uint64_t tests = 0;  ///< distance tests of the last find_neighbors
    std::uint64_t bytes = 0;  ///< memory held, spare capacity included, results not
};

/// All neighbours within a radius, in the paper's own structure; CellIndex gives the same rows and is faster. Holds a
/// copy of the points. Compiled for D = 2, 3 and T = float, double.
///
/// Threads: const calls may run at the same time; a call that is not const runs alone. Results do not depend on the
/// number of threads.
template <int D, class T>
class ExtendedSpatialHash {
  public:
    struct Options {
        /// How near is near, in the unit of the coordinates: positive and finite, or 0 if build() is given radii.
        /// Default: 0.
        T radius = 0;
        /// How two radii make one when build() is given radii. Default: the row's own point decides.
        RadiusRule rule = RadiusRule::own;
        /// Cells per radius, or per mean radius: the H of the paper, 1 to 8. Default: 1.
        unsigned subdivision = 1;
        /// Where to run. Must outlive the table. Default: null, the calling thread.
        Executor* executor = nullptr;
    };

    /// A table of no points. Throws Error{bad_value} for options out of their range.
    explicit ExtendedSpatialHash(const Options& options);
    ~ExtendedSpatialHash();
    ExtendedSpatialHash(ExtendedSpatialHash&&) noexcept;
    ExtendedSpatialHash& operator=(ExtendedSpatialHash&&) noexcept;

    /// Hashes the points; point i has index i. O(n) time and memory for any finite coordinates.
    ///
    /// points: finite, or Error{bad_value} names the index of one that is not, and the table stays as it was.
    void build(std::span<const Vec<D, T>> points);
    /// The same with a radius of its own for each point.
    ///
    /// radii: one per point, positive and finite.
    void build(std::span<const Vec<D, T>> points, std::span<const T> radii);
    /// How many points. O(1).
    [[nodiscard]] std::size_t size() const;

    /// Row i: the neighbours of point i, never i itself, in the order of the mask. O(n + tests); a radius of more than
    /// eight cells is tested against all points.
    ///
    /// out: what it held is gone; its memory is used again.
    void find_neighbors(NeighborList& out) const;
    /// Row q: the points within options.radius of query q. Not for tables with radii.
    ///
    /// queries: finite, anywhere.
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
