// The pairs of the last step, in rows by their smaller slot: a new pair is looked for among the few of its row, which
// is one access to memory that can be asked for early, where sorting two steps and merging them costs several times as
// much as finding the pairs. Seven partners fit a row of 32 bytes; boxes that do not crowd have two on average. What
// does not fit is kept sorted beside the rows, and merged.
//
// The room of events: others use this header; PairTracker, which is here too, is public.
#pragma once

#include <quadrat/broad_phase/pair_events.hpp>
#include <quadrat/geometry.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::broad_phase {

class EventTable {
  public:
    /// Begins a step. generations: of every slot there ever was; they must stay until end(). Of slots whose generation
    /// is another one than before, old pairs end and new ones begin.
    void begin(std::span<const std::uint32_t> generations, std::size_t most_pairs);
    /// Pairs of the step, each once over all calls, first < second.
    void take(std::span<const Pair> pairs);
    /// Ends the step. Returns how many pairs there are; if these are more than most_pairs, everything is forgotten.
    std::size_t end();
    void clear();

    [[nodiscard]] std::span<const IdPair> begun() const { return begun_; }
    [[nodiscard]] std::span<const Pair> persisting() const { return persisting_; }
    [[nodiscard]] std::span<const IdPair> ended() const { return ended_; }
    [[nodiscard]] std::size_t pairs() const { return begun_.size() + persisting_.size(); }
    [[nodiscard]] std::size_t bytes() const;

  private:
    static constexpr std::uint32_t width = 7;  // partners of a row

    //   state:  31..11 unused | 10 crowded | 9..3 seen, one bit per partner | 2..0 count
    struct alignas(32) Row {
        std::uint32_t partner[width];
        std::uint32_t state;
    };
    static constexpr std::uint32_t count_bits = 7, first_seen = 3, seen_bits = 127u << first_seen, crowded = 1u << 10;

    template <bool Renewed>
    void take_all(std::span<const Pair> pairs);
    void take_beside_rows(const Pair& pair, Row& row);
    [[nodiscard]] bool renewed(const Pair& p) const { return renewed_[p.first] != 0 || renewed_[p.second] != 0; }
    [[nodiscard]] IdPair now(const Pair& p) const {
        return {{p.first, generations_[p.first]}, {p.second, generations_[p.second]}};
    }
    [[nodiscard]] IdPair before(const Pair& p) const {
        return {{p.first, old_generations_[p.first]}, {p.second, old_generations_[p.second]}};
    }
    void end_rows();
    void end_crowd();

    std::vector<Row> rows_;                       // by slot
    std::vector<Pair> crowd_, new_crowd_;         // pairs for which rows had no place; of the step before, sorted
    std::span<const std::uint32_t> generations_;  // of the step
    std::vector<std::uint32_t> old_generations_;  // of the step before
    std::vector<std::uint8_t> renewed_;           // by slot; empty where nothing is
    std::vector<IdPair> begun_, ended_;
    std::vector<Pair> new_, persisting_;
    std::size_t most_pairs_ = 0, count_ = 0;
};

}  // namespace quadrat::broad_phase
