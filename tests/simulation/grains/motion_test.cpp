// How grains fall, collide, slide and roll, against what is known.
#include "simulation/grains/worlds.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace quadrat::test {
namespace {

TEST(GrainMotion, FreeFallIsAParabola) {
    for (const int dimension : {2, 3}) {
        const Vec3d g = dimension == 2 ? Vec3d{{0, -gravity, 0}} : Vec3d{{0.5, 0, -gravity}};
        Grains grains({.dimension = dimension, .gravity = g});
        grains.add(Grain{.position = {{1, 2, 0}}, .velocity = {{3, 4, 0}}, .angular_velocity = {{0, 0, 2}}});
        for (int k = 0; k < 300; ++k) grains.step(0.01);
        const double t = 3;
        for (int k = 0; k < 3; ++k) {
            const double x0[3] = {1, 2, 0}, v0[3] = {3, 4, 0};
            EXPECT_NEAR(grains.positions()[0][k], x0[k] + v0[k] * t + 0.5 * g[k] * t * t, 1e-11);
            EXPECT_NEAR(grains.velocities()[0][k], v0[k] + g[k] * t, 1e-12);
        }
        EXPECT_NEAR(grains.orientations()[0][0], std::cos(t), 1e-12);
        EXPECT_NEAR(grains.orientations()[0][3], std::sin(t), 1e-12);
        EXPECT_NEAR(grains.time(), t, 1e-12);
    }
}

// One ball hits four at rest that touch: the last flies off with its speed, the others rest.
TEST(GrainMotion, NewtonsCradle) {
    for (const double gap : {0.0, 0.003}) {
        Grains grains({.gravity = {{0, 0, 0}}});
        const GrainSurface elastic{.friction = 0, .restitution = 1};
        for (int k = 0; k < 5; ++k)
            grains.add(Grain{.position = {{k * (1 + gap) + (k == 0 ? -0.5 : 0), 0, 0}},
                             .velocity = {{k == 0 ? 2.0 : 0, 0, 0}},
                             .surface = elastic});
        const GrainStats before = grains.stats();
        for (int k = 0; k < 100; ++k) grains.step(0.01);
        const GrainStats after = grains.stats();
        EXPECT_NEAR(after.momentum[0], before.momentum[0], 1e-5 * before.momentum[0]);
        EXPECT_NEAR(after.kinetic, before.kinetic, 1e-5 * before.kinetic);
        EXPECT_NEAR(grains.velocities()[4][0], 2, 1e-5);
        for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(grains.velocities()[k][0], 0, 1e-5);
    }
}

TEST(GrainMotion, RestitutionOfADrop) {
    for (const double e : {0.0, 0.3, 0.7, 1.0}) {
        Grains grains;
        grains.add(ground(0, e));
        grains.add(Grain{.position = {{0, 0, 2.5}}});  // falls by 2 m
        double top = 0;
        bool met = false;
        for (int k = 0; k < 400; ++k) {
            grains.step(0.005);
            met = met || grains.velocities()[0][2] >= 0;
            if (met) top = std::max(top, grains.positions()[0][2] - 0.5);
        }
        EXPECT_NEAR(top, 2 * e * e, 0.02 + 0.02 * e) << e;
    }
}

// Two discs or spheres of any masses that meet head on: momentum, and the speed at which they part.
TEST(GrainMotion, HeadOn) {
    for (const int dimension : {2, 3})
        for (const double e : {0.0, 0.5, 1.0}) {
            Grains grains({.dimension = dimension, .gravity = {{0, 0, 0}}});
            const GrainSurface s{.friction = 0.3, .restitution = e};
            grains.add(
                Grain{.radius = 1, .density = 3, .position = {{-2, 0, 0}}, .velocity = {{1, 0, 0}}, .surface = s});
            grains.add(
                Grain{.radius = 0.5, .density = 1, .position = {{2, 0, 0}}, .velocity = {{-3, 0, 0}}, .surface = s});
            const Vec3d before = grains.stats().momentum;
            for (int k = 0; k < 150; ++k) grains.step(0.01);
            const Vec3d after = grains.stats().momentum;
            EXPECT_NEAR(after[0], before[0], 1e-5 * std::abs(before[0]));
            EXPECT_NEAR(grains.velocities()[1][0] - grains.velocities()[0][0], 4 * e, 1e-4);
        }
}

// A sphere on a slope rolls without slipping while tan(angle) < 3.5 mu, and slides above.
TEST(GrainMotion, SphereOnASlope) {
    const double angle = 0.5, t = 1;
    for (const double friction : {0.05, 0.6}) {
        Grains grains;
        grains.add(GrainPlane{.normal = {{std::sin(angle), 0, std::cos(angle)}}, .surface = {.friction = friction}});
        grains.add(
            Grain{.position = {{0.5 * std::sin(angle), 0, 0.5 * std::cos(angle)}}, .surface = {.friction = friction}});
        for (int k = 0; k < 100; ++k) grains.step(t / 100);
        const bool rolls = std::tan(angle) < 3.5 * friction;
        const double a =
            rolls ? 5.0 / 7 * gravity * std::sin(angle) : gravity * (std::sin(angle) - friction * std::cos(angle));
        const Vec3d v = grains.velocities()[0];
        EXPECT_NEAR(std::hypot(v[0], v[2]), a * t, 0.01 * a * t) << friction;
        const double rim = 0.5 * grains.angular_velocities()[0][1];
        if (rolls)
            EXPECT_NEAR(rim, a * t, 0.01 * a * t);
        else
            EXPECT_NEAR(rim, 2.5 * gravity * friction * std::cos(angle) * t, 0.02 * a * t);
    }
}

// Two that meet head on and do not bounce, one of them spinning fast: the push along the surface is friction times the
// push that stops them.
TEST(GrainMotion, FrictionBetweenSpheres) {
    for (const double friction : {0.1, 0.3}) {
        Grains grains({.gravity = {{0, 0, 0}}});
        const GrainSurface s{.friction = friction};
        grains.add(Grain{
            .position = {{-0.6, 0, 0}}, .velocity = {{1, 0, 0}}, .angular_velocity = {{0, 0, 100}}, .surface = s});
        grains.add(Grain{.position = {{0.6, 0, 0}}, .velocity = {{-1, 0, 0}}, .surface = s});
        for (int k = 0; k < 30; ++k) grains.step(0.01);
        EXPECT_NEAR(grains.velocities()[0][1], -friction, 0.03 * friction);
        EXPECT_NEAR(grains.velocities()[1][1], friction, 0.03 * friction);
        EXPECT_NEAR(grains.angular_velocities()[1][2], -friction * 0.5 / (0.4 * 0.25), 0.03 * friction * 5);
    }
}

// Rolling friction: torque up to rolling * force * radius, so a rolling sphere slows down by 5/7 g rolling.
TEST(GrainMotion, RollingFriction) {
    const double rolling = 0.02, speed = 2;
    Grains grains;
    const GrainSurface s{.friction = 0.8, .rolling = rolling};
    grains.add(GrainPlane{.surface = s});
    grains.add(Grain{.position = {{0, 0, 0.5}},
                     .velocity = {{speed, 0, 0}},
                     .angular_velocity = {{0, speed / 0.5, 0}},
                     .surface = s});
    for (int k = 0; k < 100; ++k) grains.step(0.01);
    EXPECT_NEAR(grains.velocities()[0][0], speed - 5.0 / 7 * gravity * rolling, 0.01);
    for (int k = 0; k < 2000; ++k) grains.step(0.01);
    EXPECT_NEAR(grains.velocities()[0][0], 0, 1e-4);
}

TEST(GrainMotion, EnergyNeverGrows) {
    for (const double restitution : {0.0, 0.6, 1.0}) {
        Grains grains;
        fill_box(grains, 6, 1.05, {.friction = 0.4, .restitution = restitution, .rolling = 0.01});
        const double begin = energy(grains);
        double before = begin, most = 0;
        for (int k = 0; k < 400; ++k) {
            grains.step(0.01);
            const double now = energy(grains);
            most = std::max(most, now - before);
            before = now;
        }
        EXPECT_LT(before, begin) << restitution;
        EXPECT_LT(most, 1e-4 * begin) << restitution;
    }
}

// What leans on what: a row of spheres between two walls keeps its width, and a column its height.
TEST(GrainMotion, AColumnStands) {
    Grains grains({.substeps = 8});
    grains.add(ground());
    for (int k = 0; k < 10; ++k) grains.add(Grain{.position = {{0, 0, 0.5 + k}}});
    for (int k = 0; k < 500; ++k) grains.step(0.01);
    EXPECT_NEAR(grains.positions()[9][2], 9.5, 0.05);
    EXPECT_LT(grains.stats().max_speed, 1e-2);
}

}  // namespace
}  // namespace quadrat::test
