// Solids in the fluid: nothing enters them, momentum goes from one to the other, bodies rest on walls and on each
// other.
#include <quadrat/error.hpp>
#include <quadrat/simulation.hpp>

#include "simulation/scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <utility>

namespace {

using namespace quadrat;

// How far inside the body a point is; only for spheres and cubes that are not turned.
double depth(const RigidBody& b, const BodyPose& pose, const Vec3f& x, double edge) {
    double q[3], r = 0, most = -1e9;
    for (int k = 0; k < 3; ++k) {
        q[k] = std::abs(double{x[k]} - pose.position[k]);
        r += q[k] * q[k];
        most = std::max(most, q[k] - edge / 2);
    }
    return b.shape == BodyShape::sphere ? b.radius - std::sqrt(r) : -most;
}

TEST(Bodies, NoParticleEntersABody) {
    for (const BoundaryKind kind : {BoundaryKind::particles, BoundaryKind::ghosts, BoundaryKind::field})
        for (const BodyShape shape : {BodyShape::sphere, BodyShape::box, BodyShape::mesh}) {
            Scene scene = test::small_dam(3, 0.02);
            scene.blocks[0].box = {{{0.06, 0.17, 0.0}}, {{0.34, 0.23, 0.12}}};
            scene.blocks[0].velocity = {{0, -3, 0}};
            RigidBody b = test::cube_mesh(0.1);
            b.shape = shape;
            b.radius = 0.055;
            b.size = {{0.1, 0.1, 0.1}};
            b.position = {{0.2, 0.1, 0.06}};
            b.boundary = kind;
            scene.bodies.push_back(b);
            Simulation s(scene);
            const std::size_t n = s.positions().size();
            std::uint64_t contacts = 0;
            for (int k = 1; k <= 6; ++k) {
                s.advance_to(0.01 * k);
                contacts += s.stats().contacts;
                for (const Vec3f& x : s.positions()) ASSERT_LT(depth(b, s.bodies()[0], x, 0.1), 1e-6);
            }
            ASSERT_EQ(s.positions().size(), n);
        }
}

TEST(Bodies, MomentumGoesFromTheFluidToABody) {
    struct Case {
        BoundaryKind boundary;
        SolverKind solver;
        StepKind steps = StepKind::courant;
    };
    for (const auto& [kind, solver, steps] :
         {Case{BoundaryKind::particles, SolverKind::weakly_compressible},
          Case{BoundaryKind::field, SolverKind::weakly_compressible},
          Case{BoundaryKind::particles, SolverKind::weakly_compressible, StepKind::per_particle},
          Case{BoundaryKind::field, SolverKind::weakly_compressible, StepKind::per_particle},
          Case{BoundaryKind::particles, SolverKind::incompressible},
          Case{BoundaryKind::field, SolverKind::incompressible}}) {
        Scene scene = test::drop(3, 0.06, 0.0125);
        scene.solver = solver;
        scene.stepping.kind = steps;
        // A slow sound, so that what has been stopped may take longer steps than what has not.
        if (steps == StepKind::per_particle) scene.expected_speed = 0.2;
        for (Vec3d& x : scene.particles[0].positions) x[0] -= 0.15;
        scene.particles[0].velocities.assign(scene.particles[0].positions.size(), {{2, 0, 0}});
        scene.bodies.push_back(
            {.motion = BodyMotion::dynamic, .radius = 0.06, .density = 700, .position = {}, .boundary = kind});
        Simulation s(scene);
        const double mass = 700 * 4.0 / 3 * 3.14159265358979 * 0.06 * 0.06 * 0.06;
        const SimulationStats before = s.stats();
        s.advance_to(0.1);
        const SimulationStats after = s.stats();
        EXPECT_GT(s.bodies()[0].velocity[0], 0.2);
        for (int k = 0; k < 3; ++k)
            EXPECT_NEAR(after.momentum[k] + mass * s.bodies()[0].velocity[k], before.momentum[k],
                        1e-3 * before.momentum[0])
                << int(kind) << int(solver) << int(steps);
    }
}

TEST(Bodies, AMovingBodyPushesTheFluid) {
    Scene scene = test::small_dam(2, 0.01);
    scene.gravity = {};
    scene.bodies.push_back({.shape = BodyShape::box,
                            .motion = BodyMotion::moving,
                            .size = {{0.04, 0.3, 0}},
                            .position = {{0.3, 0.2, 0}},
                            .velocity = {{-0.5, 0, 0}}});
    Simulation s(scene);
    s.advance_to(0.4);
    EXPECT_NEAR(s.bodies()[0].position[0], 0.1, 1e-6);
    EXPECT_GT(s.stats().kinetic, 0.1);
    for (const Vec3f& x : s.positions())
        EXPECT_FALSE(std::abs(x[0] - 0.1f) < 0.0199f && std::abs(x[1] - 0.2f) < 0.1499f);
}

TEST(Bodies, ComeToRestOnTheGroundAndOnEachOther) {
    Scene scene;
    scene.spacing = 0.02;
    scene.domain.response.friction = 1;
    for (int k = 0; k < 3; ++k)
        scene.bodies.push_back(
            {.motion = BodyMotion::dynamic, .radius = 0.1, .position = {{0.5 + 0.001 * k, 0.5, 0.12 + 0.22 * k}}});
    scene.bodies.push_back({.shape = BodyShape::box,
                            .motion = BodyMotion::dynamic,
                            .size = {{0.2, 0.2, 0.2}},
                            .position = {{0.2, 0.2, 0.3}}});
    RigidBody mesh = test::cube_mesh(0.2);
    mesh.motion = BodyMotion::dynamic;
    mesh.position = {{0.8, 0.8, 0.3}};
    scene.bodies.push_back(mesh);
    scene.stepping = {.kind = StepKind::fixed, .fixed = 2e-3};
    Simulation s(scene);
    for (int k = 0; k < 1000; ++k) {
        s.step();
        for (const BodyPose& b : s.bodies())
            for (int a = 0; a < 3; ++a) {
                ASSERT_GT(b.position[a], 0.095);
                ASSERT_LT(b.position[a], 0.905);
            }
    }
    for (const std::size_t i : {std::size_t{3}, std::size_t{4}}) {
        EXPECT_NEAR(s.bodies()[i].position[2], 0.1, 0.01) << i;
        for (int a = 0; a < 3; ++a) EXPECT_NEAR(s.bodies()[i].velocity[a], 0, 0.1) << i;
    }
}

TEST(Bodies, OverlapIsRefused) {
    Scene scene = test::small_dam(3, 0.02);
    scene.bodies.push_back({.radius = 0.05, .position = {{0.3, 0.3, 0.06}}});
    scene.bodies.push_back({.radius = 0.05, .position = {{0.3, 0.1, 0.06}}});
    scene.bodies.push_back({.radius = 0.05, .position = {{0.33, 0.3, 0.06}}});
    try {
        const Simulation s(scene);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.where().field, "/bodies/2");
    }
}

