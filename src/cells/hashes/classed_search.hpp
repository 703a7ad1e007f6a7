// One search in a ClassedHash: for the partners of an object, or for whatever overlaps a box.
#pragma once

#include "base/assert.hpp"
#include "cells/hashes/classed_hash.hpp"
#include "cells/match.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quadrat::cells {

template <int D, class T, class Scheme>
class ClassedSearch {
    using Hash = ClassedHash<D, T, Scheme>;
    using Range = typename SizeLevels<D, T, Scheme>::Range;

  public:
    /// Down to last_level, where only objects below `self` count.
    ClassedSearch(const Hash& hash, const Box<D, T>& box, const Range& range, std::size_t last_level,
                  std::uint32_t self, std::vector<std::uint32_t>& found)
        : hash_(hash), box_(box), range_(range), last_level_(last_level), self_(self), found_(found) {}

    SearchWork run() {
        if (hash_.levels_.count() == 0) return work_;
        QUADRAT_ASSERT(last_level_ < hash_.levels_.count());
        const std::size_t last = Scheme::nested ? 0 : last_level_;
        for (std::size_t level = 0; level <= last; ++level) {
            const int k = hash_.levels_.of(level);
            walk(level, coarser(range_.lo, k), coarser(range_.hi, k), 0);
        }
        return work_;
    }

  private:
    /// Runs of fewer candidates are tested one by one.
    static constexpr std::uint32_t vector_from = 8;

    void walk(std::size_t level, const Cell<D>& lo, const Cell<D>& hi, std::uint64_t parent_key) {
        for_each_in<D>(lo, hi, [&](const Cell<D>& cell) { descend(level, cell, parent_key); });
    }

    /// Looks into one cell and, where it has children, into those that the search touches.
    void descend(std::size_t level, const Cell<D>& cell, std::uint64_t parent_key) {
        ++work_.cells;
        const std::uint64_t key = parent_key + xor_hash(cell);
        const CellSlot* slot = hash_.table(level).find(key);
        if (!slot) return;
        if (slot->count != 0 || slot->list != 0) test(level, cell, *slot);
        if constexpr (Scheme::nested) {
            if (slot->has_children && level != last_level_) walk_children(level, cell, key);
        }
    }

    void walk_children(std::size_t level, const Cell<D>& cell, std::uint64_t key) {
        const int below = hash_.levels_.of(level + 1), ratio = hash_.levels_.of(level) - below;
        QUADRAT_ASSERT(ratio > 0);
        Cell<D> lo, hi;
        for (int k = 0; k < D; ++k) {
            const std::int64_t first = cell[k] << ratio;
            lo[k] = std::max(first, coarser(range_.lo[k], below));
            hi[k] = std::min(first + ((std::int64_t{1} << ratio) - 1), coarser(range_.hi[k], below));
        }
        walk(level + 1, lo, hi, key);
    }

    /// The one cell of a level that reports object o to this search, along one axis.
    [[nodiscard]] std::int64_t meeting(std::uint32_t o, int level_class, int axis) const {
        return std::max(coarser(hash_.levels_.range(o).lo[axis], level_class), coarser(range_.lo[axis], level_class));
    }

    void test(std::size_t level, const Cell<D>& cell, const CellSlot& slot) {
        if (slot.shared) [[unlikely]]
            return test_shared(slot);
        if (slot.mark != mark_of(level, cell)) return;  // it holds the objects of another cell
        test_objects(slot, [&](std::uint32_t o) {
            if (hash_.levels_.level(o) != level) return;
            for (int k = 0; k < D; ++k)
                if (meeting(o, hash_.levels_.of(level), k) != cell[k]) return;
            if (level == last_level_ && o >= self_) return;
            found_.push_back(o);
        });
    }

    /// Objects of several cells: each is reported if the cell that reports it and the query is one of them.
    void test_shared(const CellSlot& slot) {
        if (std::find(seen_.begin(), seen_.end(), &slot) != seen_.end()) return;
        seen_.push_back(&slot);
        test_objects(slot, [&](std::uint32_t o) {
            const std::size_t level = hash_.levels_.level(o);
            if (level > last_level_) return;
            Cell<D> cell;
            for (int k = 0; k < D; ++k) cell[k] = meeting(o, hash_.levels_.of(level), k);
            if (slot_of(level, cell) != &slot || (level == last_level_ && o >= self_)) return;
            found_.push_back(o);
        });
    }

    [[nodiscard]] const CellSlot* slot_of(std::size_t level, const Cell<D>& cell) const {
        std::uint64_t key = 0;
        for (std::size_t l = Scheme::nested ? 0 : level; l < level; ++l)
            key += xor_hash(coarser(cell, hash_.levels_.of(l) - hash_.levels_.of(level)));
        return hash_.table(level).find(key + xor_hash(cell));
    }

    /// take(o) for each object of the slot whose box overlaps that of the search.
    template <class Take>
    void test_objects(const CellSlot& slot, Take&& take) {
        hash_.lists_.for_each(slot, [&](std::uint32_t o) {
            ++work_.tests;
            if (overlap(hash_.objects_.boxes()[o], box_)) take(o);
        });
        const auto hit = [&](std::uint32_t item) {
            if (hash_.objects_.built(hash_.item_object_[item])) take(hash_.item_object_[item]);
        };
        const std::uint32_t begin = slot.first, end = slot.first + slot.count;
        QUADRAT_ASSERT(end <= hash_.item_box_.size());
        work_.tests += slot.count;
        if (slot.count < vector_from) {
            for (std::uint32_t item = begin; item < end; ++item)
                if (overlap(hash_.item_box_[item], box_)) hit(item);
            return;
        }
        constexpr std::uint32_t block = 240;            // a kilobyte of hits
        std::uint32_t matches[block + column_padding];  // a kernel may write a vector's worth more than it reports
        for (std::uint32_t from = begin; from < end; from += block) {
            const std::size_t count = match_box<D, T>(hash_.item_columns_.data(), column_stride(hash_.item_box_.size()),
                                                      from, std::min(end, from + block), box_, matches);
            for (std::size_t k = 0; k < count; ++k) hit(matches[k]);
        }
    }

    const Hash& hash_;
    const Box<D, T> box_;
    const Range range_;
    const std::size_t last_level_;
    const std::uint32_t self_;
    std::vector<std::uint32_t>& found_;
    SearchWork work_;
    std::vector<const CellSlot*> seen_;  // shared slots that were looked at
};

}  // namespace quadrat::cells
