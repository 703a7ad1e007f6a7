// Rays through sparse voxels, many at a time.
#pragma once

#include "arrays.hpp"
#include "calls.hpp"

#include <quadrat/voxels.hpp>

#include <variant>

namespace quadrat::python {

/// VoxelRays of either dimension; it never changes, so that any number of threads may ask it.
class RayMarcher {
  public:
    template <int D>
    explicit RayMarcher(VoxelRays<D> rays) : rays_(std::move(rays)) {}

    /// rays: (N, 2 D + 1) of double: origin, direction, where the ray ends in units of the direction.
    /// Gives (places, positions, enter, leave) of the first voxel on each ray; -1 and infinity where there is none.
    py::tuple first(const py::array& rays, unsigned threads) const;
    /// (offsets, places, positions, enter, leave) of all of them, in the order in which each ray enters them.
    py::tuple march(const py::array& rays, unsigned threads) const;

  private:
    std::variant<VoxelRays<2>, VoxelRays<3>> rays_;
};

}  // namespace quadrat::python
