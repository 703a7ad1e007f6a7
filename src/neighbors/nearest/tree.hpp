// The k nearest where points are crowded: on many scales of density, or many at one place. A tree of boxes is cut in
// the middle of the longest edge, so that a box holds one scale, and its leaves are the groups that the vector code of
// the search asks for. A home's own corner of the tree holds k points and more, the k-th of which bounds the search;
// everything within that bound is measured and ranked (rank.hpp).
//
// Of the points at one place only the k + 1 with the smallest indices can be in any row, for equal distances are
// ordered by index. The others are homes and no candidates, so that a hundred thousand points at one place cost a
// hundred thousand rows and not their square.
#pragma once

#include "base/array.hpp"
#include "neighbors/grid/grid.hpp"
#include "neighbors/nearest/rank.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

/// Points sorted into the leaves of a tree.
template <int D, class T>
class PointTree {
  public:
    /// Points at one place beyond the `keep` with the smallest ids are no candidates.
    PointTree(std::vector<Record<D, T>> records, std::size_t keep);

    struct Node {
        T lo[D], hi[D];
        std::uint32_t begin, end;  ///< its points, in the order of the tree
        std::uint32_t first_candidate, last_candidate;
        std::uint32_t right;  ///< the left child follows its parent; 0: a leaf
    };
    /// A node whose points are asked for together, or a piece of it.
    struct Stretch {
        std::uint32_t node, begin, end;
    };

    [[nodiscard]] std::span<const Record<D, T>> points() const { return records_; }
    [[nodiscard]] std::span<const std::uint32_t> ids() const { return ids_; }
    [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
    /// In the order of the points, of at most max_group points.
    [[nodiscard]] std::span<const Stretch> stretches() const { return stretches_; }
    /// The place of a point among the candidates, or no_self.
    [[nodiscard]] std::uint32_t candidate_of(std::uint32_t place) const { return candidate_of_[place]; }
    [[nodiscard]] Candidates<D, T> candidates() const;
    [[nodiscard]] std::uint32_t candidate_count() const { return static_cast<std::uint32_t>(candidate_ids_.size()); }
    [[nodiscard]] std::size_t size() const { return records_.size(); }
    [[nodiscard]] std::uint64_t bytes() const;

  private:
    static constexpr std::uint32_t leaf = 24;  // points at most, unless all are at one place

    void cut(std::uint32_t begin, std::uint32_t end);
    void finish_leaf(Node& node);

    std::size_t keep_;
    std::vector<Record<D, T>> records_;
    std::vector<std::uint32_t> ids_, candidate_of_;
    std::vector<Node> nodes_;
    std::vector<Stretch> stretches_;
    std::vector<T> axes_[D];  // of candidates, and what vector code may read behind them
    std::vector<std::uint32_t> candidate_ids_;
};

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
            find(from, to);
            std::size_t at = 0;
            for (std::uint32_t h = from; h < to; ++h) {
                row(h, row_of(h, at, group_.count[h - from]));
                at += group_.count[h - from];
            }
        }
        return tests_;
    }

  private:
    using Node = typename PointTree<D, T>::Node;
    using Stretch = typename PointTree<D, T>::Stretch;

    [[nodiscard]] std::span<const Stretch> stretches_between(std::uint32_t begin, std::uint32_t end) const;
    /// Squared distances and positions of all candidates that can be in the rows of homes [from, to), which are in one
    /// stretch.
    void find(std::uint32_t from, std::uint32_t to);
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
