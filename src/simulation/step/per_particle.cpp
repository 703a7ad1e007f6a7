// A step of its own for each particle (Onderik & Durikovic 2008, 3.3): the frame halved until eq. 12 holds. A long
// frame is cut into equal parts first, since no particle could use all of it, and emitters and who waits for an end
// come in between. All positions drift along their half-step velocities; a particle whose step ends gets its force
// there and its next velocity by the form of eq. 13 that fits eq. 11 (integrate.cpp). Time inside a frame counts in
// whole units of frame / 2^20, and a step begins only at a multiple of its own length, so every particle is back in
// step when the frame ends. Bodies get what acts on a particle in reverse, in the same blow: its force times half of
// both its steps.
#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "simulation/fluid/boundary.hpp"
#include "simulation/step/integrate.hpp"
#include "simulation/step/run.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// Of the longest step that any particle may take, which is that of one at rest.
constexpr double longest_frame = 8;

double frame_of(const World& world, const Fluid& fluid, const Clock& clock, double end) {
    const double rest =
        std::min(fluid.p.size() == 0 ? empty_step(world, fluid, clock) : clock.largest_step, end - clock.time);
    double longest = 0;
    for (const PhaseData& f : fluid.phases)
        longest =
            std::max(longest, clock.courant * 0.5 * std::max(fluid.reach(), double{f.support}) / double{f.sound_speed});
    if (fluid.p.size() == 0) return rest;
    longest *= longest_frame;
    for (const Emitter& e : world.scene.emitters)
        longest = std::min(longest, world.scene.spacing / e.speed);  // layer by layer
    return rest / std::max(1.0, std::ceil(rest / longest));
}

}  // namespace

void per_particle_frame(Run& run, double end) {
    const World& world = run.world;
    Fluid& fluid = run.fluid;
    Solids& solids = run.solids;
    Clock& clock = run.clock;
    constexpr int finest = 20;
    constexpr std::uint32_t units = 1u << finest;
    QUADRAT_ASSERT(end > clock.time);
    const double frame = frame_of(world, fluid, clock, end), start = clock.time;
    const std::size_t n = fluid.p.size();
    std::vector<std::uint8_t> active(n, 1);
    std::vector<std::uint32_t> next(n, 0);
    for (std::uint32_t now = 0; now < units;) {
        look_around(run);
        find_forces(run, true, active.data());
        std::vector<std::vector<Wrench>> blows(base::chunk_count(n, grain),
                                               std::vector<Wrench>(solids.dynamic_count()));
        const std::uint32_t then = base::parallel_reduce(
            world.executor, n, grain, units,
            [&](std::size_t begin, std::size_t finish) {
                std::uint32_t first = units;
                for (std::size_t i = begin; i < finish; ++i) {
                    if (active[i]) {
                        const double limit = courant_limit(world, fluid, clock, i);
                        int level = 0;
                        while (level < finest && (std::ldexp(frame, -level) > limit || now % (units >> level) != 0))
                            ++level;
                        const auto dt = static_cast<float>(std::ldexp(frame, -level));
                        const float acts = 0.5f * (fluid.p.dt[i] + dt);
                        if (solids.dynamic_count() != 0)
                            static_cast<void>(
                                boundary_forces(world, fluid, solids, i, true, blows[begin / grain], acts));
                        for (int k = 0; k < 3; ++k) fluid.p.v[i][k] += acts * fluid.p.a[i][k];
                        fluid.p.dt[i] = dt;
                        fluid.p.level[i] = static_cast<std::uint8_t>(level);
                        next[i] = now + (units >> level);
                    }
                    first = std::min(first, next[i]);
                }
                return first;
            },
            [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
        const double dt = std::ldexp(frame, -finest) * static_cast<double>(then - now);
        const double acts = 0.5 * (clock.last_step + dt);
        for (std::vector<Wrench>& blow : blows) {
            for (Wrench& w : blow) w.force /= acts, w.torque /= acts;
            solids.add_forces(blow);
        }
        solids.accelerate(acts, vector(world.scene.gravity));
        move_particles(run, dt, Kick::no);
        collide(run, dt);
        now = then;
        clock.time = start + std::ldexp(frame, -finest) * static_cast<double>(now);
        clock.last_step = dt;
        ++clock.steps;
        for (std::size_t i = 0; i < n; ++i) active[i] = next[i] <= now;
    }
}

}  // namespace quadrat::simulation
