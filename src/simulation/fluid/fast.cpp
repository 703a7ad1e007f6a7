// When the vector loops may be used, and what they are given.
#include "base/parallel.hpp"
#include "simulation/fluid/boundary.hpp"
#include "simulation/fluid/pair_loops.hpp"
#include "simulation/step/state.hpp"

#include <quadrat/simulation/kernels.hpp>

namespace quadrat::simulation {

bool fast_path(const State& s) {
    if (s.scene.kernel == KernelKind::paper || s.tension || !s.number_density || s.scene.general_loops) return false;
    for (const PhaseData& f : s.phases)
        if (f.viscosity != s.phases[0].viscosity ||
            f.artificial * f.sound_speed * f.rest_density !=
                s.phases[0].artificial * s.phases[0].sound_speed * s.phases[0].rest_density)
            return false;
    return true;
}

PairLoop pair_loop(const State& s) {
    PairLoop p = {};
    p.near = &s.near;
    p.support = static_cast<float>(s.support);
    p.cubic = s.scene.kernel == KernelKind::cubic_spline;
    p.periodic = s.periodic();
    for (std::size_t k = 0; k < 3; ++k) p.period[k] = s.period[k] > 0 ? s.period[k] : 1e30f;
    return p;
}

float kernel_peak(const State& s) {
    const bool cubic = s.scene.kernel == KernelKind::cubic_spline;
    return static_cast<float>(
        Kernel(cubic ? KernelFunction::cubic_spline : KernelFunction::wendland_c2, s.dimension, s.support).value(0) *
        s.calibration);
}

namespace {

void write_force_record(State& s, std::size_t i, bool pressure) {
    float* const r = s.records.data() + 8 * i;
    const float volume = s.phases[s.p.phase[i]].mass / s.p.rho[i];
    for (int k = 0; k < 3; ++k) r[k] = s.p.x[i][k], r[3 + k] = s.p.v[i][k];
    r[6] = pressure ? s.p.p[i] * volume * volume : 0;
    r[7] = volume;
}

}  // namespace

void fast_densities(State& s) {
    const std::size_t n = s.p.size();
    s.places.resize_discard(4 * n);
    s.records.resize_discard(8 * n);
    base::parallel_for(s.executor, n, 4 * grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            float* const r = s.places.data() + 4 * i;
            for (int k = 0; k < 3; ++k) r[k] = s.p.x[i][k];
            r[3] = 0;
        }
    });
    PairLoop p = pair_loop(s);
    p.records = s.places.data();
    p.out = s.p.rho.data();
    const float peak = kernel_peak(s);
    const bool weak = s.scene.solver != SolverKind::incompressible;
    base::parallel_for(s.executor, n, grain, [&](std::size_t begin, std::size_t end) {
        density_rows(p, begin, end);
        for (std::size_t i = begin; i < end; ++i) {
            finish_density(s, i, s.p.rho[i] * (s.phases[s.p.phase[i]].mass * peak));
            if (weak) write_force_record(s, i, true);  // while it is in the cache
        }
    });
}

void fast_forces(State& s, bool pressure, std::vector<std::vector<Wrench>>& reaction) {
    const std::size_t n = s.p.size();
    if (s.scene.solver == SolverKind::incompressible)
        base::parallel_for(s.executor, n, grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) write_force_record(s, i, pressure);
        });
    PairLoop p = pair_loop(s);
    const PhaseData& f = s.phases[0];
    const float half = 0.5f * p.support;
    p.records = s.records.data();
    p.out = reinterpret_cast<float*>(s.p.a.data());  // null when there are no particles
    p.soft = 0.01f * half * half;
    p.viscous = static_cast<float>(2 * (s.dimension + 2)) * f.viscosity;
    p.damping = f.artificial * f.sound_speed * half * f.rest_density;
    const float scale = kernel_peak(s) / (p.support * p.support);
    base::parallel_for(s.executor, n, grain, [&](std::size_t begin, std::size_t end) {
        force_rows(p, begin, end);
        for (std::size_t i = begin; i < end; ++i) {
            const float inverse = 1 / s.phases[s.p.phase[i]].mass;
            const float factor = scale * inverse;
            for (int k = 0; k < 3; ++k) s.p.a[i][k] = s.p.a[i][k] * factor + static_cast<float>(s.scene.gravity[k]);
            if (!near_solids(s, i)) continue;
            const Vec3f b = boundary_forces(s, i, pressure, reaction[begin / grain]);
            for (int k = 0; k < 3; ++k) s.p.a[i][k] += inverse * b[k];
        }
    });
}

}  // namespace quadrat::simulation
