// The k nearest of a stretch of homes in a tree of points (tree.hpp). A group's own corner of the tree holds k points
// and more, the k-th of which bounds the search of each home; everything within that bound is measured and ranked
// (rank.hpp). A group that lies far from all points, or across a hole between them, would see very many within one
// bound: its homes are asked one by one.
#pragma once

#include "base/array.hpp"
#include "neighbors/nearest/alone.hpp"
#include "neighbors/nearest/rank.hpp"
#include "neighbors/nearest/tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

/// The rows of a stretch of homes.
template <int D, class T>
class TreeSearch {
  public:
    /// own: homes and points are the same tree, and a home is not its own neighbour. farthest: 0 for no limit, or one
    /// whose square is within range (cells/predicate.hpp).
    TreeSearch(const PointTree<D, T>& homes, const PointTree<D, T>& points, bool own, std::uint32_t k, T farthest);

    /// Rows of the homes at [begin, end): row(place, found). Returns the number of distance tests.
    template <class Row>
    std::uint64_t run(std::uint32_t begin, std::uint32_t end, Row&& row) {
        for (const auto& s : stretches_between(begin, end)) {
            const std::uint32_t from = std::max(s.begin, begin), to = std::min(s.end, end);
            if (!find(from, to)) {
                for (std::uint32_t h = from; h < to; ++h)
                    row(h, alone_.row(place(h), own_ ? homes_.ids()[h] : no_self, k_));
                continue;
            }
            std::size_t at = 0;
            for (std::uint32_t h = from; h < to; ++h) {
                row(h, row_of(h, at, group_.count[h - from]));
                at += group_.count[h - from];
            }
        }
        return tests_ + alone_.tests();
    }

  private:
    using Node = typename PointTree<D, T>::Node;
    using Stretch = typename PointTree<D, T>::Stretch;

    [[nodiscard]] std::span<const Stretch> stretches_between(std::uint32_t begin, std::uint32_t end) const;
    [[nodiscard]] Vec<D, T> place(std::uint32_t home) const {
        Vec<D, T> v;
        std::copy_n(homes_.points()[home].v, D, v.v);
        return v;
    }
    /// Squared distances and positions of all candidates that can be in the rows of homes [from, to), which are in one
    /// stretch. False, and nothing, if there are too many for what the group asks for.
    [[nodiscard]] bool find(std::uint32_t from, std::uint32_t to);
    void take(std::uint32_t from, std::uint32_t to);
    /// The corner of the tree around the group that holds at least so many candidates.
    [[nodiscard]] const Node& corner(std::uint64_t candidates) const;
    void measure(T cull_sq);
    void bound();
    void list_ranges(T reach_sq);
    [[nodiscard]] T gap_sq(const Node& node) const;
    std::span<const Found<T>> row_of(std::uint32_t home, std::size_t at, std::uint32_t count);

    const PointTree<D, T>& homes_;
    const PointTree<D, T>& points_;
    bool own_;
    std::uint32_t k_, wanted_;
    T farthest_;
    Kernel<D, T> kernel_;
    Ranking<D, T> ranking_;
    AloneSearch<D, T> alone_;
    Group<T> group_{};
    Part<T> part_{};
    Scratch<T> scratch_;
    T home_[D][max_group + max_lanes];
    std::uint32_t self_[max_group];
    std::vector<Range> ranges_;
    std::vector<std::uint32_t> stack_;
    base::Array<T> distances_;
    base::Array<std::uint32_t> positions_;
    std::uint64_t tests_ = 0;
};

}  // namespace quadrat::neighbors
