// The state of a HashGridHierarchy: bulk updates into sorted grids, single edits into the paper's hash grids (HHG 3.3
// to 3.5).
#include "broad_phase/hierarchy.hpp"

#include "cells/validate.hpp"

#include <utility>

namespace quadrat::broad_phase {
namespace {

// Loose objects and old records that a set may have for nothing: below, sorting everything again would cost more.
constexpr std::size_t loose_allowance = 1024;
// Edits of more objects than this share of those awake cost more one by one than sorting all of these.
constexpr std::size_t few_share = 16;

}  // namespace

template <int D, class T>
void Hierarchy<D, T>::load(const BoxInput<D, T>& input, std::size_t slot_count, const Gathered& sleepers) {
    QUADRAT_ASSERT(slot_count >= slots.size() && input.live() <= slot_count);
    slots.choose_kinds();
    BoxInput<D, T> filtered = input;
    filtered.filters = &slots.filters();
    const auto rest = sorted.distribute(filtered, options.all_pairs_below, options.executor);
    // Nothing below throws but for want of memory.
    if (stale + loose.size() + unbounded.size() != 0) slots.set_all_sorted();
    slots.grow(slot_count, Place::sorted);
    sorted.commit(&slots.filters(), Keep::records, options.executor);
    stale = sleepers_in_sorted = 0;
    std::vector<UnboundedObject> kept;
    for (const auto& object : unbounded)
        if (object.half_space || slots.asleep(object.slot)) kept.push_back(object);
    loose.clear();
    unbounded.clear();
    for (const std::uint32_t i : rest.misfits) put(input.id(i), input.boxes[i]);
    for (const std::uint32_t i : rest.unbounded) put(input.id(i), input.boxes[i]);
    for (const auto& object : kept) put_back(object);
    lay_to_rest(sleepers);
    QUADRAT_ASSERT(sorted.size() + resting.size() - stale_resting + loose.size() + unbounded.size() == slots.alive());
}

// Those that came to rest since the last time are loose until they are many, or much of what is sorted has gone.
template <int D, class T>
void Hierarchy<D, T>::lay_to_rest(const Gathered& sleepers) {
    if (sleepers.slots.size() + stale_resting <= resting.size() / 8 + loose_allowance / 2) {
        for (std::size_t i = 0; i < sleepers.slots.size(); ++i) put(sleepers.slots[i], sleepers.boxes[i]);
        return;
    }
    Gathered all = sleepers;
    if (resting.size() != 0)
        resting.for_each([&](std::uint32_t slot, const BoxT& box) {
            if (counts_resting(slot)) all.add(slot, box);
        });
    BoxInput<D, T> input{all.boxes, all.slots};
    input.filters = &slots.filters();
    const auto rest = resting.distribute(input, options.all_pairs_below, options.executor);
    resting.commit(&slots.filters(), Keep::both, options.executor);
    stale_resting = 0;
    for (const std::uint32_t slot : all.slots) slots.set_place(slot, Place::resting);
    for (const std::uint32_t i : rest.misfits) put(all.slots[i], all.boxes[i]);
}

template <int D, class T>
auto Hierarchy<D, T>::gather_awake(std::size_t room_for, const std::vector<std::uint8_t>& marks) const -> Gathered {
    QUADRAT_ASSERT(marks.empty() || marks.size() == slots.size());
    Gathered all;
    all.boxes.reserve(room_for);
    all.slots.reserve(room_for);
    const auto add = [&](std::uint32_t slot, const BoxT& box) {
        if (!slots.asleep(slot) && (marks.empty() || marks[slot] == 0)) all.add(slot, box);
    };
    if (sorted.size() != 0)
        sorted.for_each([&](std::uint32_t slot, const BoxT& box) {
            if (counts(slot)) add(slot, box);
        });
    for_each_of(Loose{}, add);
    for (const auto& object : unbounded)
        if (!object.half_space) add(object.slot, object.box);
    return all;
}

template <int D, class T>
auto Hierarchy<D, T>::gather_sleepers() const -> Gathered {
    Gathered all;
    if (slots.sleepers() == 0) return all;
    const auto add = [&](std::uint32_t slot, const BoxT& box) {
        if (slots.asleep(slot)) all.add(slot, box);
    };
    if (sleepers_in_sorted != 0)
        sorted.for_each([&](std::uint32_t slot, const BoxT& box) {
            if (counts(slot)) add(slot, box);
        });
    for_each_of(Loose{}, add);
    return all;
}

template <int D, class T>
void Hierarchy<D, T>::put_back(const UnboundedObject& object) {
    unbounded.insert(object);
    slots.set_place(object.slot, Place::unbounded);
}

template <int D, class T>
void Hierarchy<D, T>::put(std::uint32_t slot, const BoxT& box) {
    if (regular(box)) {
        loose.reserve_slots(slots.size());
        loose.insert(slot, box);
        slots.set_place(slot, Place::loose);
    } else {
        unbounded.insert({slot, box});
        slots.set_place(slot, Place::unbounded);
    }
}

// The slot is in no store afterwards.
template <int D, class T>
void Hierarchy<D, T>::take_out(std::uint32_t slot) {
    switch (slots.place(slot)) {
        case Place::sorted:
            ++stale;
            if (slots.asleep(slot)) --sleepers_in_sorted;
            break;
        case Place::resting:
            ++stale_resting;
            break;
        case Place::loose:
            loose.erase(slot);
            break;
        case Place::unbounded:
            unbounded.erase(slot);
            break;
        case Place::free:
            QUADRAT_ASSERT(false);
    }
}

// Loose objects cost more to search: when they are many, everything is sorted again, at a constant price per edit.
// Neighbours in the old order are neighbours in the new one: sorting them again is cheaper than sorting by slot.
template <int D, class T>
void Hierarchy<D, T>::maybe_rebuild() {
    const std::size_t alive = slots.alive();
    if (options.update != UpdateStrategy::sorted || loose.size() + stale <= alive / 4 + loose_allowance) return;
    if (unbounded.size() > alive / 2) return;
    sort_again();
}

template <int D, class T>
void Hierarchy<D, T>::sort_again() {
    const Gathered all = gather_awake(slots.alive() - slots.sleepers()), sleepers = gather_sleepers();
    load({all.boxes, all.slots}, slots.size(), sleepers);
}

// Records of what is gone are searched too: when they are more than what is left, that is sorted by itself, in memory
// of its own size. At least as many objects have gone since as are sorted now, so the price per object is constant.
template <int D, class T>
void Hierarchy<D, T>::shrink() {
    if (slots.alive() == 0) {
        for (GridSet<D, T>* set : {&sorted, &resting}) set->forget();
        stale = stale_resting = 0;
        loose = DynamicGrids<D, T>(options);
    } else if (stale > slots.alive() + loose_allowance) {
        const Gathered all = gather_awake(slots.alive() - slots.sleepers()), sleepers = gather_sleepers();
        sorted.release();
        load({all.boxes, all.slots}, slots.size(), sleepers);
    } else if (stale_resting > slots.alive() + loose_allowance) {
        sort_again();
    }
}

template <int D, class T>
bool Hierarchy<D, T>::are_few(std::size_t edits) const {
    const std::size_t awake = slots.alive() - slots.sleepers();
    return options.update != UpdateStrategy::sorted || edits * few_share <= awake;
}

template <int D, class T>
Id Hierarchy<D, T>::insert(const BoxT& box, Filter filter) {
    const std::uint32_t slot = slots.take(Place::loose);
    slots.set_filter(slot, filter);
    put(slot, box);
    maybe_rebuild();
    return slots.id(slot);
}

template <int D, class T>
Id Hierarchy<D, T>::insert(const HalfSpace<D, T>& half_space, Filter filter) {
    const std::uint32_t slot = slots.take(Place::unbounded);
    slots.set_filter(slot, filter);
    unbounded.insert(slot, half_space);
    return slots.id(slot);
}

template <int D, class T>
std::uint32_t Hierarchy<D, T>::insert(std::span<const BoxT> boxes) {
    if (boxes.empty()) return static_cast<std::uint32_t>(slots.size());
    const std::size_t before = slots.used(), after = before + boxes.size();
    cells::check_count(after);
    const bool bulk = options.update == UpdateStrategy::sorted;
    if (!bulk || slots.size() != 0) cells::check_boxes(boxes, options.executor);
    slots.trim(before);
    if (!bulk || are_few(boxes.size())) {
        slots.grow(after, Place::loose);
        for (std::size_t i = 0; i < boxes.size(); ++i) put(static_cast<std::uint32_t>(before + i), boxes[i]);
        maybe_rebuild();
    } else if (before == 0) {
        load({boxes, {}, {}, nullptr, options.watch.stop}, after);
    } else {
        Gathered all = gather_awake(slots.alive() + boxes.size());
        all.boxes.insert(all.boxes.end(), boxes.begin(), boxes.end());
        for (std::size_t i = before; i < after; ++i) all.slots.push_back(static_cast<std::uint32_t>(i));
        load({all.boxes, all.slots, {}, nullptr, options.watch.stop}, after, gather_sleepers());
    }
    return static_cast<std::uint32_t>(before);
}

template <int D, class T>
void Hierarchy<D, T>::erase(std::uint32_t slot) {
    take_out(slot);
    slots.release(slot);
    shrink();
}

template <int D, class T>
void Hierarchy<D, T>::erase(std::span<const std::uint32_t> some) {
    for (const std::uint32_t slot : some) {
        take_out(slot);
        slots.release(slot);
    }
    shrink();
}

template <int D, class T>
void Hierarchy<D, T>::move(std::uint32_t slot, const BoxT& box) {
    if (slots.place(slot) == Place::loose && regular(box)) {
        slots.set_asleep(slot, false);
        loose.move(slot, box);
        return;
    }
    take_out(slot);
    slots.set_asleep(slot, false);
    put(slot, box);
    maybe_rebuild();
}

// What stays is gathered from where it is, and sorted again with what has moved: in the usual case, where everything
// that is awake moves, there is nothing to gather.
template <int D, class T>
void Hierarchy<D, T>::move(std::span<const std::uint32_t> some, std::span<const BoxT> boxes) {
    QUADRAT_ASSERT(some.size() == boxes.size());
    bool one_by_one = are_few(some.size());
    for (const std::uint32_t slot : some) one_by_one = one_by_one || unbounded.is_half_space(slot);
    if (one_by_one) {
        for (std::size_t i = 0; i < some.size(); ++i) move(some[i], boxes[i]);
        return;
    }
    std::vector<std::uint8_t> marks(slots.size(), 0);
    std::size_t distinct = 0, from_rest = 0;
    for (const std::uint32_t slot : some) {
        distinct += marks[slot] == 0;
        from_rest += marks[slot] == 0 && slots.asleep(slot);
        marks[slot] = 1;
    }
    if (from_rest != 0) {  // they are awake from now on, wherever they are until they are sorted
        for (std::size_t i = 0; i < some.size(); ++i)
            if (slots.asleep(some[i])) move(some[i], boxes[i]);
        return move(some, boxes);
    }
    std::size_t staying = slots.sleepers();
    for (const auto& object : unbounded) staying += object.half_space && !slots.asleep(object.slot);
    const bool all_move = distinct + staying == slots.alive();
    if (all_move && distinct == some.size()) return load({boxes, some}, slots.size(), gather_sleepers());
    Gathered all = gather_awake(slots.alive() - slots.sleepers(), marks);
    for (std::size_t i = some.size(); i-- != 0;)
        if (std::exchange(marks[some[i]], std::uint8_t{0}) != 0) all.add(some[i], boxes[i]);
    load({all.boxes, all.slots}, slots.size(), gather_sleepers());
}

template <int D, class T>
void Hierarchy<D, T>::rest(std::span<const std::uint32_t> some) {
    for (const std::uint32_t slot : some) {
        if (slots.asleep(slot)) continue;
        slots.set_asleep(slot, true);
        sleepers_in_sorted += slots.place(slot) == Place::sorted;
    }
    const std::size_t awake = slots.alive() - slots.sleepers();
    if (options.update == UpdateStrategy::sorted && sleepers_in_sorted > awake / few_share + loose_allowance)
        sort_again();
}

// A box in sorted grids is not found by its slot: one pass over what rests finds those that are wanted.
template <int D, class T>
void Hierarchy<D, T>::wake(std::span<const std::uint32_t> some) {
    std::size_t in_resting = 0;
    for (const std::uint32_t slot : some) {
        if (slots.asleep(slot) && slots.place(slot) == Place::sorted) --sleepers_in_sorted;
        slots.set_asleep(slot, false);
        in_resting += slots.place(slot) == Place::resting;
    }
    if (in_resting == 0) return;
    Gathered woken;
    resting.for_each([&](std::uint32_t slot, const BoxT& box) {
        if (slots.is_resting(slot) && !slots.asleep(slot)) woken.add(slot, box);
    });
    stale_resting += woken.slots.size();
    for (std::size_t i = 0; i < woken.slots.size(); ++i) put(woken.slots[i], woken.boxes[i]);
    maybe_rebuild();
}

template <int D, class T>
void Hierarchy<D, T>::update(std::span<const BoxT> boxes) {
    cells::check_slots(boxes.size(), slots.size());
    if (options.update != UpdateStrategy::sorted) return update_one_by_one(boxes);
    std::vector<std::uint8_t> skip;
    const auto half_spaces = unbounded.half_spaces();
    if (slots.has_free() || !half_spaces.empty() || slots.sleepers() != 0) {
        skip.resize(boxes.size());
        for (std::uint32_t i = 0; i < boxes.size(); ++i) skip[i] = slots.is_free(i) || slots.asleep(i);
        for (const auto& object : half_spaces) skip[object.slot] = 1;
    }
    load({boxes, {}, skip, nullptr, options.watch.stop}, slots.size(), gather_sleepers());
}

// The two strategies of HHG 2.6.
template <int D, class T>
void Hierarchy<D, T>::update_one_by_one(std::span<const BoxT> boxes) {
    std::vector<std::uint32_t> moving;
    for (std::uint32_t i = 0; i < boxes.size(); ++i)
        if (!slots.is_free(i) && !slots.asleep(i) && !unbounded.is_half_space(i)) moving.push_back(i);
    for (const std::uint32_t i : moving) cells::check_box(boxes[i], i);
    if (options.update == UpdateStrategy::individual) {
        for (const std::uint32_t i : moving) move(i, boxes[i]);
        return;
    }
    const Gathered sleepers = gather_sleepers();
    std::vector<UnboundedObject> kept;
    for (const auto& object : unbounded)
        if (object.half_space || slots.asleep(object.slot)) kept.push_back(object);
    loose.clear();
    unbounded.clear();
    for (const auto& object : kept) put_back(object);
    for (std::size_t i = 0; i < sleepers.slots.size(); ++i) put(sleepers.slots[i], sleepers.boxes[i]);
    for (const std::uint32_t i : moving) put(i, boxes[i]);
}

template <int D, class T>
void Hierarchy<D, T>::set_filter(std::uint32_t slot, Filter filter) {
    slots.set_filter(slot, filter);
    if (slots.place(slot) == Place::sorted) sorted.filters_changed();
    if (slots.place(slot) == Place::resting) resting.filters_changed();
}

template <int D, class T>
std::size_t Hierarchy<D, T>::bytes() const {
    std::size_t sum =
        slots.bytes() + sorted.bytes() + resting.bytes() + loose.bytes() + unbounded.bytes() + sizeof(*this);
    const std::lock_guard lock(scratch_mutex);
    for (const auto& part : scratch) sum += part.capacity() * sizeof(Pair);
    return sum + scratch.capacity() * sizeof(scratch[0]);
}

template class Hierarchy<2, float>;
template class Hierarchy<3, float>;
template class Hierarchy<2, double>;
template class Hierarchy<3, double>;

}  // namespace quadrat::broad_phase
