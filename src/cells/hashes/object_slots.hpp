// The objects of a ClassedHash: their boxes, the ids that name them, and what was edited since the last build. An id is
// a slot and a generation; a slot that is given again gets a newer generation, so no id is ever given twice.
#pragma once

#include "base/assert.hpp"
#include "cells/slot_ids.hpp"
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
class ObjectSlots : public SlotIds<ObjectSlots<D, T>, NeverTwice> {
    using Ids = SlotIds<ObjectSlots<D, T>, NeverTwice>;
    using Ids::generations_;

  public:
    /// Slots, and those that hold an object.
    [[nodiscard]] std::size_t size() const { return boxes_.size(); }
    [[nodiscard]] std::size_t live() const { return boxes_.size() - Ids::free_slots(); }
    [[nodiscard]] std::span<const Box<D, T>> boxes() const { return boxes_; }
    /// Whether the object is in the runs of its cells as they were built; nothing of a slot that is gone counts.
    [[nodiscard]] bool built(std::uint32_t o) const { return state_.empty() || state_[o] == State::built; }
    [[nodiscard]] bool loose(std::uint32_t o) const { return !state_.empty() && state_[o] == State::loose; }
    [[nodiscard]] bool gone(std::uint32_t o) const { return !state_.empty() && state_[o] == State::gone; }
    [[nodiscard]] bool in_use(std::uint32_t o) const { return !gone(o); }
    /// The objects that came or moved since the last build, and how many edits there were.
    [[nodiscard]] std::span<const std::uint32_t> loose() const { return loose_; }
    [[nodiscard]] std::size_t edits() const { return edits_; }

    /// Other objects; no id given before is valid.
    void replace(std::span<const Box<D, T>> boxes) {
        boxes_.assign(boxes.begin(), boxes.end());
        state_.clear();
        Ids::forget_free();
        generations_.renew();
    }
    /// New boxes for the same ids; those of empty slots are ignored, and need not be legal.
    void overwrite(std::span<const Box<D, T>> boxes, Executor* executor) {
        check_slots(boxes.size(), size());
        if (!Ids::has_free()) {
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
        trim();
        const std::size_t before = size();
        check_count(before + boxes.size());
        boxes_.insert(boxes_.end(), boxes.begin(), boxes.end());
        if (!state_.empty()) state_.resize(size(), State::built);
        generations_.added(before, size());
        return static_cast<std::uint32_t>(before);
    }
    /// Forgets erased slots behind the last one in use, which are given again as newer generations.
    void trim() {
        const std::size_t used = Ids::used();
        if (used == size()) return;
        Ids::forget_free_from(used);
        boxes_.resize(used);
        state_.resize(used);
        generations_.trimmed();
    }
    /// Everything that is there has been built.
    void settle() {
        edits_ = 0;
        loose_.clear();
        if (!Ids::has_free()) {
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
        if (Ids::has_free()) {
            slot = Ids::take_free();
            boxes_[slot] = box;
        } else {
            check_count(size() + 1);
            slot = static_cast<std::uint32_t>(size());
            boxes_.push_back(box);
            state_.push_back(State::gone);
            loose_at_.resize(size());
        }
        loosen(slot);
        return {slot, generations_.renew(slot, size())};
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
        Ids::give_back(slot);
        ++edits_;
    }

    [[nodiscard]] std::size_t capacity() const { return boxes_.capacity(); }
    [[nodiscard]] std::size_t bytes() const {
        return boxes_.capacity() * sizeof(Box<D, T>) + state_.capacity() * sizeof(State) +
               (loose_.capacity() + loose_at_.capacity()) * sizeof(std::uint32_t) + Ids::id_bytes();
    }
    void shrink() {
        const auto fit = [](auto&... vectors) { (vectors.shrink_to_fit(), ...); };
        fit(boxes_, state_, loose_, loose_at_);
        Ids::shrink_free();
    }

  private:
    enum class State : std::uint8_t { built, loose, gone };

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
    std::size_t edits_ = 0;
};

}  // namespace quadrat::cells
