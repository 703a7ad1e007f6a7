#include "neighbors/nearest/best_first.hpp"

#include "base/assert.hpp"
#include "cells/predicate.hpp"

#include <algorithm>
#include <limits>

namespace quadrat::neighbors {
namespace {

// Who needs more images than that lies very far away in an open direction, or asks for very many neighbours.
constexpr double most_images = 1 << 16;

}  // namespace

template <int D, class T>
BestFirst<D, T>::BestFirst(const PointTree<D, T>& tree, T farthest)
    : tree_(tree),
      candidates_(tree.candidates()),
      most_sq_(farthest > T(0) ? farthest * farthest : std::numeric_limits<T>::infinity()) {
    QUADRAT_ASSERT(farthest == T(0) || cells::plain_radius(farthest));
}

template <int D, class T>
BestFirst<D, T>::BestFirst(const PointTree<D, T>& tree, const Lattice<D, T>& lattice, T farthest, double reach)
    : BestFirst(tree, farthest) {
    QUADRAT_ASSERT(lattice.active() && reach > 0);
    lattice_ = &lattice;
    first_reach_ = reach;
}

template <int D, class T>
T BestFirst<D, T>::farthest_of_wanted() const {
    if (nearest_.size() < wanted_) return most_sq_;
    // Squares below the range of the type are not in the order of the distances: all of them are looked at.
    return std::min(std::max(nearest_.front(), std::numeric_limits<T>::min()), most_sq_);
}

template <int D, class T>
T BestFirst<D, T>::gap_sq(std::uint32_t node, std::uint32_t image) const {
    // Formed like the predicate's sum, of differences that are not larger: it never exceeds that of a point inside.
    const auto& box = tree_.nodes()[node];
    T sum = 0;
    for (int k = 0; k < D; ++k) {
        const T below = (box.lo[k] - home_[k]) + offsets_[image][k],
                above = (box.hi[k] - home_[k]) + offsets_[image][k];
        const T gap = std::max(std::max(below, -above), T(0));
        sum = k == 0 ? gap * gap : sum + gap * gap;
    }
    return sum;
}

template <int D, class T>
void BestFirst<D, T>::add(std::uint32_t node, std::uint32_t image) {
    if (tree_.nodes()[node].first_candidate == tree_.nodes()[node].last_candidate) return;
    boxes_.push_back({gap_sq(node, image), node, image});
    std::push_heap(boxes_.begin(), boxes_.end());
}

template <int D, class T>
bool BestFirst<D, T>::add_images(double reach) {
    std::int32_t from[3] = {0, 0, 0}, to[3] = {0, 0, 0};
    if (lattice_) lattice_->images_near(home_.v, home_.v, reach, from, to);
    double images = 1;
    for (int k = 0; k < 3; ++k) images *= static_cast<double>(to[k]) - from[k] + 1;
    if (images > most_images) return false;
    const bool none = shifts_.empty();
    Shift n{};
    for (n[0] = from[0]; n[0] <= to[0]; ++n[0])
        for (n[1] = from[1]; n[1] <= to[1]; ++n[1])
            for (n[2] = from[2]; n[2] <= to[2]; ++n[2]) {
                // Those of the reach before are a block of these.
                bool there = !none;
                for (int k = 0; k < 3; ++k) there = there && from_[k] <= n[k] && n[k] <= to_[k];
                if (there) continue;
                shifts_.push_back(n);
                offsets_.push_back(lattice_ ? lattice_->offset(n) : Vec<D, T>{});
                add(0, static_cast<std::uint32_t>(shifts_.size() - 1));
            }
    std::copy_n(from, 3, from_);
    std::copy_n(to, 3, to_);
    return true;
}

template <int D, class T>
void BestFirst<D, T>::test_leaf(const Box& box) {
    const auto& node = tree_.nodes()[box.node];
    const Vec<D, T>& offset = offsets_[box.image];
    const bool own_place = shifts_[box.image] == Shift{};
    tests_ += node.last_candidate - node.first_candidate;
    for (std::uint32_t p = node.first_candidate; p < node.last_candidate; ++p) {
        if (own_place && candidates_.ids[p] == self_) continue;
        T sum = 0;
        for (int k = 0; k < D; ++k) {
            const T d = (candidates_.axes[k][p] - home_[k]) + offset[k];
            sum = k == 0 ? d * d : sum + d * d;
        }
        if (!(sum <= farthest_of_wanted())) continue;
        hits_.push_back({sum, p, box.image});
        nearest_.push_back(sum);
        std::push_heap(nearest_.begin(), nearest_.end());
        if (nearest_.size() <= wanted_) continue;
        std::pop_heap(nearest_.begin(), nearest_.end());
        nearest_.pop_back();
    }
}

template <int D, class T>
void BestFirst<D, T>::open(T reach_sq) {
    while (!boxes_.empty() && boxes_.front().gap_sq <= std::min(reach_sq, farthest_of_wanted())) {
        std::pop_heap(boxes_.begin(), boxes_.end());
        const Box box = boxes_.back();
        boxes_.pop_back();
        const std::uint32_t right = tree_.nodes()[box.node].right;
        if (right == 0) {
            test_leaf(box);
        } else {
            add(box.node + 1, box.image);
            add(right, box.image);
        }
    }
}

template <int D, class T>
auto BestFirst<D, T>::search(const Vec<D, T>& home, std::uint32_t self, std::uint32_t wanted) -> std::span<const Hit> {
    home_ = home, self_ = self, wanted_ = wanted;
    complete_ = true;
    boxes_.clear(), nearest_.clear(), hits_.clear(), shifts_.clear(), offsets_.clear();
    if (wanted == 0 || tree_.candidate_count() == 0) return hits_;
    if (!lattice_) {
        complete_ = add_images(0);
        open(std::numeric_limits<T>::infinity());
        return hits_;
    }
    for (double reach = first_reach_;; reach *= 1.5) {
        complete_ = cells::plain_radius(static_cast<T>(reach)) && add_images(reach);
        if (!complete_) return hits_;
        // A little less than what images_near() promises, for the roundings of the squares.
        const T seen_sq = static_cast<T>(reach * reach * (1 - 1e-5));
        open(seen_sq);
        if (farthest_of_wanted() <= seen_sq) return hits_;
    }
}

template class BestFirst<2, float>;
template class BestFirst<3, float>;
template class BestFirst<2, double>;
template class BestFirst<3, double>;

}  // namespace quadrat::neighbors
