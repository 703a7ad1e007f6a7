// The broad phase of the mesh pipeline: boxes in the sorted grids of HashGridHierarchy, whose vector code finds the
// pairs, cut into jobs that share nothing. A job fills one block of pairs that is still in the cache when it is
// used. A HashGridHierarchy gives one list of all pairs instead; for the seven million pairs of a crumpled cloth,
// writing that list and merging it from several threads costs more than finding the pairs.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include "broad_phase/sorted_grid.hpp"

#include <span>
#include <vector>

namespace quadrat::ccd {

/// A set of boxes, sorted into grids by size. The boxes must outlive it.
class BoxGrids {
  public:
    BoxGrids() = default;
    void build(std::span<const Box3f> boxes, Executor* executor);

    [[nodiscard]] std::span<const Box3f> boxes() const { return boxes_; }
    /// Smallest boxes first.
    [[nodiscard]] std::size_t grids() const { return grids_.size(); }
    [[nodiscard]] broad_phase::GridView<3, float> grid(std::size_t g) const { return grids_[g].view(); }
    /// Boxes that fit no grid: outliers in size, infinite ones.
    [[nodiscard]] std::span<const std::uint32_t> misfits() const { return misfits_; }

  private:
    std::span<const Box3f> boxes_;
    std::vector<broad_phase::SortedGrid<3, float>> grids_;
    std::vector<std::uint32_t> misfits_;
};

/// A share of the work of finding pairs.
struct PairJob {
    std::uint32_t home, grid;  ///< rows or boxes of `home` against `grid`; past the last grid: the misfits
    std::size_t begin, end;
    bool swapped = false;  ///< between two sets: home is of the second one
};

/// Jobs for the pairs of one set, and of two. They depend on the boxes only.
[[nodiscard]] std::vector<PairJob> jobs_within(const BoxGrids& set);
[[nodiscard]] std::vector<PairJob> jobs_between(const BoxGrids& a, const BoxGrids& b);

/// Appends the overlapping pairs of a job, each once over all jobs: first < second, or (position in a, position in b).
void find_pairs_within(const BoxGrids& set, const PairJob& job, std::vector<Pair>& out);
void find_pairs_between(const BoxGrids& a, const BoxGrids& b, const PairJob& job, std::vector<Pair>& out);

}  // namespace quadrat::ccd
