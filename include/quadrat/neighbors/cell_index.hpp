// CellIndex: all neighbours within a radius by Cell Indexing (Onderik & Durikovic 2008, "Efficient Neighbor Search for
// Particle-based Fluids", section 4.2). Points are sorted by cell; only cells that hold points take memory, whatever
// the extent. Where it departs from the paper: the cells of a row lie side by side and x is cut finer, so that the mask
// is a few ranges of storage; keys of any width are sorted in linear time; the mask reaches all neighbours (eq. 16 as
// printed reaches less than h/2).
//
// j is a neighbour of i when dx*dx + dy*dy + dz*dz <= r*r, each operation rounded in T, never fused
// (docs/reference/neighbors.md).
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/neighbors/neighbor_options.hpp>
#include <quadrat/neighbors/neighbor_row.hpp>
#include <quadrat/neighbors/periodic.hpp>
#include <quadrat/neighbors/radius_rule.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace quadrat {

/// What an index holds and did. Counts are exact; none of them depends on the number of threads.
struct CellIndexStats {
    std::uint64_t tests = 0;  ///< distance tests of the last find_neighbors or find_nearest, after culling
    std::uint64_t bytes = 0;  ///< memory held, spare capacity and kept cells included, results not
    std::size_t points = 0;   ///< points that are there: without the erased
    std::size_t levels = 1;   ///< size classes of radii
    bool dense =
        true;  ///< a table of all cells (of the first level); otherwise only rows of cells that hold points have one
};

namespace detail {

/// Some rows of a search, as for_each_pair and for_each_chunk are handed them.
struct StreamedRows {
    std::span<const std::uint32_t> homes;   ///< their points
    std::span<const std::uint32_t> counts;  ///< how many neighbours each has
    const std::uint32_t* neighbors;         ///< row after row
    bool directed;                          ///< (i, j) and (j, i) are two
};
using RowSink = void(void* context, const StreamedRows& rows);

/// call(i, j) for each entry; with i < j unless directed.
template <class Call>
void for_each_entry(const StreamedRows& rows, Call&& call) {
    const std::uint32_t* j = rows.neighbors;
    for (std::size_t h = 0; h < rows.homes.size(); ++h) {
        const std::uint32_t i = rows.homes[h];
        for (const std::uint32_t* const end = j + rows.counts[h]; j != end; ++j)
            if (rows.directed || i < *j)
                call(i, *j);
            else
                call(*j, i);
    }
}

}  // namespace detail

namespace neighbors {

template <int D, class T>
class IndexState;
template <int D, class T>
struct IndexSeam;

}  // namespace neighbors

/// All neighbours within a radius, and the k nearest, of points that it holds a copy of. Compiled for D = 2, 3 and
/// T = float, double.
///
/// Threads: const calls may run at the same time, also on one index; a call that is not const runs alone. Results are
/// the same bytes for any number of threads and any processor. Errors leave the index as it was and an output empty.
template <int D, class T>
class CellIndex {
  public:
    struct Options {
        /// How near is near, in the unit of the coordinates: positive and finite, or 0 if build() is given radii and no
        /// query is asked. Default: 0.
        T radius = 0;
        /// How two radii make one when build() is given radii. Default: the row's own point decides.
        RadiusRule rule = RadiusRule::own;
        /// Lists reach radius + skin, and update() sorts only when a list of before might lack a neighbour. Not
        /// negative, in the unit of the coordinates. Default: 0, lists are exact and update() always sorts.
        T skin = 0;
        /// The box that repeats. Default: open along all axes.
        Periodic<D, T> periodic = {};
        /// The most bytes that a call may allocate for its result, and for the images of a periodic box within reach;
        /// what needs more is refused with Error{too_large} that names the bytes. Default: no limit.
        std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
        /// Where to run. Must outlive the index. Default: null, the calling thread.
        Executor* executor = nullptr;
    };

    /// An index of no points. Throws Error{bad_value} for a radius or skin that is negative or not finite, or a box
    /// that is flat.
    explicit CellIndex(const Options& options);
    CellIndex(CellIndex&&) noexcept;
    CellIndex& operator=(CellIndex&&) noexcept;
    ~CellIndex();

