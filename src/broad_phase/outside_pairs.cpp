#include "broad_phase/outside_pairs.hpp"

#include "base/parallel.hpp"
#include "cells/bounded_pairs.hpp"

#include <algorithm>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t sorted_loose_from = 256;  // loose objects: below, a set of their own costs more than it saves

/// Calls take(pairs), a block at a time, for the overlapping pairs (slot of a, slot of b) of the sorted grids of both.
/// Filters are tested where both have some. Returns the number of tests.
template <int D, class T, class Take>
std::uint64_t pairs_of_grids(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, Take&& take) {
    using Grids = GridSet<D, T>;
    std::uint64_t tests = 0;
    std::vector<Pair> block;
    const auto wrong = [&](const Pair& p) { return !a.counts(p.first) || !b.counts(p.second); };
    for (const auto& job : Grids::jobs_between(a.sorted, b.sorted, SIZE_MAX)) {
        base::check_stop(a.options.watch);
        in_blocks(
            block, [&](PairBuffer& buffer) { tests += Grids::run_between(a.sorted, b.sorted, job, buffer); },
            [&](std::span<Pair> pairs) {
                base::check_stop(a.options.watch);
                if (job.swapped)
                    for (Pair& p : pairs) std::swap(p.first, p.second);
                const auto end =
                    a.stale + b.stale == 0 ? pairs.end() : std::remove_if(pairs.begin(), pairs.end(), wrong);
                take(pairs.first(static_cast<std::size_t>(end - pairs.begin())));
            });
    }
    return tests;
}

}  // namespace

template <int D, class T>
void OutsidePairs<D, T>::add(std::uint32_t a, std::uint32_t b, PairBuffer& out) const {
    QUADRAT_ASSERT(a != b);
    if (h_.slots.are_pair(h_.slots, a, h_.slots, b)) out.add({std::min(a, b), std::max(a, b)});
}

template <int D, class T>
void OutsidePairs<D, T>::append(PairBuffer& out) const {
    const bool many = h_.loose.size() >= sorted_loose_from && h_.sorted.size() != 0;
    h_.tests += many ? append_loose_by_sorting(out) : append_loose(out);
    h_.tests += append_unbounded(out);
}

template <int D, class T>
std::uint64_t OutsidePairs<D, T>::append_loose(PairBuffer& out) const {
    std::uint64_t tests = 0;
    Found found;
    h_.loose.for_each_pair(tests, [&](std::uint32_t a, std::uint32_t b) { add(a, b, out); });
    h_.for_each_loose([&](std::uint32_t slot, const Box<D, T>& box) {
        tests +=
            h_.for_each_sorted_overlap(box, found, [&](std::uint32_t other, const auto&) { add(slot, other, out); });
    });
    return tests;
}

// Many loose objects: a sorted set of their own, for this call, is cheaper than the lists of their cells.
template <int D, class T>
std::uint64_t OutsidePairs<D, T>::append_loose_by_sorting(PairBuffer& out) const {
    std::vector<Box<D, T>> boxes;
    std::vector<std::uint32_t> slots;
    boxes.reserve(h_.loose.size());
    slots.reserve(h_.loose.size());
    h_.for_each_loose([&](std::uint32_t slot, const Box<D, T>& box) {
        boxes.push_back(box);
        slots.push_back(slot);
    });
    Hierarchy<D, T> own(h_.options);
    own.load({boxes}, boxes.size());
    QUADRAT_ASSERT(own.unbounded.size() == 0);
    std::uint64_t tests = 0;
    std::vector<Pair> block;
    typename GridSet<D, T>::Window window(own.sorted);
    for (const auto& job : own.sorted.jobs({GridSet<D, T>::least_fine_piece}))
        in_blocks(
            block, [&](PairBuffer& buffer) { tests += own.sorted.run(job, window, buffer); },
            [&](std::span<Pair> pairs) {
                for (const Pair& p : pairs) add(slots[p.first], slots[p.second], out);
            });
    tests += pairs_of_grids(own, h_, [&](std::span<const Pair> pairs) {
        for (const Pair& p : pairs) add(slots[p.first], p.second, out);
    });
    // Those that fit no class of their own set.
    Found found;
    own.loose.for_each_pair(tests, [&](std::uint32_t a, std::uint32_t b) { add(slots[a], slots[b], out); });
    own.for_each_loose([&](std::uint32_t i, const Box<D, T>& box) {
        tests += own.for_each_sorted_overlap(box, found,
                                             [&](std::uint32_t j, const auto&) { add(slots[i], slots[j], out); });
        tests += h_.for_each_sorted_overlap(box, found,
                                            [&](std::uint32_t other, const auto&) { add(slots[i], other, out); });
    });
    return tests;
}

