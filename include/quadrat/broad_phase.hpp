// What touches what: every broad phase, the concept that they share, and the one-call function.
#pragma once

#include <quadrat/broad_phase/group_hash.hpp>
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/broad_phase/kept_pairs.hpp>
#include <quadrat/broad_phase/multilevel_hash.hpp>
#include <quadrat/broad_phase/options.hpp>
#include <quadrat/broad_phase/pair_tracker.hpp>
#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/uniform_hash.hpp>
#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/id.hpp>

#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace quadrat {

/// A structure that takes boxes in bulk and finds their overlapping pairs, each once with first < second. insert(span)
/// adds boxes behind those that are there and returns the slot of the first; update(span) gives all of them new boxes,
/// one per slot; both throw bad_value for a bad box and change nothing then.
template <class S, int D, class T>
concept BroadPhase = requires(S s, const S c, std::span<const Box<D, T>> boxes, std::vector<Pair>& out,
                              void (*fn)(Pair)) {
    { s.insert(boxes) } -> std::same_as<std::uint32_t>;
    s.update(boxes);
    c.find_pairs(out);
    c.for_each_pair(fn);
    { c.size() } -> std::convertible_to<std::size_t>;
};

/// A broad phase in which objects come, move and go one by one. Ids are never given twice; erase and move throw
/// stale_id for one that is not there.
template <class S, int D, class T>
concept EditableBroadPhase = BroadPhase<S, D, T> && requires(S s, const S c, const Box<D, T>& box, Id id) {
    { s.insert(box) } -> std::same_as<Id>;
    s.move(id, box);
    s.erase(id);
    { c.contains(id) } -> std::same_as<bool>;
    { c.id(std::uint32_t{}) } -> std::same_as<Id>;
    { c.slots() } -> std::convertible_to<std::size_t>;
};

/// Refills `out` with the pairs of any broad phase for which keep(Pair) -> bool holds; the others are never stored.
/// Throws too_large, with the size it needs and nothing in `out`, where that is more than max_bytes.
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
/// Throws bad_value naming the first bad box, and too_large beyond options.max_bytes. For boxes that move, keep a
/// HashGridHierarchy: it keeps its memory too. Cost: sorting the boxes, and linear in boxes and pairs.
template <int D, class T>
[[nodiscard]] std::vector<Pair> find_pairs(std::span<const Box<D, T>> boxes, const HashGridOptions& options = {}) {
    HashGridHierarchy<D, T> grid(options);
    grid.insert(boxes);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    return pairs;
}
/// The same for a vector, from which D and T are deduced.
template <int D, class T>
[[nodiscard]] std::vector<Pair> find_pairs(const std::vector<Box<D, T>>& boxes, const HashGridOptions& options = {}) {
    return find_pairs(std::span<const Box<D, T>>(boxes), options);
}

}  // namespace quadrat
