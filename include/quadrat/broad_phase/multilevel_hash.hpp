// The multilevel hash of Eitz & Lixu 2007, as HSH 2.2 describes it: size classes of powers of two; an object lies in
// the cells of its class that it touches, at most 2^D of them; a query looks into every cell that it touches in every
// class. The baseline that the hierarchical hash (cells/hierarchical_hash.hpp) is measured against.
#pragma once

#include <quadrat/cells/box_hash.hpp>
#include <quadrat/executor.hpp>

#include <cstddef>
#include <limits>

namespace quadrat {

/// Options of a MultilevelHash. Only the speed depends on them, and the order of pairs; not which pairs there are.
struct MultilevelHashOptions {
    /// Where to run. Must outlive the structure. Default: null, the calling thread.
    Executor* executor = nullptr;
    /// Edge of the smallest class, a length: positive and finite. 0, the default, chooses a power of two from the
    /// boxes: all but one in 64 are larger.
    double smallest = 0;
    /// This many classes, each twice the last: 1 to 62; larger boxes are hashed to several cells of the largest. 0, the
    /// default, takes the classes that the boxes need.
    int levels = 0;
    /// A table for each class. One table for all mixes cells of different classes with equal coordinates, which costs
    /// tests and no result. Default: a table for each.
    bool table_per_class = true;
    /// Bytes that a call may allocate for its result; one that would need more throws too_large, with the size it
    /// needs. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// Boxes of all sizes; see BoxHash for what it does, what it costs and what it throws. A query looks into cells of
/// every class that is in use, so that one of a large box among small ones costs as many cells as it covers: where
/// sizes differ much HierarchicalHash descends only where something is. HashGridHierarchy is the one to take by
/// default. Compiled for D = 2, 3 and T = float, double.
///
///     MultilevelHash<3, float> hash({.levels = 8});
///     hash.build(std::span<const Box3f>(boxes));
///     std::vector<Pair> pairs;
///     hash.find_pairs(pairs);
template <int D, class T>
class MultilevelHash : public BoxHash<D, T, cells::MultilevelScheme> {
  public:
    using Options = MultilevelHashOptions;

    /// An empty set. Throws bad_value naming an option that is out of its range.
    explicit MultilevelHash(const Options& options = {});
};

extern template class MultilevelHash<2, float>;
extern template class MultilevelHash<2, double>;
extern template class MultilevelHash<3, float>;
extern template class MultilevelHash<3, double>;

}  // namespace quadrat
