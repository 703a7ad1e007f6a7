// Sweep and prune, the rival of HHG 4.5: the ends of all boxes are kept sorted along each axis by insertion sort, and a
// pair is added or removed whenever a lower end passes an upper one (after Erleben et al. 2005, as the paper describes
// it). Objects are inserted one after the other, each sinking to its place, which makes the setup quadratic.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace hhg {

class SweepAndPrune {
  public:
    void insert(std::uint32_t object, const quadrat::Box3f& box) {
        if (boxes_.size() <= object) boxes_.resize(object + 1);
        boxes_[object] = box;
        for (int k = 0; k < 3; ++k) {
            ends_[k].push_back({box.lo[k], object << 1});
            sink(k, ends_[k].size() - 1);
            ends_[k].push_back({box.hi[k], object << 1 | 1});
            sink(k, ends_[k].size() - 1);
        }
    }
    void update(std::span<const quadrat::Box3f> boxes) {
        boxes_.assign(boxes.begin(), boxes.end());
        for (int k = 0; k < 3; ++k) {
            for (End& e : ends_[k]) e.at = e.tag & 1 ? boxes[e.tag >> 1].hi[k] : boxes[e.tag >> 1].lo[k];
            for (std::size_t i = 1; i < ends_[k].size(); ++i) sink(k, i);
        }
    }
    [[nodiscard]] std::size_t pairs() const { return pairs_.size(); }

  private:
    struct End {
        float at;
        std::uint32_t tag;  // object, then 1 for the upper end
    };
    // Lower ends come before upper ends at the same place: touching boxes overlap.
    static bool before(const End& a, const End& b) { return a.at != b.at ? a.at < b.at : (a.tag & 1) < (b.tag & 1); }
    void sink(int axis, std::size_t i) {
        std::vector<End>& ends = ends_[axis];
        const End moving = ends[i];
        for (; i > 0 && before(moving, ends[i - 1]); --i) {
            const End passed = ends[i - 1];
            if ((moving.tag ^ passed.tag) & 1) {
                const std::uint32_t a = moving.tag >> 1, b = passed.tag >> 1;
                const std::uint64_t key = a < b ? std::uint64_t{a} << 32 | b : std::uint64_t{b} << 32 | a;
                if (moving.tag & 1)
                    pairs_.erase(key);
                else if (a != b && quadrat::overlap(boxes_[a], boxes_[b]))
                    pairs_.insert(key);
            }
            ends[i] = passed;
        }
        ends[i] = moving;
    }

    std::vector<quadrat::Box3f> boxes_;
    std::vector<End> ends_[3];
    std::unordered_set<std::uint64_t> pairs_;
};

}  // namespace hhg
