// Small worlds of grains that several tests start from.
#pragma once

#include <quadrat/simulation/grains.hpp>

#include "base/random.hpp"

#include <cmath>
#include <vector>

namespace quadrat::test {

inline constexpr double gravity = 9.81;

inline GrainPlane ground(double friction = 0.5, double restitution = 0) {
    return {.surface = {.friction = friction, .restitution = restitution}};
}

/// n^3 spheres of radius 0.5 at a spacing, with small velocities at random, in a box that is as high again.
inline void fill_box(Grains& grains, int n, double spacing, const GrainSurface& surface) {
    base::SplitMix random(7);
    std::vector<Grain> all;
    for (int z = 0; z < n; ++z)
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x) {
                Grain g{.position = {{(x + 0.5) * spacing, (y + 0.5) * spacing, (z + 0.5) * spacing}},
                        .surface = surface};
                for (int k = 0; k < 3; ++k) g.velocity[k] = random.uniform(-0.2, 0.2);
                all.push_back(g);
            }
    grains.add(all);
    for (int k = 0; k < 3; ++k) {
        GrainPlane side{.normal = {{0, 0, 0}}, .surface = surface};
        side.normal[k] = 1;
        grains.add(side);
        side.normal[k] = -1;
        side.offset = -(k == 2 ? 2 : 1) * spacing * n;
        grains.add(side);
    }
}

inline double energy(const Grains& grains) {
    const GrainStats s = grains.stats();
    return s.kinetic + s.rotational + s.potential;
}

}  // namespace quadrat::test
