// What a HashGridHierarchy holds: a table of slots, and stores of boxes, of three kinds. Everything that has a box is
// in exactly one of them:
//   in grids   sorted grids (sorted/grid_set.hpp), of which there are two sets: `sorted`, of the last bulk update, and
//              `resting`, of what the caller put to rest: sorted when it comes to rest, not in every update, and never
//              searched for pairs of its own;
//   loose      what was edited one by one since, and what fits no grid (loose/dynamic_grids.hpp);
//   unbounded  infinite boxes and half-spaces (loose/unbounded_list.hpp).
// Each kind has a tag, for_each_store() names them all, and what is asked of a store is an overload for its tag: a kind
// that is forgotten somewhere does not compile. Queries go through for_each_near(), pairs through for_each_met(). What
// rests may also be loose or unbounded, and is then known by its flag in the table of slots alone.
#pragma once

#include "base/assert.hpp"
#include "broad_phase/loose/dynamic_grids.hpp"
#include "broad_phase/loose/unbounded_list.hpp"
#include "broad_phase/slot_table.hpp"
#include "broad_phase/sorted/grid_set.hpp"

#include <quadrat/broad_phase/options.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

namespace quadrat::broad_phase {

/// The kinds of stores.
struct InGrids {};
struct Loose {};
struct Unbounded {};

/// Calls fn(tag) for the kinds whose objects are not in sorted grids.
template <class Fn>
void for_each_store_outside(Fn&& fn) {
    fn(Loose{});
    fn(Unbounded{});
}
/// The same for all kinds, in the order in which objects are met.
template <class Fn>
void for_each_store(Fn&& fn) {
    fn(InGrids{});
    for_each_store_outside(fn);
}

template <int D, class T>
class Hierarchy {
  public:
    using BoxT = Box<D, T>;
    using UnboundedObject = typename UnboundedList<D, T>::Object;

    explicit Hierarchy(const HashGridOptions& o) : options(o), loose(o) {}

    HashGridOptions options;
    SlotTable<D, T> slots;
    GridSet<D, T> sorted;
    std::size_t stale = 0;  // records of `sorted` that no longer count
    GridSet<D, T> resting;
    std::size_t stale_resting = 0;       // the same of `resting`
    std::size_t sleepers_in_sorted = 0;  // that were put to rest since the last update
    DynamicGrids<D, T> loose;
    UnboundedList<D, T> unbounded;

    mutable std::atomic<std::uint64_t> tests{0};     // of the last find_pairs
    mutable std::mutex scratch_mutex;                // guards:
    mutable std::vector<std::vector<Pair>> scratch;  // pairs of the jobs of find_pairs

    /// Adds an object; its box was checked.
    Id insert(const BoxT& box, Filter filter);
    Id insert(const HalfSpace<D, T>& half_space, Filter filter);
    std::uint32_t insert(std::span<const BoxT> boxes);
    void erase(std::uint32_t slot);
    void move(std::uint32_t slot, const BoxT& box);
    void update(std::span<const BoxT> boxes);
    /// Many at once; boxes were checked. A slot may be named more than once by move: the last time counts.
    void erase(std::span<const std::uint32_t> some);
    void move(std::span<const std::uint32_t> some, std::span<const BoxT> boxes);
    void rest(std::span<const std::uint32_t> some);
    void wake(std::span<const std::uint32_t> some);
    void set_filter(std::uint32_t slot, Filter filter);
    [[nodiscard]] std::size_t bytes() const;

    /// Boxes with their slots. No half-spaces.
    struct Gathered {
        std::vector<BoxT> boxes;
        std::vector<std::uint32_t> slots;
        void add(std::uint32_t slot, const BoxT& box) {
            boxes.push_back(box);
            slots.push_back(slot);
        }
    };

    /// Sorts all boxes of what does not rest anew, of slots below `slot_count`. Half-spaces, which are not among them,
    /// stay. sleepers: what rests and is sorted or loose, as gather_sleepers() gives it before.
    void load(const BoxInput<D, T>& input, std::size_t slot_count, const Gathered& sleepers = {});

    /// Whether a record of `sorted` or `resting` is still the box of its slot.
    [[nodiscard]] bool counts(std::uint32_t slot) const { return stale == 0 || slots.is_sorted(slot); }
    [[nodiscard]] bool counts_resting(std::uint32_t slot) const { return stale_resting == 0 || slots.is_resting(slot); }

    /// Calls visit(set, counts) for the grids of both kinds: counts(slot) tells whether a record of the set does.
    template <class Visit>
    void for_each_set(Visit&& visit) const {
        visit(sorted, [this](std::uint32_t slot) { return counts(slot); });
        if (resting.size() != 0) visit(resting, [this](std::uint32_t slot) { return counts_resting(slot); });
    }

    /// Calls visit for every object of a store: visit(slot, box), or, of what is unbounded, visit(object, position).
    template <class Visit>
    void for_each_of(InGrids, Visit&& visit) const {
        for_each_set([&](const GridSet<D, T>& set, const auto& counts) {
            set.for_each([&](std::uint32_t slot, const BoxT& box) {
                if (counts(slot)) visit(slot, box);
            });
        });
    }
    template <class Visit>
    void for_each_of(Loose, Visit&& visit) const {
        loose.for_each([&](std::uint32_t slot) { visit(slot, loose.box(slot)); });
    }
    template <class Visit>
    void for_each_of(Unbounded, Visit&& visit) const {
        for (std::size_t i = 0; i < unbounded.size(); ++i) visit(unbounded[i], i);
    }

