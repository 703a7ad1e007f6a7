// See holds.hpp.
#include "simulation/viscosity/holds.hpp"

#include "base/assert.hpp"
#include "simulation/fluid/boundary.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// Spacings. Nearer than this a particle is taken to be this far from a wall: the straight line is steeper without end.
constexpr float nearest = 0.25f;

Vector3f single(const Vec3f& v) {
    return {v[0], v[1], v[2]};
}

class Finder {
  public:
    Finder(const World& world, const Fluid& fluid, const Solids& solids, const Behind& behind, std::size_t i,
           std::vector<Hold>& holds, Matrix3f& second)
        : world_(world), fluid_(fluid), solids_(solids), behind_(behind), i_(i), holds_(holds), second_(second) {}

    void plane(float distance, const Vector3f& normal, int body, const Vector& foot, const Vector& speed) {
        if (distance >= static_cast<float>(fluid_.support)) return;
        const float d = std::max(distance, nearest * static_cast<float>(world_.scene.spacing));
        const Behind::Sums s = behind_(d);
        second_ += s.along * Matrix3f::Identity() + (s.across - s.along) * normal * normal.transpose();
        add(body, normal * (-s.across / d), foot, speed);
    }

    void sample(const Sample& b) {
        const Vec3f apart = world_.apart(fluid_.p.x[i_], b.position);
        const float r = norm(apart), h = static_cast<float>(fluid_.support);
        const float volume = world_.scene.dimension == 2 ? h * h : h * h * h;
        const float slope = b.volume * fluid_.force_kernel.slope(r / h) / (volume * h * h);
        if (slope == 0) return;
        const Vector3f d = single(apart);
        second_ -= slope * d * d.transpose();
        add(static_cast<int>(b.body), slope * d, vector(b.position), vector(b.velocity));
    }

  private:
    void add(int body, const Vector3f& pull, const Vector& place, const Vector& speed) {
        Hold h{static_cast<std::uint32_t>(i_), -1, pull, speed.cast<float>(), Vector3f::Zero()};
        if (body >= 0) {
            const auto b = static_cast<std::size_t>(body);
            h.body = solids_.bodies()[b].dynamic;
            h.arm = (place - solids_.bodies()[b].world_centre(solids_.poses[b])).cast<float>();
        }
        holds_.push_back(h);
    }

    const World& world_;
    const Fluid& fluid_;
    const Solids& solids_;
    const Behind& behind_;
    std::size_t i_;
    std::vector<Hold>& holds_;
    Matrix3f& second_;
};

}  // namespace

Behind::Behind(const Fluid& fluid, int dimension) : support_(static_cast<float>(fluid.support)), at_(bins + 1) {
    QUADRAT_ASSERT(!fluid.phases.empty() && fluid.support > 0);
    const double edge = std::pow(double{fluid.phases[0].volume}, 1.0 / dimension), h = fluid.support;
    const double volume = double{fluid.phases[0].volume} / std::pow(h, dimension + 2);
    const int reach = static_cast<int>(h / edge) + 1;
    for (int bin = 0; bin <= bins; ++bin) {
        double across = 0, along = 0;
        for (double z = h * bin / bins + 0.5 * edge; z < h; z += edge)
            for (int x = -reach; x <= reach; ++x)
                for (int y = dimension == 2 ? 0 : -reach; y <= (dimension == 2 ? 0 : reach); ++y) {
                    const double side = edge * x, r = std::sqrt(z * z + side * side + edge * edge * y * y);
                    const double slope = -volume * double{fluid.force_kernel.slope(static_cast<float>(r / h))};
                    across += slope * z * z;
                    along += slope * side * side;
                }
        at_[static_cast<std::size_t>(bin)] = {static_cast<float>(across), static_cast<float>(along)};
    }
}

Behind::Sums Behind::operator()(float d) const {
    QUADRAT_ASSERT(!at_.empty());
    const float t = std::clamp(d / support_, 0.0f, 1.0f) * bins;
    const auto k = std::min(static_cast<std::size_t>(t), static_cast<std::size_t>(bins - 1));
    const float f = t - static_cast<float>(k);
    return {at_[k].across + f * (at_[k + 1].across - at_[k].across),
            at_[k].along + f * (at_[k + 1].along - at_[k].along)};
}

void find_holds(const World& world, const Fluid& fluid, const Solids& solids, const Behind& behind, std::size_t i,
                std::vector<Hold>& holds, Matrix3f& second) {
    if (!near_solids(world, fluid, solids, i)) return;
    Finder finder(world, fluid, solids, behind, i, holds, second);
    const Vec3f& x = fluid.p.x[i];
    if (world.scene.domain.ghosts)
        for (const Wall& w : world.walls)
            if (w.friction > 0)
                finder.plane(w.normal[0] * x[0] + w.normal[1] * x[1] + w.normal[2] * x[2] - w.offset,
                             Vector3f(w.normal[0], w.normal[1], w.normal[2]), -1, Vector::Zero(), Vector::Zero());
    for (const FieldHit& f : solids.fields_near(i))
        if (solids.bodies()[f.body].friction > 0)
            finder.plane(static_cast<float>(f.distance), vector(f.normal).cast<float>(), static_cast<int>(f.body),
                         f.foot(x), solids.velocity_at(f.body, f.foot(x)));
    for (const Sample& b : solids.samples_near(i))
        if (solids.bodies()[b.body].friction > 0) finder.sample(b);
}

}  // namespace quadrat::simulation