    /// Sorts the points; point i has index i. All that was there before is forgotten. O(n) time and memory for any
    /// finite coordinates, whatever their extent. Invalidates order().
    ///
    /// points: finite, or Error{bad_value} names the index of one that is not; at most 2^32 - 2.
    void build(std::span<const Vec<D, T>> points);
    /// The same with a radius of its own for each point.
    ///
    /// radii: one per point, positive and finite.
    void build(std::span<const Vec<D, T>> points, std::span<const T> radii);
    /// The same points after a step, with the radii they had. Cheaper than build(): cells are kept, and if few points
    /// left theirs only these are sorted. Returns false if nothing was done because no point has moved more than half
    /// of the skin since the last build: the last lists then still hold every neighbour. Invalidates order().
    ///
    /// points: as many as size(), or Error{bad_shape}; those of erased indices are not looked at.
    bool update(std::span<const Vec<D, T>> points);
    /// Adds points after the last index; returns the first new index. Costs a build; the next update() sorts again,
    /// whatever the skin. Invalidates order().
    ///
    /// points: as for build(). The index must have been built without radii, or be empty.
    std::uint32_t insert(std::span<const Vec<D, T>> points);
    /// The same for an index with radii, or an empty one.
    ///
    /// radii: one per new point.
    std::uint32_t insert(std::span<const Vec<D, T>> points, std::span<const T> radii);
    /// Takes points out. The others keep their indices; rows of the erased are empty. Costs a build. Invalidates
    /// order().
    ///
    /// indices: each once and of a point that is there, or Error{stale_id}.
    void erase(std::span<const std::uint32_t> indices);

    /// Indices given out so far, erased ones included: the number of rows. O(1).
    [[nodiscard]] std::size_t size() const noexcept;
    /// The indices that are there in cell order: by z cell, y cell, x bin, index; where radii differ by more than a
    /// factor of two, first by size class, the largest first. Arrays of yours that are sorted by it
    /// are read faster along a list. Valid until the index changes. O(1).
    [[nodiscard]] std::span<const std::uint32_t> order() const noexcept;
    /// What the index holds and did last. O(1).
    [[nodiscard]] CellIndexStats stats() const;

