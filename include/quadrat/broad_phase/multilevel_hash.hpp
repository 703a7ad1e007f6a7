// The multilevel hash of Eitz & Lixu 2007, as HSH 2.2 describes it: size classes of powers of two; an object lies in
// the cells of its class that it touches, at most 2^D of them; a query looks into every cell that it touches in every
// class. The baseline that the hierarchical hash (cells/hierarchical_hash.hpp) is measured against.
#pragma once

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

struct MultilevelHashOptions {
    Executor* executor = nullptr;  ///< where to run; null is the calling thread
    double smallest = 0;           ///< edge of the smallest class; 0 chooses a power of two from the boxes
    int levels = 0;  ///< this many classes, each twice the last, at most 62; 0 takes the classes that the boxes need
    bool table_per_class = true;  ///< one table for all mixes cells of different classes with equal coordinates
    /// A result of find_pairs that would need more throws ErrorKind::too_large, with the size it needs.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// Holds its own copy of what it was built from. Const calls may run concurrently. Compiled for D = 2, 3 and T = float,
/// double.
template <int D, class T>
class MultilevelHash {
  public:
    using Options = MultilevelHashOptions;

    explicit MultilevelHash(const Options& options = {});
    ~MultilevelHash();
    MultilevelHash(MultilevelHash&&) noexcept;
    MultilevelHash& operator=(MultilevelHash&&) noexcept;

    /// Takes boxes, replacing what was there (ids too); memory is kept. Throws Error if one is NaN or has hi < lo.
    /// Infinite boxes are legal.
    void build(std::span<const Box<D, T>> boxes);
    /// Adds boxes at consecutive slots and returns the first, which follows the last slot in use: in a structure
    /// without objects box i gets slot i. Throws as build.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box of slot i; every step hashes everything again. Ids stay; entries of erased slots are
    /// ignored. boxes.size() == slots().
    void update(std::span<const Box<D, T>> boxes);

    /// Adds one box, in constant time on average: everything is hashed again when a quarter of it was edited.
    Id insert(const Box<D, T>& box);
    /// Removes one object. Throws stale_id if it is not there.
    void erase(Id id);
    /// Gives one object a new box, in constant time on average, but for a cell that very many share or a box that is
    /// too large for every class: these are lists. Throws stale_id.
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

    /// The boxes that hold the point / overlap the box / meet the segment, each once, in no particular order.
    void find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const;
    void find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const;
    void find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const;

    /// Box tests made by the last find_pairs.
    [[nodiscard]] std::uint64_t tests() const;
    /// Memory held, without results.
    [[nodiscard]] std::size_t bytes() const;

  private:
    void partners(std::uint32_t q, std::vector<std::uint32_t>& found) const;

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

extern template class MultilevelHash<2, float>;
extern template class MultilevelHash<2, double>;
extern template class MultilevelHash<3, float>;
extern template class MultilevelHash<3, double>;

}  // namespace quadrat
