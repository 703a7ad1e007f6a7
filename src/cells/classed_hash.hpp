// Boxes in hashed cells of several sizes: one implementation of three structures, so that they differ only in what
// their papers differ in. Classes are edge * 2^k; an object lies in the cells of one class that it touches.
//
//   uniform      Teschner et al. 2003: one class; boxes over more than 64 cells are in a list of their own
//   multilevel   Eitz & Lixu 2007, in HSH 2.2: the class is the first at which a box touches at most two cells per
//   axis; a
//                query looks into every cell that it touches in every class
//   hierarchical Pouchol et al. 2009 (HSH): also marks the cells above an object's cells as having children; keys are
//   the sums of
//                the hashes from the top (eq. 4), and a query goes down only where there are children
//
// Departures: the class comes from quantised corners, not from the size (eq. 2 loses pairs by rounding). Queries walk
// integer cell ranges depth first, each cell once, where Listing 2 subdivides points, forgets their keys and undoes its
// own pruning. A pair is reported in one cell only: the one that holds the larger of both low corners, at the larger
// object's class. Candidates are checked against their box, and hits against their true cell, so hash collisions cost
// time but never change a result. The objects of a slot are looked at once in a query: through the cell that they are
// there for, or, where several cells share the slot, the first time that one of them leads there. The smallest class is
// that of all but one box in 64: a few tiny boxes lie in it too, and do not make all cells tiny.
#pragma once

#include "base/parallel.hpp"
#include "cells/key_table.hpp"
#include "cells/match.hpp"
#include "cells/quantiser.hpp"
#include "cells/validate.hpp"

#include <quadrat/geometry.hpp>
#include <quadrat/id.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat::cells {

enum class Scheme { uniform, multilevel, hierarchical };

struct ClassedHashOptions {
    Executor* executor = nullptr;
    double smallest = 0;        // edge of class 0; 0: from the boxes
    int levels = 0;             // classes 0 .. levels - 1, whether used or not; 0: those that the boxes need
    bool fixed_length = false;  // HSH 4.3: one slot for all keys with the same remainder
    std::size_t length = 0;     // of a fixed table; 0: 100 x objects
    bool table_per_class = false;
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();  // of a result of find_pairs
};

template <int D, class T>
class ClassedHash {
  public:
    static constexpr std::uint64_t max_cells_per_box = 64;

    ClassedHash(Scheme scheme, const ClassedHashOptions& options) : scheme_(scheme), options_(options) {}

    /// Replaces what was there; ids given before are no longer valid.
    void build(std::span<const Box<D, T>> boxes);
    /// boxes[i] is the new box of slot i; ids stay, and entries of erased slots are ignored.
    void update(std::span<const Box<D, T>> boxes);
    /// Appends slots; returns the first.
    std::uint32_t append(std::span<const Box<D, T>> boxes);
    [[nodiscard]] std::size_t slots() const { return boxes_.size(); }
    [[nodiscard]] std::size_t size() const { return boxes_.size() - free_.size(); }

    // classed_hash_edits.cpp
    Id insert(const Box<D, T>& box);
    void erase(Id id);
    void move(Id id, const Box<D, T>& box);
    [[nodiscard]] bool contains(Id id) const;
    [[nodiscard]] Id id(std::uint32_t slot) const;
    [[nodiscard]] std::size_t bytes() const;

    // Searches return the number of box tests that they made.
    std::uint64_t find_pairs(std::vector<Pair>& out) const;
    /// Between `queries` (first) and the objects (second), by query.
    std::uint64_t find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const;
    /// The pairs of object q with smaller objects' ids or larger objects, appended to found; see find_pairs.
    std::uint64_t partners(std::uint32_t q, std::vector<std::uint32_t>& found) const;
    /// Objects whose box overlaps `query`, appended, each once.
    std::uint64_t find(const Box<D, T>& query, std::vector<std::uint32_t>& found) const;

    [[nodiscard]] std::span<const Box<D, T>> boxes() const { return boxes_; }
    [[nodiscard]] double edge(std::size_t level) const { return std::ldexp(quantiser_.edge(0), classes_[level]); }
    [[nodiscard]] std::size_t levels() const { return classes_.size(); }
    /// fn(level or -1 with one table, slot) for every live cell.
    template <class Fn>
    void for_each_cell(Fn&& fn) const {
        for (const KeyTable<CellSlot>& table : tables_) table.for_each(fn);
    }
    /// fn(object) for every object of a cell.
    template <class Fn>
    void for_each_object(const CellSlot& slot, Fn&& fn) const {
        for (std::uint32_t item = slot.first; item < slot.first + slot.count; ++item)
            if (built(item_object_[item])) fn(item_object_[item]);
        for (std::uint32_t e = slot.list; e != 0; e = list_[e].next) fn(list_[e].object);
    }

  private:
    struct Range {
        Cell<D> lo, hi;  // at the base class
    };
    struct Visit;
    static constexpr std::uint8_t no_level = 255;