template <int D, class T>
std::uint64_t OutsidePairs<D, T>::append_unbounded(PairBuffer& out) const {
    std::uint64_t tests = 0;
    Found found;
    for (std::size_t i = 0; i < h_.unbounded.size(); ++i) {
        const auto& object = h_.unbounded[i];
        const auto add_other = [&](std::uint32_t other, const Box<D, T>&) { add(object.slot, other, out); };
        const auto test_other = [&](std::uint32_t other, const Box<D, T>& box) {
            ++tests;
            if (object.reaches(box)) add(object.slot, other, out);
        };
        if (object.half_space) {
            h_.for_each_sorted(test_other);
            h_.for_each_loose(test_other);
        } else {
            tests += h_.for_each_sorted_overlap(object.box, found, add_other);
            tests += h_.for_each_loose_overlap(object.box, add_other);
        }
        for (std::size_t j = i + 1; j < h_.unbounded.size(); ++j, ++tests)
            if (object.reaches(h_.unbounded[j])) add(object.slot, h_.unbounded[j].slot, out);
    }
    return tests;
}

template <int D, class T>
void OutsidePairs<D, T>::find_between(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, std::vector<Pair>& out) {
    cells::BoundedPairs pairs(out, std::min(a.options.max_bytes, b.options.max_bytes));
    Found found;
    const auto add = [&](std::uint32_t i, std::uint32_t j) {
        if (SlotTable<D, T>::are_pair(a.slots, i, b.slots, j)) pairs.push({i, j});
    };
    std::uint64_t tests = pairs_of_grids(a, b, [&](std::span<const Pair> block) {
        for (const Pair& p : block) add(p.first, p.second);
    });
    // What is loose in a with what is sorted and loose in b, and what is loose in b with what is sorted in a.
    a.for_each_loose([&](std::uint32_t i, const Box<D, T>& box) {
        const auto add_to = [&](std::uint32_t j, const Box<D, T>&) { add(i, j); };
        tests += b.for_each_sorted_overlap(box, found, add_to);
        tests += b.for_each_loose_overlap(box, add_to);
        for (const auto& object : b.unbounded)
            if (object.reaches(box)) add(i, object.slot);
        tests += b.unbounded.size();
    });
    b.for_each_loose([&](std::uint32_t j, const Box<D, T>& box) {
        tests += a.for_each_sorted_overlap(box, found, [&](std::uint32_t i, const auto&) { add(i, j); });
    });
    // What is unbounded is tested against each object of the other set once.
    for (const auto& object : a.unbounded) {
        const auto test = [&](std::uint32_t j, const Box<D, T>& box) {
            if (object.reaches(box)) add(object.slot, j);
        };
        b.for_each_sorted(test);
        b.for_each_loose(test);
        for (const auto& other : b.unbounded)
            if (object.reaches(other)) add(object.slot, other.slot);
    }
    for (const auto& object : b.unbounded)
        a.for_each_sorted([&](std::uint32_t i, const Box<D, T>& box) {
            if (object.reaches(box)) add(i, object.slot);
        });
    pairs.finish();
    a.tests =
        tests + a.unbounded.size() * b.slots.alive() + b.unbounded.size() * (a.slots.alive() - a.unbounded.size());
}

template class OutsidePairs<2, float>;
template class OutsidePairs<3, float>;
template class OutsidePairs<2, double>;
template class OutsidePairs<3, double>;

}  // namespace quadrat::broad_phase
