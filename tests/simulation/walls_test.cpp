// Walls that meet at any angle: what is behind two of them counts once, and their push is the gradient of their share.
#include "simulation/fluid/boundary.hpp"
#include "simulation/scenes.hpp"

#include <quadrat/simulation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace quadrat;
using simulation::Share;
using simulation::Wall;
using simulation::Walls;
using simulation::WallTable;

constexpr float h = 0.04f;

const WallTable& table() {
    static const WallTable made(KernelFunction::wendland_c2, 3, 0.5, 1);
    return made;
}

Wall wall(double x, double y, double z, double offset) {
    const double length = std::sqrt(x * x + y * y + z * z);
    Wall w{};
    w.normal = {static_cast<float>(x / length), static_cast<float>(y / length), static_cast<float>(z / length)};
    w.offset = static_cast<float>(offset);
    return w;
}

Share share(const std::vector<Wall>& all, const Vec3f& x) {
    Walls walls;
    for (const Wall& w : all) {
        const float d = w.normal[0] * x[0] + w.normal[1] * x[1] + w.normal[2] * x[2] - w.offset;
        if (d < h) walls.add(table(), d, h, w, {{0, 0, -9.81}});
    }
    return walls.joined();
}

TEST(JoinedWalls, OfOneDirectionAreAsOne) {
    const Wall floor = wall(0, 0, 1, 0);
    for (const float z : {0.0f, 0.01f, 0.02f, 0.03f, 0.05f}) {
        const Share one = share({floor}, {{0, 0, z}});
        for (const Wall& same : {floor, wall(1e-4, 0, 1, 0), wall(0, 0, 1, -0.01)}) {
            for (const auto& both : {std::vector{floor, same}, std::vector{same, floor}}) {
                const Share two = share(both, {{0, 0, z}});
                EXPECT_NEAR(two.inside, one.inside, 1e-4f);
                EXPECT_NEAR(two.gradient[2], one.gradient[2], 1e-3f * std::abs(one.gradient[2]) + 1e-3f);
            }
        }
    }
}

TEST(JoinedWalls, AtRightAnglesAndFaceToFace) {
    const Vec3f x = {{0.01f, 0.012f, 0.014f}};
    const float a = share({wall(1, 0, 0, 0)}, x).inside, b = share({wall(0, 1, 0, 0)}, x).inside,
                c = share({wall(0, 0, 1, 0)}, x).inside;
    EXPECT_NEAR(share({wall(1, 0, 0, 0), wall(0, 1, 0, 0), wall(0, 0, 1, 0)}, x).inside,
                1 - (1 - a) * (1 - b) * (1 - c), 1e-6f);
    const float left = share({wall(1, 0, 0, 0)}, x).inside, right = share({wall(-1, 0, 0, -0.03)}, x).inside;
    EXPECT_NEAR(share({wall(1, 0, 0, 0), wall(-1, 0, 0, -0.03)}, x).inside, left + right, 1e-6f);
}

TEST(JoinedWalls, PushByTheGradientOfTheirShare) {
    std::mt19937 random(4);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int round = 0; round < 300; ++round) {
        std::vector<Wall> all;
        for (int k = 0; k < 1 + round % 4; ++k)
            all.push_back(wall(uniform(random), uniform(random), 1.5 * uniform(random) + 0.01,
                               -0.03 * std::abs(uniform(random))));
        const Vec3f x = {};
        const Share at = share(all, x);
        if (at.inside >= 1) continue;
        for (int k = 0; k < 3; ++k) {
            constexpr float step = 2e-5f;
            Vec3f up = x, down = x;
            up[k] += step;
            down[k] -= step;
            const float slope = (share(all, up).inside - share(all, down).inside) / (2 * step);
            // Tables are lines between their points, and shares that are equal change their order here.
            EXPECT_NEAR(at.gradient[k], slope, 0.05f * std::abs(slope) + 0.4f) << round;
        }
    }
}

// Shares next to 0 occur where a support is a whole number of spacings but for rounding.
TEST(JoinedWalls, AreFiniteAndContinuousAtEveryDistanceAndAngle) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> distance(-0.2f, 1), angle(0, 3.14159f);
    for (const double spacing : {0.01, 0.02, 0.05}) {
        const double volume = static_cast<float>(spacing * spacing * spacing);
        const WallTable made(KernelFunction::wendland_c2, 3, std::cbrt(volume) / (2 * spacing), 1);
        for (int round = 0; round < 400'000; ++round) {
            const double turn = angle(random);
            const Wall floor = wall(0, 0, 1, 0), ramp = wall(std::sin(turn), 0, std::cos(turn), 0);
            float a = distance(random), b = distance(random);
            if (round % 4 == 0) b = a;
            if (round % 5 == 0) a = 0.75f + 1e-3f * distance(random);  // where the share ends
            if (round % 7 == 0) b = 0.75f + 1e-3f * distance(random);
            const auto joined = [&](float d, float e) {
                Walls walls;
                walls.add(made, d, 1, floor, {});
                walls.add(made, e, 1, ramp, {});
                return walls.joined();
            };
            const Share at = joined(a, b);
            ASSERT_TRUE(at.inside >= 0 && at.inside <= 1) << a << ' ' << b << ' ' << turn;
            for (int k = 0; k < 3; ++k)  // the steepest slope of one wall is 1.9
                ASSERT_TRUE(std::abs(at.gradient[k]) < 4) << a << ' ' << b << ' ' << turn;
            constexpr float step = 1e-4f;
            ASSERT_NEAR(joined(a + step, b).inside, at.inside, 4 * step) << a << ' ' << b << ' ' << turn;
            ASSERT_NEAR(joined(a, b + step).inside, at.inside, 4 * step) << a << ' ' << b << ' ' << turn;
        }
    }
}

// A second floor in the place of the first, or turned by a little, changes nothing about still water.
TEST(JoinedWalls, StillWaterOnTwoFloors) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible})
        for (const double tilt : {0.0, 1e-3, 0.02}) {
            Scene scene = test::small_dam(2, 0.01);
            scene.solver = solver;
            scene.blocks[0].box = {{{0, 0, 0}}, {{0.4, 0.1, 0}}};
            scene.domain.planes.push_back({.normal = {{tilt, 1, 0}}, .offset = 0});
            Simulation s(scene);
            s.advance_to(0.001);
            const SimulationStats start = s.stats();
            s.advance_to(0.3);
            const SimulationStats end = s.stats();
            const auto energy = [](const SimulationStats& e) { return e.kinetic + e.potential + e.internal; };
            EXPECT_LT(energy(end), energy(start) * 1.001) << tilt;
            EXPECT_LT(end.max_speed, 0.25) << tilt;
        }
}

}  // namespace
