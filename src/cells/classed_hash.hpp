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
// time but never change a result.
#pragma once

#include "base/parallel.hpp"
#include "cells/key_table.hpp"
#include "cells/match.hpp"
#include "cells/quantiser.hpp"
#include "cells/validate.hpp"

#include <quadrat/geometry.hpp>

#include <cstdint>
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
};

template <int D, class T>
class ClassedHash {
  public:
    static constexpr std::uint64_t max_cells_per_box = 64;

    ClassedHash(Scheme scheme, const ClassedHashOptions& options) : scheme_(scheme), options_(options) {}

    void build(std::span<const Box<D, T>> boxes);
    [[nodiscard]] std::size_t size() const { return boxes_.size(); }
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
        for (const KeyTable& table : tables_) table.for_each(fn);
    }
    [[nodiscard]] std::uint32_t object_at(std::uint32_t item) const { return item_object_[item]; }

  private:
    struct Range {
        Cell<D> lo, hi;  // at the base class
    };
    struct Visit;

    void choose_classes();
    void place(std::uint32_t object);
    template <bool counting>
    void insert(std::uint32_t object);
    void descend(Visit& visit, std::size_t level, const Cell<D>& cell, std::uint64_t parent_key) const;
    void walk(Visit& visit, std::size_t level, const Cell<D>& lo, const Cell<D>& hi, std::uint64_t parent_key) const;
    void test(Visit& visit, std::size_t level, const Cell<D>& cell, const KeySlot& slot) const;
    void walk_all(Visit& visit) const;
    std::uint64_t linear(const Box<D, T>& query, std::vector<std::uint32_t>& found) const;
    [[nodiscard]] KeyTable& table(std::size_t level) { return tables_[options_.table_per_class ? level : 0]; }
    [[nodiscard]] const KeyTable& table(std::size_t level) const {
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
    std::vector<KeyTable> tables_ = std::vector<KeyTable>(1);
    std::vector<std::uint32_t> item_object_;
    std::vector<Box<D, T>> item_box_;
    std::vector<T> item_columns_;
    std::vector<T> columns_;  // of boxes_, for linear()
};

}  // namespace quadrat::cells
