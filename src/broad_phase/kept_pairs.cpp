#include <quadrat/broad_phase/kept_pairs.hpp>

#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace quadrat {
namespace {

// A leaver by itself costs some fifteen times its share of finding everything anew, which also gives every other box
// the whole margin again: boxes that leave one after the other are cheaper together.
constexpr std::size_t replaced_at_most = 128;

}  // namespace

template <int D, class T>
KeptPairs<D, T>::KeptPairs(const KeptPairsOptions& options) : options_(options), grid_({.executor = options.executor}) {
    if (!(options.margin >= 0 && options.least >= 0 && options.horizon >= 0))
        throw Error(ErrorKind::bad_value, "margins and horizon must not be negative", {.field = "margin"});
}

template <int D, class T>
std::uint32_t KeptPairs<D, T>::insert(std::span<const Box<D, T>> boxes) {
    cells::check_boxes(boxes, options_.executor);
    cells::check_count(boxes_.size() + boxes.size());
    const auto first = static_cast<std::uint32_t>(boxes_.size());
    boxes_.insert(boxes_.end(), boxes.begin(), boxes.end());
    rebuild({});
    return first;
}

template <int D, class T>
void KeptPairs<D, T>::update(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities) {
    cells::check_slots(boxes.size(), boxes_.size());
    if (!velocities.empty() && velocities.size() != boxes.size())
        throw Error(ErrorKind::bad_shape, "expected one velocity per box", {.field = "velocities"});
    leavers_.clear();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        bool inside = true;  // and then it is a legal box
        for (int k = 0; k < D; ++k)
            inside &= (fat_[i].lo[k] <= boxes[i].lo[k]) & (boxes[i].lo[k] <= boxes[i].hi[k]) &
                      (boxes[i].hi[k] <= fat_[i].hi[k]);
        if (!inside) leavers_.push_back(static_cast<std::uint32_t>(i));
    }
    for (const std::uint32_t i : leavers_) cells::check_box(boxes[i], i);
    boxes_.assign(boxes.begin(), boxes.end());
    if (leavers_.size() > boxes.size() / replaced_at_most)
        rebuild(velocities);
    else if (!leavers_.empty())
        replace(velocities);
}

template <int D, class T>
void KeptPairs<D, T>::fatten(std::size_t i, std::span<const Vec<D, T>> velocities) {
    const Box<D, T>& box = boxes_[i];
    T shortest = box.hi[0] - box.lo[0];
    for (int k = 1; k < D; ++k) shortest = std::min(shortest, box.hi[k] - box.lo[k]);
    T margin = T(options_.least);
    if (shortest < std::numeric_limits<T>::infinity()) margin = std::max(margin, T(options_.margin) * shortest);
    for (int k = 0; k < D; ++k) {
        const T ahead = velocities.empty() ? T{0} : T(options_.horizon) * velocities[i][k];
        fat_[i].lo[k] = box.lo[k] - margin + std::min(ahead, T{0});
        fat_[i].hi[k] = box.hi[k] + margin + std::max(ahead, T{0});
    }
}

template <int D, class T>
void KeptPairs<D, T>::rebuild(std::span<const Vec<D, T>> velocities) {
    const bool resized = fat_.size() != boxes_.size();
    fat_.resize(boxes_.size());
    left_.assign(boxes_.size(), 0);
    for (std::size_t i = 0; i < boxes_.size(); ++i) fatten(i, velocities);
    if (resized) {
        grid_.clear();
        grid_.insert(std::span<const Box<D, T>>(fat_));
    } else {
        grid_.update(std::span<const Box<D, T>>(fat_));
    }
    grid_.find_pairs(candidates_);
    ++rebuilds_;
}

// New fat boxes and pairs for the leavers alone.
template <int D, class T>
void KeptPairs<D, T>::replace(std::span<const Vec<D, T>> velocities) {
    for (const std::uint32_t i : leavers_) {
        left_[i] = 1;
        fatten(i, velocities);
        grid_.move(grid_.id(i), fat_[i]);
    }
    std::size_t kept = 0;
    for (const Pair& p : candidates_) {
        candidates_[kept] = p;
        kept += (left_[p.first] | left_[p.second]) == 0;
    }
    candidates_.resize(kept);
    for (const std::uint32_t i : leavers_) {
        grid_.find(fat_[i], found_);
        for (const std::uint32_t j : found_)
            if (j != i && (left_[j] == 0 || i < j)) candidates_.push_back({std::min(i, j), std::max(i, j)});
    }
    for (const std::uint32_t i : leavers_) left_[i] = 0;
}

template <int D, class T>
void KeptPairs<D, T>::find_pairs(std::vector<Pair>& out) const {
    out.resize(candidates_.size());
    std::size_t n = 0;
    for (const Pair& p : candidates_) {  // written without a branch: hits come in no order
        const Box<D, T>&a = boxes_[p.first], &b = boxes_[p.second];
        bool hit = true;
        for (int k = 0; k < D; ++k) hit &= (a.lo[k] <= b.hi[k]) & (b.lo[k] <= a.hi[k]);
        out[n] = p;
        n += hit;
    }
    out.resize(n);
}

template class KeptPairs<2, float>;
template class KeptPairs<3, float>;
template class KeptPairs<2, double>;
template class KeptPairs<3, double>;

}  // namespace quadrat
