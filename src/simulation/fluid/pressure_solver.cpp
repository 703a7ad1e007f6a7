// See pressure_solver.hpp.
#include "simulation/fluid/pressure_solver.hpp"

#include "base/assert.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// Of Jacobi. Measured: with 0.7 a dam break of 3200 particles throws up fast spray and takes 2.7 times the steps.
constexpr float relaxation = 0.5f;
// Up to so many neighbours. With more, Jacobi is stable only with less of it: with 50 in 2D, half of it threw particles
// out of a dam break in the first steps.
constexpr double few[2] = {28, 34};  // in 2D and 3D
// Density errors go at this rate at most, in units of the expected speed over the support: fluid then moves apart by
// half of the expected speed over the width of a support.
constexpr double relief = 0.5;
// Of the rest density, which a lattice at rest has exactly and what flows within much less than this
// (IncompressibleOptions::density_error). What lacks more is at a free surface, and may part.
constexpr float crowd = 0.97f;
// Of the sum of absolute values that bounds what a lighter neighbour adds to a row. All of it is safe in one dimension;
// gradients point in all directions, so that in 2D and 3D less will do.
constexpr float tie[2] = {0.5f, 0.34f};

}  // namespace

bool mixed(const Fluid& fluid) {
    return std::any_of(fluid.phases.begin(), fluid.phases.end(),
                       [&](const PhaseData& f) { return f.rest_density != fluid.phases[0].rest_density; });
}

template <class Fn>
void PressureSolver::for_all(Fn&& fn) {
    base::parallel_for(world_.executor, n_, grain, fn);
}

PressureSolver::PressureSolver(const World& world, Fluid& fluid, Solids& solids)
    : world_(world),
      fluid_(fluid),
      solids_(solids),
      n_(fluid.p.size()),
      loop_(pair_loop(world, fluid)),
      coupling_(world, fluid, solids) {
    QUADRAT_ASSERT(fluid.near.size() == n_ && fluid.number_density);
    const double h = fluid.support;
    volume_ = fluid.phases[0].volume;
    const double reach = h / std::pow(double{volume_}, 1.0 / world.scene.dimension);
    // Neighbours on a lattice: pi reach^2 or 4/3 pi reach^3 edges of the particles' volume, as a count needs it.
    const double near = world.scene.dimension == 2 ? 3.14 * reach * reach : 4.19 * reach * reach * reach;
    relaxation_ = relaxation * static_cast<float>(std::min(1.0, few[world.scene.dimension - 2] / near));
    slope_ = volume_ * kernel_peak(world, fluid) / static_cast<float>(h * h);
    mixed_ = mixed(fluid);
    diagonal_.resize(n_);
    inverse_.resize(n_);
    inverse_density_.resize(n_);
    boundary_.resize(4 * n_);
    source_.resize(n_);
    rate_.resize(n_);
    fluid.records.resize_discard(8 * n_);
    block_begin_.resize(n_ + 1);
    for (std::size_t i = 0; i < n_; ++i) block_begin_[i + 1] = block_begin_[i] + (fluid.near[i].size() + 7) / 8;
    fluid.block_index.resize_discard(8 * block_begin_[n_]);
    loop_.flat = world.scene.dimension == 2;
    fluid.block_gradient.resize_discard((loop_.flat ? 16 : 24) * block_begin_[n_]);
    loop_.block_begin = block_begin_.data();
    loop_.block_index = fluid.block_index.data();
    loop_.block_gradient = fluid.block_gradient.data();
}

void PressureSolver::prepare() {
    loop_.records = fluid_.records.data();
    std::vector<float> sums(4 * n_);
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            float* const r = fluid_.records.data() + 4 * i;
            for (int k = 0; k < 3; ++k) r[k] = fluid_.p.x[i][k];
            r[3] = 0;
        }
    });
    PairLoop p = loop_;
    p.out = sums.data();
    for_all([&](std::size_t begin, std::size_t end) {
        gradient_rows(p, begin, end);
        for (std::size_t i = begin; i < end; ++i) {
            const float* const sum = sums.data() + 4 * i;
            const PhaseData& own = fluid_.phase_of(i);
            const Vec3f g = coupling_.gather(begin / grain, i);
            for (std::size_t k = 0; k < 3; ++k) boundary_[4 * i + k] = g[static_cast<int>(k)];
            float all = 0;
            for (int k = 0; k < 3; ++k) {
                const float total = slope_ * sum[k] + g[k];
                all += total * total;
            }
            // d s_i / d k_i: own motion over own mass, and that of the neighbours over theirs.
            const float sum_sq = slope_ * slope_ * sum[3];
            inverse_density_[i] = 1 / own.rest_density;
            diagonal_[i] = inverse_density_[i] * (mixed_ ? all : all + sum_sq);
        }
    });
    if (mixed_) add_neighbours();
    coupling_.finish(diagonal_);
    // Next to nothing, in units of what neighbours make it: 1 / (density support^2).
    const auto least = static_cast<float>(1e-8 / (fluid_.support * fluid_.support));
    for (std::size_t i = 0; i < n_; ++i)
        inverse_[i] = diagonal_[i] > least * inverse_density_[i] ? 1 / diagonal_[i] : 0.0f;
}