TEST(Bodies, SameBytesForAnyThreadsAndAfterARestart) {
    Scene scene = test::small_dam(3, 0.0125);
    scene.bodies.push_back({.motion = BodyMotion::dynamic, .radius = 0.03, .position = {{0.25, 0.05, 0.06}}});
    scene.bodies.push_back({.radius = 0.03, .position = {{0.3, 0.15, 0.06}}, .boundary = BoundaryKind::field});
    const auto two = make_executor(2);
    Simulation a(scene), b(scene, two.get());
    a.advance_to(0.03);
    b.advance_to(0.03);
    EXPECT_TRUE(test::checkpoint(a) == test::checkpoint(b));
    Simulation c = Simulation::load(test::checkpoint(a), two.get());
    a.advance_to(0.05);
    c.advance_to(0.05);
    EXPECT_TRUE(test::checkpoint(a) == test::checkpoint(c));
}

// A dam breaks over balls that weigh less than a particle or little more. Taken as fixed by the pressure solve, or by
// each of the particles that meet them, they threw the fluid at some thousand metres per second.
TEST(Bodies, LightBallsInCoarseWaterStayCalm) {
    for (const SolverKind solver : {SolverKind::incompressible, SolverKind::weakly_compressible})
        for (const double density : {200.0, 550.0}) {
            Scene scene;
            scene.solver = solver;
            scene.spacing = 0.04;
            scene.domain.box = {{{0, 0, 0}}, {{0.76, 0.32, 1}}};
            scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.32, 0.32, 0.4}}}});
            for (int k = 0; k < 24; ++k)
                scene.bodies.push_back({.motion = BodyMotion::dynamic,
                                        .radius = 0.032,
                                        .density = density,
                                        .position = {{0.4 + 0.09 * (k % 4), 0.07 + 0.09 * (k / 4 % 3),
                                                      0.034 + 0.07 * static_cast<double>(k / 12)}}});
            Simulation s(scene);
            const double limit = 2 * std::sqrt(2 * 9.81 * 0.4);
            while (s.time() < 0.7) {
                s.step();
                ASSERT_LT(s.stats().max_speed, limit) << density << " at " << s.time();
                for (const BodyPose& b : s.bodies())
                    ASSERT_LT(std::hypot(b.velocity[0], b.velocity[1], b.velocity[2]), limit) << density;
            }
        }
}

