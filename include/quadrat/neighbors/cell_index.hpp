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
#include <quadrat/neighbors/periodic.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace quadrat {

/// With one radius per point, how far apart i and j may be for j to be in the row of i.
enum class RadiusRule : std::uint8_t {
    own,  ///< r_i: varying support (section 4.1); not symmetric
    max,  ///< the larger of the two
    min,  ///< the smaller of the two
    sum,  ///< r_i + r_j: touching grains
};

/// Which order the rows of a list are stored in. Reading row i is the same in both.
enum class RowOrder : std::uint8_t {
    cell,   ///< as found, fastest
    input,  ///< row 0, 1, 2, ... without gaps: NeighborList::offsets() and indices() may be used
};

/// What find_neighbors stores.
struct NeighborOptions {
    bool half = false;  ///< each pair once: in the row of the one that is first in cell order (with images: of the
                        ///< smaller index); groups must see each other
    bool self = false;  ///< point i is in its own row
    RowOrder order = RowOrder::cell;
    DistanceKind distances = DistanceKind::none;
    bool vectors = false;  ///< x_j - x_i, with images x_j + shift - x_i
    bool shifts = false;   ///< which periodic image
    /// A group below 64 per point; empty: all are in group 0. With queries, the groups of the points.
    std::span<const std::uint8_t> groups = {};
    /// Bit h of searches[g]: rows of group g hold points of group h. Empty: everyone sees everyone.
    std::span<const std::uint64_t> searches = {};
    Watch watch = {};
};

template <int D, class T>
class CellIndex {
  public:
    struct Options {
        T radius = 0;                       ///< > 0, unless build() is given radii
        RadiusRule rule = RadiusRule::own;  ///< how radii per point combine
        T skin = 0;                    ///< lists reach radius + skin, and update() builds only when they might fail
        Periodic<D, T> periodic = {};  ///< open along all axes
        unsigned subdivision = 0;      ///< cells per radius (the paper's H); 0 chooses by density
        std::uint64_t max_bytes = 0;   ///< a longer list is refused; 0: half of the machine's memory
        Executor* executor = nullptr;  ///< serial when null; outlives the index
    };

    explicit CellIndex(const Options& options);
    CellIndex(CellIndex&&) noexcept;
    CellIndex& operator=(CellIndex&&) noexcept;
    ~CellIndex();

    /// Sorts the points; point i keeps index i. O(n) time and memory, any finite coordinates; the points are copied.
    /// Throws Error{bad_value} that names the index of a point that is not finite, and leaves the index as it was.
    void build(std::span<const Vec<D, T>> points);
    /// The same with one radius per point, each > 0.
    void build(std::span<const Vec<D, T>> points, std::span<const T> radii);
    /// The same points after a step, as many as before, with the radii they had. Cheaper than build(): cells are kept.
    /// Returns false if nothing was done because no point has moved more than half of the skin since the last build:
    /// then the last lists still hold every neighbour.
    bool update(std::span<const Vec<D, T>> points);
    /// Adds points after the last index; returns the first new index. Costs a build; the next update() builds again.
    std::uint32_t insert(std::span<const Vec<D, T>> points);
    std::uint32_t insert(std::span<const Vec<D, T>> points, std::span<const T> radii);
    /// Takes points out. The others keep their indices; rows of the erased are empty; update() ignores what it is given
    /// for them. Costs a build. Throws Error{stale_id} for an index that is not there.
    void erase(std::span<const std::uint32_t> indices);

    /// Indices given out so far, erased ones included: the number of rows.
    [[nodiscard]] std::size_t size() const noexcept;
    /// Indices in cell order: by z cell, y cell, x bin, index. Sort your own arrays by it for speed.
    [[nodiscard]] std::span<const std::uint32_t> order() const noexcept;
    [[nodiscard]] std::uint64_t bytes() const noexcept;
    /// Distance tests made by the last find_neighbors or find_nearest, after culling.
    [[nodiscard]] std::uint64_t tests() const noexcept;

    // Const calls may run at the same time. Entries of a row are in cell order.

