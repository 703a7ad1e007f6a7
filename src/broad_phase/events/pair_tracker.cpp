#include <quadrat/broad_phase/pair_tracker.hpp>

#include <algorithm>

namespace quadrat {

void PairTracker::update(std::span<const Pair> pairs) {
    previous_.swap(current_);
    current_.assign(pairs.begin(), pairs.end());
    std::sort(current_.begin(), current_.end());
    begun_.clear();
    persisting_.clear();
    ended_.clear();
    auto now = current_.begin();
    for (const Pair& before : previous_) {
        for (; now != current_.end() && *now < before; ++now) begun_.push_back(*now);
        if (now != current_.end() && *now == before) {
            persisting_.push_back(before);
            ++now;
        } else {
            ended_.push_back(before);
        }
    }
    begun_.insert(begun_.end(), now, current_.end());
}

void PairTracker::clear() {
    current_.clear();
    begun_.clear();
    persisting_.clear();
    ended_.clear();
}

}  // namespace quadrat
