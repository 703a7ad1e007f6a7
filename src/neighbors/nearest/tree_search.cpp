#include "neighbors/nearest/tree_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::neighbors {
namespace {

// A group sees some ten candidates per wanted point where points are spread on many scales; asking each of its homes by
// itself costs as much as several times that (docs/decisions/0104).
constexpr std::uint64_t many_for_one = 64;

}  // namespace

template <int D, class T>
TreeSearch<D, T>::TreeSearch(const PointTree<D, T>& homes, const PointTree<D, T>& points, bool own, std::uint32_t k,
                             T farthest)
    : homes_(homes),
      points_(points),
      own_(own),
      k_(k),
      wanted_(std::min(k, points.candidate_count())),
      farthest_(farthest),
      kernel_(vector_kernels().template get<D, T>()),
      ranking_(points.candidates(), farthest),
      alone_(points, farthest) {
    const Candidates<D, T> c = points.candidates();
    for (int axis = 0; axis < D; ++axis) part_.storage[axis] = c.axes[axis], group_.home[axis] = home_[axis];
    part_.label = nullptr;  // positions
    group_.self = self_;
    group_.scratch = &scratch_;
    group_.parts = &part_;
    group_.part_count = 1;
}

template <int D, class T>
auto TreeSearch<D, T>::stretches_between(std::uint32_t begin, std::uint32_t end) const -> std::span<const Stretch> {
    const auto all = homes_.stretches();
    const auto first =
        std::upper_bound(all.begin(), all.end(), begin, [](std::uint32_t p, const Stretch& s) { return p < s.end; });
    const auto last =
        std::lower_bound(first, all.end(), end, [](const Stretch& s, std::uint32_t p) { return s.begin < p; });
    return {first, last};
}

template <int D, class T>
void TreeSearch<D, T>::take(std::uint32_t from, std::uint32_t to) {
    group_.size = to - from;
    for (int k = 0; k < D; ++k) {
        part_.lo[k] = std::numeric_limits<T>::max();
        part_.hi[k] = std::numeric_limits<T>::lowest();
    }
    for (std::uint32_t h = from; h < to; ++h) {
        for (int k = 0; k < D; ++k) {
            const T v = homes_.points()[h].v[k];
            home_[k][h - from] = v;
            part_.lo[k] = std::min(part_.lo[k], v);
            part_.hi[k] = std::max(part_.hi[k], v);
        }
        self_[h - from] = own_ ? homes_.candidate_of(h) : no_self;
    }
}

template <int D, class T>
T TreeSearch<D, T>::gap_sq(const Node& node) const {
    // Formed like the predicate's sum, of differences that are not larger: it never exceeds the sum of any point
    // inside.
    T sum = 0;
    for (int k = 0; k < D; ++k) {
        const T gap = std::max(std::max(node.lo[k] - part_.hi[k], part_.lo[k] - node.hi[k]), T(0));
        sum = k == 0 ? gap * gap : sum + gap * gap;
    }
    return sum;
}

template <int D, class T>
auto TreeSearch<D, T>::corner(std::uint64_t candidates) const -> const Node& {
    const auto nodes = points_.nodes();
    std::uint32_t at = 0;
    const auto count = [&](std::uint32_t n) { return nodes[n].last_candidate - nodes[n].first_candidate; };
    while (nodes[at].right != 0) {
        const std::uint32_t left = at + 1, right = nodes[at].right;
        const std::uint32_t nearer = gap_sq(nodes[right]) < gap_sq(nodes[left]) ? right : left;
        if (count(nearer) < candidates) break;
        at = nearer;
    }
    return nodes[at];
}

template <int D, class T>
void TreeSearch<D, T>::measure(T cull_sq) {
    std::size_t total = 0;
    for (const Range& r : ranges_) total += r.end - r.begin;
    part_.ranges = ranges_.data();
    part_.range_count = ranges_.size();
    part_.open_ended = false;
    part_.cull_sq = cull_sq;
    scratch_.reserve(total, ranges_.size());
    const std::size_t candidates = kernel_.cull(group_, part_, 0);
    const std::size_t room = group_.size * (candidates + max_lanes);
    distances_.resize_discard(room);
    positions_.resize_discard(room);
    kernel_.measure(group_, candidates, distances_.data(), positions_.data());
    tests_ += group_.size * candidates;
}

template <int D, class T>
void TreeSearch<D, T>::bound() {
    const T most = farthest_ > T(0) ? farthest_ * farthest_ : std::numeric_limits<T>::infinity();
    // Of twice as many the nearest k tell more: the corner is seldom around the home (docs/decisions/0104).
    const Node& near = corner(2 * std::uint64_t{wanted_} + (own_ ? 1u : 0u));
    ranges_.assign(1, {near.first_candidate, near.last_candidate});
    std::fill_n(group_.radius_sq, group_.size, std::numeric_limits<T>::infinity());
    measure(std::numeric_limits<T>::infinity());
    std::size_t at = 0;
    for (unsigned a = 0; a < group_.size; ++a) {
        const std::uint32_t count = group_.count[a];
        const T limit = count >= wanted_ && wanted_ > 0 ? ranking_.value_at(distances_.data() + at, count, wanted_ - 1)
                                                        : std::numeric_limits<T>::infinity();
        // Squares below the range of the type are not in the order of the distances: all of them are looked at.
        group_.radius_sq[a] = std::min(std::max(limit, std::numeric_limits<T>::min()), most);
        at += count;
    }
}

template <int D, class T>
void TreeSearch<D, T>::list_ranges(T reach_sq) {
    ranges_.clear();
    stack_.assign(1, 0);
    const auto nodes = points_.nodes();
    while (!stack_.empty()) {
        const std::uint32_t at = stack_.back();
        stack_.pop_back();
        const Node& node = nodes[at];
        if (!(gap_sq(node) <= reach_sq) || node.first_candidate == node.last_candidate) continue;
        if (node.right != 0) {
            stack_.push_back(node.right);
            stack_.push_back(at + 1);
        } else if (!ranges_.empty() && ranges_.back().end == node.first_candidate) {
            ranges_.back().end = node.last_candidate;
        } else {
            ranges_.push_back({node.first_candidate, node.last_candidate});
        }
    }
}

template <int D, class T>
bool TreeSearch<D, T>::find(std::uint32_t from, std::uint32_t to) {
    take(from, to);
    if (points_.candidate_count() == 0) {
        std::fill_n(group_.count, group_.size, 0u);
        return true;
    }
    bound();
    const T reach_sq = *std::max_element(group_.radius_sq, group_.radius_sq + group_.size);
    list_ranges(reach_sq);
    std::uint64_t total = 0;
    for (const Range& r : ranges_) total += r.end - r.begin;
    if (total > many_for_one * (wanted_ + group_.size)) return false;
    measure(reach_sq);
    return true;
}

template <int D, class T>
std::span<const Found<T>> TreeSearch<D, T>::row_of(std::uint32_t home, std::size_t at, std::uint32_t count) {
    const std::span<const Found<T>> ranked =
        ranking_.rank(distances_.data() + at, positions_.data() + at, count, std::min(wanted_, count));
    if (!ranked.empty()) return ranked;
    ranking_.gather(place(home), own_ ? homes_.ids()[home] : no_self, positions_.data() + at, count);
    return ranking_.nearest(k_);
}

template class TreeSearch<2, float>;
template class TreeSearch<3, float>;
template class TreeSearch<2, double>;
template class TreeSearch<3, double>;

}  // namespace quadrat::neighbors
