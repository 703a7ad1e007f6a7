#include "broad_phase/outside_pairs.hpp"

#include "broad_phase/pair_parts.hpp"
#include "cells/validate.hpp"

#include <algorithm>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t least_job = 4096, jobs_at_least = 64;  // objects; of two sets
constexpr std::size_t few_loose = 32;           // loose objects: a set of their own costs more than all pairs of them
constexpr std::size_t sorted_loose_from = 256;  // loose objects: below, a set of their own costs more than it saves

}  // namespace

template <int D, class T>
void OutsidePairs<D, T>::add(std::uint32_t a, std::uint32_t b, PairBuffer& out) const {
    QUADRAT_ASSERT(a != b);
    if (h_.slots.are_pair(h_.slots, a, h_.slots, b)) out.add({std::min(a, b), std::max(a, b)});
}

template <int D, class T>
void OutsidePairs<D, T>::append(PairBuffer& out) const {
    for_each_store_outside([&](auto store) { h_.tests += append_of(store, out); });
}

template <int D, class T>
std::uint64_t OutsidePairs<D, T>::append_of(Loose, PairBuffer& out) const {
    const std::size_t n = h_.loose.size();
    const bool alone = h_.sorted.size() + h_.resting.size() == 0;
    if (alone && n <= h_.options.all_pairs_below && n <= few_loose) return append_few(out);
    if (alone ? n <= h_.options.all_pairs_below : n >= sorted_loose_from) return append_loose_by_sorting(out);
    return append_loose(out);
}

template <int D, class T>
std::uint64_t OutsidePairs<D, T>::append_of(Unbounded, PairBuffer& out) const {
    std::uint64_t tests = 0;
    Found found;
    h_.for_each_of(Unbounded{}, [&](const auto& object, std::size_t i) {
        tests += h_.for_each_met(object, i + 1, found, [&](std::uint32_t other) { add(object.slot, other, out); });
    });
    return tests;
}

// HHG 3.7.
template <int D, class T>
std::uint64_t OutsidePairs<D, T>::append_few(PairBuffer& out) const {
    QUADRAT_ASSERT(h_.loose.size() <= few_loose && h_.sorted.size() + h_.resting.size() == 0);
    std::uint32_t slots[few_loose];
    std::size_t n = 0;
    h_.for_each_of(Loose{}, [&](std::uint32_t slot, const Box<D, T>&) { slots[n++] = slot; });
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j)
            if (overlap(h_.loose.box(slots[i]), h_.loose.box(slots[j]))) add(slots[i], slots[j], out);
    return n * (n - std::size_t{n != 0}) / 2;
}

