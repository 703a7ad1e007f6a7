// What a CellIndex keeps between calls.
#pragma once

#include <quadrat/neighbors/cell_index.hpp>

#include "neighbors/grid.hpp"
#include "neighbors/images.hpp"
#include "neighbors/walk.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace quadrat {
namespace neighbors {

template <int D, class T>
struct Bounds {
    T lo[D], hi[D];
    bool finite = true;
};

}  // namespace neighbors

template <int D, class T>
struct CellIndex<D, T>::State {
    using Grid = neighbors::Grid<D, T>;

    explicit State(const Options& given) : options(given), lattice(given.periodic) {}

    Options options;
    neighbors::Lattice<D, T> lattice;
    std::size_t slots = 0;
    /// What follows from the radii.
    struct Support {
        std::vector<T> radii;  // by index; empty when all are the same
        T largest = 0;         // radius
        double typical = 0;    // reach that the cells are made for
        bool plain = true;
    };
    Support support;
    std::vector<std::uint8_t> erased;  // by index; empty when none is
    Grid points;                       // what is searched: the points, and their images
    Grid reals;                        // with images: the points alone
    neighbors::Images<D, T> images;
    std::vector<Vec<D, T>> reference;  // with a skin: the points of the last build or update, none after an edit
    std::vector<neighbors::Record<D, T>> records;
    T bounds_lo[D] = {}, bounds_hi[D] = {};
    mutable std::atomic<std::uint64_t> tests{0};  // distance tests of the last search
    mutable std::mutex places_mutex;              // guards the making of places
    mutable std::vector<std::uint32_t> places;    // position in homes() of each index; made when asked for

    [[nodiscard]] bool periodic() const { return lattice.active(); }
    [[nodiscard]] const Grid& homes() const { return periodic() ? reals : points; }
    [[nodiscard]] bool directed() const { return !support.radii.empty() && options.rule == RadiusRule::own; }
    [[nodiscard]] std::uint64_t max_bytes() const;

    /// How far i and j may be apart.
    [[nodiscard]] T radius_of(std::uint32_t i, std::uint32_t j) const {
        if (support.radii.empty()) return options.radius + options.skin;
        const T a = support.radii[i], b = support.radii[j];
        switch (options.rule) {
            case RadiusRule::own:
                return a + options.skin;
            case RadiusRule::max:
                return (a > b ? a : b) + options.skin;
            case RadiusRule::min:
                return (a < b ? a : b) + options.skin;
            case RadiusRule::sum:
                return a + b + options.skin;
        }
        return a;
    }
    /// What the walk over the homes has to cover so that nothing that radius_of allows is missed.
    [[nodiscard]] neighbors::Reach<T> reach() const;

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
    void sort(std::span<const Vec<D, T>> given, neighbors::Bounds<D, T> bounds, bool keep, Change change);
    /// True if no point has moved so far since the last build that a list of then could lack a neighbour of now.
    [[nodiscard]] bool lists_hold(std::span<const Vec<D, T>> given) const;
    /// The points by index; indeterminate for erased ones. With images they are the wrapped ones.
    [[nodiscard]] std::vector<Vec<D, T>> unsorted() const;
    /// sort() of points that were wrapped before, after an edit.
    void sort_wrapped(std::span<const Vec<D, T>> given, Change change);
    void find_places() const;
};

}  // namespace quadrat
