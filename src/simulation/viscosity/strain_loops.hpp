// The seam between the viscosity of a fluid and the vector loops over its neighbour lists (strain_simd.cpp). Everything
// is per volume of the particle itself. Symmetric tensors are xx, yy, zz, xy, xz, yz.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>

#include <array>
#include <cstddef>

namespace quadrat::simulation {

/// What the arrangement of a particle's neighbours alone decides: d = x_i - x_j, s = W'/r, V the neighbour's volume,
/// w = -weight V s / (r^2 + soft). Places of the sums:
struct Moments {
    static constexpr int second = 0;   ///< 6: -sum V s d d; near one where the lattice is whole
    static constexpr int first = 6;    ///< 3: sum V s d
    static constexpr int fourth = 9;   ///< 15: sum w d d d d, xxxx yyyy zzzz xxyy xxzz yyzz xxxy xxxz yyyx yyyz zzzx
                                       ///< zzzy xxyz yyxz zzxy
    static constexpr int ties = 24;    ///< sum w r^2
    static constexpr int slopes = 25;  ///< sum V s^2 r^2
    float sum[32];
};

/// What velocities u add to it.
struct Strains {
    static constexpr int gradient = 0;  ///< 9: -sum V s du d, row by row, du = u_i - u_j
    static constexpr int drawn = 9;     ///< 6: sum w (d du) d d
    float sum[16];
};

/// Arguments of one loop over rows of neighbours. Records of eight floats each, one per particle.
struct StrainLoop {
    const NeighborList* near;
    const float* flow;    ///< x y z, u, volume, viscosity
    const float* strain;  ///< the symmetric strain rate E, and the first two of Q
    const float* stress;  ///< the other seven of Q, row by row
    float support;
    float slope_scale;  ///< makes W'/r of what a kernel gives for unit support
    float weight, soft;
    bool cubic;  ///< cubic spline; else Wendland C2
    bool periodic;
    std::array<float, 3> period;
};

/// The vector code of strain_simd.cpp, for one kernel in an open or a periodic world.
struct StrainLoops {
    void (*moment)(const StrainLoop& p, Moments* out, std::size_t begin, std::size_t end);
    void (*strain)(const StrainLoop& p, Strains* out, std::size_t begin, std::size_t end);
    void (*friction)(const StrainLoop& p, float* out, std::size_t begin, std::size_t end);
};
[[nodiscard]] const StrainLoops& strain_loops(bool cubic, bool periodic);

/// Rows [begin, end); out is of the first of them.
inline void moment_rows(const StrainLoop& p, Moments* out, std::size_t begin, std::size_t end) {
    strain_loops(p.cubic, p.periodic).moment(p, out, begin, end);
}
inline void strain_rows(const StrainLoop& p, Strains* out, std::size_t begin, std::size_t end) {
    strain_loops(p.cubic, p.periodic).strain(p, out, begin, end);
}
/// Four floats per row: sum w (mu_i (d du - d E_i d) + mu_j (d du - d E_j d)) d - V s Q_j d, and 0.
inline void friction_rows(const StrainLoop& p, float* out, std::size_t begin, std::size_t end) {
    strain_loops(p.cubic, p.periodic).friction(p, out, begin, end);
}

}  // namespace quadrat::simulation
