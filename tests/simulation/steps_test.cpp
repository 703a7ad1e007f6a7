// Steps of their own for each particle, supports of their own, tension, drops, energy, cloth in the fluid.
#include <quadrat/error.hpp>
#include <quadrat/simulation.hpp>

#include "simulation/scenes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace quadrat;

TEST(PerParticleSteps, GiveTheSameFlow) {
    Scene scene = test::small_dam(2, 0.01);
    scene.frame_interval = 0.01;
    Simulation one(scene);
    one.advance_to(0.1);
    scene.stepping.kind = StepKind::per_particle;
    Simulation own(scene);
    own.advance_to(0.1);
    EXPECT_DOUBLE_EQ(own.time(), 0.1);
    const auto mean = [](const Simulation& s, int axis) {
        double m = 0;
        for (const Vec3f& x : s.positions()) m += double{x[axis]} / static_cast<double>(s.positions().size());
        return m;
    };
    EXPECT_NEAR(mean(own, 0), mean(one, 0), 0.02 * mean(one, 0));
    EXPECT_NEAR(mean(own, 1), mean(one, 1), 0.02 * mean(one, 1));
    const auto two = make_executor(2);
    Simulation threads(scene, two.get());
    threads.advance_to(0.1);
    EXPECT_TRUE(test::checkpoint(own) == test::checkpoint(threads));
}

// One particle on its own falls on a parabola, whatever its steps: the scheme is exact for constant acceleration only
// if velocities are corrected when the step changes.
// Who asks for an end must not wait for a whole frame.
TEST(PerParticleSteps, AStepIsShortInALongFrame) {
    Scene scene = test::small_dam(2, 0.02);
    scene.stepping.kind = StepKind::per_particle;
    scene.frame_interval = 100;
    Simulation s(scene);
    s.step();
    EXPECT_LT(s.time(), 0.05);
    EXPECT_LT(s.stats().steps, 1000u);
}

TEST(PerParticleSteps, FreeFallIsExact) {
    Scene scene = test::drop(2, 0.001, 0.01);
    scene.gravity = {{0, -10, 0}};
    scene.frame_interval = 0.02;
    scene.expected_speed = 0.05;  // a slow sound: steps follow the speed
    scene.stepping.kind = StepKind::per_particle;
    Simulation s(scene);
    ASSERT_EQ(s.positions().size(), 1u);
    s.advance_to(0.4);
    EXPECT_NEAR(s.positions()[0][1], -0.5 * 10 * 0.4 * 0.4, 2e-5);
}

TEST(Supports, OfTheirOwn) {
    Scene scene = test::drop(2, 0.1, 0.0125);
    scene.phases[0].support = 0.03;
    FluidParticles& f = scene.particles[0];
    for (std::size_t i = 0; i < f.positions.size(); ++i) {
        f.supports.push_back(f.positions[i][0] > 0 ? 0.036 : 0.03);
        f.velocities.push_back({{3 * f.positions[i][0] - 5 * f.positions[i][1], 5 * f.positions[i][0], 0}});
    }
    Simulation s(scene);
    const SimulationStats before = s.stats();
    s.advance_to(0.05);
    for (int k = 0; k < 2; ++k)
        EXPECT_NEAR(s.stats().momentum[k], before.momentum[k], 1e-4 * before.mass * before.max_speed);
}

TEST(Tension, PullsASquareIntoADisc) {
    Scene scene = test::drop(2, 0.05, 0.005);
    scene.particles[0].positions.clear();
    for (int y = -10; y < 10; ++y)
        for (int x = -10; x < 10; ++x)
            scene.particles[0].positions.push_back({{(x + 0.5) * 0.005, (y + 0.5) * 0.005, 0}});
    scene.phases[0].tension = 5;
    scene.phases[0].viscosity = 0.5;
    scene.expected_speed = 1;
    Simulation s(scene);
    const auto corner = [](const Simulation& a) {
        double far = 0;
        for (const Vec3f& x : a.positions()) far = std::max(far, double{std::hypot(x[0], x[1])});
        return far;
    };
    const double before = corner(s);
    s.advance_to(0.3);
    EXPECT_LT(corner(s), 0.96 * before);
}