    /// Calls visit(slot, box), or, of what is unbounded, visit(slot), for the objects of one store that meet the box.
    /// `found` is scratch. Returns the number of tests.
    template <class Visit>
    std::uint64_t for_each_met_in(InGrids, const BoxT& box, Found& found, Visit&& visit) const {
        std::uint64_t made = 0;
        for_each_set([&](const GridSet<D, T>& set, const auto& counts) {
            made += set.for_each_overlap(box, found, [&](std::uint32_t slot, const BoxT& other) {
                if (counts(slot)) visit(slot, other);
            });
        });
        return made;
    }
    template <class Visit>
    std::uint64_t for_each_met_in(Loose, const BoxT& box, Found&, Visit&& visit) const {
        return loose.for_each_overlap(box, [&](std::uint32_t slot) { visit(slot, loose.box(slot)); });
    }
    template <class Visit>
    std::uint64_t for_each_met_in(Unbounded, const BoxT& box, Found&, Visit&& visit) const {
        for (const auto& object : unbounded)
            if (object.reaches(box)) visit(object.slot);
        return unbounded.size();
    }

    /// The same for the objects of one store that an unbounded object meets; of what is unbounded itself, from position
    /// `first` on.
    template <class Store, class Visit>
    std::uint64_t for_each_met_in(Store store, const UnboundedObject& object, std::size_t /*first*/, Found& found,
                                  Visit&& visit) const {
        if (!object.half_space) return for_each_met_in(store, object.box, found, visit);
        std::uint64_t made = 0;
        for_each_of(store, [&](std::uint32_t slot, const BoxT& box) {
            ++made;
            if (object.reaches(box)) visit(slot, box);
        });
        return made;
    }
    template <class Visit>
    std::uint64_t for_each_met_in(Unbounded, const UnboundedObject& object, std::size_t first, Found&,
                                  Visit&& visit) const {
        QUADRAT_ASSERT(first <= unbounded.size());
        for (std::size_t j = first; j < unbounded.size(); ++j)
            if (object.reaches(unbounded[j])) visit(unbounded[j].slot);
        return unbounded.size() - first;
    }

    /// Calls visit(slot) for everything that meets the box, whichever store it is in. `found` is scratch. Returns the
    /// number of tests.
    template <class Visit>
    std::uint64_t for_each_met(const BoxT& box, Found& found, Visit&& visit) const {
        std::uint64_t made = 0;
        const auto hit = [&](std::uint32_t slot, const auto&...) { visit(slot); };
        for_each_store([&](auto store) { made += for_each_met_in(store, box, found, hit); });
        return made;
    }
    /// The same for everything that an unbounded object meets; of what is unbounded here, from position `first` on.
    template <class Visit>
    std::uint64_t for_each_met(const UnboundedObject& object, std::size_t first, Found& found, Visit&& visit) const {
        std::uint64_t made = 0;
        const auto hit = [&](std::uint32_t slot, const auto&...) { visit(slot); };
        for_each_store([&](auto store) { made += for_each_met_in(store, object, first, found, hit); });
        return made;
    }

    /// The way of every query through the stores. What is unbounded is shown to test(slot, box) or test(slot,
    /// half-space), once; then, for each box of a path, in_grids(box) looks into the sorted grids, and what is loose
    /// and overlaps it is shown to test(slot, box). box_of(piece) gives the path, and ends it by nothing.
    template <class BoxOf, class LookInGrids, class Test>
    void for_each_near(int pieces, BoxOf&& box_of, LookInGrids&& in_grids, Test&& test) const {
        QUADRAT_ASSERT(pieces >= 1);
        for_each_store([&](auto store) { look(store, nullptr, in_grids, test); });
        for (int piece = 0; piece < pieces; ++piece) {
            const std::optional<BoxT> box = box_of(piece);
            if (!box) break;
            for_each_store([&](auto store) { look(store, &*box, in_grids, test); });
        }
    }
    /// The same with test(slot, box) for what is in grids too.
    template <class BoxOf, class Test>
    void for_each_near(int pieces, BoxOf&& box_of, Test&& test) const {
        thread_local Found found;
        for_each_near(
            pieces, box_of, [&](const BoxT& box) { for_each_met_in(InGrids{}, box, found, test); }, test);
    }

  private:
    /// What for_each_near does with a store, for a piece of the path, or, where there is none, before its first.
    template <class LookInGrids, class Test>
    void look(InGrids, const BoxT* piece, LookInGrids&& in_grids, Test&&) const {
        if (piece) in_grids(*piece);
    }
    template <class LookInGrids, class Test>
    void look(Loose, const BoxT* piece, LookInGrids&&, Test&& test) const {
        if (piece) loose.for_each_overlap(*piece, [&](std::uint32_t slot) { test(slot, loose.box(slot)); });
    }
    template <class LookInGrids, class Test>
    void look(Unbounded, const BoxT* piece, LookInGrids&&, Test&& test) const {
        if (!piece)
            for (const auto& object : unbounded) object.show(test);
    }

    /// What does not rest, in the order in which it is stored, but for slots whose mark is not 0.
    [[nodiscard]] Gathered gather_awake(std::size_t room_for, const std::vector<std::uint8_t>& marks = {}) const;
    [[nodiscard]] Gathered gather_sleepers() const;
    void lay_to_rest(const Gathered& sleepers);
    void put(std::uint32_t slot, const BoxT& box);
    void take_out(std::uint32_t slot);
    void put_back(const UnboundedObject& object);
    void sort_again();
    void maybe_rebuild();
    void shrink();
    [[nodiscard]] bool are_few(std::size_t edits) const;
    void update_one_by_one(std::span<const BoxT> boxes);
};

}  // namespace quadrat::broad_phase
