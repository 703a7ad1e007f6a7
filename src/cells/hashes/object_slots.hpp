// The objects of a ClassedHash: their boxes, the ids that name them, and what was edited since the last build. An id is
// a slot and a generation; a slot that is given again gets a newer generation, so no id is ever given twice.
#pragma once

#include "base/assert.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/id.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat::cells {

template <int D, class T>
class ObjectSlots {
  public:
    /// Slots, and those that hold an object.
    [[nodiscard]] std::size_t size() const { return boxes_.size(); }
    [[nodiscard]] std::size_t live() const { return boxes_.size() - free_.size(); }
    [[nodiscard]] std::span<const Box<D, T>> boxes() const { return boxes_; }
    /// Whether the object is in the runs of its cells as they were built; nothing of a slot that is gone counts.
    [[nodiscard]] bool built(std::uint32_t o) const { return state_.empty() || state_[o] == State::built; }
    [[nodiscard]] bool loose(std::uint32_t o) const { return !state_.empty() && state_[o] == State::loose; }
    [[nodiscard]] bool gone(std::uint32_t o) const { return !state_.empty() && state_[o] == State::gone; }
    /// The objects that came or moved since the last build, and how many edits there were.
    [[nodiscard]] std::span<const std::uint32_t> loose() const { return loose_; }
    [[nodiscard]] std::size_t edits() const { return edits_; }

    [[nodiscard]] bool contains(Id id) const {
        return id.generation != 0 && id.slot < size() && !gone(id.slot) && generation(id.slot) == id.generation;
    }
    [[nodiscard]] Id id(std::uint32_t slot) const {
        return slot < size() && !gone(slot) ? Id{slot, generation(slot)} : Id{};
    }
    /// The slot of an object; throws stale_id if it is not there.
    [[nodiscard]] std::uint32_t checked(Id id) const {
        if (!contains(id)) throw Error(ErrorKind::stale_id, "no such object", {.index = id.slot, .field = "id"});
        return id.slot;
    }

    /// Never 0, which is that of the null id.
    std::uint32_t next_generation() {
        if (++last_generation_ == 0) ++last_generation_;
        return last_generation_;
    }

    /// Other objects; no id given before is valid.
    void replace(std::span<const Box<D, T>> boxes) {
        boxes_.assign(boxes.begin(), boxes.end());
        state_.clear();
        free_.clear();
        generation_.clear();
        first_generation_ = next_generation();
    }
    /// New boxes for the same ids; those of empty slots are ignored, and need not be legal.
    void overwrite(std::span<const Box<D, T>> boxes, Executor* executor) {
        check_slots(boxes.size(), size());
        if (free_.empty()) {
            check_boxes(boxes, executor);
            boxes_.assign(boxes.begin(), boxes.end());
            return;
        }
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (!gone(i)) check_box(boxes[i], i);
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (!gone(i)) boxes_[i] = boxes[i];
    }
    /// Objects behind the last slot in use; returns the first.
    std::uint32_t append(std::span<const Box<D, T>> boxes) {
        const std::size_t all = size();
        trim();
        const std::size_t before = size();
        check_count(before + boxes.size());
        boxes_.insert(boxes_.end(), boxes.begin(), boxes.end());
        if (!state_.empty()) state_.resize(size(), State::built);
        if (before != all || !generation_.empty() || (before != 0 && !boxes.empty())) {
            generation_.resize(before, first_generation_);
            generation_.resize(size(), next_generation());
        }
        return static_cast<std::uint32_t>(before);
    }
    /// Forgets erased slots behind the last one in use, which are given again as newer generations.
    void trim() {
        std::size_t used = size();
        while (used != 0 && gone(static_cast<std::uint32_t>(used - 1))) --used;
        if (used == size()) return;
        boxes_.resize(used);
        state_.resize(used);
        std::erase_if(free_, [&](std::uint32_t slot) { return slot >= used; });
        if (generation_.empty()) generation_.push_back(first_generation_);  // those who take these slots have their own
    }
    /// Everything that is there has been built.
    void settle() {
        edits_ = 0;
        loose_.clear();
        if (free_.empty()) {
            state_.clear();
            return;
        }
        QUADRAT_ASSERT(state_.size() == size());
        for (State& s : state_)
            if (s == State::loose) s = State::built;
        loose_at_.resize(size());
    }