// From a square to a disc: 0.4 m of surface become 0.354 m. Particles press each other together at first, so that there
// is more to be had than that; but it is an energy, and it does not grow.
TEST(Tension, GivesNoMoreThanItsEnergy) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible})
        for (const double tension : {1.0, 10.0}) {
            Scene scene;
            scene.dimension = 2;
            scene.solver = solver;
            scene.spacing = 0.005;
            scene.gravity = {};
            scene.domain.box = {{{-0.2, -0.2, 0}}, {{0.2, 0.2, 0}}};
            scene.phases[0].tension = tension;
            scene.blocks.push_back({.box = {{{-0.05, -0.05, 0}}, {{0.05, 0.05, 0}}}});
            Simulation s(scene);
            const double freed = (0.4 - 0.3545) * tension;
            while (s.time() < 0.5) {
                s.step();
                ASSERT_LT(s.stats().kinetic, 2 * freed) << tension << " at " << s.time();
            }
            const SimulationStats t = s.stats();
            EXPECT_LT(t.kinetic, 0.5 * freed) << tension;
            for (int k = 0; k < 2; ++k) EXPECT_NEAR(t.momentum[k], 0, 1e-5 * t.mass) << tension;
            for (const Vec3f& x : s.positions()) EXPECT_LT(std::hypot(x[0], x[1]), 0.065f) << tension;
        }
}

// A drop that is pulled to the origin swings with the period of the exact ellipse (bench/simulation/validation.cpp):
// 4.8266 / attraction where the first strain rate is the attraction.
TEST(Drop, SwingsWithTheExactPeriod) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible}) {
        Scene s;
        s.dimension = 2;
        s.solver = solver;
        s.spacing = 0.01;
        s.gravity = {};
        s.attraction = 5;
        s.expected_speed = 0.7;
        s.domain.box = {{{-1, -1, -1}}, {{1, 1, 1}}};
        s.domain.open = {true, true, true, true, true, true};
        s.particles.emplace_back();
        for (int y = -10; y <= 10; ++y)
            for (int x = -10; x <= 10; ++x)
                if (x * x + y * y <= 100) {
                    s.particles[0].positions.push_back({{0.01 * x, 0.01 * y, 0}});
                    s.particles[0].velocities.push_back({{0.05 * x, -0.05 * y, 0}});
                }
        Simulation run(s);
        const auto ratio = [&](double time) {
            run.advance_to(time);
            double x_sq = 0, y_sq = 0;
            for (const Vec3f& x : run.positions())
                x_sq += double{x[0]} * double{x[0]}, y_sq += double{x[1]} * double{x[1]};
            return x_sq / y_sq;
        };
        const double period = 4.8266 / 5;
        EXPECT_GT(ratio(0.25 * period), 2);
        EXPECT_GT(ratio(0.48 * period), 1);
        EXPECT_LT(ratio(0.51 * period), 1);
        EXPECT_LT(ratio(0.75 * period), 0.5);
        EXPECT_LT(ratio(0.97 * period), 1);
        EXPECT_GT(ratio(1.01 * period), 1);
    }
}

// A stretching drop without gravity, viscosity and walls keeps its energy after the first sound waves.
TEST(Energy, StaysWithinAPercent) {
    Scene scene = test::drop(2, 0.1, 0.005);
    for (const Vec3d& x : scene.particles[0].positions)
        scene.particles[0].velocities.push_back({{5 * x[0], -5 * x[1], 0}});
    scene.phases[0].artificial_viscosity = 0;
    Simulation s(scene);
    const double acoustic = 0.1 / s.preset().sound_speed;
    s.advance_to(acoustic);
    const SimulationStats a = s.stats();
    s.advance_to(acoustic + 0.15);
    const SimulationStats b = s.stats();
    EXPECT_NEAR((b.kinetic + b.internal) / (a.kinetic + a.internal), 1, 0.01);
}

