// Pairs that are not inside one set of sorted grids: with objects of the other two stores (hierarchy.hpp), and between
// two hierarchies.
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
    std::uint64_t append_few(PairBuffer& out) const;
    std::uint64_t append_loose(PairBuffer& out) const;
    std::uint64_t append_loose_by_sorting(PairBuffer& out) const;
    std::uint64_t append_unbounded(PairBuffer& out) const;
    void add(std::uint32_t a, std::uint32_t b, PairBuffer& out) const;
    static std::uint64_t find_between_sorted(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, std::size_t max_bytes,
                                             std::vector<Pair>& out, std::size_t& count);
    static std::uint64_t append_between_others(const Hierarchy<D, T>& a, const Hierarchy<D, T>& b, PairBuffer& out);

    const Hierarchy<D, T>& h_;
};

}  // namespace quadrat::broad_phase
