// What touches what: every broad phase, the concept that they share, and the one-call function.
#pragma once

#include <quadrat/broad_phase/group_hash.hpp>
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/broad_phase/kept_pairs.hpp>
#include <quadrat/broad_phase/multilevel_hash.hpp>
#include <quadrat/broad_phase/options.hpp>
#include <quadrat/broad_phase/pair_tracker.hpp>
#include <quadrat/geometry.hpp>

#include <concepts>
#include <span>
#include <vector>

namespace quadrat {

/// A structure that takes boxes in bulk and finds their overlapping pairs, each once with first < second.
template <class S, int D, class T>
concept BroadPhase = requires(S s, const S c, std::span<const Box<D, T>> boxes, std::vector<Pair>& out) {
    s.insert(boxes);
    s.update(boxes);
    c.find_pairs(out);
};

static_assert(BroadPhase<HashGridHierarchy<3, float>, 3, float>);

/// All overlapping pairs of the boxes, each once with first < second, by the structure that is fastest for most inputs.
/// Throws bad_value naming the first bad box. For boxes that move, keep a HashGridHierarchy.
template <int D, class T>
[[nodiscard]] std::vector<Pair> find_pairs(std::span<const Box<D, T>> boxes, const HashGridOptions& options = {}) {
    HashGridHierarchy<D, T> grid(options);
    grid.insert(boxes);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    return pairs;
}
template <int D, class T>
[[nodiscard]] std::vector<Pair> find_pairs(const std::vector<Box<D, T>>& boxes, const HashGridOptions& options = {}) {
    return find_pairs(std::span<const Box<D, T>>(boxes), options);
}

}  // namespace quadrat
