// The hierarchy of hash grids as the paper has it (HHG 3.1 to 3.6): one grid per size, made when the first object needs
// it, cells wrapped by powers of two, objects kept in the cell of their lower corner, insert, erase and move in
// constant time, doubling when objects exceed an eighth of the cells.
//
// Departures: a cell is the head of a doubly linked list through arrays indexed by slot, instead of an allocated
// container per cell and a list of occupied cells; the level of a box comes from its quantised corners, not from its
// size, so that +-1 neighbours are exact (docs/concepts.md); grids also shrink, at a sixteenth of the load that makes
// them grow, so that they do not oscillate, and all but a few of those that became empty go; neighbour offsets are
// computed, not stored; points, whose size would fit any cell, have a grid of their own, whose cells follow how far
// apart they lie (the paper's Algorithm 3 ends in a cell size of 0).
//
// The room of the loose store: others use DynamicGrids here and UnboundedList, through Hierarchy (hierarchy.hpp), which
// visits all stores; half_space_tests.hpp is a predicate, free for all.
#pragma once

#include "base/array.hpp"
#include "base/assert.hpp"
#include "cells/quantiser.hpp"

#include <quadrat/broad_phase/options.hpp>
#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace quadrat::broad_phase {

template <int D, class T>
class DynamicGrids {
  public:
    explicit DynamicGrids(const HashGridOptions& options) : options_(options) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t grids() const { return levels_.size(); }
    [[nodiscard]] std::size_t cells() const;
    [[nodiscard]] std::size_t bytes() const;

    /// Makes slots [0, count) known; none is lost.
    void reserve_slots(std::size_t count);
    void clear();

    /// The box is finite and the slot is not in the grids.
    void insert(std::uint32_t slot, const Box<D, T>& box);
    void erase(std::uint32_t slot);
    /// Cheap when the cell stays the same (HHG 2.6, second strategy). Returns true if the object changed its cell.
    bool move(std::uint32_t slot, const Box<D, T>& box);

    [[nodiscard]] const Box<D, T>& box(std::uint32_t slot) const {
        QUADRAT_ASSERT(slot < node_.size());
        return node_[slot].box;
    }
    /// Which grid the object is in: the power of the factor; `of_points` for a point.
    static constexpr std::int32_t of_points = std::numeric_limits<std::int32_t>::min();
    [[nodiscard]] std::int32_t level(std::uint32_t slot) const { return node_[slot].exponent; }

