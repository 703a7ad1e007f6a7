// What a HashGridHierarchy knows of a slot beside its box: where the box is, the generation of its id, its filter and
// its sphere. Slots are numbers that the caller sees; they come, go and come again, and all of a slot's values with
// them.
#pragma once

#include "base/assert.hpp"
#include "broad_phase/filter_table.hpp"
#include "broad_phase/spheres.hpp"
#include "cells/slot_ids.hpp"
#include "cells/validate.hpp"

#include <quadrat/broad_phase/options.hpp>
#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::broad_phase {

/// Which store has the truth about a slot. A record of a sorted grid counts only while its slot is `sorted`: an edit
/// changes the place and leaves the record behind, to be ignored until the next bulk update. So does one of `resting`.
enum class Place : std::uint8_t { free, sorted, resting, loose, unbounded };

template <int D, class T>
class SlotTable : public cells::SlotIds<SlotTable<D, T>, cells::CountedPerSlot> {
    using Ids = cells::SlotIds<SlotTable<D, T>, cells::CountedPerSlot>;
    using Ids::generations_;

  public:
    /// Slots there are, free ones included.
    [[nodiscard]] std::size_t size() const { return place_.size(); }
    /// Slots in use.
    [[nodiscard]] std::size_t alive() const { return place_.size() - Ids::free_slots(); }
    [[nodiscard]] Place place(std::uint32_t slot) const {
        QUADRAT_ASSERT(slot < place_.size());
        return place_[slot];
    }
    [[nodiscard]] bool is_free(std::uint32_t slot) const { return place(slot) == Place::free; }
    [[nodiscard]] bool in_use(std::uint32_t slot) const { return !is_free(slot); }
    /// Whether the record of a slot counts. Slots at the end may have gone, and left their records.
    [[nodiscard]] bool is_sorted(std::uint32_t slot) const {
        return slot < place_.size() && place_[slot] == Place::sorted;
    }
    /// Of every slot there ever was; ids of a slot that was given back have an older one.
    [[nodiscard]] std::span<const std::uint32_t> generations() const { return generations_.all(); }

    /// Takes a free slot, or a new one.
    [[nodiscard]] std::uint32_t take(Place place) {
        QUADRAT_ASSERT(place != Place::free);
        if (!Ids::has_free()) {
            cells::check_count(size() + 1);
            grow(size() + 1, place);
            return static_cast<std::uint32_t>(size() - 1);
        }
        const std::uint32_t slot = Ids::take_free();
        place_[slot] = place;
        return slot;
    }
    /// Gives a slot back: its ids are stale from now on.
    void release(std::uint32_t slot) {
        QUADRAT_ASSERT(!is_free(slot));
        set_asleep(slot, false);
        place_[slot] = Place::free;
        generations_.retire(slot);
        Ids::give_back(slot);
        if (alive() == 0) forget();
    }
    /// Adds slots up to `count`, all in use.
    void grow(std::size_t count, Place place) {
        QUADRAT_ASSERT(count >= size() && place != Place::free);
        place_.resize(count, place);
        generations_.grow(count);
        each_optional([&](auto& values) { values.resize(count); });
    }
    void set_place(std::uint32_t slot, Place place) {
        QUADRAT_ASSERT(!is_free(slot) && place != Place::free);
        place_[slot] = place;
    }
    /// Every slot in use is sorted, but for those that rest.
    void set_all_sorted() {
        for (Place& p : place_) p = p == Place::free || p == Place::resting ? p : Place::sorted;
    }
    /// Whether the record of a slot in the grids of what rests counts.
    [[nodiscard]] bool is_resting(std::uint32_t slot) const {
        return slot < place_.size() && place_[slot] == Place::resting;
    }