template <int D, class T>
std::uint64_t OutsidePairs<D, T>::append_loose(PairBuffer& out) const {
    std::uint64_t tests = 0;
    Found found;
    h_.loose.for_each_pair(tests, [&](std::uint32_t a, std::uint32_t b) { add(a, b, out); });
    h_.for_each_of(Loose{}, [&](std::uint32_t slot, const Box<D, T>& box) {
        const auto hit = [&](std::uint32_t other, const auto&) { add(slot, other, out); };
        tests += h_.for_each_met_in(InGrids{}, box, found, hit);
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
    h_.for_each_of(Loose{}, [&](std::uint32_t slot, const Box<D, T>& box) {
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
    for_each_set_pair(own, h_, [&](const auto& a, const auto& counts_a, const auto& b, const auto& counts_b) {
        for (const auto& job : GridSet<D, T>::jobs_between(a, b, SIZE_MAX)) {
            base::check_stop(h_.options.watch);
            tests += pairs_of_job(a, b, job, block, counts_a, counts_b, [&](std::span<const Pair> pairs) {
                for (const Pair& p : pairs) add(slots[p.first], p.second, out);
            });
        }
    });
    // Those that fit no class of their own set.
    Found found;
    own.loose.for_each_pair(tests, [&](std::uint32_t a, std::uint32_t b) { add(slots[a], slots[b], out); });
    own.for_each_of(Loose{}, [&](std::uint32_t i, const Box<D, T>& box) {
        const auto hit_own = [&](std::uint32_t j, const auto&) { add(slots[i], slots[j], out); };
        const auto hit = [&](std::uint32_t other, const auto&) { add(slots[i], other, out); };
        tests += own.for_each_met_in(InGrids{}, box, found, hit_own);
        tests += h_.for_each_met_in(InGrids{}, box, found, hit);
    });
    return tests;
}

// What is sorted in both, job by job, on the executor of the first; the jobs do not depend on it.
template <int D, class T>
std::uint64_t OutsidePairs<D, T>::find_between_sorted(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b,
                                                      std::size_t max_bytes, std::vector<Pair>& out,
                                                      std::size_t& count) {
    using Grids = GridSet<D, T>;
    struct Work {
        typename Grids::Job job;
        bool a_rests, b_rests;
    };
    std::vector<Work> all;
    for_each_set_pair(a, b, [&](const Grids& u, const auto&, const Grids& v, const auto&) {
        const std::size_t objects = std::max(least_job, (u.size() + v.size()) / jobs_at_least);
        for (const auto& job : Grids::jobs_between(u, v, objects))
            all.push_back({job, &u != &a.sorted, &v != &b.sorted});
    });
    std::atomic<std::uint64_t> tests{0};
    const PartScratch<D, T> scratch(a, all.size());
    const std::size_t limit = max_bytes / sizeof(Pair);
    count = collect({a.options.executor ? a.options.executor : b.options.executor, a.options.watch, max_bytes},
                    all.size(), out, scratch.parts(), [&](std::size_t k, std::vector<Pair>& part) {
                        std::size_t dropped = 0;
                        const auto drop = [&](std::span<const Pair> pairs) {
                            dropped += pairs.size();
                            return std::size_t{0};
                        };
                        PairBuffer buffer(part, 0, spill_to(limit, drop));
                        std::vector<Pair> block;
                        const Work& work = all[k];
                        tests += pairs_of_job(
                            work.a_rests ? a.resting : a.sorted, work.b_rests ? b.resting : b.sorted, work.job, block,
                            [&](std::uint32_t slot) { return work.a_rests ? a.counts_resting(slot) : a.counts(slot); },
                            [&](std::uint32_t slot) { return work.b_rests ? b.counts_resting(slot) : b.counts(slot); },
                            [&](std::span<Pair> pairs) {
                                base::check_stop(a.options.watch);
                                Pair* end = buffer.reserve(pairs.size());
                                for (const Pair& p : pairs)
                                    if (SlotTable<D, T>::are_pair(a.slots, p.first, b.slots, p.second)) *end++ = p;
                                buffer.set_end(end);
                                buffer.settle();
                            });
                        return buffer.size() + dropped;
                    });
    return tests;
}

template <int D, class T>
void OutsidePairs<D, T>::find_between(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, std::vector<Pair>& out) {
    const std::size_t max_bytes = std::min(a.options.max_bytes, b.options.max_bytes);
    const std::size_t limit = max_bytes / sizeof(Pair);
    std::size_t sorted = 0;
    std::uint64_t tests = find_between_sorted(a, b, max_bytes, out, sorted);
    std::size_t dropped = sorted > limit ? sorted : 0;
    const auto drop = [&](std::span<const Pair> pairs) {
        dropped += pairs.size();
        return std::size_t{0};
    };
    {
        PairBuffer pairs(out, out.size(), spill_to(dropped != 0 ? 0 : limit, drop));
        tests += append_between_others(a, b, pairs);
    }
    a.tests = tests;
    if (dropped == 0) return;
    dropped += out.size();
    out.clear();
    cells::throw_too_large(dropped, max_bytes);
}

// What is loose or unbounded in a with all of b, and what is so in b with what is in grids in a.
template <int D, class T>
std::uint64_t OutsidePairs<D, T>::append_between_others(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b,
                                                        PairBuffer& out) {
    std::uint64_t tests = 0;
    const auto add = [&](std::uint32_t i, std::uint32_t j) {
        if (SlotTable<D, T>::are_pair(a.slots, i, b.slots, j)) out.add({i, j});
    };
    for_each_store_outside([&](auto store) { tests += meet_all(store, a, b, add); });
    for_each_store_outside([&](auto store) { tests += meet_grids(a, store, b, add); });
    return tests;
}

template <int D, class T>
template <class Visit>
std::uint64_t OutsidePairs<D, T>::meet_all(Loose, const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, Visit&& visit) {
    std::uint64_t tests = 0;
    Found found;
    a.for_each_of(Loose{}, [&](std::uint32_t i, const Box<D, T>& box) {
        tests += b.for_each_met(box, found, [&](std::uint32_t j) { visit(i, j); });
    });
    return tests;
}

template <int D, class T>
template <class Visit>
std::uint64_t OutsidePairs<D, T>::meet_all(Unbounded, const Hierarchy<D, T>& a, const Hierarchy<D, T>& b,
                                           Visit&& visit) {
    std::uint64_t tests = 0;
    Found found;
    a.for_each_of(Unbounded{}, [&](const auto& object, std::size_t) {
        tests += b.for_each_met(object, 0, found, [&](std::uint32_t j) { visit(object.slot, j); });
    });
    return tests;
}

template <int D, class T>
template <class Visit>
std::uint64_t OutsidePairs<D, T>::meet_grids(const Hierarchy<D, T>& a, Loose, const Hierarchy<D, T>& b, Visit&& visit) {
    std::uint64_t tests = 0;
    Found found;
    b.for_each_of(Loose{}, [&](std::uint32_t j, const Box<D, T>& box) {
        tests += a.for_each_met_in(InGrids{}, box, found, [&](std::uint32_t i, const auto&) { visit(i, j); });
    });
    return tests;
}

template <int D, class T>
template <class Visit>
std::uint64_t OutsidePairs<D, T>::meet_grids(const Hierarchy<D, T>& a, Unbounded, const Hierarchy<D, T>& b,
                                             Visit&& visit) {
    std::uint64_t tests = 0;
    b.for_each_of(Unbounded{}, [&](const auto& object, std::size_t) {
        a.for_each_of(InGrids{}, [&](std::uint32_t i, const Box<D, T>& box) {
            ++tests;
            if (object.reaches(box)) visit(i, object.slot);
        });
    });
    return tests;
}

template class OutsidePairs<2, float>;
template class OutsidePairs<3, float>;
template class OutsidePairs<2, double>;
template class OutsidePairs<3, double>;

}  // namespace quadrat::broad_phase
