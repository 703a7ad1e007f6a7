// The row of one home by itself in an open world: what best_first.hpp finds, ranked.
#pragma once

#include "neighbors/nearest/best_first.hpp"
#include "neighbors/nearest/rank.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

template <int D, class T>
class AloneSearch {
  public:
    /// farthest: a plain radius (cells/predicate.hpp), or 0 for no limit.
    AloneSearch(const PointTree<D, T>& tree, T farthest)
        : best_(tree, farthest), ranking_(tree.candidates(), farthest) {}

    /// The k nearest, or all if there are fewer. self: the index of the home, or no_self. Valid until the next call.
    [[nodiscard]] std::span<const Found<T>> row(const Vec<D, T>& home, std::uint32_t self, std::uint32_t k) {
        positions_.clear();
        for (const auto& hit : best_.search(home, self, k)) positions_.push_back(hit.position);
        ranking_.gather(home, self, positions_.data(), static_cast<std::uint32_t>(positions_.size()));
        return ranking_.nearest(k);
    }
    [[nodiscard]] std::uint64_t tests() const { return best_.tests(); }

  private:
    BestFirst<D, T> best_;
    Ranking<D, T> ranking_;
    std::vector<std::uint32_t> positions_;
};

}  // namespace quadrat::neighbors
