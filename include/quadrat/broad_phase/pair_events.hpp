// Which pairs of a HashGridHierarchy began, went on and ended between two steps, by ids, found while the pairs are. For
// pairs of anything else there is PairTracker, which sorts them.
#pragma once

#include <quadrat/geometry.hpp>
#include <quadrat/id.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace quadrat {

namespace broad_phase {
class EventTable;
}

/// Two objects by their ids, which may name what is gone by now.
struct IdPair {
    Id first;   ///< the one with the smaller slot
    Id second;  ///< the other one

    friend constexpr bool operator==(const IdPair&, const IdPair&) = default;
};

/// What a PairEvents holds.
struct PairEventsStats {
    /// Pairs of the last step: those that began in it and those that went on.
    std::size_t pairs = 0;
    /// Memory, used or not.
    std::size_t bytes = 0;
};

/// Filled by HashGridHierarchy::find_events(), and compares with what the same hierarchy gave it the time before. Spans
/// are valid until the next call that changes it. An object is its id: where a slot was erased and used again between
/// two steps, the pairs of the old object end and those of the new one begin.
///
///     quadrat::PairEvents events;
///     grid.update(boxes);
///     grid.find_events(events);
///     for (const auto& [a, b] : events.begun()) play_sound(a, b);
///
/// Holds 40 bytes per slot and what the spans show. Const members may be called concurrently with each other, and with
/// no other member. One that was moved from can be assigned to or destroyed.
class PairEvents {
  public:
    /// No pairs, and of no hierarchy yet: at the first step every pair begins.
    PairEvents();
    ~PairEvents();
    PairEvents(PairEvents&&) noexcept;
    PairEvents& operator=(PairEvents&&) noexcept;

    /// Pairs of the last step that were not in the one before it. The order of all three does not depend on the number
    /// of threads.
    [[nodiscard]] std::span<const IdPair> begun() const;
    /// Pairs of both steps, as slots: their objects are the same as in the step before. None of them is in begun().
    [[nodiscard]] std::span<const Pair> persisting() const;
    /// Pairs of the step before that are gone, or whose objects are; those may be stale ids by now.
    [[nodiscard]] std::span<const IdPair> ended() const;
    /// Forgets all pairs and gives the memory back: at the next step every pair begins. Nothing has then begun, gone on
    /// or ended. Wanted before another hierarchy fills it.
    void clear();
    /// What is held. O(1).
    [[nodiscard]] PairEventsStats stats() const;

  private:
    template <int D, class T>
    friend class HashGridHierarchy;
    std::unique_ptr<broad_phase::EventTable> table_;
};

}  // namespace quadrat
