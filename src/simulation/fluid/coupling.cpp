// See coupling.hpp.
#include "simulation/fluid/coupling.hpp"

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/counting_sort.hpp"
#include "simulation/fluid/boundary.hpp"

#include <cmath>
#include <span>

namespace quadrat::simulation {
namespace {

// Jacobi must not take the sum of what all particles do to a body for what one does: the diagonal gets the row's sum of
// absolute values, of which half is enough since the pushes come from all sides.
constexpr float row_share = 0.5f;

}  // namespace

Coupling::Coupling(const World& world, const Fluid& fluid, const Solids& solids)
    : world_(world),
      fluid_(fluid),
      solids_(solids),
      volume_(fluid.phases[0].volume),
      slope_scale_(1 / std::pow(static_cast<float>(fluid.support), static_cast<float>(world.scene.dimension + 2))),
      gathered_(base::chunk_count(fluid.p.size(), grain)) {
    for (const Body& b : solids.bodies()) any_ = any_ || b.motion != BodyMotion::fixed;
}

Vec3f Coupling::gather(std::size_t task, std::size_t i) {
    QUADRAT_ASSERT(gathered_[task].empty() || gathered_[task].back().particle < i);
    const Vec3f& x = fluid_.p.x[i];
    const Share share = share_of(world_, fluid_, solids_, i, fluid_.force_wall);
    Vec3f sum = share.gradient;
    std::vector<Hold>& holds = gathered_[task];
    const std::size_t first = holds.size();
    const auto add = [&](std::uint32_t body, const Vec3f& g, const Vector& at) {
        if (solids_.bodies()[body].motion == BodyMotion::fixed) return;
        std::size_t e = first;
        while (e < holds.size() && holds[e].body != body) ++e;
        if (e == holds.size()) holds.push_back({static_cast<std::uint32_t>(i), body, {}, {}});
        const Vector arm = at - solids_.bodies()[body].world_centre(solids_.poses[body]);
        const Vec3f turn = plain_float(arm.cross(vector(g)));
        for (int k = 0; k < 3; ++k) holds[e].push[k] += g[k], holds[e].turn[k] += turn[k];
    };
    const auto h = static_cast<float>(fluid_.support);
    for (const Sample& b : solids_.samples_near(i)) {
        const Vec3f d = world_.apart(x, b.position);
        const float w = b.volume * slope_scale_ * fluid_.force_kernel.slope(norm(d) / h);
        Vec3f g;
        for (int k = 0; k < 3; ++k) g[k] = w * d[k], sum[k] += g[k];
        if (any_) add(b.body, g, vector(b.position));
    }
    if (any_)
        for (const FieldHit& f : solids_.fields_near(i)) {
            Share alone;
            add_share(alone, fluid_.force_wall, f, h, world_.scene.gravity);
            const float rest = alone.inside < 1 ? (1 - share.inside) / (1 - alone.inside) : 0;
            Vec3f g;
            for (int k = 0; k < 3; ++k) g[k] = rest * alone.gradient[k];
            add(f.body, g, f.foot(x));
        }
    return sum;
}

void Coupling::finish(std::vector<float>& diagonal) {
    QUADRAT_ASSERT(holds_.empty() && diagonal.size() == fluid_.p.size());
    for (const std::vector<Hold>& g : gathered_) holds_.insert(holds_.end(), g.begin(), g.end());
    if (holds_.empty()) return;
    const std::vector<Body>& bodies = solids_.bodies();
    row_.assign(fluid_.p.size() + 1, 0);
    for (const Hold& h : holds_) ++row_[h.particle];
    cells::places_from_counts(row_, 0);
    column_.assign(bodies.size() + 1, 0);
    by_body_.resize(holds_.size());
    cells::counting_sort(
        std::span(column_).subspan(1), 0, holds_.size(), [&](std::size_t e) { return holds_[e].body; },
        [&](std::size_t e, std::size_t place) { by_body_[place] = static_cast<std::uint32_t>(e); });

    accelerations_.assign(bodies.size(), {});
    inverse_inertia_.assign(bodies.size(), Matrix3d::Zero());
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        if (bodies[b].inverse_mass == 0 || column_[b] == column_[b + 1]) continue;
        inverse_inertia_[b] = solids_.inverse_inertia(b);
        float pushes = 0, turns = 0;
        for (std::size_t c = column_[b]; c < column_[b + 1]; ++c) {
            pushes += norm(holds_[by_body_[c]].push);
            turns += norm(holds_[by_body_[c]].turn);
        }
        const float ease = row_share * volume_ * static_cast<float>(bodies[b].inverse_mass) * pushes;
        const float spin = row_share * volume_ * static_cast<float>(inverse_inertia_[b].norm()) * turns;
        for (std::size_t c = column_[b]; c < column_[b + 1]; ++c) {
            const Hold& h = holds_[by_body_[c]];
            diagonal[h.particle] += ease * norm(h.push) + spin * norm(h.turn);
        }
    }
}

void Coupling::accelerate(const std::vector<float>& kappa) {
    QUADRAT_ASSERT(kappa.size() == fluid_.p.size());
    if (holds_.empty()) return;
    base::parallel_for(world_.executor, accelerations_.size(), 64, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b) {
            const double inverse_mass = solids_.bodies()[b].inverse_mass;
            if (inverse_mass == 0) continue;
            Vector force = Vector::Zero(), torque = Vector::Zero();
            for (std::size_t c = column_[b]; c < column_[b + 1]; ++c) {
                const Hold& h = holds_[by_body_[c]];
                const double k = double{kappa[h.particle]};
                force += k * vector(h.push);
                torque += k * vector(h.turn);
            }
            accelerations_[b] = {plain_float(double{volume_} * inverse_mass * force),
                                 plain_float(double{volume_} * (inverse_inertia_[b] * torque))};
        }
    });
}

void Coupling::read_velocities() {
    if (holds_.empty()) return;
    velocities_.clear();
    for (const BodyPose& p : solids_.poses)
        velocities_.push_back({plain_float(vector(p.velocity)), plain_float(vector(p.angular_velocity))});
}

void Coupling::apply(Solids& solids, double dt) const {
    for (std::size_t b = 0; b < accelerations_.size(); ++b) {
        BodyPose& p = solids.poses[b];
        p.velocity = plain(vector(p.velocity) + dt * vector(accelerations_[b].along));
        p.angular_velocity = plain(vector(p.angular_velocity) + dt * vector(accelerations_[b].about));
    }
}

}  // namespace quadrat::simulation
