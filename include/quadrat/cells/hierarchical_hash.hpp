// The hierarchical hash of Pouchol, Ahmad, Crespin & Terraz 2009 (HSH): one structure for objects of all sizes and for
// particles. An object lies in cells of its own size class; every cell above one that is not empty is marked as having
// children, and keys add up from the largest class down (eq. 4), so that a query descends only where something is.
// Sections 3.1-3.3 and both forms of table of 4.3. The corrections to the printed listings are in
// src/cells/classed_hash.hpp.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/id.hpp>

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
    double smallest = 0;           ///< edge of the smallest class; 0 chooses a power of two from the boxes
    int levels = 0;  ///< this many classes, each twice the last, used or not, at most 62; larger boxes are hashed to
                     ///< several cells of the largest. 0 takes the classes that the boxes need
    Table table = Table::unbounded;
    std::size_t length = 0;        ///< n of a fixed table; 0 is 100 x objects (HSH 4.3)
    bool table_per_class = false;  ///< one table per class instead of one for all
    int particle_levels = 2;  ///< classes for find_neighbors: the radius, and coarser ones by factors of 8; at least 1
    /// A result of find_pairs that would need more throws ErrorKind::too_large, with the size it needs.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// A cell as it is stored, for inspection.
struct HashCell {
    std::uint64_t key;
    bool has_children;
    std::vector<std::uint32_t> objects;
};

/// Holds its own copy of what it was built from. Tables carry a time stamp and are not swept between builds. Const
/// calls may run concurrently. Compiled for D = 2, 3 and T = float, double.
template <int D, class T>
class HierarchicalHash {
  public:
    using Options = HierarchicalHashOptions;

    explicit HierarchicalHash(const Options& options = {});
    ~HierarchicalHash();
    HierarchicalHash(HierarchicalHash&&) noexcept;
    HierarchicalHash& operator=(HierarchicalHash&&) noexcept;

    /// Takes boxes, replacing what was there (ids too); memory is kept. Throws Error if one is NaN or has hi < lo.
    /// Infinite boxes are legal.
    void build(std::span<const Box<D, T>> boxes);
    /// Takes moving boxes: element i is found wherever it is between start[i] and end[i] (3.2: the box of the whole
    /// path).
    void build(std::span<const Box<D, T>> start, std::span<const Box<D, T>> end);
    /// Adds boxes at consecutive slots and returns the first, which follows the last slot in use: in a structure without
    /// objects box i gets slot i. Throws as build.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box of slot i; every step hashes everything again. Ids stay; entries of erased slots are
    /// ignored. boxes.size() == slots().
    void update(std::span<const Box<D, T>> boxes);

    /// Adds one box, in constant time on average: everything is hashed again when a quarter of it was edited.
    Id insert(const Box<D, T>& box);
    /// Removes one object. Throws stale_id if it is not there.
    void erase(Id id);
    /// Gives one object a new box, in constant time on average, but for a cell that very many share or a box that is too
    /// large for every class: these are lists. Throws stale_id.
    void move(Id id, const Box<D, T>& box);
    [[nodiscard]] bool contains(Id id) const;
    /// Null for a slot that is empty or does not exist.
    [[nodiscard]] Id id(std::uint32_t slot) const;

    /// Objects, and slots with erased ones included.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t slots() const;

    /// Every overlapping pair once, first < second, in an order that does not depend on the number of threads.
    void find_pairs(std::vector<Pair>& out) const;
    /// Every overlapping pair of a box of `queries` (first) and one of the set (second), by query.
    void find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const;
    /// fn(Pair) for each of them, in the same order, on the calling thread; nothing is stored.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t q = 0; q < slots(); ++q) {
            found.clear();
            partners(q, found);
            for (const std::uint32_t o : found) fn(o < q ? Pair(o, q) : Pair(q, o));
        }
    }

    /// The boxes that hold the point / overlap the box / meet the segment, each once, in no particular order (Listing
    /// 2).
    void find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const;
    void find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const;
    void find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const;

    /// Row i: the points within `radius` of point i, never i itself, found while the points are inserted one after the
    /// other (Listing 3); with several threads all are inserted first, with the same rows. Independent of the boxes.
    void find_neighbors(std::span<const Vec<D, T>> points, T radius, NeighborList& out);

    /// All cells that hold objects or have children, by key.
    [[nodiscard]] std::vector<HashCell> cells() const;
    /// Box or distance tests made by the last find_pairs or find_neighbors.
    [[nodiscard]] std::uint64_t tests() const;
    /// Memory held, without results.
    [[nodiscard]] std::size_t bytes() const;

  private:
    void partners(std::uint32_t q, std::vector<std::uint32_t>& found) const;

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

extern template class HierarchicalHash<2, float>;
extern template class HierarchicalHash<2, double>;
extern template class HierarchicalHash<3, float>;
extern template class HierarchicalHash<3, double>;

}  // namespace quadrat
