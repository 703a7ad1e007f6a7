// What was put into cells one by one since they were built: a short list per cell, all of them in one array. Entry 0 is
// the end of every list; entries that are no longer used make a list of their own.
#pragma once

#include "base/assert.hpp"
#include "cells/hashes/key_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadrat::cells {

class CellLists {
  public:
    static constexpr std::size_t most_entries = std::size_t{1} << 29;  ///< KeySlot::list has 30 bits to name them

    void clear() {
        entries_.clear();
        free_ = 0;
    }
    [[nodiscard]] bool full() const { return entries_.size() >= most_entries; }

    /// Puts an object at the front of the slot's list, unless it is there: cells of one object may share a slot.
    void push(KeySlot& slot, std::uint32_t object) {
        if (slot.list != 0 && entries_[slot.list].object == object) return;
        std::uint32_t entry = free_;
        if (entry != 0) {
            free_ = entries_[entry].next;
        } else {
            if (entries_.empty()) entries_.push_back({});
            entry = static_cast<std::uint32_t>(entries_.size());
            entries_.push_back({});
        }
        QUADRAT_ASSERT(entry < std::uint32_t{1} << 30);
        entries_[entry] = {object, slot.list};
        slot.list = entry & 0x3fffffff;
    }
    /// Takes the object out of the slot's list, if it is there.
    void remove(KeySlot& slot, std::uint32_t object) {
        std::uint32_t before = 0;
        for (std::uint32_t e = slot.list; e != 0; before = e, e = entries_[e].next) {
            if (entries_[e].object != object) continue;
            if (before == 0)
                slot.list = entries_[e].next & 0x3fffffff;
            else
                entries_[before].next = entries_[e].next;
            entries_[e].next = free_;
            free_ = e;
            return;
        }
    }
    template <class Fn>
    void for_each(const KeySlot& slot, Fn&& fn) const {
        for (std::uint32_t e = slot.list; e != 0; e = entries_[e].next) fn(entries_[e].object);
    }

    [[nodiscard]] std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }
    void shrink() { entries_.shrink_to_fit(); }

  private:
    struct Entry {
        std::uint32_t object = 0, next = 0;
    };
    std::vector<Entry> entries_;
    std::uint32_t free_ = 0;
};

}  // namespace quadrat::cells
