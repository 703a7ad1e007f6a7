// Which cells each object of a ClassedHash lies in: its corners as cells of class 0, and its level. A level is a class
// in use, counted from the largest. The class comes from quantised corners, never from the size (HSH eq. 2 loses pairs
// by rounding). A box over more than 64 cells of its class has no level: such boxes are in a list of their own.
#pragma once

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/hashes/object_slots.hpp"
#include "cells/hashes/schemes.hpp"
#include "cells/quantiser.hpp"

#include <quadrat/executor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat::cells {

/// How many cells there are in lo..hi; all ones if they are very many.
template <int D>
[[nodiscard]] std::uint64_t cell_count(const Cell<D>& lo, const Cell<D>& hi) {
    std::uint64_t count = 1;
    for (int k = 0; k < D; ++k) {
        const std::uint64_t length = static_cast<std::uint64_t>(hi[k]) - static_cast<std::uint64_t>(lo[k]) + 1;
        if (length > (std::uint64_t{1} << 31) || count > (std::uint64_t{1} << 31)) return ~std::uint64_t{0};
        count *= length;
    }
    return count;
}

template <int D, class T, class Scheme>
class SizeLevels {
  public:
    struct Range {
        Cell<D> lo, hi;  ///< at class 0
    };
    static constexpr std::uint8_t none = 255;
    static constexpr std::uint64_t max_cells_per_box = 64;

    [[nodiscard]] std::size_t count() const { return classes_.size(); }
    /// The class of a level.
    [[nodiscard]] int of(std::size_t level) const { return classes_[level]; }
    [[nodiscard]] std::span<const int> classes() const { return classes_; }
    [[nodiscard]] std::uint8_t level(std::uint32_t o) const { return level_[o]; }
    [[nodiscard]] const Range& range(std::uint32_t o) const { return range_[o]; }
    [[nodiscard]] Range range(const Box<D, T>& box) const { return {quantiser_.cell(box.lo), quantiser_.cell(box.hi)}; }
    [[nodiscard]] std::size_t objects_at(std::size_t level) const { return objects_[classes_[level]]; }
    [[nodiscard]] std::span<const std::uint32_t> oversize() const { return oversize_; }

    /// Of all objects. smallest: edge of class 0; 0 chooses. asked: classes whether used or not; 0 for those in use.
    void build(const ObjectSlots<D, T>& objects, double smallest, int asked, Executor* executor) {
        quantiser_ = Quantiser<D>(smallest > 0 ? smallest : chosen_edge(objects.boxes()));
        const int fixed = Scheme::levels(asked);
        range_.resize(objects.size());
        level_.assign(objects.size(), 0);
        for (int doubled = 0;; ++doubled) {
            quantise(objects, fixed, executor);
            if (smallest > 0 || doubled == 20 || !(quantiser_.edge(0) < 1e300)) break;
            const auto over = [](const Range& r) { return cell_count(r.lo, r.hi) > max_cells_per_box; };
            const auto count_over = [&] {
                return static_cast<std::size_t>(std::count_if(range_.begin(), range_.end(), over));
            };
            if (!Scheme::too_small(objects.size(), count_over)) break;
            quantiser_ = Quantiser<D>(quantiser_.edge(0) * 2);
        }
        number_classes(objects, fixed);
    }
    /// Of an object that came or moved: the smallest class in use that it fits.
    void place(std::uint32_t o, const Box<D, T>& box) {
        if (o >= range_.size()) {
            range_.resize(o + 1);
            level_.resize(o + 1, none);
        }
        range_[o] = range(box);
        const int k = size_class(range_[o].lo, range_[o].hi);
        std::size_t level = 0;
        while (level + 1 < classes_.size() && classes_[level + 1] >= k) ++level;
        if (classes_.empty() || cells_at(o, classes_[level]) > max_cells_per_box) {
            level_[o] = none;
            oversize_.push_back(o);
        } else {
            level_[o] = static_cast<std::uint8_t>(level);
        }
    }
    /// The object is no longer where it was.
    void leave(std::uint32_t o) {
        if (level_[o] == none) std::erase(oversize_, o);
    }

    [[nodiscard]] std::size_t bytes() const {
        return range_.capacity() * sizeof(Range) + level_.capacity() + oversize_.capacity() * sizeof(std::uint32_t);
    }
    void shrink() {
        range_.shrink_to_fit();
        level_.shrink_to_fit();
        oversize_.shrink_to_fit();
    }

  private:
    [[nodiscard]] std::uint64_t cells_at(std::uint32_t o, int k) const {
        return cell_count<D>(coarser(range_[o].lo, k), coarser(range_[o].hi, k));
    }
    static double chosen_edge(std::span<const Box<D, T>> boxes) {
        std::vector<double> sizes, places;
        for (const Box<D, T>& b : boxes) {
            double longest = 0, farthest = 0;  // as far as they are finite
            for (int k = 0; k < D; ++k) {
                const double e = static_cast<double>(b.hi[k]) - static_cast<double>(b.lo[k]);
                if (e <= std::numeric_limits<double>::max()) longest = std::max(longest, e);
                for (const T x : {b.lo[k], b.hi[k]})
                    if (std::isfinite(x)) farthest = std::max(farthest, std::abs(static_cast<double>(x)));
            }
            if (!(longest > 0)) continue;
            sizes.push_back(longest);
            places.push_back(farthest);
        }
        return sizes.empty() ? 1 : Scheme::edge(sizes, places);
    }
    /// Ranges, and classes in the place of levels.
    void quantise(const ObjectSlots<D, T>& objects, int fixed, Executor* executor) {
        base::parallel_for(executor, objects.size(), 1 << 14, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                range_[i] = {};
                if (objects.gone(static_cast<std::uint32_t>(i))) continue;
                range_[i] = range(objects.boxes()[i]);
                const int k = size_class(range_[i].lo, range_[i].hi);
                level_[i] = static_cast<std::uint8_t>(fixed > 0 ? std::min(k, fixed - 1) : k);
            }
        });
    }
    /// Classes that are used, or asked for, become levels.
    void number_classes(const ObjectSlots<D, T>& objects, int fixed) {
        oversize_.clear();
        classes_.clear();
        std::fill(std::begin(objects_), std::end(objects_), std::size_t{0});
        for (std::uint32_t i = 0; i < level_.size(); ++i) {
            if (objects.gone(i)) {
                level_[i] = none;
            } else if (cells_at(i, level_[i]) > max_cells_per_box) {
                level_[i] = none;
                oversize_.push_back(i);
            } else {
                ++objects_[level_[i]];
            }
        }
        std::uint8_t level_of_class[63] = {};
        for (int k = 62; k >= 0; --k) {
            if (objects_[k] == 0 && k >= fixed) continue;
            level_of_class[k] = static_cast<std::uint8_t>(classes_.size());
            classes_.push_back(k);
        }
        for (std::uint8_t& level : level_)
            if (level != none) level = level_of_class[level];
    }

    Quantiser<D> quantiser_;
    std::vector<Range> range_;
    std::vector<std::uint8_t> level_;      // of each object
    std::vector<int> classes_;             // of each level, largest first
    std::size_t objects_[63] = {};         // of each class, at the last build
    std::vector<std::uint32_t> oversize_;  // ascending after a build
};

}  // namespace quadrat::cells
