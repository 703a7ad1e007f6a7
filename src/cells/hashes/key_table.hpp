// A hash table from 64-bit keys to the cells of HSH (Pouchol et al. 2009, 3.1) and of its baselines. In both forms of
// section 4.3: unbounded (n = infinity; here open addressing that grows), where a slot belongs to one key; and of fixed
// length n, where a slot belongs to all keys with the same remainder. A time stamp per slot tells what is old, and
// slots in use are chained, so that a table is never swept, neither between two builds nor by one. Two cells may share
// a slot in either form: whoever reads a slot checks what it finds.
#pragma once

#include "base/assert.hpp"
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
    std::uint32_t shared : 1 = 0;  ///< holds objects of several cells
    std::uint32_t list : 30 = 0;   ///< first entry of what was put into the cell since it was built; 0 is none
};

/// A slot that knows its cell, and the slot that came into use before it.
struct CellSlot : KeySlot {
    std::uint32_t mark = 0;  ///< of the cell whose objects it holds: another hash than the key, of class and cell
    std::uint32_t before = 0;
};

template <class Slot>
class KeyTable {
  public:
    /// Forgets all keys, at no cost but for memory that becomes too large or too small. fixed_length 0 is the unbounded
    /// form, of which about `expected` keys will be used.
    void start(std::size_t fixed_length, std::size_t expected) {
        if (fixed_length != 0) {
            // What is old has an old stamp, wherever it was.
            if (slots_.capacity() < fixed_length || slots_.capacity() / 4 > fixed_length) {
                slots_ = std::vector<Slot>();
                slots_.reserve(fixed_length + fixed_length / 8);
            }
            slots_.resize(fixed_length);
        } else if (fixed_ || slots_.empty() || slots_.size() / 64 > expected + 64) {
            slots_ = std::vector<Slot>(64);
        }
        QUADRAT_ASSERT(!slots_.empty());
        fixed_ = fixed_length != 0;
        bits_ = static_cast<int>(std::bit_width(slots_.size())) - 1;
        live_ = 0;
        last_ = 0;
        if (++stamp_ == 0) {  // after 2^32 builds
            for (Slot& s : slots_) s.stamp = 0;
            stamp_ = 1;
        }
    }

    /// The slot of a key, empty if it is new. Invalidates other slots.
    Slot& add(std::uint64_t key) {
        std::size_t at = home(key);
        if (!fixed_) {
            if (2 * (live_ + 1) > slots_.size()) {
                grow();
                at = home(key);
            }
            while (slots_[at].stamp == stamp_ && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        }
        QUADRAT_ASSERT(at < slots_.size());
        Slot& s = slots_[at];
        if (s.stamp != stamp_) {
            s = {};
            s.key = key;
            use(at);
        }
        return s;
    }

    [[nodiscard]] const Slot* find(std::uint64_t key) const {
        std::size_t at = home(key);
        if (fixed_) return slots_[at].stamp == stamp_ ? &slots_[at] : nullptr;
        for (;; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at].stamp != stamp_) return nullptr;
            if (slots_[at].key == key) return &slots_[at];
        }
    }
    [[nodiscard]] Slot* find(std::uint64_t key) {
        return const_cast<Slot*>(static_cast<const KeyTable*>(this)->find(key));
    }

    /// fn(slot) for all slots in use, the newest first; only of slots that are chained.
    template <class Fn>
    void for_each(Fn&& fn) {
        for (std::uint32_t s = last_; s != 0; s = slots_[s - 1].before) fn(slots_[s - 1]);
    }
    template <class Fn>
    void for_each(Fn&& fn) const {
        for (std::uint32_t s = last_; s != 0; s = slots_[s - 1].before) fn(slots_[s - 1]);
    }

    [[nodiscard]] std::size_t live() const { return live_; }
    [[nodiscard]] std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

  private:
    [[nodiscard]] std::size_t home(std::uint64_t key) const {
        return static_cast<std::size_t>(fixed_ ? key % slots_.size() : spread_hash(key, bits_));
    }
    // A slot that was empty.
    void use(std::size_t at) {
        slots_[at].stamp = stamp_;
        if constexpr (requires(Slot s) { s.before; }) {
            slots_[at].before = last_;
            last_ = static_cast<std::uint32_t>(at + 1);
        }
        ++live_;
    }
    void grow() {
        QUADRAT_ASSERT(std::has_single_bit(slots_.size()));
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        bits_ = static_cast<int>(std::bit_width(slots_.size())) - 1;
        live_ = 0;
        last_ = 0;
        for (const Slot& s : old) {
            if (s.stamp != stamp_) continue;
            std::size_t at = home(s.key);
            while (slots_[at].stamp == stamp_) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = s;
            use(at);
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(64);
    std::size_t live_ = 0;
    std::uint32_t last_ = 0;  // slot in use, plus one
    int bits_ = 6;
    std::uint32_t stamp_ = 1;
    bool fixed_ = false;
};

}  // namespace quadrat::cells
