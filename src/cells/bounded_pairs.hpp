// Pairs up to max_bytes; beyond it they are counted and dropped, so that the error can name the size of the result
// without anyone ever having held it.
#pragma once

#include "cells/validate.hpp"

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadrat::cells {

/// Appends to the caller's vector, or to a part of the result that others complete.
class BoundedPairs {
  public:
    BoundedPairs(std::vector<Pair>& pairs, std::size_t max_bytes)
        : pairs_(&pairs), max_bytes_(max_bytes), limit_(max_bytes / sizeof(Pair)) {
        pairs.clear();
    }

    void push(Pair p) {
        if (pairs_->size() >= limit_) drop();
        pairs_->push_back(p);
    }
    /// With the smaller index first.
    void add(std::uint32_t a, std::uint32_t b) { push({std::min(a, b), std::max(a, b)}); }
    void drop() {
        dropped_ += pairs_->size();
        pairs_->clear();
    }
    /// Of all that were added, kept or not.
    [[nodiscard]] std::size_t count() const { return dropped_ + pairs_->size(); }
    /// Throws too_large, with nothing left in the vector, if there are more than max_bytes allow.
    void finish() {
        if (count() <= limit_) return;
        drop();
        throw_too_large(dropped_, max_bytes_);
    }

  private:
    std::vector<Pair>* pairs_;
    std::size_t max_bytes_, limit_;
    std::size_t dropped_ = 0;
};

}  // namespace quadrat::cells
