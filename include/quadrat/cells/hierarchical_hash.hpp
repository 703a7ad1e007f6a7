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

/// Options of a HierarchicalHash. No option but max_bytes changes a result; those of the classes and tables change the
/// order of one.
struct HierarchicalHashOptions {
    /// How keys find their slots (HSH 4.3).
    enum class Table {
        /// n = infinity: a slot per key; the table grows with the cells in use and is at most half full.
        unbounded,
        /// n slots: cells whose keys have the same remainder share one, at the price of false candidates.
        fixed,
    };
    /// Where to run: checks, pairs and rows; the hashing itself runs on the calling thread. Must outlive the structure.
    /// Default: null, the calling thread.
    Executor* executor = nullptr;
    /// Edge of the smallest class, in the unit of the coordinates: positive and finite. Default: 0, which chooses a
    /// power of two from the boxes: one below the size of all but one in 64 of them.
    double smallest = 0;
    /// This many classes, each twice the last, used or not: 1 to 62; larger boxes are hashed to several cells of the
    /// largest, and those that cover more than 64 of them are kept in a list. Default: 0, the classes that the boxes
    /// need.
    int levels = 0;
    /// Default: a table that grows.
    Table table = Table::unbounded;
    /// n of a fixed table: slots of 32 bytes each, at most 2^32 - 2. Default: 0, 100 x objects (HSH 4.3), which is
    /// 3,200 bytes per object, or the most where that is less.
    std::size_t length = 0;
    /// One table per class instead of one for all; each is then as long as `length` says, by default for the objects of
    /// its class. Default: one for all.
    bool table_per_class = false;
    /// Classes of find_neighbors, 1 to 16: the radius, and coarser ones by factors of 8, in which empty space is passed
    /// over. Default: 2.
    int particle_levels = 2;
    /// The most bytes of a result; one that would need more throws Error{too_large}, with the size it needs, and leaves
    /// the result empty. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// A cell as it is stored, for inspection.
struct HashCell {
    /// The sum of the XOR hashes of the cell and of those above it (eq. 4), modulo 2^64. Where cells share a slot, that
    /// of the first one.
    std::uint64_t key;
    /// Whether there was anything below it since everything was last hashed; the mark is not taken back when objects
    /// leave.
    bool has_children;
    /// Slots of the objects that lie in it, each once. An object is in every cell of its class that it touches.
    std::vector<std::uint32_t> objects;
};

/// Boxes of all sizes in one structure (see BoxHash), and neighbours of points. Take it for sizes that differ by orders
/// of magnitude and for the structure of the paper; for like sizes UniformHash is simpler, and for speed over all
/// inputs there are HashGridHierarchy and CellIndex. Tables carry a time stamp and are not swept between builds.
///
///     quadrat::HierarchicalHash<2, float> hash;
///     hash.build(boxes);
///     std::vector<std::uint32_t> found;
///     hash.find(quadrat::Segment<2, float>{{{0, 0}}, {{10, 4}}}, found);
///
/// Threads: as BoxHash; find_neighbors is not const, because its table is kept, and runs alone.
template <int D, class T>
class HierarchicalHash : public BoxHash<D, T, cells::HierarchicalScheme> {
    using Base = BoxHash<D, T, cells::HierarchicalScheme>;

  public:
    using Options = HierarchicalHashOptions;

    /// No boxes. Throws bad_value, naming the field, for an option that is out of its range.
    explicit HierarchicalHash(const Options& options = {});
    ~HierarchicalHash();
    HierarchicalHash(HierarchicalHash&&) noexcept;
    HierarchicalHash& operator=(HierarchicalHash&&) noexcept;

    using Base::build;
    /// Takes moving boxes, replacing what was there: element i is found wherever it is between start[i] and end[i]
    /// (3.2: the box of the whole path, so also beside a path that is not along an axis). Otherwise as build: later
    /// edits give plain boxes.
    ///
    /// start, end: as many of both, or bad_shape is thrown; otherwise as for build, and the index of a bad one may be
    /// that of either.
    void build(std::span<const Box<D, T>> start, std::span<const Box<D, T>> end);

    /// Row i: the points within `radius` of point i, never i itself, others at its very place included, found while the
    /// points are inserted one after the other (Listing 3); with several threads all are inserted first, with the same
    /// rows. First the points before i, in the order of the cells, then those behind it, ascending. Near means
    /// dx*dx + dy*dy + dz*dz <= r*r, each operation rounded in T (docs/concepts.md). Independent of the boxes; the
    /// points are not kept. O(n + tests) time; for a moment about three times the memory of the list.
    ///
    /// points: finite, or bad_value names the index of the first that is not; at most 2^32 - 2. Then `out` stays as it
    /// was.
    /// radius: positive and finite, in the unit of the coordinates, or bad_value.
    /// out: replaced, and contiguous(); its memory is used again.
    void find_neighbors(std::span<const Vec<D, T>> points, T radius, NeighborList& out);

    /// All cells that got objects or children since everything was last hashed, by key; for inspection. Those whose
    /// objects have left since then are there without objects. Boxes that are too large for every class are in none.
    /// Costs a copy of everything and a sort.
    [[nodiscard]] std::vector<HashCell> cells() const;
    /// As that of BoxHash, with the memory and the tests of find_neighbors.
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
