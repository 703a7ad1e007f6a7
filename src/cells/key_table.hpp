// A hash table from 64-bit keys to the cells of HSH (Pouchol et al. 2009, 3.1) and of its baselines. In both forms of
// section 4.3: unbounded (n = infinity; here open addressing that grows), where a slot belongs to one key; and of fixed
// length n, where a slot belongs to all keys with the same remainder. A time stamp per slot tells what is old, so that
// a table is never swept between two builds. Two cells may share a slot in either form: whoever reads a slot checks
// what it finds.
#pragma once

#include "cells/hash.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadrat::cells {

struct KeySlot {
    std::uint64_t key = 0;
    std::uint32_t stamp = 0;  ///< 0 is never
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t has_children : 1 = 0;
    std::uint32_t list : 31 = 0;  ///< first entry of what was put into the cell since it was built; 0 is none
};

class KeyTable {
  public:
    /// Forgets all keys, at no cost. fixed_length 0 is the unbounded form.
    void start(std::size_t fixed_length) {
        if (fixed_length != 0) {
            if (slots_.size() != fixed_length) slots_.assign(fixed_length, KeySlot{});
        } else if (fixed_ || slots_.empty()) {
            slots_.assign(64, KeySlot{});
        }
        fixed_ = fixed_length != 0;
        bits_ = static_cast<int>(std::bit_width(slots_.size())) - 1;
        live_ = 0;
        if (++stamp_ == 0) {  // after 2^32 builds
            for (KeySlot& s : slots_) s.stamp = 0;
            stamp_ = 1;
        }
    }

    /// The slot of a key, empty if it is new. Invalidates other slots.
    KeySlot& add(std::uint64_t key) {
        std::size_t at = home(key);
        if (!fixed_) {
            if (2 * (live_ + 1) > slots_.size()) {
                grow();
                at = home(key);
            }
            while (slots_[at].stamp == stamp_ && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        }
        KeySlot& s = slots_[at];
        if (s.stamp != stamp_) {
            s = {key, stamp_, 0, 0, 0, 0};
            ++live_;
        }
        return s;
    }

    [[nodiscard]] const KeySlot* find(std::uint64_t key) const {
        std::size_t at = home(key);
        if (fixed_) return slots_[at].stamp == stamp_ ? &slots_[at] : nullptr;
        for (;; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at].stamp != stamp_) return nullptr;
            if (slots_[at].key == key) return &slots_[at];
        }
    }
    [[nodiscard]] KeySlot* find(std::uint64_t key) {
        return const_cast<KeySlot*>(static_cast<const KeyTable*>(this)->find(key));
    }

    template <class Fn>
    void for_each(Fn&& fn) {
        for (KeySlot& s : slots_)
            if (s.stamp == stamp_) fn(s);
    }
    template <class Fn>
    void for_each(Fn&& fn) const {
        for (const KeySlot& s : slots_)
            if (s.stamp == stamp_) fn(s);
    }

    [[nodiscard]] std::size_t live() const { return live_; }
    [[nodiscard]] std::size_t bytes() const { return slots_.capacity() * sizeof(KeySlot); }

  private:
    [[nodiscard]] std::size_t home(std::uint64_t key) const {
        return static_cast<std::size_t>(fixed_ ? key % slots_.size() : spread_hash(key, bits_));
    }
    void grow() {
        std::vector<KeySlot> old(slots_.size() * 2);
        old.swap(slots_);
        bits_ = static_cast<int>(std::bit_width(slots_.size())) - 1;
        for (const KeySlot& s : old) {
            if (s.stamp != stamp_) continue;
            std::size_t at = home(s.key);
            while (slots_[at].stamp == stamp_) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = s;
        }
    }

    std::vector<KeySlot> slots_ = std::vector<KeySlot>(64);
    std::size_t live_ = 0;
    int bits_ = 6;
    std::uint32_t stamp_ = 1;
    bool fixed_ = false;
};

}  // namespace quadrat::cells
