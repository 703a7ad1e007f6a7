// The incompressible solver: density error, long steps, conservation, and the same bytes everywhere.
#include <quadrat/error.hpp>
#include <quadrat/simulation.hpp>

#include "base/simd.hpp"
#include "simulation/scenes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace {

using namespace quadrat;

TEST(Incompressible, DensityErrorAndStepsOfADamBreak) {
    for (const int dimension : {2, 3}) {
        Scene scene = test::small_dam(dimension, dimension == 2 ? 0.008 : 0.02);
        const double end = dimension == 2 ? 0.2 : 0.1;
        Simulation weak(scene);
        weak.advance_to(end);
        scene.solver = SolverKind::incompressible;
        Simulation s(scene);
        double worst = 0, average = 0;
        for (int k = 1; k <= 10; ++k) {
            s.advance_to(0.1 * k * end);
            worst = std::max(worst, s.stats().average_density_error);
            average += 0.1 * s.stats().average_density_error;
        }
        EXPECT_LT(average, 1e-3) << dimension;
        EXPECT_LT(worst, 1.2e-3) << dimension;
        EXPECT_GT(weak.stats().steps, 15 * s.stats().steps) << dimension;
        // Both solvers see the same flow.
        const auto reach = [](const Simulation& a) {
            double mean = 0;
            for (const Vec3f& x : a.positions()) mean += double{x[0]} / static_cast<double>(a.positions().size());
            return mean;
        };
        EXPECT_NEAR(reach(s), reach(weak), 0.1 * reach(weak));
        for (const Vec3f& x : s.positions())
            for (int k = 0; k < dimension; ++k) EXPECT_GE(x[k], 0);
    }
}

TEST(Incompressible, EnergyFallsAndMassStays) {
    Scene scene = test::small_dam(2, 0.01);
    scene.solver = SolverKind::incompressible;
    Simulation s(scene);
    const SimulationStats first = s.stats();
    s.advance_to(0.3);
    const SimulationStats last = s.stats();
    EXPECT_EQ(first.mass, last.mass);
    EXPECT_LT(last.kinetic + last.potential, 1.02 * (first.kinetic + first.potential));
    EXPECT_GT(last.kinetic + last.potential, 0.3 * (first.kinetic + first.potential));
}

// A tank of still water: long steps, walls and pressures must not stir it. What moves at first is the lattice that
// settles at the walls.
TEST(Incompressible, StillWaterStaysStill) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible})
        for (const int dimension : {2, 3}) {
            Scene scene;
            scene.dimension = dimension;
            scene.solver = solver;
            scene.spacing = 0.02;
            scene.gravity = {{0, -9.81, 0}};
            scene.domain.box = {{{0, 0, 0}}, {{0.2, 0.3, 0.1}}};
            scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.2, 0.2, dimension == 2 ? 0 : 0.1}}}});
            Simulation s(scene);
            const SimulationStats first = s.stats();
            for (int k = 1; k <= 10; ++k) {
                s.advance_to(0.1 * k);
                const SimulationStats t = s.stats();
                const std::string where = std::to_string(dimension) + "D at " + std::to_string(t.time);
                if (k >= 5) {
                    EXPECT_LT(t.kinetic, 0.5 * t.mass * 0.1 * 0.1) << where;
                }
                EXPECT_LT(t.kinetic + t.potential + t.internal, 1.005 * first.potential) << where;
                if (solver == SolverKind::incompressible) {
                    EXPECT_LT(t.average_density_error, 1.5e-3) << where;
                }
            }
        }
}

// Lattices of a block that is no multiple of the spacing, and particles that start too near to each other, do not
// burst.
TEST(Incompressible, WhatStartsTooDenseSpreadsSlowly) {
    Scene scene = test::small_dam(3, 0.02);
    scene.solver = SolverKind::incompressible;
    scene.blocks[0].box.hi = {{0.15, 0.19, 0.11}};
    Simulation stretched(scene);
    stretched.step();
    EXPECT_LT(stretched.stats().max_density_error, 0.01);
    EXPECT_LT(stretched.stats().max_speed, 2 * 9.81 * stretched.stats().time_step);
    scene.blocks[0].count = {8, 10, 6};  // a fifth too dense
    Simulation pressed(scene);
    while (pressed.time() < 0.2) {
        pressed.step();
        ASSERT_LT(pressed.stats().max_speed, 2 * std::sqrt(2 * 9.81 * 0.19)) << pressed.time();
    }
    EXPECT_LT(pressed.stats().average_density_error, 5e-3);
}

