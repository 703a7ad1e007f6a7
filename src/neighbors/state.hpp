// What a CellIndex keeps between calls, and how it changes. The rooms below it read it: grid/ holds the sorted points,
// search/ finds what is within a radius, nearest/ the k nearest. Only CellIndex changes it.
#pragma once

#include <quadrat/neighbors/cell_index.hpp>

#include "neighbors/grid/grid.hpp"
#include "neighbors/grid/images.hpp"
#include "neighbors/nearest/nearest_grid.hpp"
#include "neighbors/search/walk.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace quadrat::neighbors {

/// The smallest and the largest coordinate of each axis.
template <int D, class T>
struct Bounds {
    T lo[D], hi[D];
    bool finite = true;

    /// Of no points.
    [[nodiscard]] static Bounds nothing();
    /// Of these points, on the executor's threads.
    [[nodiscard]] static Bounds of(std::span<const Vec<D, T>> points, Executor* executor);
    [[nodiscard]] static Bounds of(std::span<const Record<D, T>> records);
    /// Of points that must be finite, but for erased ones; throws Error{bad_value} with the index of one that is not.
    [[nodiscard]] static Bounds checked(std::span<const Vec<D, T>> points, std::span<const std::uint8_t> erased,
                                        Executor* executor);
};

template <int D, class T>
class IndexState {
  public:
    using Options = typename CellIndex<D, T>::Options;

    explicit IndexState(const Options& given) : options(given), lattice(given.periodic) {}

    const Options options;
    const Lattice<D, T> lattice;
    std::size_t slots = 0;
    /// What follows from the radii.
    struct Support {
        std::vector<T> radii;  // by index; empty when all are the same
        T smallest = 0, largest = 0;
        double typical = 0;  // reach that the cells are made for
        bool plain = true;   // all squares of reaches are within range (cells/predicate.hpp)
    };
    Support support;
    std::vector<std::uint8_t> erased;  // by index; empty when none is
    Grid<D, T> points;                 // what is searched: the points, and their images
    Grid<D, T> reals;                  // with images: the points alone
    Images<D, T> images;
    std::vector<Vec<D, T>> reference;  // with a skin: the points of the last build or update, none after an edit
    std::vector<Record<D, T>> records;
    T bounds_lo[D] = {}, bounds_hi[D] = {};
    mutable std::atomic<std::uint64_t> tests{0};  // distance tests of the last search
    mutable KeptGrid<D, T> nearest;               // cells for the k nearest; dropped by every sort

    [[nodiscard]] bool periodic() const { return lattice.active(); }
    [[nodiscard]] const Grid<D, T>& homes() const { return periodic() ? reals : points; }
    [[nodiscard]] bool is_erased(std::size_t i) const { return !erased.empty() && erased[i]; }
    /// True if j may be in the row of i without i being in the row of j.
    [[nodiscard]] bool directed() const { return !support.radii.empty() && !is_symmetric(options.rule); }
    [[nodiscard]] std::uint64_t bytes() const;

    /// How far i and j may be apart.
    [[nodiscard]] T radius_of(std::uint32_t i, std::uint32_t j) const {
        if (support.radii.empty()) return options.radius + options.skin;
        return pair_radius(options.rule, support.radii[i], support.radii[j]) + options.skin;
    }
    /// What the walk over the homes has to cover so that nothing that radius_of allows is missed.
    [[nodiscard]] Reach<T> reach() const;

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
    /// they cannot be wrapped or have too many images.
    void sort(std::span<const Vec<D, T>> given, Bounds<D, T> bounds, bool keep, Change change);
    /// sort() of points that were wrapped before, after an edit.
    void sort_wrapped(std::span<const Vec<D, T>> given, Change change);
    /// True if no point has moved so far since the last build that a list of then could lack a neighbour of now.
    [[nodiscard]] bool lists_hold(std::span<const Vec<D, T>> given) const;
    /// The points by index; zero for erased ones. With images they are the wrapped ones.
    [[nodiscard]] std::vector<Vec<D, T>> unsorted() const;
    /// The position of point i in homes(); throws Error{stale_id} if there is none. The first call after a sort is
    /// O(n).
    [[nodiscard]] std::uint32_t place_of(std::uint32_t i) const;

  private:
    /// The points that are there, with their indices, into records.
    void gather_records(std::span<const Vec<D, T>> source, const std::vector<std::uint8_t>& gone);
    /// True if points with such bounds may be sorted in the cells of before.
    [[nodiscard]] bool cells_serve(const Bounds<D, T>& bounds) const;

    mutable std::mutex places_mutex_;            // guards the making of places_
    mutable std::vector<std::uint32_t> places_;  // position in homes() of each index; made when asked for
};

}  // namespace quadrat::neighbors
