// What is near what, on many ranks. Each rank holds its own points and, as ghosts, those of others within the radius of
// its leaf; a CellIndex over both gives the rows of its own points. Coordinates travel as they are: the local index has
// the same periodic box and finds the images itself, so that every rounding is that of the serial answer.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/distributed/decomposition.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

/// What a row stores beside the indices.
struct DistributedRowOptions {
    DistanceKind distances = DistanceKind::none;
    bool vectors = false;  ///< x_j - x_i, with images x_j + shift - x_i
    bool shifts = false;   ///< which periodic image
};

/// Points spread over the ranks of a communicator. On each rank points have local indices: own ones from 0, then
/// ghosts. If a call throws, the structure on every rank holds what it held before. Not to be called by several threads
/// at a time.
template <int D, class T>
class DistributedNeighbors {
  public:
    using Options = DecompositionOptions<D, T>;  ///< max_bytes also limits the list that a rank fills

    /// Collective. radius: positive, the same on all ranks. Throws Error{bad_value}.
    DistributedNeighbors(MPI_Comm comm, T radius, const Options& options = {});
    ~DistributedNeighbors();
    DistributedNeighbors(DistributedNeighbors&&) noexcept;
    DistributedNeighbors& operator=(DistributedNeighbors&&) noexcept;

    /// Collective. Takes the place of all points; each rank gives any of them. ids as in DistributedBroadPhase. Returns
    /// where they went. Throws Error{bad_value} naming rank and position.
    Migration insert(std::span<const Vec<D, T>> points, std::span<const std::uint64_t> ids = {});
    /// Collective. New positions of the own() points, in their order. apply() what it returns to your arrays, `points`
    /// included. Throws Error{bad_shape} if the number is not own() on one rank.
    Migration update(std::span<const Vec<D, T>> points);

    /// Collective. Refills `out` with held() rows of local indices: the neighbours of own point i in row i, as
    /// CellIndex gives them; the rows of ghosts are empty. Throws Error{too_large} on all ranks if a rank's list needs
    /// more than max_bytes.
    void find_neighbors(NeighborList& out, const DistributedRowOptions& options = {}) const;

    [[nodiscard]] std::size_t own() const;
    /// Own points and ghosts.
    [[nodiscard]] std::size_t held() const;
    [[nodiscard]] std::uint64_t id(std::uint32_t index) const;
    [[nodiscard]] std::span<const std::uint64_t> ids() const;
    [[nodiscard]] const Halo& halo() const;
    [[nodiscard]] const Decomposition<D, T>& decomposition() const;
    [[nodiscard]] DecompositionStats stats() const;
    [[nodiscard]] const DistributedSeconds& seconds() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Rows by ids: the neighbours of ids[i] are neighbors[offsets[i]] up to neighbors[offsets[i + 1]].
struct IdRows {
    std::vector<std::uint64_t> ids, offsets, neighbors;
};

/// Collective. The neighbours of every point of all ranks; each row is on exactly one rank, neighbours in no particular
/// order. The id of a point is its position in the points of rank 0, rank 1, ... one after the other.
template <int D, class T>
[[nodiscard]] IdRows find_neighbors(MPI_Comm comm, std::span<const Vec<D, T>> points, T radius,
                                    const DecompositionOptions<D, T>& options = {}) {
    DistributedNeighbors<D, T> near(comm, radius, options);
    (void)near.insert(points);
    NeighborList list;
    near.find_neighbors(list);
    IdRows rows;
    together(*near.decomposition().comm(), [&] {
        rows.ids.assign(near.ids().begin(), near.ids().begin() + static_cast<std::ptrdiff_t>(near.own()));
        rows.offsets.reserve(near.own() + 1);
        rows.neighbors.reserve(list.entries());
        rows.offsets.push_back(0);
        for (std::size_t i = 0; i < near.own(); ++i) {
            for (const std::uint32_t j : list[i]) rows.neighbors.push_back(near.id(j));
            rows.offsets.push_back(rows.neighbors.size());
        }
    });
    return rows;
}

}  // namespace quadrat
