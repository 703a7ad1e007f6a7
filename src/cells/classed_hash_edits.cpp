// Single insertions, moves and erasures of a ClassedHash. The runs of the cells stay as they were built; an object that
// came or moved since is in short lists of its cells, and its record in the runs no longer counts. A cell's mark of
// having children is not taken back when objects leave (HSH would need a count): it costs a look and goes with the next
// build, which comes when a quarter of all objects were edited.
#include "cells/classed_hash.hpp"

#include <limits>

namespace quadrat::cells {
namespace {

constexpr std::size_t edit_allowance = 64;
constexpr std::size_t most_entries = std::size_t{1} << 29;  // of the lists, which KeySlot::list must be able to name

}  // namespace

template <int D, class T>
void ClassedHash<D, T>::start_edits() {
    if (state_.size() == boxes_.size()) return;
    state_.assign(boxes_.size(), State::built);
    loose_at_.assign(boxes_.size(), 0);
}

template <int D, class T>
std::uint32_t ClassedHash<D, T>::checked(Id id) const {
    if (!contains(id)) throw Error(ErrorKind::stale_id, "no such object", {.index = id.slot, .field = "id"});
    return id.slot;
}

template <int D, class T>
bool ClassedHash<D, T>::contains(Id id) const {
    return id.generation != 0 && id.slot < boxes_.size() && !gone(id.slot) && generation(id.slot) == id.generation;
}

template <int D, class T>
Id ClassedHash<D, T>::id(std::uint32_t slot) const {
    return slot < boxes_.size() && !gone(slot) ? Id{slot, generation(slot)} : Id{};
}

template <int D, class T>
Id ClassedHash<D, T>::insert(const Box<D, T>& box) {
    check_box(box, boxes_.size());
    start_edits();
    std::uint32_t slot;
    if (!free_.empty()) {
        slot = free_.back();
        free_.pop_back();
        boxes_[slot] = box;
    } else {
        check_count(boxes_.size() + 1);
        slot = static_cast<std::uint32_t>(boxes_.size());
        boxes_.push_back(box);
        range_.push_back({});
        level_.push_back(no_level);
        state_.push_back(State::gone);
        loose_at_.resize(boxes_.size());
    }
    generation_.resize(boxes_.size(), first_generation_);
    generation_[slot] = ++last_generation_;
    link(slot);
    ++edits_;
    rebuild_if_worn();
    return {slot, last_generation_};
}

template <int D, class T>
void ClassedHash<D, T>::erase(Id id) {
    const std::uint32_t slot = checked(id);
    start_edits();
    unlink(slot);
    for (int k = 0; k < D; ++k)  // no test accepts it from now on
        boxes_[slot].lo[k] = boxes_[slot].hi[k] = std::numeric_limits<T>::quiet_NaN();
    free_.push_back(slot);
    ++edits_;
    give_back();
}

template <int D, class T>
void ClassedHash<D, T>::move(Id id, const Box<D, T>& box) {
    const std::uint32_t slot = checked(id);
    check_box(box, slot);
    start_edits();
    unlink(slot);
    boxes_[slot] = box;
    link(slot);
    ++edits_;
    rebuild_if_worn();
}

/// Puts an object into the lists of its cells, at the smallest class in use that it fits.
template <int D, class T>
void ClassedHash<D, T>::link(std::uint32_t slot) {
    state_[slot] = State::loose;
    loose_at_[slot] = static_cast<std::uint32_t>(loose_.size());
    loose_.push_back(slot);
    range_[slot] = {quantiser_.cell(boxes_[slot].lo), quantiser_.cell(boxes_[slot].hi)};
    const int k = size_class(range_[slot].lo, range_[slot].hi);
    std::size_t level = 0;
    while (level + 1 < classes_.size() && classes_[level + 1] >= k) ++level;
    if (classes_.empty() || cells_at(slot, classes_[level]) > max_cells_per_box) {
        level_[slot] = no_level;
        oversize_.push_back(slot);
        return;
    }
    level_[slot] = static_cast<std::uint8_t>(level);
    for_each_cell_of(slot, [&](std::uint64_t parent_key, const Cell<D>& cell, std::size_t above) {
        if (above < level) {
            table(above).add(parent_key).has_children = 1;
            return;
        }
        CellSlot& s = table(level).add(parent_key + xor_hash(cell));
        mark(s, mark_of(level, cell));
        if (s.list != 0 && list_[s.list].object == slot) return;  // cells that share a slot
        std::uint32_t entry = free_entry_;
        if (entry != 0) {
            free_entry_ = list_[entry].next;
        } else {
            if (list_.empty()) list_.push_back({});  // 0 is the end of a list
            entry = static_cast<std::uint32_t>(list_.size());
            list_.push_back({});
        }
        list_[entry] = {slot, s.list};
        s.list = entry & 0x3fffffff;
    });
}

template <int D, class T>
void ClassedHash<D, T>::unlink(std::uint32_t slot) {
    const bool listed = state_[slot] == State::loose;
    state_[slot] = State::gone;
    if (level_[slot] == no_level) std::erase(oversize_, slot);
    if (!listed) return;
    const std::uint32_t last = loose_.back();
    loose_[loose_at_[slot]] = last;
    loose_at_[last] = loose_at_[slot];
    loose_.pop_back();
    if (level_[slot] == no_level) return;
    const std::size_t level = level_[slot];
    for_each_cell_of(slot, [&](std::uint64_t parent_key, const Cell<D>& cell, std::size_t above) {
        if (above < level) return;
        CellSlot& s = *table(level).find(parent_key + xor_hash(cell));
        std::uint32_t before = 0;
        for (std::uint32_t e = s.list; e != 0; before = e, e = list_[e].next) {
            if (list_[e].object != slot) continue;
            if (before == 0)
                s.list = list_[e].next & 0x3fffffff;
            else
                list_[before].next = list_[e].next;
            list_[e].next = free_entry_;
            free_entry_ = e;
            break;
        }
    });
}

template <int D, class T>
void ClassedHash<D, T>::rebuild_if_worn() {
    if (edits_ > size() / 4 + edit_allowance || list_.size() >= most_entries) assemble();
}

// When more have gone since the last build than are left, these are built by themselves, in memory of their own size.
template <int D, class T>
void ClassedHash<D, T>::give_back() {
    if (edits_ <= 2 * size() + edit_allowance && (size() != 0 || boxes_.capacity() <= edit_allowance)) return;
    trim();
    assemble();
    const auto fit = [](auto&... vectors) { (vectors.shrink_to_fit(), ...); };
    fit(boxes_, range_, level_, oversize_, item_object_, item_box_, item_columns_, columns_, state_, list_, loose_,
        loose_at_, free_);
}

#define QUADRAT_INSTANTIATE(D, T)                                \
    template Id ClassedHash<D, T>::insert(const Box<D, T>&);     \
    template void ClassedHash<D, T>::erase(Id);                  \
    template void ClassedHash<D, T>::move(Id, const Box<D, T>&); \
    template bool ClassedHash<D, T>::contains(Id) const;         \
    template Id ClassedHash<D, T>::id(std::uint32_t) const;
QUADRAT_INSTANTIATE(2, float)
QUADRAT_INSTANTIATE(2, double)
QUADRAT_INSTANTIATE(3, float)
QUADRAT_INSTANTIATE(3, double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::cells
