// What touches what: every broad phase, the concept that they share, and the one-call function. All give the same
// pairs, by the same comparison (quadrat::overlap): boxes that touch overlap.
//
//     HashGridHierarchy   the production structure: all sizes, edits, spheres, half-spaces, queries, filters
//     KeptPairs           boxes of which few move far in a step: pairs are kept from step to step
//     PeriodicBoxes       boxes in a world that repeats itself along some axes
//     PairEvents          which pairs began, went on and ended since the last step, by ids, while they are found
//     PairTracker         the same for the pairs of any structure, by slots
//     GroupHash           boxes of like size in few voxels, as for deforming meshes (GSH)
//     HierarchicalHash    the structure of HSH, and MultilevelHash, UniformHash, which it is measured against
//     BruteForce          an oracle, or a few hundred boxes
#pragma once

#include <quadrat/broad_phase/group_hash.hpp>
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/broad_phase/kept_pairs.hpp>
#include <quadrat/broad_phase/multilevel_hash.hpp>
#include <quadrat/broad_phase/options.hpp>
#include <quadrat/broad_phase/pair_events.hpp>
#include <quadrat/broad_phase/pair_tracker.hpp>
#include <quadrat/broad_phase/periodic_boxes.hpp>
#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/uniform_hash.hpp>
#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/id.hpp>

#include <concepts>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace quadrat {

/// A structure that takes boxes in bulk and finds their overlapping pairs: for code that is to run with any of them.
///
///     template <quadrat::BroadPhase<3, float> S>
///     void step(S& structure, std::span<const quadrat::Box3f> boxes, std::vector<quadrat::Pair>& pairs) {
///         structure.update(boxes);
///         structure.find_pairs(pairs);
///     }
///
/// What the calls mean, which a concept cannot say:
///
///     insert(boxes)       adds boxes behind the last slot in use and returns the slot of the first
///     update(boxes)       gives all of them new boxes, one per slot; bad_shape for another number of them
///     find_pairs(out)     refills `out` with every overlapping pair of slots, each once with first < second, in an
///                         order that does not depend on the number of threads
///     for_each_pair(fn)   fn(Pair) for each of them, on the calling thread
///     size()              how many boxes there are
///
/// insert and update throw bad_value for a bad box (NaN, hi < lo) and change nothing then.
template <class S, int D, class T>
concept BroadPhase = requires(S s, const S c, std::span<const Box<D, T>> boxes, std::vector<Pair>& out,
                              void (*fn)(Pair)) {
    { s.insert(boxes) } -> std::same_as<std::uint32_t>;
    s.update(boxes);
    c.find_pairs(out);
    c.for_each_pair(fn);
    { c.size() } -> std::convertible_to<std::size_t>;
};

/// A broad phase in which objects come, move and go one by one: HashGridHierarchy, and the structures that are made of
/// BoxHash. What the calls mean:
///
///     insert(box)     adds one object, in an empty slot or a new one, and returns its id
///     move(id, box)   gives it a new box; the id stays
///     erase(id)       removes it; the slot may be used again, with another generation
///     contains(id)    whether it is there
///     id(slot)        the id of the object in a slot; null if there is none
///     slots()         slots, empty ones included: how many boxes update() takes
///
/// Ids are never given twice; erase and move throw stale_id for one that is not there, and change nothing then.
template <class S, int D, class T>
concept EditableBroadPhase = BroadPhase<S, D, T> && requires(S s, const S c, const Box<D, T>& box, Id id) {
    { s.insert(box) } -> std::same_as<Id>;
    s.move(id, box);
    s.erase(id);
    { c.contains(id) } -> std::same_as<bool>;
    { c.id(std::uint32_t{}) } -> std::same_as<Id>;
    { c.slots() } -> std::convertible_to<std::size_t>;
};

/// Refills `out` with the pairs of any broad phase for which keep(Pair) -> bool holds, in the order of its
/// for_each_pair; the others are never stored. Keeps the capacity of `out`. Costs a for_each_pair, on the calling
/// thread: the structure's executor is not used, nor is its own max_bytes.
///
///     quadrat::find_pairs_if(hash, pairs, [&](const quadrat::Pair& p) { return body[p.first] != body[p.second]; });
///
/// keep: must not change the structure; what it throws ends the search, with the pairs so far in `out`.
/// max_bytes: of the pairs that are kept. Where they need more, too_large is thrown with the size they need and nothing
/// in `out`; the search goes to its end to count them. Default: no limit.
template <class S, class Keep>
void find_pairs_if(const S& structure, std::vector<Pair>& out, Keep&& keep,
                   std::size_t max_bytes = std::numeric_limits<std::size_t>::max()) {
    out.clear();
    std::size_t count = 0;
    structure.for_each_pair([&](const Pair& p) {
        if (keep(p) && ++count <= max_bytes / sizeof(Pair)) out.push_back(p);
    });
    if (count == out.size()) return;
    out.clear();
    throw Error(ErrorKind::too_large,
                std::to_string(count) + " pairs need " + std::to_string(count * sizeof(Pair)) +
                    " bytes, more than max_bytes = " + std::to_string(max_bytes),
                {.field = "max_bytes"});
}

/// All overlapping pairs of the boxes, each once with first < second, by the structure that is fastest for most inputs.
/// The order is that of HashGridHierarchy, and does not depend on the number of threads. For boxes that move, keep a
/// HashGridHierarchy: it keeps its memory, too. Cost: sorting the boxes, and linear in boxes and pairs where they do
/// not crowd. May be called from many threads at once. Compiled for D = 2, 3 and T = float, double.
///
///     const std::vector<quadrat::Box2f> boxes = {{{{0, 0}}, {{1, 1}}}, {{{1, 1}}, {{2, 2}}}};
///     const auto pairs = quadrat::find_pairs(boxes);   // {0, 1}: they touch
///
/// boxes: std::vector, std::span, ... of Box; no NaN, lo <= hi, not lo = +infinity nor hi = -infinity, or bad_value
/// names the first bad one; they may be infinite otherwise, and have no extent. At most 2^32 - 2, or too_large. None
/// give no pairs. options: see HashGridOptions; those out of their range throw bad_value, a result beyond max_bytes
/// too_large, a watch that asks to end stopped.
template <BoxArray Boxes>
[[nodiscard]] std::vector<Pair> find_pairs(const Boxes& boxes, const HashGridOptions& options = {}) {
    using Box = std::ranges::range_value_t<Boxes>;
    HashGridHierarchy<detail::KindOf<Boxes>::dimension, ScalarOf<Boxes>> grid(options);
    grid.insert(std::span<const Box>(boxes));
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    return pairs;
}

}  // namespace quadrat
