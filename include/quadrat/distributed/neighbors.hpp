// What is near what, on many ranks. Each rank holds its own points and, as ghosts, those of others within the radius of
// its leaf; a CellIndex over both gives the rows of its own points. Coordinates travel as they are: the local index has
// the same periodic box and finds the images itself, so that every rounding is that of the serial answer. The sets of
// neighbours are those of one CellIndex over all points, whatever the number of ranks; local indices and the order of
// rows and of entries are not.
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

/// What a row stores beside the indices; as in NeighborOptions. The same on all ranks is usual and not needed.
struct DistributedRowOptions {
    /// Distances or their squares, in the unit of the coordinates. Default: nothing.
    DistanceKind distances = DistanceKind::none;
    /// Stores x_j - x_i, with images x_j + shift - x_i, in the unit of the coordinates. Default: not.
    bool vectors = false;
    /// Stores which periodic image it is, in whole box vectors. Default: not.
    bool shifts = false;
};

/// Points spread over the ranks of a communicator, and the neighbours of each within one radius. Where one machine is
/// enough CellIndex does more: radii per point, queries, the k nearest. Compiled for D = 2, 3 and T = float, double.
///
/// On each rank points have local indices: own ones from 0, then ghosts, by the rank of their owner. Holds a copy of
/// the points, their ids and a CellIndex over both kinds.
///
///     DistributedNeighbors<3, float> near(MPI_COMM_WORLD, 0.1f);
///     Migration moved = near.insert(std::span<const Vec3f>(points));
///     moved.apply(points);  // now as many as own(), in the order of local indices
///     NeighborList rows;
///     near.find_neighbors(rows);
///
/// If a call throws, the structure on every rank holds what it held before; new cuts may have been made. Not to be
/// called by several threads at a time, not even its const members that are collective. Destroy it before MPI_Finalize.
template <int D, class T>
class DistributedNeighbors {
  public:
    /// max_bytes also limits the list that a rank fills, and the periodic images of its CellIndex.
    using Options = DecompositionOptions<D, T>;

    /// Collective. No points. Duplicates the communicator.
    ///
    /// radius: positive and finite, in the unit of the coordinates, the same on all ranks; or Error{bad_value} on all.
    /// options: as for Decomposition.
    DistributedNeighbors(MPI_Comm comm, T radius, const Options& options = {});
    ~DistributedNeighbors();
    DistributedNeighbors(DistributedNeighbors&&) noexcept;
    DistributedNeighbors& operator=(DistributedNeighbors&&) noexcept;

    /// Collective. Takes the place of all points; each rank gives any of them, also none. Returns where they went:
    /// apply() it to your arrays, `points` included. Costs Decomposition::update() and halo(), messages for what moves
    /// and for ghosts, and a CellIndex::build() of what the rank then holds. Invalidates halo() and all local indices.
    ///
    /// points: finite, or Error{bad_value} names rank and position; at most 2^32 - 2 per rank, ghosts included, or
    ///     Error{too_large}. In a periodic box anywhere, but not more than 2^30 boxes away.
    /// ids: one per point, no two alike on all ranks together (not checked), or Error{bad_shape}. Empty on all ranks,
    ///     the default: 0, 1, 2, ... in the order of the ranks.
    Migration insert(std::span<const Vec<D, T>> points, std::span<const std::uint64_t> ids = {});
    /// Collective. New positions of the own() points, in their order; any length of jump. Own points may go to other
    /// ranks and others may come: apply() what it returns to your arrays, `points` included. Ids stay with their
    /// points. Costs, throws and invalidates as insert(); and Error{bad_shape} if the number is not own() on one rank.
    Migration update(std::span<const Vec<D, T>> points);

    /// Collective, but without messages beside the agreement on errors. Refills `out` with held() rows of local
    /// indices: the neighbours of own point i in row i, as CellIndex gives them, with indices from own() on for ghosts;
    /// the rows of ghosts are empty. Each pair of points is in both rows, each on the rank that owns the row's point.
    /// O(held points + entries).
    ///
    /// Throws Error{too_large} on all ranks if a rank's list needs more than max_bytes; what `out` holds is then not
    /// specified.
    void find_neighbors(NeighborList& out, const DistributedRowOptions& options = {}) const;

    // What follows is local and O(1).

    /// Points that this rank owns.
    [[nodiscard]] std::size_t own() const;
    /// Own points and ghosts: the limit of local indices.
    [[nodiscard]] std::size_t held() const;
    /// The id of a point, which is the same on every rank.
    ///
    /// index: a local index below held(), which is asserted.
    [[nodiscard]] std::uint64_t id(std::uint32_t index) const;
    /// All held() of them, by local index. Valid until the next insert or update.
    [[nodiscard]] std::span<const std::uint64_t> ids() const;
    /// For sending your own arrays to the ghosts and sums back; valid until the next insert or update.
    [[nodiscard]] const Halo& halo() const;
    /// The cuts, and the communicator.
    [[nodiscard]] const Decomposition<D, T>& decomposition() const;
    /// Of the last insert or update.
    [[nodiscard]] DecompositionStats stats() const;
    /// How long the last insert or update and the last find_neighbors took on this rank.
    [[nodiscard]] const DistributedSeconds& seconds() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Rows by ids: the neighbours of ids[i] are neighbors[offsets[i]] up to neighbors[offsets[i + 1]].
struct IdRows {
    /// The rows' points; one more offset than these, the first one 0; and the ids of all neighbours, row after row.
    std::vector<std::uint64_t> ids, offsets, neighbors;
};

/// Collective. The neighbours of every point of all ranks; each row is on exactly one rank, neighbours in no particular
/// order. The id of a point is its position in the points of rank 0, rank 1, ... one after the other. For one question;
/// who asks again after a step keeps a DistributedNeighbors. Arguments and errors are those of its constructor,
/// insert() and find_neighbors(); 8 bytes per entry and 16 per row come on top of the memory that these take.
///
///     const IdRows rows = find_neighbors(MPI_COMM_WORLD, std::span<const Vec3f>(points), 0.1f);
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