    /// Objects that the caller put to rest, wherever they are: two of them are no pair.
    [[nodiscard]] std::size_t sleepers() const { return sleepers_; }
    [[nodiscard]] bool asleep(std::uint32_t slot) const {
        QUADRAT_ASSERT(slot < size());
        return sleepers_ != 0 && asleep_[slot] != 0;
    }
    void set_asleep(std::uint32_t slot, bool asleep) {
        if (this->asleep(slot) == asleep) return;
        asleep_.resize(size());
        asleep_[slot] = asleep;
        asleep ? ++sleepers_ : --sleepers_;
    }
    /// Forgets the free slots from `used` on.
    void trim(std::size_t used) {
        QUADRAT_ASSERT(used <= size());
        Ids::forget_free_from(used);
        place_.resize(used);
        each_optional([&](auto& values) { values.resize(used); });
    }
    /// Frees everything: ids of what was there are stale.
    void clear() {
        for (std::uint32_t slot = 0; slot < size(); ++slot)
            if (in_use(slot)) generations_.retire(slot);
        SlotTable empty;
        empty.generations_ = std::move(generations_);
        *this = std::move(empty);
    }

    /// Of one slot, or, if any slot ever had one that is not the default, of all.
    [[nodiscard]] const FilterTable& filters() const { return filters_; }
    void choose_kinds() { filters_.choose_kinds(); }
    void set_filter(std::uint32_t slot, Filter filter) { filters_.set(slot, filter, size()); }
    /// Slot i of a and slot j of b: by their filters.
    [[nodiscard]] static bool may_meet(const SlotTable& a, std::uint32_t i, const SlotTable& b, std::uint32_t j) {
        if (!a.filters_.stored() && !b.filters_.stored()) return true;
        return broad_phase::may_meet(a.filters_[i], b.filters_[j]);
    }
    /// Whether two objects whose boxes overlap are a pair: by their filters, as spheres if both are, and, in one set,
    /// if they do not both rest.
    [[nodiscard]] static bool are_pair(const SlotTable& a, std::uint32_t i, const SlotTable& b, std::uint32_t j) {
        if (&a == &b && a.asleep(i) && a.asleep(j)) return false;
        return may_meet(a, i, b, j) && (!a.round_ || !b.round_ || spheres_overlap(a.sphere(i), b.sphere(j)));
    }

    /// Whether objects are spheres; a set without objects may become either. Throws bad_shape for a mixture.
    void expect_boxes() { expect(false); }
    void expect_spheres() { expect(true); }
    [[nodiscard]] bool round() const { return round_; }
    [[nodiscard]] const Sphere<D, T>& sphere(std::uint32_t slot) const {
        QUADRAT_ASSERT(round_ && slot < spheres_.size());
        return spheres_[slot];
    }
    void set_sphere(std::uint32_t slot, const Sphere<D, T>& sphere) {
        QUADRAT_ASSERT(round_ && slot < spheres_.size());
        spheres_[slot] = sphere;
    }

    [[nodiscard]] std::size_t bytes() const {
        return Ids::id_bytes() + place_.capacity() * sizeof(place_[0]) + filters_.bytes() + asleep_.capacity() +
               spheres_.capacity() * sizeof(Sphere<D, T>);
    }

  private:
    void expect(bool round) {
        if (round_ != round && alive() != 0)
            throw Error(ErrorKind::bad_shape, "spheres and boxes cannot be mixed in one structure",
                        {.field = round ? "spheres" : "boxes"});
        round_ = round;
        spheres_.resize(round ? size() : 0);
    }
    void forget() {
        place_.clear();
        Ids::forget_free();
        each_optional([](auto& values) { values.clear(); });
    }
    /// What a slot has only where the caller has said so: nothing is stored for sets that never use it. A new value of
    /// this sort is listed here and in bytes().
    template <class Change>
    void each_optional(Change&& change) {
        change(filters_);
        if (!asleep_.empty()) change(asleep_);
        if (round_) change(spheres_);
    }

    std::vector<Place> place_;  // of every slot there is
    FilterTable filters_;
    std::vector<std::uint8_t> asleep_;  // per slot; empty until the first one is put to rest
    std::size_t sleepers_ = 0;
    std::vector<Sphere<D, T>> spheres_;  // one per slot if round_
    bool round_ = false;
};

}  // namespace quadrat::broad_phase
