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
        const SimulationStats first = s.stats();
        const double each = first.mass / static_cast<double>(first.particles);
        const double disc = 13, layers = 1 / scene.spacing;  // per second
        for (int k = 1; k <= 6; ++k) {
            s.advance_to(0.05 * k);
            const SimulationStats t = s.stats();
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

// A plate that closes the box below the emitter, and a jet that would be through it within a frame.
TEST(Emitters, NothingComesOutBehindAPlate) {
    for (const StepKind steps : {StepKind::courant, StepKind::per_particle, StepKind::fixed}) {
        Scene scene;
        scene.spacing = 0.02;
        scene.stepping.kind = steps;
        if (steps == StepKind::fixed) {
            scene.stepping.fixed = 0.02;  // three layers
            scene.stepping.courant = 10;
            scene.solver = SolverKind::incompressible;
            scene.phases[0].artificial_viscosity = 0;  // whose limit is shorter
        }
        scene.phases[0].sound_speed = steps == StepKind::per_particle ? 2 : 0;
        scene.frame_interval = 0.05;
        scene.domain.box = {{{0, 0, 0}}, {{0.2, 0.2, 0.4}}};
        scene.emitters.push_back({.position = {{0.1, 0.1, 0.35}}, .radius = 0.05, .speed = 3});
        scene.bodies.push_back({.shape = BodyShape::box, .size = {{0.2, 0.2, 0.02}}, .position = {{0.1, 0.1, 0.31}}});
        Simulation s(scene);
        s.advance_to(0.1);
        EXPECT_GT(s.positions().size(), 20u);
        for (const Vec3f& x : s.positions()) ASSERT_GT(x[2], 0.31f);
    }
}

// A closed box in the plane with one emitter.
Scene flat_box(const Emitter& emitter, double apart, double gravity) {
    Scene s;
    s.dimension = 2;
    s.spacing = apart;
    s.gravity = {{0, -gravity, 0}};
    s.domain.box = {{{0, 0, 0}}, {{0.6, 0.4, 1}}};
    s.emitters = {emitter};
    return s;
}

// A plate whose ends lie on the walls: nothing slides along a wall past it.
TEST(Emitters, NothingPassesBetweenAPlateAndTheWall) {
    Scene scene =
        flat_box({.position = {{0.1, 0.2, 0}}, .direction = {{1, 0, 0}}, .radius = 0.06, .speed = 5}, 0.02, 0);
    scene.phases[0].sound_speed = 2;
    scene.bodies.push_back({.shape = BodyShape::box, .size = {{0.01, 0.4, 1}}, .position = {{0.16, 0.2, 0}}});
    Simulation s(scene);
    s.advance_to(0.2);
    EXPECT_GT(s.positions().size(), 100u);
    for (const Vec3f& x : s.positions()) ASSERT_LT(x[0], 0.16f) << x[1];
}

// What an emitter would send out inside a body that has come there stays out.
TEST(Emitters, ABodyThatPassesKeepsThemShut) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible}) {
        Scene scene =
            flat_box({.position = {{0.3, 0.3, 0}}, .direction = {{0, -1, 0}}, .radius = 0.03, .speed = 1}, 0.01, 9.81);
        scene.solver = solver;
        scene.bodies.push_back({.shape = BodyShape::box,
                                .motion = BodyMotion::moving,
                                .size = {{0.1, 0.1, 1}},
                                .position = {{0.1, 0.3, 0}},
                                .velocity = {{1, 0, 0}}});
        Simulation s(scene);
        for (int k = 1; k <= 16; ++k) {
            s.advance_to(0.02 * k);
            EXPECT_LT(s.stats().average_density_error, 0.01);
            EXPECT_LT(s.stats().max_speed, 8);
        }
    }
}

// Before there is any fluid steps are long, but none goes past the first layer.
TEST(Emitters, TheFirstLayerComesOutAtItsPlace) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible}) {
        Scene scene;
        scene.spacing = 0.02;
        scene.solver = solver;
        scene.frame_interval = 1;
        scene.emitters.push_back({.position = {{0.5, 0.5, 0.9}}, .radius = 0.05, .speed = 1, .start = 1.3, .end = 1.4});
        Simulation s(scene);
        while (s.positions().empty()) s.step();
        EXPECT_LT(s.time(), 1.35);
        for (const Vec3f& x : s.positions()) EXPECT_NEAR(x[2], 0.9, 0.05);
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
            EXPECT_EQ(s.stats().particles % 13, 0u) << speed;
            EXPECT_GE(s.stats().particles, 26u) << speed;
        }
}

}  // namespace