    /// One object more, loose.
    Id add(const Box<D, T>& box) {
        start_edits();
        std::uint32_t slot;
        if (!free_.empty()) {
            slot = free_.back();
            free_.pop_back();
            boxes_[slot] = box;
        } else {
            check_count(size() + 1);
            slot = static_cast<std::uint32_t>(size());
            boxes_.push_back(box);
            state_.push_back(State::gone);
            loose_at_.resize(size());
        }
        generation_.resize(size(), first_generation_);
        generation_[slot] = next_generation();
        loosen(slot);
        return {slot, last_generation_};
    }
    /// An object that was taken out gets another box and is loose.
    void put_back(std::uint32_t slot, const Box<D, T>& box) {
        QUADRAT_ASSERT(gone(slot));
        boxes_[slot] = box;
        loosen(slot);
    }
    /// The object is in no cell any more; put_back() or release() follows.
    void take_out(std::uint32_t slot) {
        start_edits();
        QUADRAT_ASSERT(state_[slot] != State::gone);
        if (state_[slot] == State::loose) {
            const std::uint32_t last = loose_.back();
            QUADRAT_ASSERT(loose_[loose_at_[slot]] == slot);
            loose_[loose_at_[slot]] = last;
            loose_at_[last] = loose_at_[slot];
            loose_.pop_back();
        }
        state_[slot] = State::gone;
    }
    /// The slot of an object that was taken out is free.
    void release(std::uint32_t slot) {
        QUADRAT_ASSERT(gone(slot));
        for (int k = 0; k < D; ++k)  // no test accepts it from now on
            boxes_[slot].lo[k] = boxes_[slot].hi[k] = std::numeric_limits<T>::quiet_NaN();
        free_.push_back(slot);
        ++edits_;
    }

    [[nodiscard]] std::size_t capacity() const { return boxes_.capacity(); }
    [[nodiscard]] std::size_t bytes() const {
        return boxes_.capacity() * sizeof(Box<D, T>) + state_.capacity() * sizeof(State) +
               (loose_.capacity() + loose_at_.capacity() + free_.capacity() + generation_.capacity()) *
                   sizeof(std::uint32_t);
    }
    void shrink() {
        const auto fit = [](auto&... vectors) { (vectors.shrink_to_fit(), ...); };
        fit(boxes_, state_, loose_, loose_at_, free_);
    }

  private:
    enum class State : std::uint8_t { built, loose, gone };

    [[nodiscard]] std::uint32_t generation(std::uint32_t o) const {
        return o < generation_.size() ? generation_[o] : first_generation_;
    }
    void start_edits() {
        if (state_.size() == size()) return;
        state_.assign(size(), State::built);
        loose_at_.assign(size(), 0);
    }
    void loosen(std::uint32_t slot) {
        state_[slot] = State::loose;
        loose_at_[slot] = static_cast<std::uint32_t>(loose_.size());
        loose_.push_back(slot);
        ++edits_;
    }

    std::vector<Box<D, T>> boxes_;
    std::vector<State> state_;                     // empty while nothing was edited and no slot is free
    std::vector<std::uint32_t> loose_, loose_at_;  // objects in lists, and where each is in loose_
    std::vector<std::uint32_t> free_;              // slots
    std::vector<std::uint32_t> generation_;        // of slots that came one by one, and those before them
    std::uint32_t first_generation_ = 1, last_generation_ = 1;
    std::size_t edits_ = 0;
};

}  // namespace quadrat::cells
