// DFSPH: constant density and divergence-free velocity by two iterations per step (Bender & Koschier 2015,
// "Divergence-free smoothed particle hydrodynamics"). Where the paper has masses and densities this works with rest
// volumes, so that phases of different density may touch: s_i = sum_j V_j W_ij is 1 at rest, and the force between two
// particles is -V_i V_j (k_i + k_j) grad W, opposite on the two. Solids enter by the same shares of walls and fields,
// and samples, as in fluid.cpp, with the particle's k alone: then pressures are what keeps densities from growing and
// do no work of their own, and still water comes to rest (docs/decisions/0081-still-water.md). Bodies that can move do
// so in every iteration (coupling.hpp). Both iterations start from the last step's answer.
//
// The system is D M^-1 D^T k = source: D takes velocities to rates of s, M are the densities. A light particle between
// heavy ones ties all of them together, since it gives way to any of their pressures: Jacobi must then take shorter
// steps there (docs/decisions/0085-phases-of-any-density.md).
#include "base/parallel.hpp"
#include "simulation/fluid/coupling.hpp"
#include "simulation/fluid/pair_loops.hpp"
#include "simulation/step/integrate.hpp"
#include "simulation/step/state.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// Of Jacobi. Measured: with 0.7 a dam break of 3200 particles throws up fast spray and takes 2.7 times the steps.
constexpr float relaxation = 0.5f;
// Up to so many neighbours. With more, Jacobi is stable only with less of it: with 50 in 2D, half of it threw particles
// out of a dam break in the first steps.
constexpr double few[2] = {28, 34};  // in 2D and 3D
// Density errors go at this rate at most, in units of the expected speed over the support.
constexpr double relief = 0.5;
// Of the sum of absolute values that bounds what a lighter neighbour adds to a row. All of it is safe in one dimension;
// gradients point in all directions, so that in 2D and 3D less will do.
constexpr float tie[2] = {0.5f, 0.34f};

// The move itself adds to the error: the densities that it leaves are what the bound is for. Iterations end, and steps
// become shorter, at this part of it.
constexpr double aim = 0.75;

// Whether phases differ in density.
bool mixed(const State& s) {
    return std::any_of(s.phases.begin(), s.phases.end(),
                       [&](const PhaseData& f) { return f.rest_density != s.phases[0].rest_density; });
}

double usual_step(const State& s) {
    return s.courant * (0.5 * s.support) / s.expected_speed;
}

// Of steps where phases differ in density. With 1.2 heavy on light at 30:1 gained 2.2 % of its energy in 3D.
constexpr double growth = 1.05;

class Solver {
  public:
    explicit Solver(State& s) : s_(s), n_(s.p.size()), loop_(pair_loop(s)), coupling_(s) {
        const double h = s.support;
        volume_ = s.phases[0].volume;
        const double reach = h / std::pow(double{volume_}, 1.0 / s.dimension);
        const double near = s.dimension == 2 ? 3.14 * reach * reach : 4.19 * reach * reach * reach;
        relaxation_ = relaxation * static_cast<float>(std::min(1.0, few[s.dimension - 2] / near));
        slope_ = volume_ * kernel_peak(s) / static_cast<float>(h * h);
        mixed_ = mixed(s);
        diagonal_.resize(n_);
        inverse_.resize(n_);
        inverse_density_.resize(n_);
        boundary_.resize(4 * n_);
        source_.resize(n_);
        rate_.resize(n_);
        s.records.resize_discard(8 * n_);
        block_begin_.resize(n_ + 1);
        for (std::size_t i = 0; i < n_; ++i) block_begin_[i + 1] = block_begin_[i] + (s.near[i].size() + 7) / 8;
        s.block_index.resize_discard(8 * block_begin_[n_]);
        loop_.flat = s.dimension == 2;
        s.block_gradient.resize_discard((loop_.flat ? 16 : 24) * block_begin_[n_]);
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
        const auto least = static_cast<float>(1e-8 / (s_.support * s_.support));
        for (std::size_t i = 0; i < n_; ++i)
            inverse_[i] = diagonal_[i] > least * inverse_density_[i] ? 1 / diagonal_[i] : 0.0f;
    }

