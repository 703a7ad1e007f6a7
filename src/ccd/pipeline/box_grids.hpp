// The broad phase of the mesh pipeline: boxes in the sorted grids of HashGridHierarchy, whose vector code finds the
// pairs, cut into jobs that share nothing. A job fills one block of pairs that is still in the cache when it is
// used. A HashGridHierarchy gives one list of all pairs instead; for the seven million pairs of a crumpled cloth,
// writing that list and merging it from several threads costs more than finding the pairs.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include "broad_phase/sorted/grid_set.hpp"

#include <span>
#include <vector>

namespace quadrat::ccd {

/// A set of boxes, sorted into grids by size. The boxes must outlive it.
class BoxGrids {
  public:
    using Grids = broad_phase::GridSet<3, float>;

    BoxGrids() = default;
    /// Sorts the boxes. Throws bad_value for one that has NaN or hi < lo.
    void build(std::span<const Box3f> boxes, Executor* executor);

    [[nodiscard]] std::span<const Box3f> boxes() const { return boxes_; }
    [[nodiscard]] const Grids& grids() const { return grids_; }
    /// Boxes that fit no grid, ascending: outliers in size, infinite ones.
    [[nodiscard]] std::span<const std::uint32_t> misfits() const { return misfits_; }
    /// The number by which jobs call them, as if they were one more grid.
    [[nodiscard]] std::uint32_t misfit_grid() const { return static_cast<std::uint32_t>(grids_.grids().size()); }

  private:
    std::span<const Box3f> boxes_;
    Grids grids_;
    std::vector<std::uint32_t> misfits_;
};

/// A share of the work of finding pairs.
using PairJob = BoxGrids::Grids::Job;

/// Jobs for the pairs of one set, and of two. They depend on the boxes only.
[[nodiscard]] std::vector<PairJob> jobs_within(const BoxGrids& set);
[[nodiscard]] std::vector<PairJob> jobs_between(const BoxGrids& a, const BoxGrids& b);

/// Appends the overlapping pairs of a job, each once over all jobs: first < second, or (position in a, position in b).
void find_pairs_within(const BoxGrids& set, const PairJob& job, std::vector<Pair>& out);
void find_pairs_between(const BoxGrids& a, const BoxGrids& b, const PairJob& job, std::vector<Pair>& out);

}  // namespace quadrat::ccd