// A particle that bounces without loss neither rises nor sinks: what it fell too deep in a step is not a gift.
TEST(Energy, OfABouncingParticleStays) {
    for (const bool ghosts : {true, false}) {
        Scene scene;
        scene.domain.box.hi[2] = 10;
        scene.domain.response = {.restitution = 1, .friction = 0};
        scene.domain.ghosts = ghosts;
        scene.particles.push_back({.positions = {{{0.5, 0.5, 0.5}}}});
        Simulation s(scene);
        const double start = s.stats().potential;
        for (int k = 1; k <= 100; ++k) {
            s.advance_to(0.1 * k);
            const SimulationStats e = s.stats();
            ASSERT_NEAR((e.kinetic + e.potential + e.internal) / start, 1, 0.03) << s.time();
        }
    }
}

Scene cloth_scene() {
    Scene scene = test::small_dam(3, 0.0125);
    scene.blocks[0].box = {{{0.1, 0.165, 0.03}}, {{0.3, 0.215, 0.0925}}};
    SceneCloth c;
    const int n = 12;
    for (int z = 0; z <= n; ++z)
        for (int x = 0; x <= n; ++x) c.positions.push_back({{0.02 + 0.36 * x / n, 0.15, 0.005 + 0.11 * z / n}});
    for (std::uint32_t z = 0; z < n; ++z)
        for (std::uint32_t x = 0; x < n; ++x) {
            const std::uint32_t a = z * (n + 1) + x;
            c.triangles.push_back({a, a + 1, a + n + 1});
            c.triangles.push_back({a + 1, a + n + 2, a + n + 1});
        }
    for (std::uint32_t z = 0; z <= n; ++z) {
        c.pins.push_back(z * (n + 1));
        c.pins.push_back(z * (n + 1) + n);
    }
    c.options.thickness = 0.002;
    c.density = 0.5;
    scene.cloths.push_back(c);
    return scene;
}

TEST(ClothInFluid, HoldsTheFluidAndIsPushed) {
    const Scene scene = cloth_scene();
    Simulation s(scene);
    s.advance_to(0.12);
    double lowest = 1;
    for (const Vec3d& v : s.cloth(0).positions) lowest = std::min(lowest, v[1]);
    EXPECT_LT(lowest, 0.145);
    // The particles above the middle have not passed: none is below the lowest vertex where the sheet is.
    std::size_t passed = 0;
    for (const Vec3f& x : s.positions())
        passed += x[0] > 0.1f && x[0] < 0.3f && x[2] > 0.02f && x[2] < 0.1f && double{x[1]} < lowest - 0.01;
    EXPECT_EQ(passed, 0u);
    EXPECT_GT(s.stats().contacts, 0u);
}

// A sheet falls on a slope in front of the floor: a plane of the domain, or a body.
TEST(ClothInFluid, PlanesHoldTheSheet) {
    for (const bool body : {false, true}) {
        Scene scene;
        scene.domain.box = {{{0, 0, 0}}, {{1, 1, 1}}};
        const Vec3d normal = {{-0.3, 0, 1}};
        const double length = std::sqrt(1.09), offset = (-0.3 * 0.5 + 0.3) / length;  // through (0.5, 0.5, 0.3)
        if (body)
            scene.bodies.push_back({.shape = BodyShape::plane, .normal = normal, .position = {{0.5, 0.5, 0.3}}});
        else
            scene.domain.planes.push_back({.normal = normal, .offset = offset});
        SceneCloth cloth;
        const std::uint32_t n = 6;
        for (std::uint32_t j = 0; j <= n; ++j)
            for (std::uint32_t i = 0; i <= n; ++i)
                cloth.positions.push_back({{0.3 + 0.4 * i / n, 0.3 + 0.4 * j / n, 0.45}});
        for (std::uint32_t j = 0; j < n; ++j)
            for (std::uint32_t i = 0; i < n; ++i) {
                const std::uint32_t a = j * (n + 1) + i;
                cloth.triangles.push_back({a, a + 1, a + n + 1});
                cloth.triangles.push_back({a + 1, a + n + 2, a + n + 1});
            }
        cloth.options.thickness = 0.002;
        scene.cloths.push_back(cloth);
        Simulation s(scene);
        s.advance_to(0.4);  // 0.78 m of free fall
        double least = 1;
        for (const Vec3d& v : s.cloth(0).positions) least = std::min(least, (-0.3 * v[0] + v[2]) / length - offset);
        EXPECT_GT(least, 0) << body;
        EXPECT_LT(least, 0.1) << body;
    }
}

