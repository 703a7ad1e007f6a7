// DFSPH: constant density and divergence-free velocity by two iterations per step (Bender & Koschier 2015,
// "Divergence-free smoothed particle hydrodynamics"). Where the paper has masses and densities this works with rest
// volumes, so that phases of different density may touch: s_i = sum_j V_j W_ij is 1 at rest, and the force between two
// particles is -V_i V_j (k_i + k_j) grad W, opposite on the two. Solids enter as in fluid.cpp: shares of walls and
// fields, and samples, that mirror the particle's k. Both iterations start from the last step's answer.
#include "base/parallel.hpp"
#include "simulation/boundary.hpp"
#include "simulation/integrate.hpp"
#include "simulation/pair_loops.hpp"
#include "simulation/state.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// Of Jacobi. Measured: with 0.7 a dam break of 3200 particles throws up fast spray and takes 2.7 times the steps.
constexpr float relaxation = 0.5f;

class Solver {
  public:
    explicit Solver(State& s) : s_(s), n_(s.p.size()), loop_(pair_loop(s)) {
        const double h = s.support;
        volume_ = s.phases[0].volume;
        slope_ = volume_ * kernel_peak(s) / static_cast<float>(h * h);
        diagonal_.resize(n_);
        boundary_.resize(n_);
        source_.resize(n_);
        rate_.resize(n_);
        push_.resize(n_);
        s.records.resize_discard(8 * n_);
        block_begin_.resize(n_ + 1);
        for (std::size_t i = 0; i < n_; ++i) block_begin_[i + 1] = block_begin_[i] + (s.near[i].size() + 7) / 8;
        s.block_index.resize_discard(8 * block_begin_[n_]);
        s.block_gradient.resize_discard(24 * block_begin_[n_]);
        loop_.block_begin = block_begin_.data();
        loop_.block_index = s.block_index.data();
        loop_.block_gradient = s.block_gradient.data();
    }

