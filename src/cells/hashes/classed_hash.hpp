// Boxes in hashed cells of several sizes: one implementation of three structures, which differ only in their scheme
// (cells/hashes/schemes.hpp). Cells are runs of objects behind a hash table; what is edited one by one goes into short
// lists of the cells until the next build.
//
// Departures from HSH (Pouchol et al. 2009): queries walk integer cell ranges depth first, each cell once, where
// Listing 2 subdivides points, forgets their keys and undoes its own pruning. A pair is reported in one cell only: the
// one that holds the larger of both low corners, at the larger object's class. Candidates are checked against their
// box, and hits against their true cell, so hash collisions cost time but never change a result. The objects of a slot
// are looked at once in a query: through the cell that they are there for, or, where several cells share the slot, the
// first time that one of them leads there. A cell's mark of having children is not taken back when objects leave (HSH
// would need a count): it costs a look and goes with the next build, which comes when a quarter of all objects was
// edited.
//
// Others use ClassedHash; what it is made of (object_slots, cell_lists, size_levels, classed_search) is its own affair.
#pragma once

#include "cells/hash.hpp"
#include "cells/hashes/cell_lists.hpp"
#include "cells/hashes/key_table.hpp"
#include "cells/hashes/object_slots.hpp"
#include "cells/hashes/size_levels.hpp"

#include <quadrat/geometry.hpp>
#include <quadrat/id.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat::cells {

struct ClassedHashOptions {
    static constexpr std::size_t longest = 0xFFFFFFFE;  ///< of a table: its slots are numbered with 32 bits, from 1

    Executor* executor = nullptr;
    double smallest = 0;        ///< edge of class 0; 0: from the boxes
    int levels = 0;             ///< classes 0 .. levels - 1, whether used or not; 0: those that the boxes need
    bool fixed_length = false;  ///< HSH 4.3: one slot for all keys with the same remainder
    std::size_t length = 0;     ///< of a fixed table; 0: 100 x objects
    bool table_per_class = false;
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();  ///< of a result of find_pairs
};

/// What a search cost.
struct SearchWork {
    std::uint64_t tests = 0;  ///< box tests
    std::uint64_t cells = 0;  ///< cells that were looked up, whether they hold anything or not

    SearchWork& operator+=(const SearchWork& other) {
        tests += other.tests;
        cells += other.cells;
        return *this;
    }
};

template <int D, class T, class Scheme>
class ClassedSearch;

template <int D, class T, class Scheme>
class ClassedHash {
  public:
    explicit ClassedHash(const ClassedHashOptions& options) : options_(options) {}

    /// Replaces what was there; ids given before are no longer valid.
    void build(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box of slot i; ids stay, and entries of erased slots are ignored.
    void update(std::span<const Box<D, T>> boxes);
    /// Appends slots; returns the first.
    std::uint32_t append(std::span<const Box<D, T>> boxes);

    Id insert(const Box<D, T>& box);
    void erase(Id id);
    void move(Id id, const Box<D, T>& box);
    [[nodiscard]] const ObjectSlots<D, T>& objects() const { return objects_; }
    [[nodiscard]] std::size_t bytes() const;

    SearchWork find_pairs(std::vector<Pair>& out) const;
    /// Between `queries` (first) and the objects (second), by query.
    SearchWork find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const;
    /// The pairs of object q with smaller objects' ids or larger objects, appended to found; see find_pairs.
    SearchWork partners(std::uint32_t q, std::vector<std::uint32_t>& found) const;
    /// Objects whose box overlaps `query`, appended, each once.
    SearchWork find(const Box<D, T>& query, std::vector<std::uint32_t>& found) const;

    /// fn(slot) for every live cell.
    template <class Fn>
    void for_each_cell(Fn&& fn) const {
        for (const KeyTable<CellSlot>& table : tables_) table.for_each(fn);
    }
    /// fn(object) for every object of a cell.
    template <class Fn>
    void for_each_object(const CellSlot& slot, Fn&& fn) const {
        for (std::uint32_t item = slot.first; item < slot.first + slot.count; ++item)
            if (objects_.built(item_object_[item])) fn(item_object_[item]);
        lists_.for_each(slot, fn);
    }

  private:
    friend class ClassedSearch<D, T, Scheme>;

    /// fn(key, cell, level) for each cell above the object's cells (nested schemes only), whose key is given, and
    /// fn(parent key, cell, level) for each of its own.
    template <class Fn>
    void for_each_cell_of(std::uint32_t object, Fn&& fn) const;
    void assemble();
    template <bool counting>
    void insert(std::uint32_t object);
    void link(std::uint32_t slot);
    void unlink(std::uint32_t slot);
    void rebuild_if_worn();
    void give_back();
    SearchWork linear(const Box<D, T>& query, std::vector<std::uint32_t>& found) const;
    [[nodiscard]] KeyTable<CellSlot>& table(std::size_t level) { return tables_[options_.table_per_class ? level : 0]; }
    [[nodiscard]] const KeyTable<CellSlot>& table(std::size_t level) const {
        return tables_[options_.table_per_class ? level : 0];
    }

    ClassedHashOptions options_;
    ObjectSlots<D, T> objects_;
    SizeLevels<D, T, Scheme> levels_;
    std::vector<KeyTable<CellSlot>> tables_ = std::vector<KeyTable<CellSlot>>(1);
    std::vector<std::uint32_t> item_object_;  // of all cells, one run each
    std::vector<Box<D, T>> item_box_;
    std::vector<T> item_columns_;
    std::vector<T> columns_;  // of all boxes as they were built, for linear()
    std::size_t column_count_ = 0;
    CellLists lists_;  // since the last build
};

/// The mark of a CellSlot.
template <int D>
[[nodiscard]] std::uint32_t mark_of(std::size_t level, const Cell<D>& cell) {
    constexpr std::uint32_t factor[3] = {0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F};  // of MurmurHash3 and xxHash
    auto h = static_cast<std::uint32_t>(level) * 0x9E3779B1u;                  // 2^32 over the golden ratio
    for (int k = 0; k < D; ++k)
        h += (static_cast<std::uint32_t>(cell[k]) ^ static_cast<std::uint32_t>(cell[k] >> 32)) * factor[k];
    return h;
}

/// fn(cell) for each cell of lo..hi, x fastest.
template <int D, class Fn>
void for_each_in(const Cell<D>& lo, const Cell<D>& hi, Fn&& fn) {
    Cell<D> c = lo;
    if constexpr (D == 2) {
        for (c[1] = lo[1]; c[1] <= hi[1]; ++c[1])
            for (c[0] = lo[0]; c[0] <= hi[0]; ++c[0]) fn(c);
    } else {
        for (c[2] = lo[2]; c[2] <= hi[2]; ++c[2])
            for (c[1] = lo[1]; c[1] <= hi[1]; ++c[1])
                for (c[0] = lo[0]; c[0] <= hi[0]; ++c[0]) fn(c);
    }
}

}  // namespace quadrat::cells
