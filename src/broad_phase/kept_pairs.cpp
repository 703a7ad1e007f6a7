#include <quadrat/broad_phase/kept_pairs.hpp>

#include "base/assert.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat {
namespace {

// A leaver by itself costs some fifteen times its share of finding everything anew, which also gives every other box
// the whole margin again: boxes that leave one after the other are cheaper together.
constexpr std::size_t replaced_at_most = 128;

}  // namespace

template <int D, class T>
KeptPairs<D, T>::KeptPairs(const KeptPairsOptions& options)
    : options_(options), grid_({.executor = options.executor, .max_bytes = options.max_bytes}) {
    if (!(options.margin >= 0 && options.least >= 0 && options.horizon >= 0))
        throw Error(ErrorKind::bad_value, "margins and horizon must not be negative", {.field = "margin"});
}

template <int D, class T>
std::uint32_t KeptPairs<D, T>::insert(std::span<const Box<D, T>> boxes) {
    cells::check_boxes(boxes, options_.executor);
    cells::check_count(placed_.size() + boxes.size());
    const auto first = static_cast<std::uint32_t>(placed_.size());
    std::vector<Box<D, T>> all;
    all.reserve(first + boxes.size());
    for (const std::uint32_t place : place_) all.push_back(placed_[place]);
    all.insert(all.end(), boxes.begin(), boxes.end());
    rebuild(all, {});
    return first;
}

template <int D, class T>
void KeptPairs<D, T>::update(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities) {
    cells::check_slots(boxes.size(), placed_.size());
    if (!velocities.empty() && velocities.size() != boxes.size())
        throw Error(ErrorKind::bad_shape, "expected one velocity per box", {.field = "velocities"});
    for (std::size_t i = 0; i < velocities.size(); ++i)
        for (int k = 0; k < D; ++k)
            if (std::isnan(velocities[i][k]))
                throw Error(ErrorKind::bad_value, "NaN", {.index = i, .field = "velocities"});
    find_leavers(boxes);
    for (const std::uint32_t i : leavers_) cells::check_box(boxes[i], i);
    if (leavers_.size() > boxes.size() / replaced_at_most || may_exceed(boxes, velocities)) {
        rebuild(boxes, velocities);
        return;
    }
    for (std::size_t i = 0; i < boxes.size(); ++i) placed_[place_[i]] = boxes[i];
    if (!leavers_.empty()) replace(velocities);
    // Boxes that have become smaller stay in their large fat boxes, whose pairs would gather.
    if (candidates_.size() > 4 * rebuilt_candidates_ + 8 * boxes.size()) try {
            rebuild(boxes, velocities);
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::too_large) throw;  // otherwise what is kept stays right, if not the fewest
        }
}

// Whether the pairs of the leavers' new fat boxes might be too many beside the others. If so, everything is found anew,
// which counts them and changes nothing where there are too many.
template <int D, class T>
bool KeptPairs<D, T>::may_exceed(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities) {
    const std::size_t most = options_.max_bytes / sizeof(Pair), own = leavers_.size();
    if (own == 0 || candidates_.size() + boxes.size() * own < most) return false;
    std::size_t sum = candidates_.size() + own * own / 2;
    for (const std::uint32_t i : leavers_) {
        grid_.find(fat(boxes[i], i, velocities), found_);
        sum += found_.size();
    }
    return sum > most;
}

// What lies in its fat box and is not turned inside out is a legal box. Most do: blocks of boxes are compared as plain
// numbers, lower corners as they are and upper corners negated, and looked at one by one only if something is wrong.
template <int D, class T>
void KeptPairs<D, T>::find_leavers(std::span<const Box<D, T>> boxes) {
    constexpr std::size_t block = 16, numbers = block * 2 * D;
    static_assert(sizeof(Box<D, T>) == 2 * D * sizeof(T));
    T sign[numbers];
    int upper[numbers];
    for (std::size_t j = 0; j < numbers; ++j) {
        upper[j] = j % (2 * D) >= D;
        sign[j] = upper[j] ? T{-1} : T{1};
    }
    QUADRAT_ASSERT(boxes.size() == fat_.size());
    leavers_.clear();
    const auto look = [&](std::size_t i) {
        bool inside = true;
        for (int k = 0; k < D; ++k)
            inside &= (fat_[i].lo[k] <= boxes[i].lo[k]) & (boxes[i].lo[k] <= boxes[i].hi[k]) &
                      (boxes[i].hi[k] <= fat_[i].hi[k]);
        if (!inside) leavers_.push_back(static_cast<std::uint32_t>(i));
    };
    std::size_t i = 0;
    for (; i + block < boxes.size(); i += block) {  // one box more is read
        const T* const now = &boxes[i].lo[0];
        const T* const fat = &fat_[i].lo[0];
        int inside = 1;
        for (std::size_t j = 0; j < numbers; ++j)
            inside &= (sign[j] * fat[j] <= sign[j] * now[j]) & (upper[j] | (now[j] <= now[j + D]));
        if (inside) [[likely]]
            continue;
        for (std::size_t k = i; k < i + block; ++k) look(k);
    }
    for (; i < boxes.size(); ++i) look(i);
}

