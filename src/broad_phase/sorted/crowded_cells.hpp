// Grids for boxes that lie unevenly (HHG 3.8). A grid that spans two groups far apart, or one box a billion cells away,
// has all others in a few of its cells. The paper's modulo helps while the world is not too large; where it does not,
// the crowd gets a grid of its own that takes only what lies inside its bounds, and this again as often as needed.
#pragma once

#include "broad_phase/sorted/grid_shape.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::broad_phase {

template <int D, class T>
class CrowdedCells {
  public:
    /// Appends one to `room` grids for the members of a sample, of which each stands for `share` objects. The last one
    /// takes boxes wherever they are, as `demand` asks.
    static void spread_out(std::span<const Box<D, T>> sample, std::vector<std::uint32_t> members,
                           const GridDemand<D, T>& demand, double share, std::size_t room,
                           std::vector<GridShape<D, T>>& grids);
};

}  // namespace quadrat::broad_phase
