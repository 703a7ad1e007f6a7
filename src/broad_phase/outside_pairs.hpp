// Pairs with an object that is in no sorted grid, but loose or unbounded (hierarchy.hpp), and pairs between two
// hierarchies. Both go over the kinds of stores by their tags.
#pragma once

#include "broad_phase/hierarchy.hpp"

namespace quadrat::broad_phase {

template <int D, class T>
class OutsidePairs {
  public:
    explicit OutsidePairs(const Hierarchy<D, T>& hierarchy) : h_(hierarchy) {}

    /// Appends the pairs with at least one object outside the sorted grids, and counts their tests.
    void append(PairBuffer& out) const;

    /// Refills `out` with the pairs (slot of a, slot of b).
    static void find_between(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, std::vector<Pair>& out);

  private:
    /// Pairs of the objects of one store with each other and with those of the kinds before it (for_each_store).
    std::uint64_t append_of(Loose, PairBuffer& out) const;
    std::uint64_t append_of(Unbounded, PairBuffer& out) const;
    std::uint64_t append_few(PairBuffer& out) const;
    std::uint64_t append_loose(PairBuffer& out) const;
    std::uint64_t append_loose_by_sorting(PairBuffer& out) const;
    void add(std::uint32_t a, std::uint32_t b, PairBuffer& out) const;

    static std::uint64_t find_between_sorted(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, std::size_t max_bytes,
                                             std::vector<Pair>& out, std::size_t& count);
    static std::uint64_t append_between_others(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, PairBuffer& out);
    /// Calls visit(slot of a, slot of b) for what meets of one store of a and all of b. Returns the number of tests.
    template <class Visit>
    static std::uint64_t meet_all(Loose, const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, Visit&& visit);
    template <class Visit>
    static std::uint64_t meet_all(Unbounded, const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, Visit&& visit);
    /// The same for what is in grids in a and in one store of b.
    template <class Visit>
    static std::uint64_t meet_grids(const Hierarchy<D, T>& a, Loose, const Hierarchy<D, T>& b, Visit&& visit);
    template <class Visit>
    static std::uint64_t meet_grids(const Hierarchy<D, T>& a, Unbounded, const Hierarchy<D, T>& b, Visit&& visit);

    const Hierarchy<D, T>& h_;
};

}  // namespace quadrat::broad_phase
