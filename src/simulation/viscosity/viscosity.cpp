// See viscosity.hpp.
#include "simulation/viscosity/viscosity.hpp"

#include "base/assert.hpp"
#include "cells/counting_sort.hpp"
#include "simulation/fluid/pair_loops.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// Of the pairs' part of the dissipation (viscosity.hpp).
constexpr float ties = 2;
// Of the second moment, which is about 1 in the bulk and 0.2 in a corner: below this no gradient is taken.
constexpr float least_second = 0.02f;
Matrix3f symmetric(const float* t) {
    Matrix3f m;
    m << t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2];
    return m;
}

// The fourth moment times E: sum w (d E d) d d.
Matrix3f twice(const float* f, const Matrix3f& e) {
    const float x = e(0, 0), y = e(1, 1), z = e(2, 2), xy = 2 * e(0, 1), xz = 2 * e(0, 2), yz = 2 * e(1, 2);
    const float t[6] = {f[0] * x + f[3] * y + f[4] * z + f[6] * xy + f[7] * xz + f[12] * yz,
                        f[3] * x + f[1] * y + f[5] * z + f[8] * xy + f[13] * xz + f[9] * yz,
                        f[4] * x + f[5] * y + f[2] * z + f[14] * xy + f[10] * xz + f[11] * yz,
                        f[6] * x + f[8] * y + f[14] * z + f[3] * xy + f[12] * xz + f[13] * yz,
                        f[7] * x + f[13] * y + f[10] * z + f[12] * xy + f[4] * xz + f[14] * yz,
                        f[12] * x + f[9] * y + f[11] * z + f[13] * xy + f[14] * xz + f[5] * yz};
    return symmetric(t);
}

// 0 where its smallest eigenvalue may be too small: det / (trace / (D - 1))^(D - 1) is never above it.
Matrix3f inverse_or_none(Matrix3f m, int dimension) {
    if (dimension == 2) {
        m.row(2).setZero();
        m.col(2).setZero();
        m(2, 2) = 1;
    }
    const float det = m.determinant(), half = 0.5f * m.trace();
    const float least = dimension == 2 ? det / (m.trace() - 1) : det / (half * half);
    return least > least_second ? Matrix3f(m.inverse()) : Matrix3f(Matrix3f::Zero());
}

Vec3f plain_single(const Vector3f& v) {
    return {{v[0], v[1], v[2]}};
}
Vector3f single(const Vec3f& v) {
    return {v[0], v[1], v[2]};
}

}  // namespace

Viscosity::Viscosity(const World& world, Fluid& fluid, Solids& solids, const Behind& behind)
    : world_(world), fluid_(fluid), solids_(solids), behind_(behind), n_(fluid.p.size()) {
    QUADRAT_ASSERT(fluid.implicit_viscosity && fluid.near.size() == n_);
    const PairLoop all = pair_loop(world, fluid);
    const auto h = static_cast<float>(fluid.support);
    flow_.resize_discard(8 * n_);
    strain_.resize_discard(8 * n_);
    stress_.resize_discard(8 * n_);
    const float weight = ties * static_cast<float>(world.scene.dimension + 2);
    loop_ = {
        &fluid.near, flow_.data(),    strain_.data(), stress_.data(), h,         kernel_peak(world, fluid) / (h * h),
        weight,      0.0025f * h * h, all.cubic,      all.periodic,   all.period};
    moments_.resize(n_);
    inverse_.resize(n_);
    std::vector<std::vector<Hold>> found(base::chunk_count(n_, grain));
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            float* const r = flow_.data() + 8 * i;
            const PhaseData& f = fluid_.phase_of(i);
            for (int k = 0; k < 3; ++k) r[k] = fluid_.p.x[i][k], r[3 + k] = 0;
            r[6] = f.volume;
            r[7] = f.viscosity;
        }
    });
    for_all([&](std::size_t begin, std::size_t end) { arrange(begin, end, found[begin / grain]); });
    join_holds(found);
}

void Viscosity::arrange(std::size_t begin, std::size_t end, std::vector<Hold>& holds) {
    moment_rows(loop_, moments_.data() + begin, begin, end);
    for (std::size_t i = begin; i < end; ++i) {
        Matrix3f second = symmetric(moments_[i].sum + Moments::second);
        find_holds(world_, fluid_, solids_, behind_, i, holds, second);
        inverse_[i] = inverse_or_none(second, world_.scene.dimension);
    }
}