    /// Rates of change of s by the present velocities.
    void rates() {
        coupling_.read_velocities();
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                float* const r = s_.records.data() + 4 * i;
                for (int k = 0; k < 3; ++k) r[k] = s_.p.v[i][k];
                r[3] = 0;
            }
        });
        divergence([&](std::size_t i) { return coupling_.by_velocities(i); });
    }

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
        double bound = aim * s_.scene.incompressible.density_error;
        // Where a light phase makes steps short, an error that is left gives it a large acceleration: the bound is then
        // that of the acceleration.
        if (mixed_) bound *= std::pow(std::min(1.0, dt / usual_step(s_)), 2);
        // An error that is there already goes at a bounded rate: all of it in one step would throw particles apart at
        // support / dt, shorten the next step for their speed, and throw the next ones faster still.
        const auto most = static_cast<float>(dt * relief * s_.expected_speed / s_.support);
        rates();
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const float over = std::min(s_.p.rho[i] / s_.phases[s_.p.phase[i]].rest_density - 1, most);
                source_[i] = (over + static_cast<float>(dt) * rate_[i]) / static_cast<float>(dt * dt);
            }
        });
        solve(s_.p.kappa, dt, bound / (dt * dt), 1);
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) s_.p.p[i] = s_.p.kappa[i];
        });
    }

  private:
    // The neighbours' part of the diagonal where masses differ.
    void add_neighbours() {
        const float share = tie[s_.dimension - 2];
        PairLoop p = loop_;
        p.out = rate_.data();
        for_all([&](std::size_t begin, std::size_t end) { length_rows(p, begin, end); });
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                float* const r = s_.records.data() + 4 * i;
                r[0] = inverse_density_[i];
                r[1] = share * rate_[i];
            }
        });
        for_all([&](std::size_t begin, std::size_t end) {
            tie_rows(p, begin, end);
            for (std::size_t i = begin; i < end; ++i) diagonal_[i] += slope_ * slope_ * rate_[i];
        });
    }
    template <class Fn>
    void for_all(Fn&& fn) {
        base::parallel_for(s_.executor, n_, grain, fn);
    }
    [[nodiscard]] bool crowded(std::size_t i) const {
        return s_.p.rho[i] > 0.97f * s_.phases[s_.p.phase[i]].rest_density;
    }
    // rate_[i] = sum V_j (u_i - u_j) grad W + u_i boundary gradient - what bodies take; u are the velocities or
    // accelerations in the records.
    template <class Fn>
    void divergence(Fn&& by_bodies) {
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

    // Records: accelerations by the present k; and those of the bodies.
    void accelerations(const std::vector<float>& kappa) {
        coupling_.accelerate(kappa);
        PairLoop p = loop_;
        p.records = kappa.data();
        p.out = s_.records.data();
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
    double missing(const float* kappa, std::size_t begin, std::size_t end) {
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
    void solve(std::vector<float>& kappa, double dt, double bound, std::uint32_t least) {
        const auto step = static_cast<float>(dt);
        const std::uint32_t most = s_.scene.incompressible.max_iterations;
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
                s_.executor, n_, grain, 0.0,
                [&](std::size_t begin, std::size_t end) { return missing(kappa.data(), begin, end); },
                [](double a, double b) { return a + b; });
            ++s_.iterations;
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
        for_all([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                for (int k = 0; k < 3; ++k) s_.p.v[i][k] += step * s_.records[4 * i + static_cast<std::size_t>(k)];
        });
        coupling_.apply(s_.solids, dt);
    }

    State& s_;
    std::size_t n_;
    PairLoop loop_;
    float volume_ = 0, slope_ = 0, relaxation_ = relaxation;
    bool mixed_ = false;  // phases differ in density
    std::vector<std::uint64_t> block_begin_;
    std::vector<float> diagonal_, inverse_, inverse_density_, source_, rate_, last_;
    std::vector<float> boundary_;  // four per particle, as records are
    Coupling coupling_;
};

double longest_step(const State& s) {
    const double half = 0.5 * s.support;
    struct Sums {
        double fastest_sq = 0, excess = 0, pressed_sq = 0;
    };
    const Sums all = base::parallel_reduce(
        s.executor, s.p.size(), grain, Sums{},
        [&](std::size_t begin, std::size_t end) {
            Sums part;
            for (std::size_t i = begin; i < end; ++i) {
                double v = 0;
                for (int k = 0; k < 3; ++k) v += double{s.p.v[i][k]} * double{s.p.v[i][k]};
                part.fastest_sq = std::max(part.fastest_sq, v);
                part.pressed_sq =
                    std::max(part.pressed_sq, 2 * double{s.p.kappa[i]} / double{s.phases[s.p.phase[i]].rest_density});
                part.excess += double{std::max(s.p.rho[i] / s.phases[s.p.phase[i]].rest_density - 1, 0.0f)};
            }
            return part;
        },
        [](Sums a, Sums b) {
            return Sums{std::max(a.fastest_sq, b.fastest_sq), a.excess + b.excess,
                        std::max(a.pressed_sq, b.pressed_sq)};
        });
    if (s.p.size() == 0) return empty_step(s);
    double dt = s.largest_step;
    // What is at rest carries pressure all the same, and waves on it run as fast as what falls from its surface: no
    // step is longer than the expected speed allows, however slow the particles are. Longer ones made still water boil.
    dt = std::min(dt, usual_step(s));
    if (all.fastest_sq > 0) dt = std::min(dt, s.courant * half / std::sqrt(all.fastest_sq));
    // The same for a light phase that carries the weight of a heavy one: it is moved as fast as its pressure can. No
    // pressure is taken for more than what the heaviest has in a fall from the surface, since those that remove errors
    // grow as steps become shorter.
    if (mixed(s)) {
        double least = double{s.phases[0].rest_density}, most = least;
        for (const PhaseData& f : s.phases) {
            least = std::min(least, double{f.rest_density});
            most = std::max(most, double{f.rest_density});
        }
        const double shortest = usual_step(s) / std::sqrt(most / least);
        const double pressed = s.courant * half / std::sqrt(std::max(all.pressed_sq, 1e-30));
        // What was thrown up has no pressure until it comes down again: steps grow slowly.
        dt = std::min(dt, std::max(std::min(pressed, growth * s.last_step), shortest));
    }
    // The solver keeps its bound as far as rates of change tell; what a long move adds to that shows in the densities
    // that it left. The next move is then shorter.
    const double allowed = aim * s.scene.incompressible.density_error * static_cast<double>(s.p.size());
    if (all.excess > allowed) dt *= std::max(allowed / all.excess, 0.5);
    return std::min(dt, force_limit(s));
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
        s.solids.accelerate(dt, vector(s.scene.gravity));
        solver.make_density_constant(dt);
    }
    move(s, dt);
}

}  // namespace quadrat::simulation
