// The multilevel hash of Eitz & Lixu 2007, as HSH 2.2 describes it: size classes of powers of two; an object lies in
// the cells of its class that it touches, at most 2^D of them; a query looks into every cell that it touches in every
// class. The baseline that the hierarchical hash (cells/hierarchical_hash.hpp) is measured against.
#pragma once

#include <quadrat/cells/box_hash.hpp>
#include <quadrat/executor.hpp>

#include <cstddef>
#include <limits>

namespace quadrat {

struct MultilevelHashOptions {
    Executor* executor = nullptr;  ///< where to run; null is the calling thread
    /// Edge of the smallest class, a length: positive and finite, or 0, which chooses a power of two from the boxes.
    double smallest = 0;
    /// This many classes, each twice the last: 1 to 62; larger boxes are hashed to several cells of the largest. 0
    /// takes the classes that the boxes need.
    int levels = 0;
    bool table_per_class = true;  ///< one table for all mixes cells of different classes with equal coordinates
    /// Bytes that a call may allocate for its result; one that would need more throws too_large, with the size it
    /// needs.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// Boxes of all sizes; see BoxHash for what it does.
template <int D, class T>
class MultilevelHash : public BoxHash<D, T, cells::MultilevelScheme> {
  public:
    using Options = MultilevelHashOptions;

    /// Throws bad_value for an option that is out of its range.
    explicit MultilevelHash(const Options& options = {});
};

extern template class MultilevelHash<2, float>;
extern template class MultilevelHash<2, double>;
extern template class MultilevelHash<3, float>;
extern template class MultilevelHash<3, double>;

}  // namespace quadrat
