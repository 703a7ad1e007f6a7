// Two ways to the cuts: Zoltan's recursive coordinate bisection, and bisection of a sample. Both are collective, take
// any number of centres from each rank, none included, and give the same tree to all ranks.
#pragma once

#include <quadrat/distributed/communicator.hpp>

#include <vector>

#include "distributed/cut_tree.hpp"

namespace quadrat::distributed {

/// Centres: finite, of magnitude at most 1e300 so that differences are finite too.
template <int D>
using Centers = std::vector<Vec<D, double>>;

template <int D>
struct CutMaker {
    static CutTree<D> by_zoltan(const Communicator& comm, const Centers<D>& centers);
    static CutTree<D> by_sample(const Communicator& comm, const Centers<D>& centers);
};

/// Whether by_zoltan is built in.
[[nodiscard]] bool have_zoltan();

}  // namespace quadrat::distributed
