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

namespace cells {
struct UniformScheme;
struct MultilevelScheme;
struct HierarchicalScheme;
struct ClassedHashOptions;
template <int D, class T, class Scheme>
class ClassedHash;
}  // namespace cells

/// What a hashed structure holds, and what its last search cost.
struct HashStats {
    std::uint64_t tests = 0;  ///< box or distance tests of the last find_pairs or find_neighbors
    std::uint64_t cells = 0;  ///< cells looked up by the last find_pairs, whether something was in them or not
    std::size_t bytes = 0;    ///< memory held, used or not, without results
};

/// Boxes in hashed cells. Holds its own copy of the boxes.
///
/// Objects are named in two ways. A slot is a position: what find and find_pairs give. An id is a slot with a
/// generation, which is null when zero-initialised and is never given twice: what edits of single objects take.
///
/// Thread safety: const calls may run concurrently with each other, not with any other call. Compiled for D = 2, 3 and
/// T = float, double.
template <int D, class T, class Scheme>
class BoxHash {
  public:
    /// Takes boxes, replacing what was there; box i gets slot i, and no id given before is valid. Memory is kept.
    /// boxes: may be infinite, and hi == lo is legal; throws bad_value, with the index, for NaN or hi < lo.
    /// Cost: O(n) expected. Throws too_large beyond 2^32 - 2 boxes. If it throws, what was there stays.
    void build(std::span<const Box<D, T>> boxes);
    /// Adds boxes at consecutive slots and returns the first, which follows the last slot in use: in a structure
    /// without objects box i gets slot i. Ids stay. Everything is hashed again: O(size). Throws as build.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// Moves everything: boxes[i] is the new box of slot i. Ids stay. Everything is hashed again: O(size).
    /// boxes: as many as slots(), or it throws bad_shape; entries of erased slots are ignored. Throws as build.
    void update(std::span<const Box<D, T>> boxes);

    /// Adds one box and gives its id. Takes constant time on average: everything is hashed again when a quarter of it
    /// was edited. Throws as build.
    Id insert(const Box<D, T>& box);
    /// Removes one object; its slot may be given again, with another generation. Throws stale_id if it is not there.
    void erase(Id id);
    /// Gives one object a new box. Takes constant time on average, but for a cell that very many share or a box that is
    /// too large for every class: these are lists. Throws stale_id, and as build.
    void move(Id id, const Box<D, T>& box);
    /// Whether the object is there. Constant time.
    [[nodiscard]] bool contains(Id id) const;
    /// The id of the object in a slot; null for a slot that is empty or does not exist.
    [[nodiscard]] Id id(std::uint32_t slot) const;

    /// Objects.
    [[nodiscard]] std::size_t size() const;
    /// Slots, those of erased objects included: every slot in a result is below this.
    [[nodiscard]] std::size_t slots() const;

    /// Every overlapping pair of slots once, first < second, in an order that does not depend on the number of threads.
    /// Touching boxes overlap. Cost: O(size + pairs) for boxes that are spread evenly. Throws too_large, with the size
    /// it would need, for a result above max_bytes.
    /// out: replaced; its capacity is kept.
    void find_pairs(std::vector<Pair>& out) const;
    /// Every overlapping pair of a box of `queries` (first) and an object (second), by query, in an order that does not
    /// depend on the number of threads. Throws as build for the queries, and too_large.
    void find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const;
    /// fn(Pair) for each pair of find_pairs, in the same order, on the calling thread; nothing is stored. fn must not
    /// change the structure.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t q = 0; q < slots(); ++q) {
            found.clear();
            partners(q, found);
            for (const std::uint32_t o : found) fn(o < q ? Pair(o, q) : Pair(q, o));
        }
    }

    /// The slots whose box holds the point, each once, in no particular order. Throws bad_value for NaN.
    /// out: replaced; its capacity is kept.
    void find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const;
    /// The same for boxes that overlap `box`, which may be infinite. Throws bad_value for NaN or hi < lo. Costs at most
    /// a scan of all boxes, however large the box is.
    void find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const;
    /// The same for boxes that the segment meets. Throws bad_value for an end that is not finite.
    void find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const;

    /// What is held, and what the last search cost. Constant time.
    [[nodiscard]] HashStats stats() const;

  protected:
    using Hash = cells::ClassedHash<D, T, Scheme>;

    explicit BoxHash(const cells::ClassedHashOptions& options);
    ~BoxHash();
    BoxHash(BoxHash&&) noexcept;
    BoxHash& operator=(BoxHash&&) noexcept;

    [[nodiscard]] const Hash& hash() const;
    void count_tests(std::uint64_t tests) const;

  private:
    void partners(std::uint32_t q, std::vector<std::uint32_t>& found) const;

    struct Boxes;
    std::unique_ptr<Boxes> boxes_;
};

}  // namespace quadrat
