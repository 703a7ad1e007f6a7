// The k nearest where points are crowded: on many scales of density, or many at one place. A tree of boxes is cut in
// the middle of the longest edge, so that a box holds one scale, and its leaves are the groups that the vector code of
// the search asks for (tree_search.hpp). Homes for which no group fits are asked one by one (best_first.hpp).
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

}  // namespace quadrat::neighbors
