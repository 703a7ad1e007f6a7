// Slots that come and go, and the ids that name what is in them: a slot and a generation, so that the id of something
// that is gone names nothing, even when its slot is taken again. Two tables of objects share this
// (cells/hashes/object_slots.hpp, broad_phase/slot_table.hpp); which generation a slot gets is a rule of the table:
//   CountedPerSlot  each slot counts by itself, and goes on where it was when it is added again;
//   NeverTwice      one counter for the table: no slot gets a generation that any slot had before.
#pragma once

#include "base/assert.hpp"

#include <quadrat/error.hpp>
#include <quadrat/id.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::cells {

/// The generation that follows; never 0, which is that of the null id.
[[nodiscard]] constexpr std::uint32_t following_generation(std::uint32_t generation) {
    return generation == 0xffffffff ? 1 : generation + 1;
}

class CountedPerSlot {
  public:
    [[nodiscard]] std::uint32_t operator[](std::uint32_t slot) const {
        QUADRAT_ASSERT(slot < generation_.size());
        return generation_[slot];
    }
    /// Of every slot there ever was.
    [[nodiscard]] std::span<const std::uint32_t> all() const { return generation_; }
    void grow(std::size_t slots) {
        if (generation_.size() < slots) generation_.resize(slots, 1);
    }
    /// Ids of the slot are stale from now on.
    void retire(std::uint32_t slot) {
        QUADRAT_ASSERT(slot < generation_.size());
        generation_[slot] = following_generation(generation_[slot]);
    }
    [[nodiscard]] std::size_t bytes() const { return generation_.capacity() * sizeof(generation_[0]); }

  private:
    std::vector<std::uint32_t> generation_;
};

class NeverTwice {
  public:
    [[nodiscard]] std::uint32_t operator[](std::uint32_t slot) const {
        return slot < own_.size() ? own_[slot] : first_;
    }
    /// All slots get one new generation.
    void renew() {
        own_.clear();
        first_ = next();
    }
    /// One slot of so many gets a new generation, which is returned.
    std::uint32_t renew(std::uint32_t slot, std::size_t slots) {
        QUADRAT_ASSERT(slot < slots);
        own_.resize(slots, first_);
        return own_[slot] = next();
    }
    /// Slots were added behind the first `before`. They need no generation of their own if they are the first that the
    /// table has and none was trimmed.
    void added(std::size_t before, std::size_t slots) {
        QUADRAT_ASSERT(before <= slots);
        if (own_.empty() && (before == 0 || before == slots)) return;
        own_.resize(before, first_);
        own_.resize(slots, next());
    }
    /// Slots at the end were forgotten: those who take their places have generations of their own.
    void trimmed() {
        if (own_.empty()) own_.push_back(first_);
    }
    [[nodiscard]] std::size_t bytes() const { return own_.capacity() * sizeof(own_[0]); }

  private:
    [[nodiscard]] std::uint32_t next() { return last_ = following_generation(last_); }

    std::vector<std::uint32_t> own_;  // of the first slots; those behind them have `first_`
    std::uint32_t first_ = 1, last_ = 1;
};

/// The base of a table, which has size() and in_use(slot).
template <class Table, class Generations>
class SlotIds {
  public:
    [[nodiscard]] bool has_free() const { return !free_.empty(); }
    /// Null for a slot that is free or not there.
    [[nodiscard]] Id id(std::uint32_t slot) const {
        return slot < table().size() && table().in_use(slot) ? Id{slot, generations_[slot]} : Id{};
    }
    [[nodiscard]] bool contains(Id id) const { return id.generation != 0 && this->id(id.slot) == id; }
    /// The slot of an id. Throws stale_id if it is not there.
    [[nodiscard]] std::uint32_t checked(Id id) const {
        if (!contains(id)) throw Error(ErrorKind::stale_id, "no such object", {.index = id.slot, .field = "id"});
        return id.slot;
    }
    /// Slots up to the last one in use. Cost: a look at each free slot behind it.
    [[nodiscard]] std::size_t used() const {
        std::size_t used = table().size();
        while (used != 0 && !table().in_use(static_cast<std::uint32_t>(used - 1))) --used;
        return used;
    }

  protected:
    [[nodiscard]] std::size_t free_slots() const { return free_.size(); }
    /// The slot that was given back last.
    [[nodiscard]] std::uint32_t take_free() {
        QUADRAT_ASSERT(has_free());
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        QUADRAT_ASSERT(!table().in_use(slot));
        return slot;
    }
    void give_back(std::uint32_t slot) {
        QUADRAT_ASSERT(slot < table().size() && !table().in_use(slot));
        free_.push_back(slot);
    }
    /// Forgets the free slots from `used` on, of which none is in use.
    void forget_free_from(std::size_t used) {
        QUADRAT_ASSERT(used >= this->used());
        std::erase_if(free_, [&](std::uint32_t slot) { return slot >= used; });
    }
    void forget_free() { free_.clear(); }
    void shrink_free() { free_.shrink_to_fit(); }
    [[nodiscard]] std::size_t id_bytes() const { return free_.capacity() * sizeof(free_[0]) + generations_.bytes(); }

    Generations generations_;

  private:
    [[nodiscard]] const Table& table() const { return static_cast<const Table&>(*this); }

    std::vector<std::uint32_t> free_;
};

}  // namespace quadrat::cells
