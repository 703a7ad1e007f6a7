// The state of a HashGridHierarchy: bulk updates into sorted grids, single edits into the paper's hash grids (HHG 3.3
// to 3.5).
#include "broad_phase/hierarchy.hpp"

#include "cells/validate.hpp"

namespace quadrat::broad_phase {
namespace {

// Loose objects and old records that a set may have for nothing: below, sorting everything again would cost more.
constexpr std::size_t loose_allowance = 1024;

}  // namespace

template <int D, class T>
void Hierarchy<D, T>::load(const BoxInput<D, T>& input, std::size_t slot_count) {
    QUADRAT_ASSERT(slot_count >= slots.size() && input.live() <= slot_count);
    const auto rest = sorted.distribute(input, options.all_pairs_below, options.executor);
    // Nothing below throws but for want of memory.
    if (stale + loose.size() + unbounded.size() != 0) slots.set_all_sorted();
    slots.grow(slot_count, Place::sorted);
    sorted.commit(slots.filters().values(), Keep::records, options.executor);
    stale = 0;
    const auto half_spaces = unbounded.half_spaces();
    loose.clear();
    unbounded.clear();
    if (!rest.misfits.empty()) loose.reserve_slots(slot_count);
    for (const std::uint32_t i : rest.misfits) {
        loose.insert(input.id(i), input.boxes[i]);
        slots.set_place(input.id(i), Place::loose);
    }
    for (const std::uint32_t i : rest.unbounded) {
        unbounded.insert({input.id(i), input.boxes[i]});
        slots.set_place(input.id(i), Place::unbounded);
    }
    for (const auto& object : half_spaces) {
        unbounded.insert(object);
        slots.set_place(object.slot, Place::unbounded);
    }
    QUADRAT_ASSERT(sorted.size() + loose.size() + unbounded.size() == slots.alive());
}

template <int D, class T>
auto Hierarchy<D, T>::gather(std::size_t room_for) const -> Gathered {
    Gathered all;
    all.boxes.reserve(room_for);
    all.slots.reserve(room_for);
    const auto add = [&](std::uint32_t slot, const BoxT& box) {
        all.boxes.push_back(box);
        all.slots.push_back(slot);
    };
    for_each_sorted(add);
    for_each_loose(add);
    for (const auto& object : unbounded)
        if (!object.half_space) add(object.slot, object.box);
    return all;
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
    const Gathered all = gather(alive);
    load({all.boxes, all.slots}, slots.size());
}

// Records of what is gone are searched too: when they are more than what is left, that is sorted by itself, in memory
// of its own size. At least as many objects have gone since as are sorted now, so the price per object is constant.
template <int D, class T>
void Hierarchy<D, T>::shrink() {
    if (slots.alive() == 0) {
        sorted.forget();
        stale = 0;
        loose = DynamicGrids<D, T>(options);
    } else if (stale > slots.alive() + loose_allowance) {
        const Gathered all = gather(slots.alive());
        sorted.release();
        load({all.boxes, all.slots}, slots.size());
    }
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
    if (!bulk) {
        slots.grow(after, Place::loose);
        for (std::size_t i = 0; i < boxes.size(); ++i) put(static_cast<std::uint32_t>(before + i), boxes[i]);
    } else if (before == 0) {
        load({boxes}, after);
    } else {
        Gathered all = gather(slots.alive() + boxes.size());
        all.boxes.insert(all.boxes.end(), boxes.begin(), boxes.end());
        for (std::size_t i = before; i < after; ++i) all.slots.push_back(static_cast<std::uint32_t>(i));
        load({all.boxes, all.slots}, after);
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
void Hierarchy<D, T>::move(std::uint32_t slot, const BoxT& box) {
    if (slots.place(slot) == Place::loose && regular(box)) {
        loose.move(slot, box);
        return;
    }
    take_out(slot);
    put(slot, box);
    maybe_rebuild();
}

template <int D, class T>
void Hierarchy<D, T>::update(std::span<const BoxT> boxes) {
    cells::check_slots(boxes.size(), slots.size());
    if (options.update != UpdateStrategy::sorted) return update_one_by_one(boxes);
    std::vector<std::uint8_t> skip;
    const auto half_spaces = unbounded.half_spaces();
    if (slots.has_free() || !half_spaces.empty()) {
        skip.resize(boxes.size());
        for (std::uint32_t i = 0; i < boxes.size(); ++i) skip[i] = slots.is_free(i);
        for (const auto& object : half_spaces) skip[object.slot] = 1;
    }
    load({boxes, {}, skip}, slots.size());
}

// The two strategies of HHG 2.6.
template <int D, class T>
void Hierarchy<D, T>::update_one_by_one(std::span<const BoxT> boxes) {
    std::vector<std::uint32_t> moving;
    for (std::uint32_t i = 0; i < boxes.size(); ++i)
        if (!slots.is_free(i) && !unbounded.is_half_space(i)) moving.push_back(i);
    for (const std::uint32_t i : moving) cells::check_box(boxes[i], i);
    if (options.update == UpdateStrategy::individual) {
        for (const std::uint32_t i : moving) move(i, boxes[i]);
        return;
    }
    const auto half_spaces = unbounded.half_spaces();
    loose.clear();
    unbounded.clear();
    for (const auto& object : half_spaces) unbounded.insert(object);
    for (const std::uint32_t i : moving) put(i, boxes[i]);
}

template <int D, class T>
void Hierarchy<D, T>::set_filter(std::uint32_t slot, Filter filter) {
    slots.set_filter(slot, filter);
    if (slots.place(slot) == Place::sorted) sorted.drop_filters();
}

template <int D, class T>
std::size_t Hierarchy<D, T>::bytes() const {
    std::size_t sum = slots.bytes() + sorted.bytes() + loose.bytes() + unbounded.bytes() + sizeof(*this);
    const std::lock_guard lock(scratch_mutex);
    for (const auto& part : scratch) sum += part.capacity() * sizeof(Pair);
    return sum + scratch.capacity() * sizeof(scratch[0]);
}

template class Hierarchy<2, float>;
template class Hierarchy<3, float>;
template class Hierarchy<2, double>;
template class Hierarchy<3, double>;

}  // namespace quadrat::broad_phase
