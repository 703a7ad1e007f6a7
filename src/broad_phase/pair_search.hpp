// The detection step of a HashGridHierarchy (HHG 3.6, Algorithm 4): pairs inside each sorted grid, of each grid with
// the grids of larger boxes (GridSet), and of what is kept elsewhere (outside_pairs.hpp).
#pragma once

#include "broad_phase/hierarchy.hpp"

namespace quadrat::broad_phase {

template <int D, class T>
class PairSearch {
  public:
    using Visit = void (*)(void* context, std::span<const Pair> pairs);

    explicit PairSearch(const Hierarchy<D, T>& hierarchy) : h_(hierarchy) { h_.tests = 0; }

    /// Refills `out` with all pairs. Throws too_large, with nothing in it, beyond max_bytes.
    void find(std::vector<Pair>& out) const;
    /// Calls visit on the caller's thread, in the order of find().
    void visit_in_turn(Visit visit, void* context) const;
    /// The same; the pairs may be found on the executor's threads first.
    void visit_in_order(Visit visit, void* context) const;
    /// Calls visit on the threads of the executor.
    void visit_chunks(Visit visit, void* context) const;

  private:
    using Grids = GridSet<D, T>;
    class Within;
    struct Job : Grids::Job {
        bool with_resting;  // pairs of what is sorted with what rests
    };

    [[nodiscard]] unsigned threads() const;
    void find_in_turn(std::vector<Pair>& out) const;
    void find_in_parallel(std::vector<Pair>& out, unsigned threads) const;
    template <class Find>
    void append(std::vector<Pair>& out, std::size_t keep, std::size_t dropped, Find&& find) const;
    void check_size(std::size_t total, std::vector<Pair>& out) const;
    [[nodiscard]] std::size_t limit() const { return h_.options.max_bytes / sizeof(Pair); }
    /// A fine grid is cut into at most so many pieces; nothing else depends on it.
    [[nodiscard]] std::vector<Job> jobs(std::size_t fine_pieces) const;
    void run(const Job& job, typename Grids::Window& window, Within& within, PairBuffer& out) const;
    void run_with_resting(const Job& job, PairBuffer& out) const;
    void visit_job(const Job& job, typename Grids::Window& window, std::vector<Pair>& block, Visit visit,
                   void* context) const;
    void visit_outside(std::vector<Pair>& block, Visit visit, void* context) const;
    [[nodiscard]] std::size_t true_pairs(std::span<Pair> pairs) const;

    const Hierarchy<D, T>& h_;
};

}  // namespace quadrat::broad_phase
