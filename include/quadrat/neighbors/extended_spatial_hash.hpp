// Extended spatial hashing (Onderik & Durikovic 2008, CI 4.1): points in hashed cells that may be smaller than the
// radius, searched with an H-mask of the cells that can hold a neighbour, and a radius per point that selects its mask.
// The mask has the form that loses no neighbour (src/cells/hash.hpp).
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/neighbors/cell_index.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace quadrat {

/// Holds its own copy of the points. Const calls may run concurrently. Compiled for D = 2, 3 and T = float, double.
template <int D, class T>
class ExtendedSpatialHash {
  public:
    struct Options {
        T radius = 0;                       ///< > 0, unless build() is given radii
        RadiusRule rule = RadiusRule::own;  ///< how radii per point combine
        unsigned subdivision = 1;           ///< cells per radius (per mean radius, with radii), 1..8: the paper's H
        Executor* executor = nullptr;       ///< where to run; null is the calling thread
    };

    explicit ExtendedSpatialHash(const Options& options);
    ~ExtendedSpatialHash();
    ExtendedSpatialHash(ExtendedSpatialHash&&) noexcept;
    ExtendedSpatialHash& operator=(ExtendedSpatialHash&&) noexcept;

    /// Hashes the points; point i keeps index i. O(n) time and memory for any finite coordinates. Throws Error that
    /// names the index of a point that is not finite, and leaves the table as it was.
    void build(std::span<const Vec<D, T>> points);
    /// The same with one positive radius per point.
    void build(std::span<const Vec<D, T>> points, std::span<const T> radii);
    [[nodiscard]] std::size_t size() const;

    /// Row i: the neighbours of point i, never i itself, in the order of the mask.
    void find_neighbors(NeighborList& out) const;
    /// Row q: the points within options.radius of query q. Not for tables with radii.
    void find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out) const;

    /// Distance tests made by the last find_neighbors.
    [[nodiscard]] std::uint64_t tests() const;
    /// Memory held, without results.
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

extern template class ExtendedSpatialHash<2, float>;
extern template class ExtendedSpatialHash<2, double>;
extern template class ExtendedSpatialHash<3, float>;
extern template class ExtendedSpatialHash<3, double>;

}  // namespace quadrat
