// What solids add to the sums over a particle's neighbours. Walls and bodies with BoundaryKind::field enter as the
// share of the support that lies behind them; bodies with particles enter sample by sample. Shares of several surfaces
// combine as if independent: 1 - (1 - a)(1 - b), which counts the corner behind both only once.
//
// Forces are the gradient of the energy of compression. With the paper's kernels, which have none, the pressure behind
// a surface is the particle's own plus the weight of the fluid between: P_i + rho g (x - x_i). Its
// second part is what carries the fluid along a side wall; without it the layer at the wall lacks half of the pressure
// gradient and sinks. Integrated by parts over the half-space behind a plane it is -(share) g, and across the plane
// d (g n) (share)' more.
#pragma once

#include "simulation/state.hpp"

namespace quadrat::simulation {

struct Share {
    float inside = 0;     ///< part of the kernel behind surfaces
    Vec3f gradient = {};  ///< of it, by the particle's position
    Vec3f across = {};    ///< sum of d (g n) gradient over the surfaces
};

/// Adds the share of one plane at distance d with unit normal n to the fluid.
inline void add_share(Share& to, const WallTable& table, float d, float h, const float* n, const Vec3d& gravity) {
    if (d >= h) return;
    const float q = 0.5f * (d / h + 1);
    const float part = q <= 0 ? 1.0f : table.share(q);
    const float slope = q <= 0 ? 0.0f : -table.slope(q) / h;
    const float rest = 1 - to.inside, other = 1 - part;
    const float fall =
        d * static_cast<float>(gravity[0] * double{n[0]} + gravity[1] * double{n[1]} + gravity[2] * double{n[2]});
    for (int k = 0; k < 3; ++k) {
        to.gradient[k] = to.gradient[k] * other + slope * n[k] * rest;
        to.across[k] = to.across[k] * other + fall * slope * n[k] * rest;
    }
    to.inside = 1 - rest * other;
}

inline void add_share(Share& to, const WallTable& table, const FieldHit& f, float h, const Vec3d& gravity) {
    const float n[3] = {static_cast<float>(f.normal[0]), static_cast<float>(f.normal[1]),
                        static_cast<float>(f.normal[2])};
    add_share(to, table, static_cast<float>(f.distance), h, n, gravity);
}

/// False where no solid reaches into the support of particle i.
inline bool near_solids(const State& s, std::size_t i) {
    if (!s.solids.empty() || !s.scene.domain.planes.empty()) return true;
    if (!s.scene.domain.ghosts) return false;
    const Vec3f& x = s.p.x[i];
    for (int k = 0; k < 3; ++k)
        if (!(x[k] >= s.inner.lo[k] && x[k] <= s.inner.hi[k])) return true;
    return false;
}

/// What walls, fields and boundary samples do to particle i; newtons. The reaction goes to `on_bodies`.
Vec3f boundary_forces(const State& s, std::size_t i, bool pressure, std::vector<Wrench>& on_bodies);
/// Adds what solids contribute to the density that its neighbours give, and sets density and pressure.
void finish_density(State& s, std::size_t i, float rho);

/// Walls and fields around particle i.
inline Share share_of(const State& s, std::size_t i, const WallTable& table) {
    Share share;
    const Vec3f& x = s.p.x[i];
    const float h = s.support_of(i);
    if (s.scene.domain.ghosts)
        for (const Wall& w : s.walls) {
            const float d = w.normal[0] * x[0] + w.normal[1] * x[1] + w.normal[2] * x[2] - w.offset;
            if (d < h) add_share(share, table, d, h, w.normal.data(), s.scene.gravity);
        }
    for (const FieldHit& f : s.solids.fields_near(i)) add_share(share, table, f, h, s.scene.gravity);
    return share;
}

}  // namespace quadrat::simulation