void Viscosity::join_holds(std::vector<std::vector<Hold>>& found) {
    for (const std::vector<Hold>& part : found) holds_.insert(holds_.end(), part.begin(), part.end());
    QUADRAT_ASSERT(std::is_sorted(holds_.begin(), holds_.end(),
                                  [](const Hold& a, const Hold& b) { return a.particle < b.particle; }));
    row_.assign(n_ + 1, 0);
    for (const Hold& h : holds_) ++row_[h.particle];
    cells::places_from_counts(row_, 0);
    held_.resize(holds_.size());
    for (std::size_t b = 0; b < solids_.bodies().size(); ++b) {
        const Body& body = solids_.bodies()[b];
        if (body.dynamic < 0) continue;
        QUADRAT_ASSERT(static_cast<std::size_t>(body.dynamic) == bodies_.size());
        bodies_.push_back(b);
        mass_.push_back(1 / body.inverse_mass);
        inertia_.push_back(solids_.inverse_inertia(b).inverse());
        if (world_.scene.dimension == 2) {
            const double spin = solids_.inverse_inertia(b)(2, 2);
            inertia_.back() = Matrix3d::Identity() / spin;
        }
    }
}

// Diagonals: those of the pairs, and of the strain as of a particle among others like it.
void Viscosity::set_scales() {
    scale_.resize(n_);
    along_.assign(bodies_.size(), 0);
    about_.assign(bodies_.size(), 0);
    const float share = 1 / static_cast<float>(world_.scene.dimension);
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const PhaseData& f = fluid_.phase_of(i);
            float all = f.viscosity * (2 * share * moments_[i].sum[Moments::ties] +
                                       (1 + share) * f.volume * moments_[i].sum[Moments::slopes]);
            for (std::size_t e = row_[i]; e < row_[i + 1]; ++e)
                all += (1 + share) * f.viscosity * (inverse_[i] * holds_[e].pull).squaredNorm();
            scale_[i] = all;
        }
    });
    for (const Hold& h : holds_) {
        if (h.body < 0) continue;
        const PhaseData& f = fluid_.phase_of(h.particle);
        const double add = double{f.volume * f.viscosity} * (1 + double{share}) *
                           double{(inverse_[h.particle] * h.pull).squaredNorm()};
        along_[static_cast<std::size_t>(h.body)] += add;
        about_[static_cast<std::size_t>(h.body)] += add * double{h.arm.squaredNorm()};
    }
}

Vector3f Viscosity::speed_of(const Hold& h, const State& u, Given given) const {
    if (h.body < 0) return given == Given::yes ? h.speed : Vector3f(Vector3f::Zero());
    const Motion& m = u.bodies[static_cast<std::size_t>(h.body)];
    return (m.along + m.about.cross(h.arm.cast<double>())).cast<float>();
}

// E and Q = (stress over volume) (inverse moment) of particles, from the velocities in the records.
void Viscosity::strain(const State& u, Given given, std::size_t begin, std::size_t end) {
    std::vector<Strains> sums(end - begin);
    strain_rows(loop_, sums.data(), begin, end);
    for (std::size_t i = begin; i < end; ++i) {
        const Strains& s = sums[i - begin];
        Matrix3f b;
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) b(r, c) = s.sum[Strains::gradient + 3 * r + c];
        for (std::size_t e = row_[i]; e < row_[i + 1]; ++e)
            b += (speed_of(holds_[e], u, given) - single(u.fluid[i])) * holds_[e].pull.transpose();
        const Matrix3f gradient = b * inverse_[i];
        const Matrix3f rate = 0.5f * (gradient + gradient.transpose());
        const Matrix3f stress = loop_.flow[8 * i + 7] * (2 * rate - symmetric(s.sum + Strains::drawn) +
                                                         twice(moments_[i].sum + Moments::fourth, rate));
        const Matrix3f q = stress * inverse_[i];
        float* const to = strain_.data() + 8 * i;
        float* const on = stress_.data() + 8 * i;
        for (int k = 0; k < 3; ++k) to[k] = rate(k, k);
        to[3] = rate(0, 1), to[4] = rate(0, 2), to[5] = rate(1, 2), to[6] = q(0, 0), to[7] = q(0, 1);
        on[0] = q(0, 2);
        for (int k = 0; k < 3; ++k) on[1 + k] = q(1, k), on[4 + k] = q(2, k);
        on[7] = 0;
        for (std::size_t e = row_[i]; e < row_[i + 1]; ++e) held_[e] = q * holds_[e].pull;
    }
}

