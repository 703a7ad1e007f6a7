// Emitters in air and under water.
#include <quadrat/simulation.hpp>

#include "simulation/scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

namespace {

using namespace quadrat;

Scene tank_with_emitter(SolverKind solver) {
    Scene s;
    s.spacing = 0.025;
    s.solver = solver;
    s.domain.box = {{{0, 0, 0}}, {{0.3, 0.3, 0.8}}};
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{0.3, 0.3, 0.2}}}});
    s.emitters.push_back({.position = {{0.15, 0.15, 0.06}}, .direction = {{0, 0, 1}}, .radius = 0.05, .speed = 1});
    return s;
}

// What is in the way gets the speed of the jet, and no more energy than the jet would have brought.
TEST(Emitters, UnderWater) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible}) {
        const Scene scene = tank_with_emitter(solver);
        Simulation s(scene);
        const Statistics first = s.statistics();
        const double each = first.mass / static_cast<double>(first.particles);
        const double disc = 13, layers = 1 / scene.spacing;  // per second
        for (int k = 1; k <= 6; ++k) {
            s.advance_to(0.05 * k);
            const Statistics t = s.statistics();
            const double brought = 0.5 * each * disc * (1 + layers * t.time);
            ASSERT_LT(t.kinetic + t.potential + t.internal, first.potential + brought) << t.time;
            ASSERT_LT(t.max_speed, 1.5) << t.time;
        }
        double up = 0, count = 0;
        for (std::size_t i = 0; i < s.positions().size(); ++i) {
            const Vec3f& x = s.positions()[i];
            if (std::hypot(x[0] - 0.15f, x[1] - 0.15f) > 0.05f || x[2] < 0.06f || x[2] > 0.16f) continue;
            up += double{s.velocities()[i][2]}, ++count;
        }
        EXPECT_GT(up / count, 0.1);
    }
}

TEST(Emitters, InAirEveryPlaceSendsOut) {
    for (const double speed : {0.5, 1.0, 3.0})
        for (const double up : {-1.0, 1.0}) {
            Scene scene = tank_with_emitter(SolverKind::incompressible);
            scene.blocks.clear();
            scene.emitters[0].position = {{0.15, 0.15, 0.6}};
            scene.emitters[0].direction = {{0, 0, up}};
            scene.emitters[0].speed = speed;
            Simulation s(scene);
            s.advance_to(0.7 * 2 * scene.spacing / speed);
            s.step();
            EXPECT_EQ(s.statistics().particles % 13, 0u) << speed;
            EXPECT_GE(s.statistics().particles, 26u) << speed;
        }
}

}  // namespace