    /// Calls visit(slot) for every object, grid by grid.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Level& level : levels_)
            for (const std::uint32_t s : level.members) visit(s);
    }

    /// Calls visit(slot) for every object whose box overlaps `box`, which may be infinite. Returns the number of tests.
    template <class Visit>
    std::uint64_t for_each_overlap(const Box<D, T>& box, Visit&& visit) const {
        std::uint64_t tests = 0;
        for (const Level& level : levels_)
            for_each_near(level, box, [&](std::uint32_t slot) {
                ++tests;
                if (overlap(node_[slot].box, box)) visit(slot);
            });
        return tests;
    }

    /// Calls visit(a, b) once for every overlapping pair (Algorithm 4). Adds the number of tests made.
    template <class Visit>
    void for_each_pair(std::uint64_t& tests, Visit&& visit) const {
        for (std::size_t g = 0; g < levels_.size(); ++g) {
            const Level& level = levels_[g];
            if (level.exponent == of_points) {
                for_each_pair_of_points(level, tests, visit);
                continue;
            }
            for (const std::uint32_t head : level.members) {
                if (node_[head].previous != none) continue;  // each occupied cell once, by its first object
                std::uint32_t ahead[13];
                const std::uint32_t following = forward_cells(level, node_[head].cell, ahead);
                for (std::uint32_t a = head; a != none; a = node_[a].next) {
                    const auto test = [&](std::uint32_t b) {
                        ++tests;
                        if (overlap(node_[a].box, node_[b].box)) visit(a, b);
                    };
                    for (std::uint32_t b = node_[a].next; b != none; b = node_[b].next) test(b);
                    for (std::uint32_t k = 0; k < following; ++k)
                        for (std::uint32_t b = level.head[ahead[k]]; b != none; b = node_[b].next) test(b);
                    for (std::size_t larger = g + 1; larger < levels_.size(); ++larger)
                        for_each_near(levels_[larger], node_[a].box, test);
                }
            }
        }
    }

  private:
    static constexpr std::uint32_t none = 0xffffffff;

    struct Node {
        Box<D, T> box;
        std::uint32_t next;
        std::uint32_t previous;  // none: first of its cell
        std::uint32_t cell;
        std::uint32_t position;  // among the members of its level
        std::int32_t exponent;   // of its level
    };

    struct Level {
        std::int32_t exponent = 0;  // cell size is first size * factor^exponent
        double smaller = 0;         // cell size of the exponent below
        cells::Quantiser<D> quantiser;
        std::int32_t bits[D] = {};           // log2 of the cells per axis
        std::vector<std::uint32_t> head;     // first object of each cell
        std::vector<std::uint32_t> members;  // all objects, in no order
        std::size_t unfitted = 64;           // points that still find a cell before the size of cells is chosen again

        [[nodiscard]] std::uint32_t index(const cells::Cell<D>& c) const {
            std::uint64_t i = 0;
            for (int k = D - 1; k >= 0; --k)
                i = i << bits[k] | (static_cast<std::uint64_t>(c[k]) & ((std::uint64_t{1} << bits[k]) - 1));
            return static_cast<std::uint32_t>(i);
        }
    };

    /// Whether a slot is in the grids; for assertions.
    [[nodiscard]] bool holds(std::uint32_t slot) const;
    [[nodiscard]] Level& level_for(const Box<D, T>& box, cells::Cell<D>& cell);
    [[nodiscard]] Level& level_with(std::int32_t exponent);
    [[nodiscard]] std::int32_t exponent_for(double size) const;
    [[nodiscard]] std::uint32_t forward_cells(const Level& level, std::uint32_t cell, std::uint32_t (&ahead)[13]) const;
    void link(Level& level, std::uint32_t slot, std::uint32_t cell);
    void unlink(Level& level, std::uint32_t slot);
    void resize(Level& level, int by_bits);
    void link_all(Level& level);
    void fit_to_points(Level& level);

    // Points are a pair where they are equal. However many crowd in a cell, sorting them costs little more than looking
    // at them; then each looks for the boxes that hold it.
    template <class Visit>
    void for_each_pair_of_points(const Level& level, std::uint64_t& tests, Visit& visit) const {
        std::vector<std::uint32_t> cell;
        const auto before = [&](std::uint32_t a, std::uint32_t b) {
            const Vec<D, T>&p = node_[a].box.lo, &q = node_[b].box.lo;
            for (int k = 0; k < D; ++k)
                if (p[k] != q[k]) return p[k] < q[k];
            return a < b;
        };
        for (const std::uint32_t head : level.members) {
            if (node_[head].previous != none) continue;
            cell.clear();
            for (std::uint32_t a = head; a != none; a = node_[a].next) cell.push_back(a);
            std::sort(cell.begin(), cell.end(), before);
            for (std::size_t i = 0; i < cell.size(); ++i) {
                for (std::size_t j = i + 1; j < cell.size() && ++tests; ++j) {
                    if (!(node_[cell[i]].box == node_[cell[j]].box)) break;
                    visit(cell[i], cell[j]);
                }
                const auto test = [&](std::uint32_t b) {
                    ++tests;
                    if (overlap(node_[cell[i]].box, node_[b].box)) visit(cell[i], b);
                };
                for (const Level& other : levels_)
                    if (&other != &level) for_each_near(other, node_[cell[i]].box, test);
            }
        }
    }

    // The objects of a level in the cells that can hold boxes which overlap `box`, each once.
    template <class Visit>
    void for_each_near(const Level& level, const Box<D, T>& box, Visit&& visit) const {
        if (level.members.empty()) return;
        cells::Cell<D> first, last;
        double cell_count = 1;
        for (int k = 0; k < D; ++k) {
            first[k] = cell_of(level, box.lo[k], k) - 1;
            last[k] = cell_of(level, box.hi[k], k);
            const std::int64_t count = std::int64_t{1} << level.bits[k];
            if (last[k] - first[k] >= count) {
                first[k] = 0;
                last[k] = count - 1;
            }
            cell_count *= static_cast<double>(last[k] - first[k] + 1);
        }
        if (cell_count > static_cast<double>(level.members.size())) {
            for (const std::uint32_t s : level.members) visit(s);
            return;
        }
        for (cells::Cell<D> c = first;;) {
            for (std::uint32_t s = level.head[level.index(c)]; s != none; s = node_[s].next) visit(s);
            int k = 0;
            while (k < D && ++c[k] > last[k]) {
                c[k] = first[k];
                ++k;
            }
            if (k == D) return;
        }
    }

    [[nodiscard]] static std::int64_t cell_of(const Level& level, T x, int axis) {
        if (x == std::numeric_limits<T>::infinity()) return cells::max_cell;
        if (x == -std::numeric_limits<T>::infinity()) return -cells::max_cell;
        return level.quantiser.cell(static_cast<double>(x), axis);
    }

    HashGridOptions options_;
    std::vector<Level> levels_;  // ascending cell size
    base::Array<Node> node_;     // by slot
    double first_size_ = 0;
    std::size_t size_ = 0;
};

}  // namespace quadrat::broad_phase
