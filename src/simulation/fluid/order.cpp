// Keeps the particles in an order along a Z curve, so that what is near in space is near in memory, takes out what has
// left for good, and finds neighbours with CellIndex.
#include <quadrat/neighbors.hpp>

#include "base/parallel.hpp"
#include "simulation/scene/leaving.hpp"
#include "simulation/step/state.hpp"

#include <chrono>

namespace quadrat::simulation {

Timer::Timer(double& to)
    : to_(to), start_(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()) {}
Timer::~Timer() {
    to_ += std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() - start_;
}

void take_out_gone(State& s) {
    const Leaving leaving(s.scene);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < s.p.size(); ++i) {
        if (leaving.gone(s.p.x[i], s.p.v[i])) continue;
        if (kept != i) s.p.each([&](auto& array) { array[kept] = array[i]; });
        ++kept;
    }
    s.p.resize(kept);
}

void sort_particles(State& s) {
    const std::vector<std::uint32_t> order =
        z_order<3, float>(std::span<const Vec3f>(s.p.x), static_cast<float>(s.spacing));
    s.p.each([&](auto& array) {
        auto sorted = array;
        base::parallel_for(s.executor, order.size(), 16 * grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) sorted[i] = array[order[i]];
        });
        array.swap(sorted);
    });
}

void search(State& s) {
    const Timer timer(s.seconds.search);
    if (!s.index) {
        CellIndex<3, float>::Options options;
        options.radius = s.largest_support;
        options.rule = RadiusRule::max;
        options.executor = s.executor;
        if (s.periodic()) {
            options.periodic = Periodic<3, float>::orthorhombic({{s.period[0], s.period[1], s.period[2]}});
            for (int k = 0; k < 3; ++k) options.periodic.origin[k] = static_cast<float>(s.scene.domain.box.lo[k]);
        }
        s.index.emplace(options);
    }
    if (s.same_support)
        s.index->build(s.p.x);
    else
        s.index->build(s.p.x, s.p.h);
    s.index->find_neighbors(s.near);
    s.pairs = s.near.entries();
    s.solids.find_near(s.p.x, s.reach());
}

}  // namespace quadrat::simulation