    /// Fills `out` with one row per point. Throws Error{too_large} that names the bytes needed if they exceed
    /// max_bytes.
    void find_neighbors(NeighborList& out, const NeighborOptions& options = {}) const;
    /// One row per query, which may be anywhere; nothing is left out for being at the same place. Radii do not apply.
    void find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out,
                        const NeighborOptions& options = {}) const;
    /// How many neighbours each point has; stores nothing else.
    void count_neighbors(std::vector<std::uint32_t>& out) const;
    /// How many pairs (directed ones with RadiusRule::own and radii).
    [[nodiscard]] std::uint64_t count_pairs() const;
    /// The k nearest points of each point (not itself), nearest first, equal distances by index; fewer if there are no
    /// more within max_distance (0: no limit). Distances are stored too. In a periodic box every image counts: an index
    /// may come several times, its own included, and the shifts are stored too; equal distances by index, then shift.
    void find_nearest(std::uint32_t k, NeighborList& out, T max_distance = 0) const;
    void find_nearest(std::span<const Vec<D, T>> queries, std::uint32_t k, NeighborList& out, T max_distance = 0) const;

    /// fn(i, j), i < j, for each pair, on this thread, in cell order; nothing is stored. With RadiusRule::own and radii
    /// fn(i, j) for each directed pair. With images a pair may come several times, and i = j.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        const auto sink = [](void* context, const Batch& batch) {
            auto& call = *static_cast<std::remove_reference_t<Fn>*>(context);
            const std::uint32_t* j = batch.neighbors;
            for (std::size_t h = 0; h < batch.homes.size(); ++h) {
                const std::uint32_t i = batch.homes[h];
                for (const std::uint32_t* const end = j + batch.counts[h]; j != end; ++j)
                    if (batch.directed || i < *j)
                        call(i, *j);
                    else
                        call(*j, i);
            }
        };
        stream(const_cast<void*>(static_cast<const void*>(std::addressof(fn))), sink, Threads::caller);
    }
    /// The same in chunks, concurrently on the executor: fn(std::span<const Pair>). Chunks and their order inside are
    /// fixed.
    template <class Fn>
    void for_each_chunk(Fn&& fn) const {
        const auto sink = [](void* context, const Batch& batch) {
            auto& call = *static_cast<std::remove_reference_t<Fn>*>(context);
            std::vector<Pair> pairs;
            const std::uint32_t* j = batch.neighbors;
            for (std::size_t h = 0; h < batch.homes.size(); ++h) {
                const std::uint32_t i = batch.homes[h];
                for (const std::uint32_t* const end = j + batch.counts[h]; j != end; ++j)
                    pairs.push_back(batch.directed || i < *j ? Pair{i, *j} : Pair{*j, i});
            }
            if (!pairs.empty()) call(std::span<const Pair>(pairs));
        };
        stream(const_cast<void*>(static_cast<const void*>(std::addressof(fn))), sink, Threads::executor);
    }
    /// fn(j) for each neighbour of point i, in cell order. The first call after a build costs O(n).
    template <class Fn>
    void for_each_neighbor(std::uint32_t i, Fn&& fn) const {
        std::vector<std::uint32_t> row;
        find_row(i, row);
        for (const std::uint32_t j : row) fn(j);
    }
    /// fn(j) for each point within the radius of `position`.
    template <class Fn>
    void for_each_neighbor(const Vec<D, T>& position, Fn&& fn) const {
        std::vector<std::uint32_t> row;
        find_row(position, row);
        for (const std::uint32_t j : row) fn(j);
    }

  private:
    struct Batch {
        std::span<const std::uint32_t> homes;
        std::span<const std::uint32_t> counts;
        const std::uint32_t* neighbors;
        bool directed;
    };
    enum class Threads { caller, executor };
    void stream(void* context, void (*sink)(void*, const Batch&), Threads threads) const;
    void find_nearest_in(const std::span<const Vec<D, T>>* queries, std::uint32_t k, NeighborList& out,
                         T max_distance) const;
    void find_row(std::uint32_t i, std::vector<std::uint32_t>& row) const;
    void find_row(const Vec<D, T>& position, std::vector<std::uint32_t>& row) const;

    struct State;
    std::unique_ptr<State> state_;
};

extern template class CellIndex<2, float>;
extern template class CellIndex<3, float>;
extern template class CellIndex<2, double>;
extern template class CellIndex<3, double>;

}  // namespace quadrat