template <int D, class T>
Box<D, T> KeptPairs<D, T>::fat(const Box<D, T>& box, std::size_t i, std::span<const Vec<D, T>> velocities) const {
    QUADRAT_ASSERT(velocities.empty() || i < velocities.size());
    T shortest = box.hi[0] - box.lo[0];
    for (int k = 1; k < D; ++k) shortest = std::min(shortest, box.hi[k] - box.lo[k]);
    T margin = T(options_.least);
    const bool swept = !velocities.empty() && T(options_.horizon) > 0;
    if (shortest > 0 && shortest < std::numeric_limits<T>::infinity())
        margin = std::max(margin, T(options_.margin) * shortest);
    Box<D, T> wide;
    for (int k = 0; k < D; ++k) {
        const T ahead = swept && velocities[i][k] != 0 ? T(options_.horizon) * velocities[i][k] : T{0};
        wide.lo[k] = box.lo[k] - margin + std::min(ahead, T{0});
        wide.hi[k] = box.hi[k] + margin + std::max(ahead, T{0});
    }
    return wide;
}

// Nothing has changed if the pairs are too many.
template <int D, class T>
void KeptPairs<D, T>::rebuild(std::span<const Box<D, T>> boxes, std::span<const Vec<D, T>> velocities) {
    next_fat_.resize(boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) next_fat_[i] = fat(boxes[i], i, velocities);
    if (boxes.size() != fat_.size()) {
        HashGridHierarchy<D, T> grid({.executor = options_.executor, .max_bytes = options_.max_bytes});
        grid.insert(std::span<const Box<D, T>>(next_fat_));
        grid.find_pairs(fat_pairs_);
        grid_ = std::move(grid);
    } else {
        grid_.update(std::span<const Box<D, T>>(next_fat_));
        try {
            grid_.find_pairs(fat_pairs_);
        } catch (...) {
            grid_.update(std::span<const Box<D, T>>(fat_));
            throw;
        }
    }
    fat_.swap(next_fat_);
    left_.assign(boxes.size(), 0);
    place_anew(boxes, fat_pairs_);
    rebuilt_candidates_ = candidates_.size();
    ++rebuilds_;
}

// The hierarchy names pairs cell by cell: boxes get their places as they are named first.
template <int D, class T>
void KeptPairs<D, T>::place_anew(std::span<const Box<D, T>> boxes, std::span<const Pair> pairs) {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    const std::size_t n = boxes.size();
    placed_.resize(n);
    index_.resize(n);
    place_.assign(n, none);
    std::uint32_t next = 0;
    const auto place = [&](std::uint32_t i) {
        if (place_[i] == none) {
            placed_[next] = boxes[i];
            index_[next] = i;
            place_[i] = next++;
        }
        return place_[i];
    };
    candidates_.resize(pairs.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const std::uint32_t a = place(pairs[k].first);
        candidates_[k] = {a, place(pairs[k].second)};
    }
    for (std::uint32_t i = 0; i < n; ++i) place(i);
}

// New fat boxes and pairs for the leavers alone.
template <int D, class T>
void KeptPairs<D, T>::replace(std::span<const Vec<D, T>> velocities) {
    QUADRAT_ASSERT(left_.size() == placed_.size());
    for (const std::uint32_t i : leavers_) {
        left_[place_[i]] = 1;
        fat_[i] = fat(placed_[place_[i]], i, velocities);
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
            if (j != i && (left_[place_[j]] == 0 || i < j)) candidates_.push_back({place_[i], place_[j]});
    }
    for (const std::uint32_t i : leavers_) left_[place_[i]] = 0;
}

template <int D, class T>
void KeptPairs<D, T>::find_pairs(std::vector<Pair>& out) const {
    out.resize(candidates_.size());
    std::size_t n = 0;
    for (const Pair& p : candidates_) {  // written without a branch: hits come in no order
        const Box<D, T>&a = placed_[p.first], &b = placed_[p.second];
        bool hit = true;
        for (int k = 0; k < D; ++k) hit &= (a.lo[k] <= b.hi[k]) & (b.lo[k] <= a.hi[k]);
        const std::uint32_t i = index_[p.first], j = index_[p.second];
        out[n] = {std::min(i, j), std::max(i, j)};
        n += hit;
    }
    out.resize(n);
    if (n <= options_.max_bytes / sizeof(Pair)) return;
    out.clear();
    cells::throw_too_large(n, options_.max_bytes);
}

template class KeptPairs<2, float>;
template class KeptPairs<3, float>;
template class KeptPairs<2, double>;
template class KeptPairs<3, double>;

}  // namespace quadrat
