// The hierarchical hash of Pouchol, Ahmad, Crespin & Terraz 2009 (HSH): one structure for objects of all sizes and for
// particles. An object lies in cells of its own size class; every cell above one that is not empty is marked as having
// children, and keys add up from the largest class down (eq. 4), so that a query descends only where something is.
// Sections 3.1-3.3 and both forms of table of 4.3. The corrections to the printed listings are in
// src/cells/hashes/classed_hash.hpp.
#pragma once

#include <quadrat/cells/box_hash.hpp>
#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

struct HierarchicalHashOptions {
    enum class Table {
        unbounded,  ///< n = infinity: a slot per key; the table grows
        fixed,      ///< n slots: cells whose keys have the same remainder share one, at the price of false candidates
    };
    Executor* executor = nullptr;  ///< where to run; null is the calling thread
    /// Edge of the smallest class, a length: positive and finite, or 0, which chooses a power of two from the boxes.
    double smallest = 0;
    /// This many classes, each twice the last, used or not: 1 to 62; larger boxes are hashed to several cells of the
    /// largest. 0 takes the classes that the boxes need.
    int levels = 0;
    Table table = Table::unbounded;
    std::size_t length = 0;        ///< n of a fixed table, slots up to 2^40; 0 is 100 x objects (HSH 4.3)
    bool table_per_class = false;  ///< one table per class instead of one for all
    int particle_levels = 2;       ///< classes of find_neighbors, 1 to 16: the radius, and coarser ones by factors of 8
    /// Bytes that a call may allocate for its result; one that would need more throws too_large, with the size it
    /// needs.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// A cell as it is stored, for inspection.
struct HashCell {
    std::uint64_t key;
    bool has_children;
    std::vector<std::uint32_t> objects;
};

/// Boxes of all sizes in one structure (see BoxHash), and neighbours of points. Tables carry a time stamp and are not
/// swept between builds.
template <int D, class T>
class HierarchicalHash : public BoxHash<D, T, cells::HierarchicalScheme> {
    using Base = BoxHash<D, T, cells::HierarchicalScheme>;

  public:
    using Options = HierarchicalHashOptions;

    /// Throws bad_value for an option that is out of its range.
    explicit HierarchicalHash(const Options& options = {});
    ~HierarchicalHash();
    HierarchicalHash(HierarchicalHash&&) noexcept;
    HierarchicalHash& operator=(HierarchicalHash&&) noexcept;

    using Base::build;
    /// Takes moving boxes: element i is found wherever it is between start[i] and end[i] (3.2: the box of the whole
    /// path). Otherwise as build. Throws bad_shape if there are not as many of both.
    void build(std::span<const Box<D, T>> start, std::span<const Box<D, T>> end);

    /// Row i: the points within `radius` of point i, never i itself, found while the points are inserted one after the
    /// other (Listing 3); with several threads all are inserted first, with the same rows. Independent of the boxes.
    /// points: finite, or it throws bad_value with the index; radius: positive and finite. out: replaced.
    void find_neighbors(std::span<const Vec<D, T>> points, T radius, NeighborList& out);

    /// All cells that hold objects or have children, by key; for inspection.
    [[nodiscard]] std::vector<HashCell> cells() const;
    /// The memory of find_neighbors is counted too.
    [[nodiscard]] HashStats stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

extern template class HierarchicalHash<2, float>;
extern template class HierarchicalHash<2, double>;
extern template class HierarchicalHash<3, float>;
extern template class HierarchicalHash<3, double>;

}  // namespace quadrat
