// The seam between a Fluid and the vector loops over its neighbour lists.
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
    const std::uint64_t* block_begin = nullptr;  ///< of each row: blocks of eight pairs, the last filled up with itself
    std::uint32_t* block_index = nullptr;        ///< eight per block
    float* block_gradient = nullptr;             ///< 24 per block: (W'/r) d, eight x, eight y, eight z; flat: no z
    bool flat = false;                           ///< the third coordinate is 0 everywhere
    float soft = 0;                              ///< added to r^2 where artificial viscosity divides by it
    const float* natures =
        nullptr;  ///< four floats per particle where phases differ: alpha c, rest density, phase, tension
    float cohesion = 0, cohesion_turn = 0;  ///< of a tension of 1, in the units of `out`
    float damping = 0;                      ///< factor of (v_i - v_j) (x_i - x_j) where that is negative
};

/// One loop over the rows [begin, end).
using RowLoop = void (*)(const PairLoop& p, std::size_t begin, std::size_t end);
/// The vector code of fluid_simd.cpp, for one kernel in an open or a periodic world.
struct DensityLoops {
    RowLoop density, force;
};
[[nodiscard]] const DensityLoops& density_loops(bool cubic, bool periodic);
/// The vector code of incompressible_simd.cpp, for a flat world or not.
struct BlockLoops {
    RowLoop gradient, push, divergence, length, tie;
};
[[nodiscard]] const BlockLoops& block_loops(bool flat);

/// out[i] = 1 + sum of W(r) / W(0) over the row. Records x, y, z, -.
inline void density_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    density_loops(p.cubic, p.periodic).density(p, begin, end);
}
/// out[3 i ..]: sum of ((artificial viscosity) - (A_i + A_j)) (W'/r) h^2 / W(0) (x_i - x_j). Records x, y, z, vx, vy,
/// vz, A, V.
inline void force_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    density_loops(p.cubic, p.periodic).force(p, begin, end);
}

/// Fills the blocks; out[4 i ..]: sum of (W'/r) d over the row, and of its squared length. Records x, y, z, -. Units
/// h^2 / W(0) as above.
inline void gradient_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    block_loops(p.flat).gradient(p, begin, end);
}
/// out[4 i ..]: sum of (k_i + k_j) (W'/r) d, and 0. Records k.
inline void push_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    block_loops(p.flat).push(p, begin, end);
}
/// out[i]: sum of (u_i - u_j) d (W'/r). Records ux, uy, uz, -.
inline void divergence_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    block_loops(p.flat).divergence(p, begin, end);
}
/// out[i]: sum of the lengths of (W'/r) d over the row.
inline void length_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    block_loops(p.flat).length(p, begin, end);
}
/// out[i]: sum of b_j g^2 + max(b_j - b_i, 0) c_j g, g the length of (W'/r) d. Records b, c, -, -.
inline void tie_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    block_loops(p.flat).tie(p, begin, end);
}

struct World;
struct Fluid;
/// What all loops over a fluid have in common.
[[nodiscard]] PairLoop pair_loop(const World& world, const Fluid& fluid);
/// W(0).
[[nodiscard]] float kernel_peak(const World& world, const Fluid& fluid);

}  // namespace quadrat::simulation
