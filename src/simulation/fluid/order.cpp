// Keeps the particles in an order along a Z curve, so that what is near in space is near in memory, takes out what has
// left for good, and finds neighbours with CellIndex.
#include <quadrat/neighbors.hpp>

#include "base/parallel.hpp"
#include "simulation/fluid/fluid.hpp"
#include "simulation/scene/leaving.hpp"

namespace quadrat::simulation {

void take_out_gone(const World& world, Fluid& fluid) {
    const Leaving leaving(world.scene);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < fluid.p.size(); ++i) {
        if (leaving.gone(fluid.p.x[i], fluid.p.v[i])) continue;
        if (kept != i) fluid.p.each([&](auto& array) { array[kept] = array[i]; });
        ++kept;
    }
    fluid.p.resize(kept);
}

void sort_particles(const World& world, Fluid& fluid) {
    const std::vector<std::uint32_t> order =
        z_order(std::span<const Vec3f>(fluid.p.x), static_cast<float>(world.scene.spacing));
    fluid.p.each([&](auto& array) {
        auto sorted = array;
        base::parallel_for(world.executor, order.size(), 16 * grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) sorted[i] = array[order[i]];
        });
        array.swap(sorted);
    });
}

void search(const World& world, Fluid& fluid, Solids& solids) {
    if (!fluid.index) {
        CellIndex<3, float>::Options options;
        options.radius = fluid.largest_support;
        options.rule = RadiusRule::max;
        options.executor = world.executor;
        if (world.periodic()) {
            options.periodic = Periodic<3, float>::orthorhombic({{world.period[0], world.period[1], world.period[2]}});
            for (int k = 0; k < 3; ++k) options.periodic.origin[k] = static_cast<float>(world.scene.domain.box.lo[k]);
        }
        fluid.index.emplace(options);
    }
    if (fluid.same_support)
        fluid.index->build(fluid.p.x);
    else
        fluid.index->build(fluid.p.x, fluid.p.h);
    fluid.index->find_neighbors(fluid.near);
    fluid.pairs = fluid.near.entries();
    solids.find_near(fluid.p.x, fluid.reach());
}

}  // namespace quadrat::simulation