// rate_[i] = sum V_j (u_i - u_j) grad W + u_i boundary gradient - what bodies take; u are the velocities or
// accelerations in the records.
template <class Fn>
void PressureSolver::divergence(Fn&& by_bodies) {
    PairLoop p = loop_;
    p.out = rate_.data();
    for_all([&](std::size_t begin, std::size_t end) {
        divergence_rows(p, begin, end);
        for (std::size_t i = begin; i < end; ++i) {
            const float* const u = p.records + 4 * i;
            const float* const b = boundary_.data() + 4 * i;
            rate_[i] = slope_ * rate_[i] + u[0] * b[0] + u[1] * b[1] + u[2] * b[2] - by_bodies(i);
        }
    });
}

void PressureSolver::rates() {
    coupling_.read_velocities();
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            float* const r = fluid_.records.data() + 4 * i;
            for (int k = 0; k < 3; ++k) r[k] = fluid_.p.v[i][k];
            r[3] = 0;
        }
    });
    divergence([&](std::size_t i) { return coupling_.by_velocities(i); });
}

void PressureSolver::make_divergence_free(double dt) {
    QUADRAT_ASSERT(dt > 0);
    const double bound = world_.scene.incompressible.divergence_error / dt;
    rates();
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) source_[i] = crowded(i) ? rate_[i] / static_cast<float>(dt) : -1e30f;
    });
    solve(fluid_.p.kappa_v, dt, bound / dt, 0);
}

void PressureSolver::make_density_constant(double dt, double usual_step) {
    QUADRAT_ASSERT(dt > 0 && usual_step > 0);
    double bound = aim * world_.scene.incompressible.density_error;
    // Where a light phase makes steps short, an error that is left gives it a large acceleration: the bound is then
    // that of the acceleration.
    if (mixed_) bound *= std::pow(std::min(1.0, dt / usual_step), 2);
    // An error that is there already goes at a bounded rate: all of it in one step would throw particles apart at
    // support / dt, shorten the next step for their speed, and throw the next ones faster still.
    const auto most = static_cast<float>(dt * relief * world_.expected_speed / fluid_.support);
    rates();
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const float over = std::min(fluid_.p.rho[i] / fluid_.phase_of(i).rest_density - 1, most);
            source_[i] = (over + static_cast<float>(dt) * rate_[i]) / static_cast<float>(dt * dt);
        }
    });
    solve(fluid_.p.kappa, dt, bound / (dt * dt), 1);
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            fluid_.p.p[i] = fluid_.p.kappa[i];
            if (!lacking_.empty()) fluid_.p.kappa[i] = std::max(fluid_.p.kappa[i] + lacking_[i], 0.0f);
        }
    });
}

// The neighbours' part of the diagonal where masses differ.
void PressureSolver::add_neighbours() {
    const float share = tie[world_.scene.dimension - 2];
    PairLoop p = loop_;
    p.out = rate_.data();
    for_all([&](std::size_t begin, std::size_t end) { length_rows(p, begin, end); });
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            float* const r = fluid_.records.data() + 4 * i;
            r[0] = inverse_density_[i];
            r[1] = share * rate_[i];
        }
    });
    for_all([&](std::size_t begin, std::size_t end) {
        tie_rows(p, begin, end);
        for (std::size_t i = begin; i < end; ++i) diagonal_[i] += slope_ * slope_ * rate_[i];
    });
}

bool PressureSolver::crowded(std::size_t i) const {
    return fluid_.p.rho[i] > crowd * fluid_.phase_of(i).rest_density;
}

// Records: accelerations by the present k; and those of the bodies.
void PressureSolver::accelerations(const std::vector<float>& kappa) {
    coupling_.accelerate(kappa);
    PairLoop p = loop_;
    p.records = kappa.data();
    p.out = fluid_.records.data();
    for_all([&](std::size_t begin, std::size_t end) {
        push_rows(p, begin, end);
        for (std::size_t i = begin; i < end; ++i) {
            float* const u = p.out + 4 * i;
            const float* const b = boundary_.data() + 4 * i;
            const float inverse = -inverse_density_[i], own = kappa[i];
            for (int k = 0; k < 4; ++k) u[k] = inverse * (slope_ * u[k] + own * b[k]);
        }
    });
}