    /// What depends on positions alone.
    void prepare() {
        loop_.records = s_.records.data();
        std::vector<float> sums(4 * n_);
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                float* const r = s_.records.data() + 4 * i;
                for (int k = 0; k < 3; ++k) r[k] = s_.p.x[i][k];
                r[3] = 0;
            }
        });
        PairLoop p = loop_;
        p.out = sums.data();
        for_all([&](std::size_t begin, std::size_t end) {
            gradient_rows(p, begin, end);
            for (std::size_t i = begin; i < end; ++i) {
                const float* const sum = sums.data() + 4 * i;
                const PhaseData& own = s_.phases[s_.p.phase[i]];
                Vec3f g = share_of(s_, i, s_.force_wall).gradient;
                for (const Sample& b : s_.solids.samples_near(i)) {
                    const Vec3f d = s_.apart(s_.p.x[i], b.position);
                    const float w = b.volume * slope_at(d);
                    for (int k = 0; k < 3; ++k) g[k] += w * d[k];
                }
                boundary_[i] = g;
                float all = 0;
                for (int k = 0; k < 3; ++k) {
                    const float total = slope_ * sum[k] + g[k];
                    all += total * total;
                }
                // d s_i / d k_i: own motion over own mass, and that of the neighbours over theirs (taken as the same).
                const float sum_sq = slope_ * slope_ * sum[3];
                const float inverse = 1 / own.rest_density;
                diagonal_[i] = inverse * (all + sum_sq);
            }
        });
    }

    /// Rates of change of s by the present velocities.
    void rates() { divergence(s_.p.v, true); }

    /// Makes velocities divergence-free where s is at least about 1.
    void make_divergence_free(double dt) {
        const double bound = s_.scene.incompressible.divergence_error / dt;
        rates();
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                source_[i] = crowded(i) ? rate_[i] / static_cast<float>(dt) : -1e30f;
        });
        solve(s_.p.kappa_v, dt, bound / dt, 0);
    }

    /// Makes s at most 1 after the next move.
    void make_density_constant(double dt) {
        // The move itself adds to the error: the densities that it leaves are what the bound is for.
        const double bound = 0.5 * s_.scene.incompressible.density_error;
        rates();
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const float over = s_.p.rho[i] / s_.phases[s_.p.phase[i]].rest_density - 1;
                source_[i] = (over + static_cast<float>(dt) * rate_[i]) / static_cast<float>(dt * dt);
            }
        });
        solve(s_.p.kappa, dt, bound / (dt * dt), 1);
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) s_.p.p[i] = s_.p.kappa[i];
        });
    }

  private:
    template <class Fn>
    void for_all(Fn&& fn) {
        base::parallel_for(s_.executor, n_, grain, fn);
    }
    [[nodiscard]] bool crowded(std::size_t i) const {
        return s_.p.rho[i] > 0.97f * s_.phases[s_.p.phase[i]].rest_density;
    }
    [[nodiscard]] float slope_at(const Vec3f& d) const {
        const float r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        const auto h = static_cast<float>(s_.support);
        const float scale = 1 / std::pow(h, static_cast<float>(s_.dimension + 2));
        return s_.force_kernel.slope(r / h) * scale;
    }

    // rate_[i] = sum V_j (u_i - u_j) grad W + u_i boundary gradient; u are velocities or accelerations.
    void divergence(const std::vector<Vec3f>& u, bool moving_boundary) {
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                float* const r = s_.records.data() + 4 * i;
                for (int k = 0; k < 3; ++k) r[k] = u[i][k];
            }
        });
        PairLoop p = loop_;
        p.records = s_.records.data();
        p.out = rate_.data();
        for_all([&](std::size_t begin, std::size_t end) {
            divergence_rows(p, begin, end);
            for (std::size_t i = begin; i < end; ++i) {
                float rate = slope_ * rate_[i];
                for (int k = 0; k < 3; ++k) rate += u[i][k] * boundary_[i][k];
                if (moving_boundary)
                    for (const Sample& b : s_.solids.samples_near(i)) {
                        const Vec3f d = s_.apart(s_.p.x[i], b.position);
                        const float w = b.volume * slope_at(d);
                        rate -= w * (b.velocity[0] * d[0] + b.velocity[1] * d[1] + b.velocity[2] * d[2]);
                    }
                rate_[i] = rate;
            }
        });
    }

    // push_[i]: acceleration by the present k.
    void accelerations(const std::vector<float>& kappa) {
        PairLoop p = loop_;
        p.records = kappa.data();
        p.out = push_.data()->v;
        for_all([&](std::size_t begin, std::size_t end) {
            push_rows(p, begin, end);
            for (std::size_t i = begin; i < end; ++i) {
                const float inverse = -1 / s_.phases[s_.p.phase[i]].rest_density;
                for (int k = 0; k < 3; ++k) push_[i][k] = inverse * (slope_ * push_[i][k] + kappa[i] * boundary_[i][k]);
            }
        });
    }

    // Relaxed Jacobi with Nesterov's momentum on: source + (rate of s'' by accelerations of k) = 0 where k > 0, and < 0
    // where k = 0. The momentum starts again when the error grows.
    void solve(std::vector<float>& kappa, double dt, double bound, std::uint32_t least) {
        const auto step = static_cast<float>(dt);
        const std::uint32_t most = s_.scene.incompressible.max_iterations;
        last_ = kappa;
        double before = 0;
        float age = 0;
        for (std::uint32_t round = 0;; ++round) {
            accelerations(kappa);
            divergence(push_, false);
            const double error = base::parallel_reduce(
                s_.executor, n_, grain, 0.0,
                [&](std::size_t begin, std::size_t end) {
                    double sum = 0;
                    for (std::size_t i = begin; i < end; ++i) {
                        const float change = diagonal_[i] > 1e-9f ? (source_[i] + rate_[i]) / diagonal_[i] : 0.0f;
                        // What is missing: too dense, or pressed without need.
                        sum += double{std::abs(std::max(kappa[i] + change, 0.0f) - kappa[i]) * diagonal_[i]};
                        rate_[i] = change;
                    }
                    return sum;
                },
                [](double a, double b) { return a + b; });
            ++s_.iterations;
            if ((round >= least && error <= bound * static_cast<double>(n_)) || round + 1 >= most) break;
            age = round > 0 && error > before ? 0 : age + 1;
            before = error;
            const float momentum = age > 1 ? (age - 1) / (age + 2) : 0;
            for_all([&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) {
                    const float next = std::max(kappa[i] + relaxation * rate_[i], 0.0f);
                    kappa[i] = std::max(next + momentum * (next - last_[i]), 0.0f);
                    last_[i] = next;
                }
            });
        }
        // push_ holds the accelerations of the k that passed.
        const std::size_t chunks = base::chunk_count(n_, grain);
        std::vector<std::vector<Wrench>> reaction(chunks);
        base::run_tasks(s_.executor, chunks, [&](std::size_t c) {
            reaction[c].resize(s_.solids.dynamic_count());
            for (std::size_t i = c * grain; i < std::min(n_, (c + 1) * grain); ++i) {
                for (int k = 0; k < 3; ++k) s_.p.v[i][k] += step * push_[i][k];
                if (reaction[c].empty() || kappa[i] == 0) continue;
                for (const Sample& b : s_.solids.samples_near(i)) {
                    const Vec3f d = s_.apart(s_.p.x[i], b.position);
                    const float w = -volume_ * kappa[i] * b.volume * slope_at(d);
                    s_.solids.react(b, {{w * d[0], w * d[1], w * d[2]}}, reaction[c]);
                }
                const Share share = share_of(s_, i, s_.force_wall);
                for (const FieldHit& f : s_.solids.fields_near(i)) {
                    Share alone;
                    add_share(alone, s_.force_wall, f, static_cast<float>(s_.support), s_.scene.gravity);
                    const float rest = alone.inside < 1 ? (1 - share.inside) / (1 - alone.inside) : 0;
                    const float w = -volume_ * kappa[i] * rest;
                    s_.solids.react(f, s_.p.x[i],
                                    {{w * alone.gradient[0], w * alone.gradient[1], w * alone.gradient[2]}},
                                    reaction[c]);
                }
            }
        });
        for (const std::vector<Wrench>& r : reaction) s_.solids.add_forces(r);
    }

    State& s_;
    std::size_t n_;
    PairLoop loop_;
    float volume_ = 0, slope_ = 0;
    std::vector<std::uint64_t> block_begin_;
    std::vector<float> diagonal_, source_, rate_, last_;
    std::vector<Vec3f> boundary_, push_;
};