    /// Fills `out` with one row per index: the neighbours of point i, in cell order; in a periodic box first those of
    /// the box itself and then image by image, with size classes first those of the home's own. O(n + entries).
    ///
    /// out: what it held is gone; its memory is used again.
    /// options: see there; its spans are read during the call only.
    void find_neighbors(NeighborList& out, const NeighborOptions& options = {}) const;
    /// One row per query: the points within options.radius + skin of it, in cell order. Radii of points do not apply,
    /// and a point at the very place of the query is a neighbour like others. O(n_queries + entries), after a sort of
    /// the queries.
    ///
    /// queries: finite, anywhere; in a periodic box they are wrapped.
    /// options: not half, which is Error{unsupported}.
    void find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out,
                        const NeighborOptions& options = {}) const;
    /// How many neighbours each point has: out[i] is the length of row i. Stores nothing else, and takes about 0.6 of
    /// the time of the list.
    ///
    /// watch: what it stops throws Error{stopped} and leaves `out` empty. Default, here and below: nobody watches.
    void count_neighbors(std::vector<std::uint32_t>& out, const Watch& watch = {}) const;
    /// How many pairs there are; directed ones if there are radii and their rule is not symmetric.
    [[nodiscard]] std::uint64_t count_pairs(const Watch& watch = {}) const;
    /// The k nearest points of each point (not itself), nearest first, equal distances by index; fewer if there are no
    /// more within max_distance. Distances are stored too. In a periodic box every image counts: an index may come
    /// several times, its own included, and the shifts are stored too; equal distances by index, then shift. Radii and
    /// radius of the index do not matter. The first call after a change makes cells for this k and distance in O(n),
    /// and calls with the same two use them again.
    ///
    /// k: at least 1.
    /// max_distance: positive and finite, in the unit of the coordinates; 0, the default: no limit.
    /// watch: what it stops throws Error{stopped} and leaves `out` empty. In a periodic box it is told nothing.
    void find_nearest(std::uint32_t k, NeighborList& out, T max_distance = 0, const Watch& watch = {}) const;
    /// The same for each query; a point at the very place of the query is among the nearest.
    ///
    /// queries: finite, anywhere; in a periodic box they are wrapped.
    void find_nearest(std::span<const Vec<D, T>> queries, std::uint32_t k, NeighborList& out, T max_distance = 0,
                      const Watch& watch = {}) const;

    /// fn(i, j), i < j, for each pair, on this thread, in cell order; nothing is stored. With radii whose rule is not
    /// symmetric fn(i, j) for each directed pair. With images a pair may come several times, and i = j.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        const auto sink = [](void* context, const detail::StreamedRows& rows) {
            detail::for_each_entry(rows, *static_cast<std::remove_reference_t<Fn>*>(context));
        };
        stream(const_cast<void*>(static_cast<const void*>(std::addressof(fn))), sink, Threads::caller);
    }
    /// The same in chunks, at the same time on the executor's threads: fn(std::span<const Pair>). Which pairs make a
    /// chunk and their order inside it do not depend on the threads; the order of the chunks does.
    template <class Fn>
    void for_each_chunk(Fn&& fn) const {
        const auto sink = [](void* context, const detail::StreamedRows& rows) {
            auto& call = *static_cast<std::remove_reference_t<Fn>*>(context);
            std::vector<Pair> pairs;
            detail::for_each_entry(rows, [&](std::uint32_t i, std::uint32_t j) { pairs.push_back({i, j}); });
            if (!pairs.empty()) call(std::span<const Pair>(pairs));
        };
        stream(const_cast<void*>(static_cast<const void*>(std::addressof(fn))), sink, Threads::executor);
    }
    /// fn(const NeighborRow<D, T>&) for each point that is there, at the same time on the executor's threads: nothing
    /// is stored, and a row is still in the first-level cache when fn gets it. Rows have the order of find_neighbors()
    /// and come in no order. Several times faster than a list and a loop over it.
    ///
    ///     cells.for_each_row([&](const quadrat::NeighborRow<3, float>& row) {
    ///         float sum = 0;
    ///         for (std::uint32_t e = 0; e < row.count; ++e) sum += weight(row.distances_sq[e]);
    ///         density[row.home] = sum;
    ///     });
    ///
    /// options: half, self, vectors, groups and searches as for a list, and the watch. The others change nothing.
    template <class Fn>
    void for_each_row(Fn&& fn, const NeighborOptions& options = {}) const {
        const auto sink = [](void* context, std::size_t, const NeighborRow<D, T>* rows, std::size_t count) {
            auto& call = *static_cast<std::remove_reference_t<Fn>*>(context);
            for (std::size_t r = 0; r < count; ++r) call(rows[r]);
        };
        stream_rows(const_cast<void*>(static_cast<const void*>(std::addressof(fn))), sink, options);
    }
    /// A sum over all rows, the same bits for any number of threads: fn(sum, row) adds a row to one of several sums,
    /// each of which begins as `zero`, and combine(total, sum) adds them up in the order of the points.
    ///
    ///     const double energy = cells.sum_rows(0.0, [&](double& sum, const auto& row) { sum += energy_of(row); });
    ///
    /// zero: copied once per 2048 points; keep it small.
    template <class Sum, class Fn, class Combine = std::plus<>>
    [[nodiscard]] Sum sum_rows(Sum zero, Fn&& fn, const NeighborOptions& options = {}, Combine&& combine = {}) const {
        struct alignas(64) Slot {  // threads that add at the same time do so in lines of their own
            Sum sum;
        };
        struct Job {
            std::remove_reference_t<Fn>& fn;
            std::vector<Slot> slots;
        } job{fn, std::vector<Slot>((order().size() + detail::loop_chunk - 1) / detail::loop_chunk, Slot{zero})};
        const auto sink = [](void* context, std::size_t chunk, const NeighborRow<D, T>* rows, std::size_t count) {
            Job& to = *static_cast<Job*>(context);
            for (std::size_t r = 0; r < count; ++r) to.fn(to.slots[chunk].sum, rows[r]);
        };
        stream_rows(&job, sink, options);
        for (Slot& slot : job.slots) zero = combine(std::move(zero), std::move(slot.sum));
        return zero;
    }
    /// fn(j) for each neighbour of point i, in cell order. The first call after a change costs O(n). For a few points;
    /// find_neighbors() is many times faster for all of them.
    ///
    /// i: the index of a point that is there, or Error{stale_id}.
    template <class Fn>
    void for_each_neighbor(std::uint32_t i, Fn&& fn) const {
        std::vector<std::uint32_t> row;
        find_row(i, row);
        for (const std::uint32_t j : row) fn(j);
    }
    /// fn(j) for each point within the radius of `position`, as for a query.
    template <class Fn>
    void for_each_neighbor(const Vec<D, T>& position, Fn&& fn) const {
        std::vector<std::uint32_t> row;
        find_row(position, row);
        for (const std::uint32_t j : row) fn(j);
    }

  private:
    friend struct neighbors::IndexSeam<D, T>;

    enum class Threads { caller, executor };
    void stream(void* context, detail::RowSink* sink, Threads threads) const;
    void stream_rows(void* context, detail::LoopSink<D, T>* sink, const NeighborOptions& options) const;
    void find_row(std::uint32_t i, std::vector<std::uint32_t>& row) const;
    void find_row(const Vec<D, T>& position, std::vector<std::uint32_t>& row) const;

    std::unique_ptr<neighbors::IndexState<D, T>> state_;
};

extern template class CellIndex<2, float>;
extern template class CellIndex<3, float>;
extern template class CellIndex<2, double>;
extern template class CellIndex<3, double>;

}  // namespace quadrat