    // Where an object is: in the runs of its cells as they were built, in their lists, or nowhere.
    enum class State : std::uint8_t { built, loose, gone };
    [[nodiscard]] bool built(std::uint32_t o) const { return state_.empty() || state_[o] == State::built; }
    [[nodiscard]] bool gone(std::uint32_t o) const { return !state_.empty() && state_[o] == State::gone; }
    [[nodiscard]] std::uint32_t generation(std::uint32_t o) const {
        return o < generation_.size() ? generation_[o] : first_generation_;
    }
    void start_edits();
    [[nodiscard]] std::uint32_t checked(Id id) const;
    void link(std::uint32_t slot);
    void unlink(std::uint32_t slot);
    void rebuild_if_worn();
    void give_back();
    /// Forgets erased slots behind the last one in use, which are given again as newer generations.
    void trim();
    [[nodiscard]] std::uint64_t cells_at(std::uint32_t object, int k) const;

    /// fn(key, cell, level) for each cell above the object's cells (hierarchical only), whose key is given, and
    /// fn(parent key, cell, level) for each of its own.
    template <class Fn>
    void for_each_cell_of(std::uint32_t object, Fn&& fn) const;

    void assemble();
    void choose_classes();
    void place(std::uint32_t object);
    template <bool counting>
    void insert(std::uint32_t object);
    void descend(Visit& visit, std::size_t level, const Cell<D>& cell, std::uint64_t parent_key) const;
    void walk(Visit& visit, std::size_t level, const Cell<D>& lo, const Cell<D>& hi, std::uint64_t parent_key) const;
    void test(Visit& visit, std::size_t level, const Cell<D>& cell, const CellSlot& slot) const;
    void test_shared(Visit& visit, const CellSlot& slot) const;
    template <class Take>
    void test_objects(Visit& visit, const CellSlot& slot, Take&& take) const;
    [[nodiscard]] const CellSlot* slot_of(std::size_t level, const Cell<D>& cell) const;
    void walk_all(Visit& visit) const;
    std::uint64_t linear(const Box<D, T>& query, std::vector<std::uint32_t>& found) const;
    [[nodiscard]] KeyTable<CellSlot>& table(std::size_t level) { return tables_[options_.table_per_class ? level : 0]; }
    [[nodiscard]] const KeyTable<CellSlot>& table(std::size_t level) const {
        return tables_[options_.table_per_class ? level : 0];
    }

    Scheme scheme_;
    ClassedHashOptions options_;
    Quantiser<D> quantiser_;
    std::vector<Box<D, T>> boxes_;
    std::vector<Range> range_;
    std::vector<std::uint8_t> level_;      // of each object; 255 for oversize
    std::vector<int> classes_;             // the k of each level, largest first
    std::vector<std::uint32_t> oversize_;  // ascending
    std::vector<KeyTable<CellSlot>> tables_ = std::vector<KeyTable<CellSlot>>(1);
    std::vector<std::uint32_t> item_object_;
    std::vector<Box<D, T>> item_box_;
    std::vector<T> item_columns_;
    std::vector<T> columns_;  // of boxes_ as they were built, for linear()
    std::size_t column_count_ = 0;

    // Since the last build; all empty without edits.
    struct Entry {
        std::uint32_t object, next;
    };
    std::vector<State> state_;
    std::vector<Entry> list_;  // of all cells; 0 is none
    std::uint32_t free_entry_ = 0;
    std::vector<std::uint32_t> loose_, loose_at_;  // objects in lists, and where each is in loose_
    std::vector<std::uint32_t> free_;              // slots
    std::vector<std::uint32_t> generation_;        // of slots that came one by one, and those before them
    std::uint32_t first_generation_ = 1, last_generation_ = 1;
    std::size_t edits_ = 0;
};

/// The mark of a CellSlot.
template <int D>
[[nodiscard]] std::uint32_t mark_of(std::size_t level, const Cell<D>& cell) {
    constexpr std::uint32_t factor[3] = {0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F};
    auto h = static_cast<std::uint32_t>(level) * 0x9E3779B1u;
    for (int k = 0; k < D; ++k)
        h += (static_cast<std::uint32_t>(cell[k]) ^ static_cast<std::uint32_t>(cell[k] >> 32)) * factor[k];
    return h;
}
/// An object of that cell is put into the slot.
inline void mark(CellSlot& slot, std::uint32_t mark) {
    if (slot.count == 0 && slot.list == 0)
        slot.mark = mark;
    else if (slot.mark != mark)
        slot.shared = 1;
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

template <int D, class T>
template <class Fn>
void ClassedHash<D, T>::for_each_cell_of(std::uint32_t object, Fn&& fn) const {
    const std::size_t last = level_[object];
    const Cell<D> lo = coarser(range_[object].lo, classes_[last]), hi = coarser(range_[object].hi, classes_[last]);
    for_each_in<D>(lo, hi, [&](const Cell<D>& cell) {
        // Listing 1: from the largest class down to the object's, adding up.
        std::uint64_t key = 0;
        for (std::size_t level = 0; level < last && scheme_ == Scheme::hierarchical; ++level) {
            const Cell<D> above = coarser(cell, classes_[level] - classes_[last]);
            key += xor_hash(above);
            fn(key, above, level);
        }
        fn(key, cell, last);
    });
}

}  // namespace quadrat::cells