void Viscosity::find_friction(const State& u, Given given, State& friction) {
    QUADRAT_ASSERT(u.fluid.size() == n_ && u.bodies.size() == bodies_.size());
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (int k = 0; k < 3; ++k) flow_[8 * i + 3 + static_cast<std::size_t>(k)] = u.fluid[i][k];
    });
    for_all([&](std::size_t begin, std::size_t end) { strain(u, given, begin, end); });
    friction.fluid.resize(n_);
    for_all([&](std::size_t begin, std::size_t end) {
        std::vector<float> sums(4 * (end - begin));
        friction_rows(loop_, sums.data(), begin, end);
        for (std::size_t i = begin; i < end; ++i) {
            const float* const s = sums.data() + 4 * (i - begin);
            const float* const e = strain_.data() + 8 * i;
            const float* const t = stress_.data() + 8 * i;
            const float* const first = moments_[i].sum + Moments::first;
            Matrix3f q;
            q << e[6], e[7], t[0], t[1], t[2], t[3], t[4], t[5], t[6];
            Vector3f f = Vector3f(s[0], s[1], s[2]) - q * Vector3f(first[0], first[1], first[2]);
            for (std::size_t k = row_[i]; k < row_[i + 1]; ++k) f -= held_[k];
            friction.fluid[i] = plain_single(f);
        }
    });
    friction.bodies.assign(bodies_.size(), {});
    for (std::size_t e = 0; e < holds_.size(); ++e) {
        const Hold& h = holds_[e];
        if (h.body < 0) continue;
        const Vector force = double{fluid_.phase_of(h.particle).volume} * held_[e].cast<double>();
        Motion& m = friction.bodies[static_cast<std::size_t>(h.body)];
        m.along += force;
        m.about += h.arm.cast<double>().cross(force);
    }
    if (world_.scene.dimension == 2)
        for (Motion& m : friction.bodies) m.along[2] = m.about[0] = m.about[1] = 0;
}

void Viscosity::add_mass(const State& u, double dt, State& to) const {
    QUADRAT_ASSERT(dt >= 0 && u.fluid.size() == n_ && to.fluid.size() == n_ && to.bodies.size() == bodies_.size());
    const auto step = static_cast<float>(dt);
    base::parallel_for(world_.executor, n_, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const PhaseData& f = fluid_.phase_of(i);
            for (int k = 0; k < 3; ++k) to.fluid[i][k] = f.mass / f.volume * u.fluid[i][k] + step * to.fluid[i][k];
        }
    });
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
        to.bodies[b].along = mass_[b] * u.bodies[b].along + dt * to.bodies[b].along;
        to.bodies[b].about = inertia_[b] * u.bodies[b].about + dt * to.bodies[b].about;
    }
}

double Viscosity::dot(const State& a, const State& b) const {
    QUADRAT_ASSERT(a.fluid.size() == n_ && b.fluid.size() == n_ && a.bodies.size() == b.bodies.size());
    double sum = base::parallel_reduce(
        world_.executor, n_, grain, 0.0,
        [&](std::size_t begin, std::size_t end) {
            double part = 0;
            for (std::size_t i = begin; i < end; ++i) {
                double own = 0;
                for (int k = 0; k < 3; ++k) own += double{a.fluid[i][k]} * double{b.fluid[i][k]};
                part += double{fluid_.phase_of(i).volume} * own;
            }
            return part;
        },
        [](double l, double r) { return l + r; });
    for (std::size_t k = 0; k < bodies_.size(); ++k)
        sum += a.bodies[k].along.dot(b.bodies[k].along) + a.bodies[k].about.dot(b.bodies[k].about);
    return sum;
}

void Viscosity::combine(const State& a, double s, const State& b, State& to) const {
    const auto factor = static_cast<float>(s);
    base::parallel_for(world_.executor, n_, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (int k = 0; k < 3; ++k) to.fluid[i][k] = a.fluid[i][k] + factor * b.fluid[i][k];
    });
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
        to.bodies[k].along = a.bodies[k].along + s * b.bodies[k].along;
        to.bodies[k].about = a.bodies[k].about + s * b.bodies[k].about;
    }
}

void Viscosity::scale(double s, State& to) const {
    const auto factor = static_cast<float>(s);
    base::parallel_for(world_.executor, n_, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (int k = 0; k < 3; ++k) to.fluid[i][k] *= factor;
    });
    for (Motion& m : to.bodies) m.along *= s, m.about *= s;
}

}  // namespace quadrat::simulation