double longest_step(const State& s) {
    const double half = 0.5 * s.support;
    const double fastest = base::parallel_reduce(
        s.executor, s.p.size(), 8 * grain, 0.0,
        [&](std::size_t begin, std::size_t end) {
            double most = 0;
            for (std::size_t i = begin; i < end; ++i) {
                double v = 0;
                for (int k = 0; k < 3; ++k) v += double{s.p.v[i][k]} * double{s.p.v[i][k]};
                most = std::max(most, v);
            }
            return most;
        },
        [](double a, double b) { return std::max(a, b); });
    double dt = s.largest_step;
    // What is at rest will move: the first step is for the speed to be expected, and no step grows by more than a
    // tenth.
    dt = std::min(dt, s.last_step > 0 ? std::max(1.1 * s.last_step, s.courant * half / s.expected_speed)
                                      : s.courant * half / s.expected_speed);
    if (fastest > 0) dt = std::min(dt, s.courant * half / std::sqrt(fastest));
    for (const PhaseData& f : s.phases)
        if (f.viscosity > 0) dt = std::min(dt, 0.125 * half * half * double{f.rest_density} / double{f.viscosity});
    return dt;
}

}  // namespace

void incompressible_step(State& s, double end) {
    search(s);
    densities(s);
    Solver solver(s);
    double dt = s.scene.stepping.kind == StepKind::fixed ? s.scene.stepping.fixed : longest_step(s);
    dt = cut(dt, end - s.time);
    {
        const Timer timer(s.seconds.solve);
        solver.prepare();
        if (s.last_step > 0) solver.make_divergence_free(s.last_step);
    }
    forces(s, false);
    {
        const Timer timer(s.seconds.solve);
        base::parallel_for(s.executor, s.p.size(), grain, [&](std::size_t begin, std::size_t finish) {
            for (std::size_t i = begin; i < finish; ++i) {
                for (int k = 0; k < 3; ++k) s.p.v[i][k] += static_cast<float>(dt) * s.p.a[i][k];
                s.p.a[i] = {};
                s.p.dt[i] = 0;
            }
        });
        solver.make_density_constant(dt);
    }
    move(s, dt);
}

}  // namespace quadrat::simulation
