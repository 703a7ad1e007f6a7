// What solids add to the sums over a particle's neighbours. Walls and bodies with BoundaryKind::field enter as the
// share of the support that lies behind them; bodies with particles enter sample by sample. What lies behind two walls
// counts once: see Walls. Fields join as if independent: 1 - (1 - a)(1 - b).
//
// Forces are the gradient of the energy of compression. With the paper's kernels, which have none, the pressure behind
// a surface is the particle's own plus the weight of the fluid between: P_i + rho g (x - x_i). Its
// second part is what carries the fluid along a side wall; without it the layer at the wall lacks half of the pressure
// gradient and sinks. Integrated by parts over the half-space behind a plane it is -(share) g, and across the plane
// d (g n) (share)' more.
#pragma once

#include "simulation/fluid/fluid.hpp"

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

/// The walls around one particle, joined. Of the share b of a wall, the part w is behind a wall of share a too: a where
/// they meet at a right angle, all of the smaller share where they are parallel, nothing where they face each other,
/// and by the cosine c of their normals in between. So two planes in almost the same place are as good as one. The
/// joint share is a function of the distances, of which the gradient is taken: forces keep their energy.
class Walls {
  public:
    void add(const WallTable& table, float d, float h, const Wall& wall, const Vec3d& gravity) {
        if (count_ == most) return;  // as if it were behind the others
        One& one = all_[count_++];
        const float q = 0.5f * (d / h + 1);
        one = {wall.normal.data(), q <= 0 ? 1.0f : table.share(q), q <= 0 ? 0.0f : -table.slope(q) / h,
               d * static_cast<float>(gravity[0] * double{wall.normal[0]} + gravity[1] * double{wall.normal[1]} +
                                      gravity[2] * double{wall.normal[2]})};
    }

    /// Each wall adds what is behind none before it: the sum of b_k times the product of 1 - w_jk over j < k.
    [[nodiscard]] Share joined() const {
        Share to;
        float by[most] = {};  // derivative of the sum by each share
        for (int k = 0; k < count_; ++k) {
            const float b = all_[k].share;
            // w_jk, and b_k times its derivatives by b_k and b_j: alone they are beyond all bounds where b_k is next to
            // 0.
            float w[most], own[most], other[most], rest = 1;
            for (int j = 0; j < k; ++j) {
                const float a = all_[j].share;
                const float c = all_[k].normal[0] * all_[j].normal[0] + all_[k].normal[1] * all_[j].normal[1] +
                                all_[k].normal[2] * all_[j].normal[2];
                const bool within = a < b;  // so that some of b is not behind a even if they are parallel
                w[j] = c > 0 ? (1 - c) * a + c * (within ? a / b : 1) : (1 + c) * a;
                own[j] = c > 0 && within ? -c * (a / b) : 0;
                other[j] = c > 0 ? (1 - c) * b + (within ? c : 0) : (1 + c) * b;
                rest *= 1 - w[j];
            }
            to.inside += b * rest;
            by[k] += rest;
            for (int j = 0; j < k; ++j) {
                float others = 1;
                for (int l = 0; l < k; ++l)
                    if (l != j) others *= 1 - w[l];
                by[k] -= others * own[j];
                by[j] -= others * other[j];
            }
        }
        to.inside = std::min(to.inside, 1.0f);
        for (int k = 0; k < count_; ++k)
            for (int a = 0; a < 3; ++a) {
                const float slope = by[k] * all_[k].slope * all_[k].normal[a];
                to.gradient[a] += slope;
                to.across[a] += all_[k].fall * slope;
            }
        return to;
    }

  private:
    static constexpr int most = 8;
    struct One {
        const float* normal;
        float share, slope, fall;
    };
    One all_[most];
    int count_ = 0;
};

/// False where no solid reaches into the support of particle i.
inline bool near_solids(const World& world, const Fluid& fluid, const Solids& solids, std::size_t i) {
    if (!solids.empty() || !world.scene.domain.planes.empty()) return true;
    if (!world.scene.domain.ghosts) return false;
    const Vec3f& x = fluid.p.x[i];
    for (int k = 0; k < 3; ++k)
        if (!(x[k] >= fluid.inner.lo[k] && x[k] <= fluid.inner.hi[k])) return true;
    return false;
}

/// What walls, fields and boundary samples do to particle i; newtons. The reaction, times `weight`, goes to
/// `on_bodies`.
Vec3f boundary_forces(const World& world, const Fluid& fluid, const Solids& solids, std::size_t i, bool pressure,
                      std::vector<Wrench>& on_bodies, float weight = 1);
/// Adds what solids contribute to the density that its neighbours give, and sets density and pressure.
void finish_density(const World& world, Fluid& fluid, const Solids& solids, std::size_t i, float rho);

/// Walls and fields around particle i.
inline Share share_of(const World& world, const Fluid& fluid, const Solids& solids, std::size_t i,
                      const WallTable& table) {
    const Vec3f& x = fluid.p.x[i];
    const float h = fluid.support_of(i);
    Walls walls;
    if (world.scene.domain.ghosts)
        for (const Wall& w : world.walls) {
            const float d = w.normal[0] * x[0] + w.normal[1] * x[1] + w.normal[2] * x[2] - w.offset;
            if (d < h) walls.add(table, d, h, w, world.scene.gravity);
        }
    Share share = walls.joined();
    for (const FieldHit& f : solids.fields_near(i)) add_share(share, table, f, h, world.scene.gravity);
    return share;
}

}  // namespace quadrat::simulation
