// The seam between a State and the vector loops over its neighbour lists.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace quadrat::simulation {

/// Arguments of one loop over rows of neighbours.
struct PairLoop {
    const NeighborList* near;
    const float* records;  ///< what is gathered, eight or four floats per particle
    float* out;
    float support;
    bool cubic;  ///< cubic spline; else Wendland C2
    bool periodic;
    std::array<float, 3> period;
    float soft = 0;     ///< added to r^2 where viscosity divides by it
    float viscous = 0;  ///< factor of (v_i - v_j) (x_i - x_j), and where that is negative:
    float damping = 0;
};

/// out[i] = 1 + sum of W(r) / W(0) over the row; the list has squared distances.
void density_rows(const PairLoop& p, std::size_t begin, std::size_t end);
/// out[3 i ..]: sum of ((viscosity) - (A_i + A_j)) (W'/r) h^2 / W(0) (x_i - x_j). Records x, y, z, vx, vy, vz, A, V.
void force_rows(const PairLoop& p, std::size_t begin, std::size_t end);

}  // namespace quadrat::simulation
