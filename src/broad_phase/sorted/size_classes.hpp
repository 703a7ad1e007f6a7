// Which grids a set of boxes gets: the hierarchy of HHG 2.4 and 3.3, chosen from a histogram of sizes instead of by a
// fixed factor. A grid per factor of two loses to a single grid up to a size ratio of about 12, since every further
// grid has to be searched too; a few grids win beyond. Boxes of a sample are sorted into shapes (size per axis, in
// powers of four, so that long boxes of different directions differ), and the shapes are merged while a model of the
// number of tests falls. The model counts; it never looks at a clock.
#pragma once

#include "broad_phase/sorted/grid_shape.hpp"

#include <span>
#include <vector>

namespace quadrat::broad_phase {

template <int D, class T>
class SizeClasses {
  public:
    /// Shapes of the grids for `objects` boxes of which `sample` is representative, smallest first: a box belongs to
    /// the first grid that it fits (GridShape::quantise). Boxes that fit none are legal. All sample boxes are finite.
    [[nodiscard]] static std::vector<GridShape<D, T>> choose(std::span<const Box<D, T>> sample, std::size_t objects);
};

}  // namespace quadrat::broad_phase
