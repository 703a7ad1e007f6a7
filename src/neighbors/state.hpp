// What a CellIndex keeps between calls, and how it changes. The rooms below it read it: grid/ holds the sorted points,
// search/ finds what is within a radius, nearest/ the k nearest. Only CellIndex changes it.
#pragma once

#include <quadrat/neighbors/cell_index.hpp>

#include "neighbors/grid/bounds.hpp"
#include "neighbors/grid/grid.hpp"
#include "neighbors/grid/images.hpp"
#include "neighbors/grid/level.hpp"
#include "neighbors/nearest/kept.hpp"
#include "neighbors/nearest/nearest_images.hpp"
#include "neighbors/nearest/tree.hpp"
#include "neighbors/search/walk.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace quadrat::neighbors {

template <int D, class T>
class IndexState {
  public:
    using Options = typename CellIndex<D, T>::Options;

    explicit IndexState(const Options& given) : options(given), lattice(given.periodic) {}

    const Options options;
    unsigned subdivision = 0;  // cells per radius along y and z; 0: by density; see IndexSeam
    Lattice<D, T> lattice;
    std::size_t slots = 0;
    /// What follows from the radii.
    struct Support {
        std::vector<T> radii;  // by index; empty when all are the same
        T smallest = 0, largest = 0;
        double typical = 0;  // reach that the cells are made for
        bool plain = true;   // all squares of reaches are within range (cells/predicate.hpp)

        /// True if every pair has the same radius.
        [[nodiscard]] bool uniform() const { return radii.empty() || smallest == largest; }
    };
    Support support;
    std::vector<std::uint8_t> erased;  // by index; empty when none is
    std::vector<Level<D, T>> levels;   // the points, wrapped: one level, or one for each size class of radii
    std::vector<Shift> turns;          // by index: how points were wrapped; empty when none was moved
    std::vector<Vec<D, T>> reference;  // with a skin: the points of the last build or update, none after an edit
    std::vector<Record<D, T>> records;
    T bounds_lo[D] = {}, bounds_hi[D] = {};
    mutable std::atomic<std::uint64_t> tests{0};  // distance tests of the last search
    mutable Kept<Grid<D, T>, T> nearest;          // cells for the k nearest; dropped by every sort, as the tree
    mutable Kept<PointTree<D, T>, std::uint32_t> nearest_tree;  // by k, where points are crowded
    mutable KeptImages<D, T> nearest_images;                    // in a periodic box

    [[nodiscard]] bool periodic() const { return lattice.active(); }
    /// The indices in the order of the levels and their cells.
    [[nodiscard]] std::span<const std::uint32_t> order() const {
        return levels.size() > 1 ? std::span<const std::uint32_t>(order_)
                                 : std::span(levels[0].grid.ids(), levels[0].grid.size());
    }
    /// How many points there are, erased ones aside.
    [[nodiscard]] std::size_t count() const { return order().size(); }
    [[nodiscard]] const Geometry<D, T>& geometry() const { return levels[0].grid.geometry(); }
    /// All points with their indices.
    [[nodiscard]] std::vector<Record<D, T>> all_records() const;
    [[nodiscard]] Shift turns_of(std::size_t i) const { return turns.empty() ? Shift{} : turns[i]; }
    [[nodiscard]] bool is_erased(std::size_t i) const { return !erased.empty() && erased[i]; }
    /// True if j may be in the row of i without i being in the row of j.
    [[nodiscard]] bool directed() const { return !support.radii.empty() && !is_symmetric(options.rule); }
    [[nodiscard]] std::uint64_t bytes() const;

    /// How far the homes of a level see. `largest` of a level and the rule say the rest.
    [[nodiscard]] Reach<T> reach(std::size_t level) const;

    /// Throws if the radii are not as they should be.
    [[nodiscard]] Support make_support(std::span<const T> given, std::size_t points_count) const;
    /// The largest reach of any pair.
    [[nodiscard]] T longest(const Support& of) const;
    /// What a new order of the points brings with it; empty: as before.
    struct Change {
        std::optional<Support> support;
        std::optional<std::vector<std::uint8_t>> erased;
    };
    /// Sorts the points, whose bounds these are; keep: in the cells of last time. Throws before anything is changed if
    /// they cannot be wrapped or the radius covers too many images of the box.
    void sort(std::span<const Vec<D, T>> given, Bounds<D, T> bounds, bool keep, Change change);
    /// sort() of points that were wrapped before, after an edit.
    void sort_wrapped(std::span<const Vec<D, T>> given, Change change);
    /// True if no point has moved so far since the last build that a list of then could lack a neighbour of now.
    [[nodiscard]] bool lists_hold(std::span<const Vec<D, T>> given) const;
    /// The points by index, wrapped; zero for erased ones.
    [[nodiscard]] std::vector<Vec<D, T>> unsorted() const;
    /// The position of point i in order(); throws Error{stale_id} if there is none. The first call after a sort is
    /// O(n).
    [[nodiscard]] std::uint32_t place_of(std::uint32_t i) const;

  private:
    /// The points that are there, with their indices, into records.
    void gather_records(std::span<const Vec<D, T>> source, const std::vector<std::uint8_t>& gone);
    /// True if points with such bounds may be sorted in the cells of before.
    [[nodiscard]] bool cells_serve(const Bounds<D, T>& bounds) const;

    /// Throws Error{too_large} if a point can have more images of the box within reach than are worth looking at.
    void check_images(const Lattice<D, T>& box, const Bounds<D, T>& bounds, T reach) const;
    /// The grids of several levels from the records.
    void build_levels();
    void gather_radii(Level<D, T>& level) const;

    std::vector<std::uint32_t> order_;           // with several levels
    mutable std::mutex places_mutex_;            // guards the making of places_
    mutable std::vector<std::uint32_t> places_;  // position in order() of each index; made when asked for
};

}  // namespace quadrat::neighbors
