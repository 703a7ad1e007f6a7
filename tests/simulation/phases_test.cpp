// Phases of very different density beside each other.
#include <quadrat/simulation.hpp>

#include "base/simd.hpp"
#include "simulation/scenes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using namespace quadrat;

// Two layers of 0.1 m that fill a tank from side to side.
Scene layers(int dimension, double ratio, bool light_above) {
    Scene s;
    s.dimension = dimension;
    s.spacing = dimension == 2 ? 0.0125 : 0.025;
    s.solver = SolverKind::incompressible;
    s.gravity = {{0, -9.81, 0}};
    s.domain.box = {{{0, 0, 0}}, {{0.3, 0.3, 0.2}}};
    s.phases = {Phase{.name = "heavy", .rest_density = 1000}, Phase{.name = "light", .rest_density = 1000 / ratio}};
    const double depth = dimension == 2 ? 0 : 0.2;
    const std::uint32_t below = light_above ? 0 : 1;
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{0.3, 0.1, depth}}}, .phase = below});
    s.blocks.push_back({.box = {{{0, 0.1, 0}}, {{0.3, 0.2, depth}}}, .phase = 1 - below});
    return s;
}

double mean_height(const Simulation& s, std::uint8_t phase) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < s.positions().size(); ++i)
        if (s.phases()[i] == phase) sum += double{s.positions()[i][1]}, ++count;
    return sum / count;
}

TEST(Phases, LightAboveHeavyStaysAtRest) {
    for (const int dimension : {2, 3})
        for (const double ratio : {3.0, 10.0, 100.0, 1000.0}) {
            const std::string where = std::to_string(dimension) + "D, " + std::to_string(ratio);
            Simulation s(layers(dimension, ratio, true));
            const double start = s.stats().potential;
            for (int k = 1; k <= 5; ++k) {
                s.advance_to(0.1 * k);
                const SimulationStats t = s.stats();
                ASSERT_LT(t.kinetic + t.potential, 1.005 * start) << where;
            }
            EXPECT_LT(s.stats().kinetic, 0.005 * start) << where;
            EXPECT_LT(s.stats().average_density_error, 2e-3) << where;
            EXPECT_NEAR(mean_height(s, 0), 0.05, 0.002) << where;
            EXPECT_NEAR(mean_height(s, 1), 0.15, 0.02) << where;
        }
}

TEST(Phases, HeavyAboveLightGainsNoEnergy) {
    for (const int dimension : {2, 3})
        for (const double ratio : {3.0, 10.0, 100.0}) {
            const std::string where = std::to_string(dimension) + "D, " + std::to_string(ratio);
            Simulation s(layers(dimension, ratio, false));
            const double start = s.stats().potential;
            while (s.time() < 0.25) {
                s.step();
                const SimulationStats t = s.stats();
                ASSERT_LT(t.kinetic + t.potential, 1.02 * start) << where << " at " << t.time;
            }
            EXPECT_LT(s.stats().average_density_error, 3e-3) << where;
        }
}

// The masses are no part of the momentum that a pair exchanges.
TEST(Phases, MomentumOfALightDropInAHeavyOne) {
    Scene scene = test::drop(2, 0.1, 0.01);
    scene.solver = SolverKind::incompressible;
    scene.phases = {Phase{.name = "heavy", .rest_density = 1000}, Phase{.name = "light", .rest_density = 10}};
    FluidParticles heavy, light;
    light.phase = 1;
    for (const Vec3d& x : scene.particles[0].positions) {
        FluidParticles& to = x[0] * x[0] + x[1] * x[1] < 0.04 * 0.04 ? light : heavy;
        to.positions.push_back(x);
        to.velocities.push_back(test::stretch_and_turn(x));
    }
    scene.particles = {heavy, light};
    test::expect_momentum_stays(scene);
}

TEST(Phases, SameBytesForAnyThreadsAndTargets) {
    const Scene scene = layers(3, 100, false);
    const auto two = make_executor(2);
    Simulation a(scene), b(scene, two.get());
    a.advance_to(0.01);
    b.advance_to(0.01);
    EXPECT_TRUE(test::checkpoint(a) == test::checkpoint(b));
    base::for_each_simd_target([&] {
        Simulation t(scene);
        t.advance_to(0.01);
        EXPECT_TRUE(test::checkpoint(t) == test::checkpoint(a));
    });
}

}  // namespace