// The more neighbours, the less of a Jacobi step is stable.
TEST(Incompressible, AnySupportIsStable) {
    for (const auto& [dimension, spacings] :
         {std::pair{2, 3.5}, std::pair{2, 4.0}, std::pair{2, 5.0}, std::pair{3, 2.6}}) {
        Scene scene = test::small_dam(dimension, dimension == 2 ? 0.01 : 0.02);
        scene.solver = SolverKind::incompressible;
        scene.support = spacings * scene.spacing;
        Simulation s(scene);
        while (s.time() < 0.3) {
            s.step();
            ASSERT_LT(s.stats().max_speed, 3 * std::sqrt(2 * 9.81 * 0.2)) << spacings << " at " << s.time();
        }
        EXPECT_LT(s.stats().average_density_error, 5e-3) << spacings;
    }
}

TEST(Incompressible, OneIterationIsOne) {
    Scene scene = test::small_dam(2, 0.02);
    scene.solver = SolverKind::incompressible;
    scene.incompressible.max_iterations = 1;
    Simulation s(scene);
    s.advance_to(0.2);
    EXPECT_LT(s.stats().average_density_error, 0.03);
}

// Kilometres of water or a drop of it: lengths over the spacing, times over the root of the spacing.
TEST(Incompressible, AnyScale) {
    for (const double scale : {1e-4, 1e4, 1e6}) {
        Scene scene = test::small_dam(2, 0.02);
        scene.solver = SolverKind::incompressible;
        scene.spacing *= scale;
        for (Box3d* box : {&scene.domain.box, &scene.blocks[0].box})
            for (int k = 0; k < 2; ++k) box->lo[k] *= scale, box->hi[k] *= scale;
        scene.frame_interval = 0.02 * std::sqrt(scale);
        Simulation s(scene);
        for (int k = 1; k <= 10; ++k) {
            s.advance_to(k * scene.frame_interval);
            EXPECT_LT(s.stats().average_density_error, 3e-3) << scale;
        }
    }
}

TEST(Incompressible, MomentumWithoutWalls) {
    Scene scene = test::drop(2, 0.1, 0.01);
    scene.solver = SolverKind::incompressible;
    for (const Vec3d& x : scene.particles[0].positions)
        scene.particles[0].velocities.push_back(test::stretch_and_turn(x));
    test::expect_momentum_stays(scene);
}

TEST(Incompressible, SameBytesForAnyThreadsTargetsAndAfterARestart) {
    Scene scene = test::small_dam(3, 0.016);
    scene.solver = SolverKind::incompressible;
    scene.bodies.push_back({.motion = BodyMotion::dynamic, .radius = 0.03, .position = {{0.25, 0.05, 0.06}}});
    const auto two = make_executor(2);
    Simulation a(scene), b(scene, two.get());
    a.advance_to(0.03);
    b.advance_to(0.03);
    EXPECT_TRUE(test::checkpoint(a) == test::checkpoint(b));
    Simulation c = Simulation::load(test::checkpoint(a), two.get());
    a.advance_to(0.05);
    c.advance_to(0.05);
    EXPECT_TRUE(test::checkpoint(a) == test::checkpoint(c));
    base::for_each_simd_target([&] {
        Simulation t(scene);
        t.advance_to(0.03);
        EXPECT_TRUE(test::checkpoint(t) == test::checkpoint(b));
    });
}

TEST(Incompressible, TwoLayersSettle) {
    for (const SolverKind solver : {SolverKind::incompressible, SolverKind::weakly_compressible}) {
        Scene scene;
        scene.dimension = 2;
        scene.spacing = 0.0125;
        scene.solver = solver;
        scene.gravity = {{0, -9.81, 0}};
        scene.domain.box = {{{0, 0, 0}}, {{0.2, 0.3, 1}}};
        scene.phases = {Phase{.name = "oil", .rest_density = 500}, Phase{.name = "water", .rest_density = 1000}};
        for (Phase& p : scene.phases) p.viscosity = 0.5, p.artificial_viscosity = 0.1;
        // Water above oil, side by side for a start: it turns over.
        scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.1, 0.2, 0}}}, .phase = 0});
        scene.blocks.push_back({.box = {{{0.1, 0, 0}}, {{0.2, 0.2, 0}}}, .phase = 1});
        Simulation s(scene);
        s.advance_to(1.2);
        double height[2] = {0, 0}, count[2] = {0, 0};
        for (std::size_t i = 0; i < s.positions().size(); ++i) {
            height[s.phases()[i]] += double{s.positions()[i][1]};
            ++count[s.phases()[i]];
        }
        EXPECT_GT(height[0] / count[0], 0.125) << static_cast<int>(solver);
        EXPECT_LT(height[1] / count[1], 0.075) << static_cast<int>(solver);
    }
}

}  // namespace
