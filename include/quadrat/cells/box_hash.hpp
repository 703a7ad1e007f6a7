// What UniformHash, MultilevelHash and HierarchicalHash have in common, which is everything that they do with boxes.
// The three differ in how cells are chosen and found, which is their scheme; src/cells/hashes/schemes.hpp says how, and
// src/cells/hashes/classed_hash.hpp has the algorithm and its papers.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/id.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

// What a BoxHash is made of, which callers never see: the schemes say which of the three structures it is.
namespace cells {
struct UniformScheme;
struct MultilevelScheme;
struct HierarchicalScheme;
struct ClassedHashOptions;
template <int D, class T, class Scheme>
class ClassedHash;
}  // namespace cells

/// What a hashed structure holds, and what its last search cost. After const calls at the same time these are the
/// numbers of one of them. Searches by for_each_pair and find are not counted.
struct HashStats {
    /// Box or distance tests of the last find_pairs or find_neighbors.
    std::uint64_t tests = 0;
    /// Cells looked up by the last find_pairs, whether something was in them or not; 0 after find_neighbors.
    std::uint64_t cells = 0;
    /// Memory held in bytes, used or not, without results.
    std::size_t bytes = 0;
};

/// Boxes in hashed cells. Not used by itself: UniformHash is for boxes of like size, HierarchicalHash for all sizes,
/// MultilevelHash is what the latter is measured against. All give the same pairs; HashGridHierarchy gives them, too,
/// and is faster for most inputs. Holds its own copy of the boxes; memory is O(n), whatever their extent and sizes.
///
///     quadrat::HierarchicalHash<3, float> hash;
///     hash.build(boxes);
///     const quadrat::Id id = hash.insert(box);
///     std::vector<quadrat::Pair> pairs;
///     hash.find_pairs(pairs);
///     hash.move(id, another_box);
///
/// Objects are named in two ways. A slot is a position: what find and find_pairs give. An id is a slot with a
/// generation, which is null when zero-initialised and is never given twice: what edits of single objects take.
///
/// Overlap is closed and compared in T (quadrat::overlap), so results are exact. Collisions of the hash and boxes that
/// crowd cost time and never change a result.
///
/// Thread safety: const calls may run concurrently with each other, not with any other call. Errors leave the structure
/// as it was. One that was moved from can be assigned to or destroyed. Compiled for D = 2, 3 and T = float, double.
template <int D, class T, class Scheme>
class BoxHash {
  public:
    /// Takes boxes, replacing what was there; box i gets slot i, and no id given before is valid. Memory is kept. O(n)
    /// expected.
    ///
    /// boxes: no NaN, lo <= hi, not lo = +infinity nor hi = -infinity, or bad_value names the index of the first bad
    /// one and the column. They may be infinite otherwise, and hi == lo is legal. At most 2^32 - 2, or too_large.
    void build(std::span<const Box<D, T>> boxes);
    /// Adds boxes at consecutive slots and returns the first, which follows the last slot in use: in a structure
    /// without objects box i gets slot i. Ids stay. Everything is hashed again: O(size).
    ///
    /// boxes: as for build, counted together with those that are there. None: nothing happens.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// Moves everything: boxes[i] is the new box of slot i. Ids stay. Everything is hashed again: O(size).
    ///
    /// boxes: as many as slots(), or bad_shape is thrown; otherwise as for build. Entries of erased slots are ignored
    /// and may be anything.
    void update(std::span<const Box<D, T>> boxes);

