// When the vector loops may be used, and what they are given.
#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "simulation/fluid/boundary.hpp"
#include "simulation/fluid/cohesion.hpp"
#include "simulation/fluid/fluid.hpp"
#include "simulation/fluid/pair_loops.hpp"

#include <quadrat/simulation/kernels.hpp>

#include <algorithm>

namespace quadrat::simulation {

bool fast_path(const World& world, const Fluid& fluid) {
    if (world.scene.kernel == KernelKind::paper || !fluid.number_density || fluid.general_loops) return false;
    // As a force, viscosity is for steps of their own only, and these compute a part of the particles.
    return std::none_of(fluid.phases.begin(), fluid.phases.end(),
                        [&](const PhaseData& f) { return f.viscosity > 0 && !fluid.implicit_viscosity; });
}

PairLoop pair_loop(const World& world, const Fluid& fluid) {
    PairLoop p = {};
    p.near = &fluid.near;
    p.support = static_cast<float>(fluid.support);
    p.cubic = world.scene.kernel == KernelKind::cubic_spline;
    p.periodic = world.periodic();
    for (std::size_t k = 0; k < 3; ++k) p.period[k] = world.period[k] > 0 ? world.period[k] : 1e30f;
    return p;
}

float kernel_peak(const World& world, const Fluid& fluid) {
    const bool cubic = world.scene.kernel == KernelKind::cubic_spline;
    return static_cast<float>(
        Kernel(cubic ? KernelFunction::cubic_spline : KernelFunction::wendland_c2, world.scene.dimension, fluid.support)
            .value(0) *
        fluid.calibration);
}

namespace {

// Whether pairs need to know what they are: otherwise all have the same artificial viscosity and no tension.
bool has_natures(const Fluid& fluid) {
    const PhaseData& first = fluid.phases[0];
    return fluid.tension || std::any_of(fluid.phases.begin(), fluid.phases.end(), [&](const PhaseData& f) {
               return f.artificial * f.sound_speed != first.artificial * first.sound_speed ||
                      f.rest_density != first.rest_density;
           });
}

void write_natures(const World& world, Fluid& fluid) {
    fluid.natures.resize_discard(4 * fluid.p.size());
    base::parallel_for(world.executor, fluid.p.size(), 4 * grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const PhaseData& f = fluid.phase_of(i);
            float* const to = fluid.natures.data() + 4 * i;
            to[0] = f.artificial * f.sound_speed;
            to[1] = f.rest_density;
            to[2] = static_cast<float>(fluid.p.phase[i]);
            to[3] = f.tension;
        }
    });
}

void write_force_record(Fluid& fluid, std::size_t i, bool pressure) {
    float* const r = fluid.records.data() + 8 * i;
    const float volume = fluid.phase_of(i).mass / fluid.p.rho[i];
    for (int k = 0; k < 3; ++k) r[k] = fluid.p.x[i][k], r[3 + k] = fluid.p.v[i][k];
    r[6] = pressure ? fluid.p.p[i] * volume * volume : 0;
    r[7] = volume;
}

}  // namespace

void fast_densities(const World& world, Fluid& fluid, const Solids& solids) {
    const std::size_t n = fluid.p.size();
    fluid.places.resize_discard(4 * n);
    fluid.records.resize_discard(8 * n);
    base::parallel_for(world.executor, n, 4 * grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            float* const r = fluid.places.data() + 4 * i;
            for (int k = 0; k < 3; ++k) r[k] = fluid.p.x[i][k];
            r[3] = 0;
        }
    });
    PairLoop p = pair_loop(world, fluid);
    p.records = fluid.places.data();
    p.out = fluid.p.rho.data();
    const float peak = kernel_peak(world, fluid);
    const bool weak = world.scene.solver != SolverKind::incompressible;
    base::parallel_for(world.executor, n, grain, [&](std::size_t begin, std::size_t end) {
        density_rows(p, begin, end);
        for (std::size_t i = begin; i < end; ++i) {
            finish_density(world, fluid, solids, i, fluid.p.rho[i] * (fluid.phase_of(i).mass * peak));
            if (weak) write_force_record(fluid, i, true);  // while it is in the cache
        }
    });
}

void fast_forces(const World& world, Fluid& fluid, const Solids& solids, bool pressure,
                 std::vector<std::vector<Wrench>>& reaction) {
    const std::size_t n = fluid.p.size();
    QUADRAT_ASSERT(reaction.size() == base::chunk_count(n, grain));
    if (world.scene.solver == SolverKind::incompressible)
        base::parallel_for(world.executor, n, grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) write_force_record(fluid, i, pressure);
        });
    PairLoop p = pair_loop(world, fluid);
    const PhaseData& f = fluid.phases[0];
    const float half = 0.5f * p.support;
    p.records = fluid.records.data();
    p.out = reinterpret_cast<float*>(fluid.p.a.data());  // null when there are no particles
    p.soft = 0.01f * half * half;
    p.damping = f.artificial * f.sound_speed * half * f.rest_density;
    const float scale = kernel_peak(world, fluid) / (p.support * p.support);
    if (has_natures(fluid)) {
        const Cohesion cohesion(f.volume, fluid.support, world.scene.dimension);
        write_natures(world, fluid);
        p.natures = fluid.natures.data();
        p.damping = half;
        p.cohesion = cohesion.factor() / scale;
        p.cohesion_turn = cohesion.turn();
    }
    base::parallel_for(world.executor, n, grain, [&](std::size_t begin, std::size_t end) {
        force_rows(p, begin, end);
        for (std::size_t i = begin; i < end; ++i) {
            const float inverse = 1 / fluid.phase_of(i).mass;
            const float factor = scale * inverse;
            for (int k = 0; k < 3; ++k)
                fluid.p.a[i][k] = fluid.p.a[i][k] * factor + static_cast<float>(world.scene.gravity[k]);
            if (!near_solids(world, fluid, solids, i)) continue;
            const Vec3f b = boundary_forces(world, fluid, solids, i, pressure, reaction[begin / grain]);
            for (int k = 0; k < 3; ++k) fluid.p.a[i][k] += inverse * b[k];
        }
    });
}

}  // namespace quadrat::simulation
