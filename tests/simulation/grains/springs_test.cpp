// Soft spheres: springs with dashpots.
#include "simulation/grains/worlds.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace quadrat::test {
namespace {

TEST(GrainSprings, RestitutionAndTimeOfContact) {
    for (const GrainContacts contacts : {GrainContacts::linear_spring, GrainContacts::hertz})
        for (const double e : {0.3, 0.8, 1.0}) {
            const bool linear = contacts == GrainContacts::linear_spring;
            Grains grains({.gravity = {{0, 0, 0}}, .contacts = contacts, .stiffness = linear ? 1e6 : 1e7});
            const GrainSurface s{.friction = 0, .restitution = e};
            grains.add(Grain{.position = {{-0.51, 0, 0}}, .velocity = {{0.5, 0, 0}}, .surface = s});
            grains.add(Grain{.position = {{0.51, 0, 0}}, .velocity = {{-0.5, 0, 0}}, .surface = s});
            double touched = 0;
            for (int k = 0; k < 2000; ++k) {
                grains.step(1e-3);
                const double far = grains.positions()[1][0] - grains.positions()[0][0];
                touched += far < 1 ? 1e-3 : 0;
            }
            EXPECT_NEAR(grains.velocities()[1][0] - grains.velocities()[0][0], e, 0.05 * e);
            if (linear && e == 1.0) {
                const double m = grains.masses()[0] / 2;
                EXPECT_NEAR(touched, std::numbers::pi * std::sqrt(m / 1e6), 2e-3);
            }
        }
}

// A sphere at rest is pressed in as far as its weight says.
TEST(GrainSprings, WeightAtRest) {
    Grains grains({.contacts = GrainContacts::linear_spring, .stiffness = 1e6});
    grains.add(ground());
    grains.add(Grain{.position = {{0, 0, 0.5}}});
    for (int k = 0; k < 300; ++k) grains.step(0.01);
    EXPECT_NEAR(0.5 - grains.positions()[0][2], grains.masses()[0] * gravity / 1e6, 1e-5);
}

TEST(GrainSprings, SlidesAndRolls) {
    const double angle = 0.5, t = 1;
    for (const double friction : {0.05, 0.6}) {
        Grains grains({.contacts = GrainContacts::linear_spring, .stiffness = 1e7});
        const GrainSurface s{.friction = friction};
        grains.add(GrainPlane{.normal = {{std::sin(angle), 0, std::cos(angle)}}, .surface = s});
        grains.add(Grain{.position = {{0.5 * std::sin(angle), 0, 0.5 * std::cos(angle)}}, .surface = s});
        for (int k = 0; k < 100; ++k) grains.step(t / 100);
        const double a = std::tan(angle) < 3.5 * friction ? 5.0 / 7 * gravity * std::sin(angle)
                                                          : gravity * (std::sin(angle) - friction * std::cos(angle));
        const Vec3d v = grains.velocities()[0];
        EXPECT_NEAR(std::hypot(v[0], v[2]), a * t, 0.02 * a * t) << friction;
    }
}

TEST(GrainSprings, SameBytesForAnyThreads) {
    const auto run = [](Executor* executor) {
        Grains grains({.executor = executor, .contacts = GrainContacts::linear_spring, .stiffness = 1e6});
        fill_box(grains, 11, 1.01, {.friction = 0.4, .restitution = 0.5, .rolling = 0.01});
        for (int k = 0; k < 20; ++k) grains.step(0.01);
        return std::vector<Vec3d>(grains.positions().begin(), grains.positions().end());
    };
    const std::vector<Vec3d> one = run(nullptr);
    ThreadExecutor executor(3);
    EXPECT_EQ(one, run(&executor));
}

}  // namespace
}  // namespace quadrat::test