// What is missing: too dense, or pressed without need. Leaves the change of each k in rate_. Eight sums beside each
// other, so that it is vector code.
double PressureSolver::missing(const float* kappa, std::size_t begin, std::size_t end) {
    QUADRAT_ASSERT(begin <= end && end <= n_);
    float sums[8] = {};
    float* const rate = rate_.data();
    const auto add = [&](std::size_t i, float& sum) {
        const float change = (source_[i] + rate[i]) * inverse_[i];
        sum += std::abs(std::max(kappa[i] + change, 0.0f) - kappa[i]) * diagonal_[i];
        rate[i] = change;
    };
    std::size_t i = begin;
    for (; i + 8 <= end; i += 8)
        for (std::size_t k = 0; k < 8; ++k) add(i + k, sums[k]);
    for (; i < end; ++i) add(i, sums[0]);
    double sum = 0;
    for (const float s : sums) sum += double{s};
    return sum;
}

// Relaxed Jacobi with Nesterov's momentum on: source + (rate of s'' by accelerations of k) = 0 where k > 0, and < 0
// where k = 0. The momentum starts again when the error grows. It grows faster than Nesterov's (age - 1) / (age +
// 2): few iterations are enough after the last step's answer (docs/decisions/0087-fewer-iterations.md).
void PressureSolver::solve(std::vector<float>& kappa, double dt, double bound, std::uint32_t least) {
    QUADRAT_ASSERT(kappa.size() == n_ && bound > 0);
    const std::uint32_t most = world_.scene.incompressible.max_iterations;
    last_ = kappa;
    double before = 0;
    float age = 0;
    // Divergence often needs no pressure at all: no k, no accelerations.
    bool none = std::all_of(kappa.begin(), kappa.end(), [](float k) { return k == 0; });
    for (std::uint32_t round = 0;; ++round) {
        if (none) {
            std::fill(rate_.begin(), rate_.end(), 0.0f);
        } else {
            accelerations(kappa);
            divergence([&](std::size_t i) { return coupling_.by_accelerations(i); });
        }
        const double error = base::parallel_reduce(
            world_.executor, n_, grain, 0.0,
            [&](std::size_t begin, std::size_t end) { return missing(kappa.data(), begin, end); },
            [](double a, double b) { return a + b; });
        ++iterations_;
        if ((round >= least && error <= bound * static_cast<double>(n_)) || round >= most) break;
        age = round > 0 && error > before ? 0 : age + 1;
        before = error;
        none = false;
        const float momentum = age > 1 ? age / (age + 1) : 0;
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const float next = std::max(kappa[i] + relaxation_ * rate_[i], 0.0f);
                kappa[i] = std::max(next + momentum * (next - last_[i]), 0.0f);
                last_[i] = next;
            }
        });
    }
    if (none) return;
    // The records hold the accelerations of the k that passed.
    act(dt);
}

void PressureSolver::expect(std::span<Vec3f> by) {
    QUADRAT_ASSERT(by.size() == n_);
    accelerations(fluid_.p.kappa);
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (int k = 0; k < 3; ++k) by[i][k] += fluid_.records[4 * i + static_cast<std::size_t>(k)];
    });
}

// Where friction is strong, a velocity that is the gradient of a potential survives a step only in part, and what is
// left tells too little of the pressure that was missing: 2 mu times the rate of squeezing is what friction took of it.
// This is the pressure correction in rotational form (Timmermans, Minev & van de Vosse 1996, "An approximate projection
// scheme for incompressible flow using spectral elements") for a stress of 2 mu E. Without it lava creeps 1.7 times as
// fast as it should for many steps.
void PressureSolver::learn_from_friction() {
    rates();
    lacking_.resize(n_);
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            lacking_[i] = crowded(i) ? 2 * fluid_.phase_of(i).viscosity * rate_[i] : 0;
    });
    accelerations(fluid_.p.kappa);
}

void PressureSolver::act(double dt) {
    const auto step = static_cast<float>(dt);
    for_all([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (int k = 0; k < 3; ++k) fluid_.p.v[i][k] += step * fluid_.records[4 * i + static_cast<std::size_t>(k)];
    });
    act_on_bodies(dt);
}

void PressureSolver::act_on_bodies(double dt) {
    coupling_.apply(solids_, dt);
}

}  // namespace quadrat::simulation