// A sheet across a box, light or heavy, takes the water that falls on it: neither jumps, no energy comes from nowhere.
TEST(ClothInFluid, ALightSheetStaysCalm) {
    for (const SolverKind solver : {SolverKind::incompressible, SolverKind::weakly_compressible})
        for (const double density : {0.05, 5.0}) {
            Scene scene = cloth_scene();
            scene.solver = solver;
            scene.cloths[0].density = density;
            scene.cloths[0].options.time_step = 1.0 / 240;
            Simulation s(scene);
            const double start = s.stats().potential;
            // Water may fall from its top to the floor; jets between sheet and wall are faster.
            const double fastest = 2 * std::sqrt(2 * 9.81 * 0.215);
            double energy = start;
            for (int k = 1; k <= 40; ++k) {
                s.advance_to(0.01 * k);
                const SimulationStats t = s.stats();
                energy = t.kinetic + t.potential + t.internal;
                ASSERT_LT(t.max_speed, fastest) << density << " at " << s.time();
                ASSERT_LT(energy, 1.02 * start) << density << " at " << s.time();
                for (const Vec3d& v : s.cloth(0).positions)
                    for (int d = 0; d < 3; ++d) {
                        ASSERT_GE(v[d], scene.domain.box.lo[d]);
                        ASSERT_LE(v[d], scene.domain.box.hi[d]);
                    }
            }
            EXPECT_LT(energy, 0.95 * start) << density;
        }
}

// Without gravity and pins, a drop hits a light sheet: what the one loses the other gets.
TEST(ClothInFluid, MomentumGoesFromTheFluidToTheSheet) {
    Scene scene = test::drop(3, 0.05, 0.0125);
    for (Vec3d& x : scene.particles[0].positions) x[0] -= 0.1;
    scene.particles[0].velocities.assign(scene.particles[0].positions.size(), {{1, 0, 0}});
    SceneCloth c = cloth_scene().cloths[0];
    for (std::size_t k = 0; k < c.positions.size(); ++k) {
        const Vec3d p = c.positions[k];
        c.positions[k] = {{0, p[0] - 0.2, 3 * (p[2] - 0.06)}};
    }
    c.pins.clear();
    c.density = 2;
    c.options.damping = 0;
    c.options.time_step = 1.0 / 240;
    scene.cloths.push_back(c);
    Simulation s(scene);
    const double before = s.stats().momentum[0], sheet_mass = 2 * 0.36 * 0.33;
    const auto place = [&] {
        double sum = 0;
        for (const Triangle& t : s.cloth(0).triangles)
            for (const std::uint32_t v : {t.a, t.b, t.c}) sum += s.cloth(0).positions[v][0];
        return sum / (3.0 * static_cast<double>(s.cloth(0).triangles.size()));
    };
    for (int k = 24; k <= 96; k += 24) {
        s.advance_to((k - 2) / 240.0);
        const double from = place();
        s.advance_to((k + 2) / 240.0);
        const double sheet = sheet_mass * (place() - from) * 240 / 4;
        EXPECT_NEAR(s.stats().momentum[0] + sheet, before, 0.1 * before) << k;
        if (k == 96) {
            EXPECT_GT(sheet, 0.1 * before);
        }
    }
}

TEST(ClothInFluid, SameBytesAfterARestart) {
    const Scene scene = cloth_scene();
    const auto two = make_executor(2);
    Simulation a(scene), b(scene, two.get());
    a.advance_to(0.06);
    b.advance_to(0.06);
    EXPECT_TRUE(test::checkpoint(a) == test::checkpoint(b));
    Simulation c = Simulation::load(test::checkpoint(a));
    a.advance_to(0.08);
    c.advance_to(0.08);
    EXPECT_TRUE(test::checkpoint(a) == test::checkpoint(c));
}

}  // namespace