    /// Adds one box and gives its id, in the slot of an object that was erased if there is one. Takes constant time on
    /// average: everything is hashed again when a quarter of it was edited.
    ///
    /// box: as for build.
    Id insert(const Box<D, T>& box);
    /// Removes one object; its slot may be given again, with another generation. Constant time on average, as for
    /// move(). When there were more edits since everything was last hashed than twice the objects that are left, or
    /// none is left, everything is hashed again in memory of its own size, and empty slots at the end are forgotten:
    /// slots() may fall.
    ///
    /// id: of an object that is there, or stale_id is thrown.
    void erase(Id id);
    /// Gives one object a new box; its id stays. Takes constant time on average, but for a cell that very many share or
    /// a box that is too large for every class: these are lists.
    ///
    /// id: of an object that is there, or stale_id is thrown.
    /// box: as for build.
    void move(Id id, const Box<D, T>& box);
    /// Whether the object is there; false for a stale or null id. Constant time.
    [[nodiscard]] bool contains(Id id) const;
    /// The id of the object in a slot; null for a slot that is empty or does not exist. Constant time.
    [[nodiscard]] Id id(std::uint32_t slot) const;

    /// How many objects there are. Constant time.
    [[nodiscard]] std::size_t size() const;
    /// How many slots there are, those of erased objects included: every slot in a result is below this, and update()
    /// takes so many boxes. Constant time.
    [[nodiscard]] std::size_t slots() const;

    /// Every overlapping pair of slots once, first < second, in an order that does not depend on the number of threads.
    /// Touching boxes overlap. Cost: O(size + pairs) for boxes that are spread evenly; for a moment the pairs are held
    /// twice.
    ///
    /// out: replaced; its capacity is kept. Throws too_large, with the size it would need and `out` empty, for a result
    /// above max_bytes.
    void find_pairs(std::vector<Pair>& out) const;
    /// Every overlapping pair of a box of `queries` (first) and an object (second), by query, in an order that does not
    /// depend on the number of threads. Costs a find() per query.
    ///
    /// queries: as for build; `out` stays as it was if one is bad.
    /// out: replaced; its capacity is kept. Throws too_large, with `out` empty, for a result above max_bytes.
    void find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const;
    /// fn(Pair) for each pair of find_pairs, in the same order, on the calling thread; stores one row, and max_bytes
    /// does not apply. fn may throw, which ends the search, and must not change the structure.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t q = 0; q < slots(); ++q) {
            found.clear();
            partners(q, found);
            for (const std::uint32_t o : found) fn(o < q ? Pair(o, q) : Pair(q, o));
        }
    }

    /// The slots whose box holds the point, its border included, each once, in no particular order, which does not
    /// depend on threads. Costs a lookup per class of sizes, the boxes in those cells, and a test of each box that is
    /// too large for every class.
    ///
    /// point: finite, or bad_value is thrown: an infinite coordinate is refused like a NaN. `out` stays as it was then.
    /// out: replaced; its capacity is kept.
    void find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const;
    /// The same for boxes that overlap `box`, those that touch it included. Costs the cells that it covers, and at most
    /// a scan of all boxes, however large it is.
    ///
    /// box: as for build, so it may be infinite.
    void find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const;
    /// The same for boxes that have a point of the segment, its ends included. Bounds are compared in T; where the
    /// segment enters and leaves is computed in double, so that rounding decides whether it meets a corner or an edge
    /// that it only grazes. Costs a find() of the box around the segment: a long diagonal one is slow.
    ///
    /// segment: of finite ends, or bad_value is thrown. Zero length is legal.
    void find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const;

    /// What is held, and what the last search cost. Time linear in the number of tables, of which there is one, or one
    /// per class of sizes.
    [[nodiscard]] HashStats stats() const;

  protected:
    // For the structures that are made of it: they make and move it, look into its cells, and count the distance tests
    // of their own searches.
    using Hash = cells::ClassedHash<D, T, Scheme>;

    explicit BoxHash(const cells::ClassedHashOptions& options);
    ~BoxHash();
    BoxHash(BoxHash&&) noexcept;
    BoxHash& operator=(BoxHash&&) noexcept;

    [[nodiscard]] const Hash& hash() const;
    void count_tests(std::uint64_t tests) const;

  private:
    // Appends those of the pairs of slot q that q reports: with objects of larger classes, and with smaller slots of
    // its own class. So each pair is met once.
    void partners(std::uint32_t q, std::vector<std::uint32_t>& found) const;

    struct Boxes;
    std::unique_ptr<Boxes> boxes_;
};

}  // namespace quadrat
