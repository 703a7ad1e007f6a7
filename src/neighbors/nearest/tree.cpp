#include "neighbors/nearest/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::neighbors {

template <int D, class T>
PointTree<D, T>::PointTree(std::vector<Record<D, T>> records, std::size_t keep)
    : keep_(keep), records_(std::move(records)) {
    const auto n = static_cast<std::uint32_t>(records_.size());
    ids_.resize(n);
    candidate_of_.assign(n, no_self);
    for (auto& axis : axes_) axis.reserve(n + max_lanes);
    candidate_ids_.reserve(n);
    nodes_.reserve(n / 8 + 1);
    if (n > 0) cut(0, n);
    for (auto& axis : axes_) axis.insert(axis.end(), max_lanes, std::numeric_limits<T>::quiet_NaN());
    for (std::uint32_t p = 0; p < n; ++p) ids_[p] = records_[p].id;
}

template <int D, class T>
void PointTree<D, T>::cut(std::uint32_t begin, std::uint32_t end) {
    const std::size_t number = nodes_.size();
    Node node{};
    node.begin = begin, node.end = end;
    for (int k = 0; k < D; ++k) node.lo[k] = node.hi[k] = records_[begin].v[k];
    for (std::uint32_t p = begin; p < end; ++p)
        for (int k = 0; k < D; ++k) {
            node.lo[k] = std::min(node.lo[k], records_[p].v[k]);
            node.hi[k] = std::max(node.hi[k], records_[p].v[k]);
        }
    node.first_candidate = static_cast<std::uint32_t>(candidate_ids_.size());
    int longest = 0;
    const auto edge = [&](int k) { return node.hi[k] / 2 - node.lo[k] / 2; };
    for (int k = 1; k < D; ++k)
        if (edge(k) > edge(longest)) longest = k;
    nodes_.push_back(node);
    if (end - begin <= leaf || !(node.hi[longest] > node.lo[longest])) {
        finish_leaf(nodes_[number]);
        return;
    }
    // Halves first: the sum may be infinite. Between neighbouring numbers the lower one is left alone.
    const T half = std::max(node.lo[longest], std::min(node.lo[longest] / 2 + node.hi[longest] / 2,
                                                       std::nextafter(node.hi[longest], node.lo[longest])));
    const auto at = [&](std::uint32_t p) { return records_.begin() + static_cast<std::ptrdiff_t>(p); };
    const auto above = std::partition(at(begin), at(end), [&](const Record<D, T>& r) { return r.v[longest] <= half; });
    const auto middle = static_cast<std::uint32_t>(above - records_.begin());
    QUADRAT_ASSERT(middle > begin && middle < end);
    cut(begin, middle);
    nodes_[number].right = static_cast<std::uint32_t>(nodes_.size());
    cut(middle, end);
    nodes_[number].last_candidate = static_cast<std::uint32_t>(candidate_ids_.size());
}

template <int D, class T>
void PointTree<D, T>::finish_leaf(Node& node) {
    const auto first = records_.begin() + node.begin, last = records_.begin() + node.end;
    std::sort(first, last, [](const Record<D, T>& a, const Record<D, T>& b) { return a.id < b.id; });
    bool one_place = true;
    for (int k = 0; k < D; ++k) one_place = one_place && node.lo[k] == node.hi[k];
    for (std::uint32_t p = node.begin; p < node.end; ++p) {
        if (one_place && p - node.begin >= keep_) break;
        candidate_of_[p] = static_cast<std::uint32_t>(candidate_ids_.size());
        candidate_ids_.push_back(records_[p].id);
        for (int k = 0; k < D; ++k) axes_[k].push_back(records_[p].v[k]);
    }
    node.last_candidate = static_cast<std::uint32_t>(candidate_ids_.size());
    const auto number = static_cast<std::uint32_t>(&node - nodes_.data());
    const std::uint32_t count = node.end - node.begin, pieces = (count + max_group - 1) / max_group;
    for (std::uint32_t piece = 0; piece < pieces; ++piece)
        stretches_.push_back({number, node.begin + static_cast<std::uint32_t>(std::uint64_t{count} * piece / pieces),
                              node.begin + static_cast<std::uint32_t>(std::uint64_t{count} * (piece + 1) / pieces)});
}

template <int D, class T>
Candidates<D, T> PointTree<D, T>::candidates() const {
    Candidates<D, T> c;
    for (int k = 0; k < D; ++k) c.axes[k] = axes_[k].data();
    c.ids = candidate_ids_.data();
    return c;
}

template <int D, class T>
std::uint64_t PointTree<D, T>::bytes() const {
    std::uint64_t sum = records_.capacity() * sizeof(Record<D, T>) + nodes_.capacity() * sizeof(Node) +
                        stretches_.capacity() * sizeof(Stretch);
    for (const auto& axis : axes_) sum += axis.capacity() * sizeof(T);
    return sum + (ids_.capacity() + candidate_of_.capacity() + candidate_ids_.capacity()) * sizeof(std::uint32_t);
}

template class PointTree<2, float>;
template class PointTree<3, float>;
template class PointTree<2, double>;
template class PointTree<3, double>;

}  // namespace quadrat::neighbors
