// Which pairs began, went on and ended between two steps.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat {

/// Give it the pairs of each step; it compares them with those of the step before. Spans are valid until the next call.
/// Pairs are of slots: if an object was erased and another took its slot between two steps, their pairs are the same.
class PairTracker {
  public:
    /// Takes the pairs of a step, each once, in any order. Cost: one sort of the pairs.
    void update(std::span<const Pair> pairs);
    /// Forgets all pairs: at the next update every pair begins.
    void clear();

    /// Pairs of the last step that were not in the one before it, sorted.
    [[nodiscard]] std::span<const Pair> begun() const { return begun_; }
    /// Pairs of both, sorted.
    [[nodiscard]] std::span<const Pair> persisting() const { return persisting_; }
    /// Pairs of the step before that are gone, sorted.
    [[nodiscard]] std::span<const Pair> ended() const { return ended_; }

  private:
    std::vector<Pair> current_, previous_, begun_, persisting_, ended_;
};

}  // namespace quadrat
