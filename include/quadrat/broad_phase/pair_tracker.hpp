// Which pairs began, went on and ended between two steps. For events such as "began to touch"; works with the pairs of
// any broad phase or neighbour search, as it knows nothing of boxes.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat {

/// What a PairTracker holds.
struct PairTrackerStats {
    /// Pairs of the last step: those that began in it and those that went on.
    std::size_t pairs = 0;
    /// Memory, used or not.
    std::size_t bytes = 0;
};

/// Give it the pairs of each step; it compares them with those of the step before. Spans are valid until the next call.
/// Pairs are of slots: if an object was erased and another took its slot between two steps, their pairs are the same.
/// Who needs them apart calls update() between the two edits.
///
///     grid.find_pairs(pairs);
///     tracker.update(pairs);
///     for (const Pair& p : tracker.begun()) play_sound(p.first, p.second);
///
/// Holds the pairs of two steps and what differs, up to 32 bytes per pair. Const members may be called concurrently
/// with each other, and with no other member.
class PairTracker {
  public:
    /// Takes the pairs of a step and compares. Cost: one sort of the pairs, O(n log n), and one pass over both steps;
    /// memory is used again from step to step.
    /// pairs: each once, in any order; first < second is usual and not needed, but (a, b) and (b, a) are two.
    void update(std::span<const Pair> pairs);
    /// Forgets all pairs: at the next update every pair begins. Nothing has then begun, gone on or ended.
    void clear();

    /// Pairs of the last step that were not in the one before it, sorted.
    [[nodiscard]] std::span<const Pair> begun() const { return begun_; }
    /// Pairs of both, sorted.
    [[nodiscard]] std::span<const Pair> persisting() const { return persisting_; }
    /// Pairs of the step before that are gone, sorted.
    [[nodiscard]] std::span<const Pair> ended() const { return ended_; }
    /// What is held. O(1).
    [[nodiscard]] PairTrackerStats stats() const {
        return {current_.size(), sizeof(Pair) * (current_.capacity() + previous_.capacity() + begun_.capacity() +
                                                 persisting_.capacity() + ended_.capacity())};
    }

  private:
    std::vector<Pair> current_, previous_, begun_, persisting_, ended_;
};

}  // namespace quadrat