// A plate comes down on water until less than a spacing is left below it.
TEST(Bodies, APlateSqueezesWaterOut) {
    for (const BoundaryKind kind : {BoundaryKind::particles, BoundaryKind::ghosts, BoundaryKind::field}) {
        Scene scene;
        scene.solver = SolverKind::incompressible;
        scene.spacing = 0.02;
        scene.domain.box = {{{0, 0, 0}}, {{0.4, 0.4, 0.5}}};
        scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.4, 0.4, 0.2}}}});
        scene.bodies.push_back({.shape = BodyShape::box,
                                .motion = BodyMotion::moving,
                                .size = {{0.3, 0.3, 0.01}},
                                .position = {{0.2, 0.2, 0.35}},
                                .velocity = {{0, 0, -1}},
                                .boundary = kind});
        Simulation s(scene);
        while (s.time() < 0.33) {
            s.step();
            ASSERT_LT(s.stats().max_speed, 15) << int(kind) << " at " << s.time();
        }
    }
}

// In kB; 0 where there is no such file.
long resident_memory() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    return 0;
}

// The flagship in small: a jet pours over a hanging cloth, a dam breaks over balls. Nothing is lost, nothing leaves
// the tank, memory stays where it is.
TEST(Bodies, AWholeSceneStaysInItsTank) {
    Scene scene;
    scene.solver = SolverKind::incompressible;
    scene.spacing = 0.05;
    scene.domain.box = {{{0, 0, 0}}, {{1.2, 0.6, 1}}};
    scene.domain.open[5] = true;
    scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.4, 0.6, 0.4}}}});
    scene.emitters.push_back({.position = {{0.8, 0.3, 0.95}}, .radius = 0.1, .speed = 1.2, .end = 0.5});
    for (int k = 0; k < 40; ++k)
        scene.bodies.push_back({.motion = BodyMotion::dynamic,
                                .radius = 0.04,
                                .density = 550,
                                .position = {{0.5 + 0.11 * (k % 5), 0.08 + 0.11 * (k / 5 % 4),
                                              0.042 + 0.09 * static_cast<double>(k / 20)}}});
    SceneCloth cloth = {.pins = {0, 8, 72, 80}, .density = 0.5};
    for (std::uint32_t v = 0; v < 81; ++v) {
        const double a = (v / 9) / 8.0, b = (v % 9) / 8.0;
        cloth.positions.push_back({{0.55 + 0.5 * a, 0.05 + 0.5 * b, 0.75 - 1.6 * a * (1 - a) * b * (1 - b)}});
        if (v < 9 || v % 9 == 0) continue;
        cloth.triangles.push_back({v - 10, v - 1, v});
        cloth.triangles.push_back({v - 10, v, v - 9});
    }
    scene.cloths.push_back(cloth);
    Simulation s(scene);
    const double limit = 2 * (1.2 + std::sqrt(2 * 9.81 * 0.95));
    std::size_t particles = s.positions().size();
    long memory = 0;
    for (int frame = 1; frame <= 50; ++frame) {
        s.advance_to(0.02 * frame);
        ASSERT_GE(s.positions().size(), particles);
        particles = s.positions().size();
        ASSERT_LT(s.stats().max_speed, limit) << s.time();
        for (const Vec3f& x : s.positions())
            for (int k = 0; k < 3; ++k) {
                ASSERT_GE(x[k], -1e-5f);
                ASSERT_LE(double{x[k]}, scene.domain.box.hi[k] + (k < 2 ? 1e-5 : 1));  // open above
            }
        for (const BodyPose& b : s.bodies())
            for (int k = 0; k < 3; ++k) {
                ASSERT_GT(b.position[k], 0.9 * 0.04);
                ASSERT_LT(b.position[k], scene.domain.box.hi[k] - 0.9 * 0.04);
            }
        if (frame == 28) memory = resident_memory();
    }
    EXPECT_GT(particles, 8 * 12 * 8u);
    EXPECT_DOUBLE_EQ(s.stats().mass, static_cast<double>(particles) * 0.125);
    EXPECT_LT(resident_memory(), memory + 4000);
}

// A light ball comes up and floats, a heavy one sinks.
TEST(Bodies, Float) {
    for (const SolverKind solver : {SolverKind::incompressible, SolverKind::weakly_compressible}) {
        Scene scene;
        scene.solver = solver;
        scene.dimension = 2;
        scene.spacing = 0.01;
        scene.gravity = {{0, -9.81, 0}};
        scene.domain.box = {{{0, 0, 0}}, {{0.4, 0.4, 1}}};
        scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.4, 0.2, 0}}}});
        scene.bodies.push_back(
            {.motion = BodyMotion::dynamic, .radius = 0.04, .density = 300, .position = {{0.1, 0.1, 0}}});
        scene.bodies.push_back(
            {.motion = BodyMotion::dynamic, .radius = 0.04, .density = 3000, .position = {{0.3, 0.1, 0}}});
        Simulation s(scene);
        s.advance_to(0.6);
        EXPECT_GT(s.bodies()[0].position[1], 0.14);
        EXPECT_LT(s.bodies()[1].position[1], 0.06);
    }
}

}  // namespace
