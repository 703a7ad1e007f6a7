// Rigid bodies by themselves: meshes at any depth, overlap, bouncing, resting, turning.
#include <quadrat/error.hpp>
#include <quadrat/simulation.hpp>

#include "simulation/scenes.hpp"
#include "simulation/step/run.hpp"
#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace {

using namespace quadrat;

// The path that an error names; empty without one.
std::string refused(const Scene& scene) {
    try {
        const Simulation s(scene);
    } catch (const Error& e) {
        return e.where().field;
    }
    return "";
}

TEST(Solids, NoFluidStartsInsideAMesh) {
    Scene scene;
    scene.spacing = 0.03;
    scene.blocks.push_back({.box = {{{0, 0, 0}}, {{1, 1, 0.8}}}});
    scene.bodies.push_back(test::cube_mesh(0.5));
    scene.bodies[0].position = {{0.5, 0.5, 0.4}};
    const Simulation s(scene);
    std::size_t outside = 0;
    for (int x = 0; x < 33; ++x)
        for (int y = 0; y < 33; ++y)
            for (int z = 0; z < 26; ++z) {
                const double at[3] = {(x + 0.5) / 33, (y + 0.5) / 33, (z + 0.5) / 26 * 0.8};
                double d = 0;
                for (int k = 0; k < 3; ++k)
                    d += std::pow(std::max(std::abs(at[k] - scene.bodies[0].position[k]) - 0.25, 0.0), 2);
                outside += d > 0.015 * 0.015;
            }
    EXPECT_EQ(s.positions().size(), outside);
    Scene one = scene;
    one.blocks.clear();
    one.particles.push_back({.positions = {{{0.5, 0.5, 0.4}}}});
    EXPECT_EQ(refused(one), "/particles/0/positions/0");
}

TEST(Solids, DynamicBodiesStartInsideTheWalls) {
    Scene scene;
    scene.spacing = 0.02;
    const auto with = [&](RigidBody body, double height) {
        body.position = {{0.5, 0.5, height}};
        scene.bodies = {std::move(body)};
        scene.bodies[0].motion = BodyMotion::fixed;
        EXPECT_EQ(refused(scene), "");  // what does not move may be in the floor
        scene.bodies[0].motion = BodyMotion::dynamic;
        return refused(scene);
    };
    RigidBody slab{.shape = BodyShape::box, .size = {{0.2, 0.2, 0.1}}};
    EXPECT_EQ(with({.radius = 0.1}, 0.1), "");
    EXPECT_EQ(with({.radius = 0.1}, 0.09), "/bodies/0/position");
    EXPECT_EQ(with(slab, 0.05), "");
    EXPECT_EQ(with(slab, 0.04), "/bodies/0/position");
    slab.orientation = {std::sqrt(0.5), std::sqrt(0.5), 0, 0};  // stands on its edge
    EXPECT_EQ(with(slab, 0.09), "/bodies/0/position");
    EXPECT_EQ(with(slab, 0.1), "");
    EXPECT_EQ(with(test::cube_mesh(0.2), 0.1), "");
    EXPECT_EQ(with(test::cube_mesh(0.2), 0.09), "/bodies/0/position");
    scene.domain.planes.push_back({.normal = {{0, 0, -3}}, .offset = -0.35});
    EXPECT_EQ(with({.radius = 0.1}, 0.25), "");
    EXPECT_EQ(with({.radius = 0.1}, 0.26), "/bodies/0/position");
}

// Walls are single precision: what touches one far from the origin is not beyond it.
TEST(Solids, BodiesMayTouchWallsFarAway) {
    for (const double far : {30.3, 1000.7, 30000.1}) {
        Scene scene;
        scene.spacing = 1e-3;
        scene.domain.box = {{{far, 0, 0}}, {{far + 1, 1, 1}}};
        scene.bodies.push_back({.shape = BodyShape::box,
                                .motion = BodyMotion::dynamic,
                                .size = {{0.1, 0.1, 0.1}},
                                .position = {{far + 0.05, 0.5, 0.5}}});
        EXPECT_EQ(refused(scene), "") << far;
    }
}

TEST(Solids, FluidMustNotCoincide) {
    Scene scene = test::small_dam(3, 0.02);
    scene.blocks.push_back(scene.blocks[0]);
    EXPECT_EQ(refused(scene), "/blocks/1");
    scene.blocks.pop_back();
    scene.particles.push_back({.positions = {{{0.3, 0.1, 0.1}}, {{0.3, 0.3, 0.1}}, {{0.3, 0.1, 0.1}}}});
    EXPECT_EQ(refused(scene), "/particles/0/positions/2");
    // With a body that leaves less of the block.
    scene.bodies.push_back({.radius = 0.03, .position = {{0.1, 0.1, 0.06}}});
    EXPECT_EQ(refused(scene), "/particles/0/positions/2");
    scene.particles.clear();
    EXPECT_EQ(refused(scene), "");
}

// A blade whose end is faster than any body's middle.
TEST(Solids, ABladeThatTurnsFastMeetsABall) {
    for (const double speed : {20.0, 60.0, 150.0}) {
        Scene scene;
        scene.bodies.push_back({.shape = BodyShape::box,
                                .motion = BodyMotion::moving,
                                .size = {{0.8, 0.01, 0.2}},
                                .position = {{0.5, 0.5, 0.1001}},
                                .angular_velocity = {{0, 0, speed}}});
        scene.bodies.push_back({.motion = BodyMotion::dynamic,
                                .radius = 0.02,
                                .position = {{0.8, 0.7, 0.02}},
                                .response = {.friction = 0}});
        Simulation s(scene);
        s.advance_to(0.8 / speed);  // to where it was and on
        const BodyPose& ball = s.bodies()[1];
        EXPECT_GT(std::hypot(ball.velocity[0], ball.velocity[1]), 0.3 * speed);
        EXPECT_GT(std::atan2(ball.position[1] - 0.5, ball.position[0] - 0.5), 0.8);
    }
}

// Out of an open floor: fluid is taken out, a body stays where it is.
TEST(Solids, WhatFallsOutOfTheDomainIsGone) {
    constexpr std::pair<SolverKind, StepKind> kinds[] = {{SolverKind::weakly_compressible, StepKind::courant},
                                                         {SolverKind::weakly_compressible, StepKind::per_particle},
                                                         {SolverKind::incompressible, StepKind::courant}};
    for (const auto& [solver, steps] : kinds) {
        Scene scene;
        scene.spacing = 0.02;
        scene.solver = solver;
        scene.stepping.kind = steps;
        scene.domain.box = {{{0, 0, 0}}, {{0.2, 0.2, 0.2}}};
        scene.domain.open[4] = true;
        scene.blocks.push_back({.box = {{{0, 0, 0.1}}, {{0.2, 0.2, 0.2}}}});
        scene.bodies.push_back({.motion = BodyMotion::dynamic, .radius = 0.02, .position = {{0.1, 0.1, 0.05}}});
        Simulation s(scene);
        s.advance_to(0.3);
        EXPECT_EQ(s.positions().size(), 500u);
        s.advance_to(20);
        EXPECT_TRUE(s.positions().empty());
        EXPECT_EQ(s.stats().left, 500u);
        const double at = s.bodies()[0].position[2];
        EXPECT_LT(at, -0.8);
        EXPECT_GT(at, -2);
        EXPECT_EQ(s.bodies()[0].velocity[2], 0);
        std::vector<std::byte> bytes;
        s.save(bytes);
        EXPECT_EQ(Simulation::load(bytes).bodies()[0].position[2], at);
    }
    Scene far;
    far.bodies.push_back({.motion = BodyMotion::moving, .position = {{0.5, 0.5, 0.5}}, .velocity = {{0, 0, 100}}});
    Simulation leaves(far);
    leaves.advance_to(200);
    EXPECT_GT(leaves.bodies()[0].position[2], 900);
    EXPECT_LT(leaves.bodies()[0].position[2], 1200);
    far.domain.open[4] = true;
    far.blocks.push_back({.box = {{{0, 0, -5}}, {{0.2, 0.2, -4.8}}}});  // would be gone at once
    EXPECT_EQ(refused(far), "/blocks/0");
    // What comes down again stays.
    Scene scene = test::small_dam(3, 0.02);
    scene.domain.open[3] = true;
    scene.blocks[0].velocity = {{0, 9, 0}};
    Simulation s(scene);
    const std::size_t all = s.positions().size();
    s.advance_to(2);
    EXPECT_EQ(s.positions().size(), all);
}

TEST(Solids, EmittersAreOutsideOfBodies) {
    Scene scene;
    scene.spacing = 0.02;
    scene.emitters.push_back({.position = {{0.5, 0.5, 0.5}}, .direction = {{0, 0, -1}}, .radius = 0.05, .speed = 1});
    scene.bodies.push_back({.radius = 0.1, .position = {{0.63, 0.5, 0.5}}});
    EXPECT_EQ(refused(scene), "/emitters/0/position");  // the rim
    scene.bodies[0].position = {{0.66, 0.5, 0.5}};
    EXPECT_EQ(refused(scene), "");
    scene.bodies[0].position = {{0.5, 0.5, 0.45}};
    scene.bodies[0].motion = BodyMotion::dynamic;
    EXPECT_EQ(refused(scene), "/emitters/0/position");
    scene.emitters[0].start = 1;  // by then it may be gone
    EXPECT_EQ(refused(scene), "");
    scene.bodies[0].motion = BodyMotion::fixed;
    EXPECT_EQ(refused(scene), "/emitters/0/position");
    // Through the seam of a periodic axis.
    scene.domain.periodic = {true, false, false};
    scene.emitters[0].position = {{0.06, 0.5, 0.5}};
    scene.bodies[0].position = {{0.97, 0.5, 0.5}};
    EXPECT_EQ(refused(scene), "/emitters/0/position");
}

TEST(Solids, MeshesMustBeClosed) {
    Scene scene;
    scene.spacing = 0.1;
    scene.blocks.push_back({.box = {{{0, 0, 0}}, {{1, 1, 0.8}}}});
    scene.bodies.push_back({.radius = 0.05, .position = {{0.1, 0.1, 0.1}}});
    scene.bodies.push_back(test::cube_mesh(0.4));
    scene.bodies[1].position = {{0.5, 0.5, 0.5}};
    const Scene whole = scene;
    const std::size_t n = Simulation(whole).positions().size();
    scene.bodies[1].triangles.pop_back();
    EXPECT_TRUE(refused(scene).starts_with("/bodies/1/triangles/")) << refused(scene);
    scene = whole;  // one turned over
    std::swap(scene.bodies[1].triangles[4].b, scene.bodies[1].triangles[4].c);
    EXPECT_TRUE(refused(scene).starts_with("/bodies/1/triangles/")) << refused(scene);
    scene = whole;  // a corner in the line of two others
    scene.bodies[1].vertices[7] = scene.bodies[1].vertices[3];
    EXPECT_TRUE(refused(scene).starts_with("/bodies/1/triangles/")) << refused(scene);
    scene = whole;
    for (Vec3d& v : scene.bodies[1].vertices) v[2] = 0;
    EXPECT_TRUE(refused(scene).starts_with("/bodies/1/triangles")) << refused(scene);
    scene = whole;  // inside out, and every triangle with vertices of its own: the same body
    const RigidBody cube = scene.bodies[1];
    scene.bodies[1].vertices.clear();
    scene.bodies[1].triangles.clear();
    for (const Triangle& t : cube.triangles) {
        const auto v = static_cast<std::uint32_t>(scene.bodies[1].vertices.size());
        for (const std::uint32_t k : {t.a, t.c, t.b}) scene.bodies[1].vertices.push_back(cube.vertices[k]);
        scene.bodies[1].triangles.push_back({v, v + 1, v + 2});
    }
    EXPECT_EQ(refused(scene), "");
    EXPECT_EQ(Simulation(scene).positions().size(), n);
}

RigidBody box(const Vec3d& size, const Vec3d& position) {
    return {.shape = BodyShape::box, .size = size, .position = position};
}
RigidBody mesh(const Vec3d& size, const Vec3d& position) {
    RigidBody b = test::cube_mesh(1);
    for (Vec3d& v : b.vertices)
        for (int k = 0; k < 3; ++k) v[k] *= size[k];
    b.position = position;
    return b;
}
RigidBody ball(double radius, const Vec3d& position) {
    return {.radius = radius, .position = position};
}

TEST(Solids, EveryOverlapIsRefused) {
    const Vec3d at = {{0.5, 0.5, 0.5}};
    const Vec3d big = {{0.4, 0.4, 0.4}}, small = {{0.1, 0.1, 0.1}}, bar = {{0.6, 0.05, 0.05}},
                across = {{0.05, 0.6, 0.05}};
    RigidBody plane;
    plane.shape = BodyShape::plane;
    plane.position = at;
    RigidBody turned = box(bar, {{0.5, 0.5, 0.545}});  // its edge goes into the other bar's edge
    turned.orientation = {std::cos(0.4), 0, 0, std::sin(0.4)};
    const std::pair<RigidBody, RigidBody> meet[] = {
        {ball(0.01, at), mesh(big, at)},
        {ball(0.3, at), mesh(small, {{0.6, 0.5, 0.5}})},
        {mesh(big, at), mesh(small, {{0.55, 0.5, 0.5}})},
        {mesh(big, at), mesh(big, at)},
        {mesh(big, at), mesh(big, {{0.6, 0.5, 0.5}})},
        {mesh(bar, at), mesh(across, at)},
        {mesh(bar, at), box(across, at)},
        {mesh(big, at), box(big, at)},
        {box(small, at), mesh(big, at)},
        {box(bar, at), box(across, at)},
        {box(big, at), box(big, at)},
        {box(bar, at), turned},
        {plane, mesh(small, at)},
        {box(small, {{0.5, 0.5, 0.52}}), plane},
        {ball(0.1, {{0.5, 0.5, 0.55}}), plane},
        {ball(0.1, at), ball(0.1, {{0.6, 0.5, 0.5}})},
        {ball(0.3, at), box(small, at)},
    };
    // Face on face, edge on face, corner beside corner; a mesh around nothing.
    const std::pair<RigidBody, RigidBody> clear[] = {
        {mesh(big, at), mesh(big, {{0.9, 0.5, 0.5}})},      {mesh(big, at), box(big, {{0.5, 0.5, 0.9}})},
        {box(bar, at), box(across, {{0.5, 0.5, 0.55}})},    {mesh(bar, at), box(across, {{0.5, 0.5, 0.55}})},
        {plane, mesh(small, {{0.5, 0.5, 0.55}})},           {ball(0.1, {{0.5, 0.5, 0.8}}), mesh(big, at)},
        {mesh(bar, at), mesh(across, {{0.825, 0.5, 0.5}})}, {plane, plane},
    };
    for (const bool swap : {false, true}) {
        const auto result = [&](std::pair<RigidBody, RigidBody> p) {
            Scene scene;
            scene.spacing = 0.05;
            if (swap) std::swap(p.first, p.second);
            scene.bodies = {p.first, p.second};
            for (RigidBody& b : scene.bodies) b.boundary = swap ? BoundaryKind::field : BoundaryKind::particles;
            if (swap) scene.bodies[0].motion = BodyMotion::moving, scene.bodies[0].velocity = {{1, 0, 0}};
            return refused(scene);
        };
        for (const auto& p : meet) EXPECT_EQ(result(p), "/bodies/1") << &p - meet;
        for (const auto& p : clear) EXPECT_EQ(result(p), "") << &p - clear;
    }
}

// What falls comes to rest on the ground and on what lies there, whatever it is made of and however the fluid sees it.
TEST(Solids, ComeToRestOnWhatTheyAreMadeOf) {
    const Vec3d bar = {{0.8, 0.05, 0.05}}, across = {{0.05, 0.8, 0.05}}, cube = {{0.2, 0.2, 0.2}};
    for (const BoundaryKind kind : {BoundaryKind::particles, BoundaryKind::ghosts, BoundaryKind::field}) {
        const std::pair<RigidBody, double> falls[] = {{mesh(cube, {{0.5, 0.5, 0.3}}), 0.1},
                                                      {box(across, {{0.5, 0.5, 0.5}}), 0.35},
                                                      {mesh(across, {{0.5, 0.5, 0.5}}), 0.35}};
        for (const auto& [body, rest] : falls)
            for (int under = 0; under < (rest > 0.3 ? 2 : 1); ++under) {
                Scene scene;
                scene.spacing = 0.1;
                scene.bodies.push_back(body);
                scene.bodies[0].motion = BodyMotion::dynamic;
                if (rest > 0.3) {
                    scene.bodies.push_back(under ? mesh(bar, {{0.5, 0.5, 0.3}}) : box(bar, {{0.5, 0.5, 0.3}}));
                    scene.bodies[1].boundary = kind;
                }
                scene.bodies[0].boundary = kind;
                Simulation s(scene);
                s.advance_to(0.3);
                EXPECT_NEAR(s.bodies()[0].position[2], rest, 0.005);
            }
    }
}

// A tower of boxes stands.
TEST(Solids, ATowerStands) {
    Scene scene;
    for (int k = 0; k < 4; ++k) {
        scene.bodies.push_back(box({{0.2, 0.2, 0.1}}, {{0.5 + 0.01 * (k % 2), 0.5, 0.05 + 0.1 * k}}));
        scene.bodies.back().motion = BodyMotion::dynamic;
        scene.bodies.back().orientation = {std::cos(0.2 * k), 0, 0, std::sin(0.2 * k)};
    }
    Simulation s(scene);
    s.advance_to(1);
    for (int k = 0; k < 4; ++k) {
        const BodyPose& b = s.bodies()[static_cast<std::size_t>(k)];
        EXPECT_NEAR(b.position[2], 0.05 + 0.1 * k, 0.003) << k;
        EXPECT_NEAR(b.position[0], 0.5 + 0.01 * (k % 2), 0.005) << k;
        EXPECT_LT(std::hypot(b.velocity[0], b.velocity[1], b.velocity[2]), 0.05) << k;
    }
}

// How high a body comes after it has met the ground, above its height at rest.
double bounce(RigidBody body, double rest) {
    Scene scene;
    scene.domain.response = body.response;
    body.motion = BodyMotion::dynamic;
    body.position = {{0.5, 0.5, 0.5 + rest}};
    scene.bodies.push_back(body);
    Simulation s(scene);
    double top = 0, before = 0;
    bool met = false;
    while (s.time() < 0.9) {
        s.step();
        const double speed = s.bodies()[0].velocity[2];
        met = met || (before < 0 && speed >= 0);
        if (met) top = std::max(top, s.bodies()[0].position[2] - rest);
        before = speed;
    }
    return top;
}

TEST(Solids, BounceByTheirRestitution) {
    for (const double e : {0.0, 0.5, 1.0}) {
        RigidBody b = test::cube_mesh(0.1);
        b.response = {.restitution = e, .friction = 0};
        for (const BodyShape shape : {BodyShape::sphere, BodyShape::box, BodyShape::mesh}) {
            b.shape = shape;
            b.radius = 0.05;
            EXPECT_NEAR(bounce(b, 0.05), e * e * 0.5, 0.02) << static_cast<int>(shape);
        }
    }
    Scene scene;  // head-on
    scene.gravity = {};
    scene.domain.box = {{{-3, -3, -3}}, {{3, 3, 3}}};
    for (const double x : {-0.5, 0.5})
        scene.bodies.push_back({.motion = BodyMotion::dynamic,
                                .position = {{x, 0, 0}},
                                .velocity = {{x < 0 ? 2.0 : 0.0, 0, 0}},
                                .response = {.restitution = 1}});
    Simulation s(scene);
    s.advance_to(0.8);
    EXPECT_NEAR(s.bodies()[0].velocity[0], 0, 1e-9);
    EXPECT_NEAR(s.bodies()[1].velocity[0], 2, 1e-9);
}

// The more elastic of the two decides, whatever their shapes and their order.
TEST(Solids, TheMoreElasticOfTwoDecides) {
    for (const BodyShape shape : {BodyShape::sphere, BodyShape::box})
        for (const double first : {0.0, 1.0}) {
            Scene scene;
            scene.gravity = {};
            scene.domain.box = {{{-3, -3, -3}}, {{3, 3, 3}}};
            for (const double x : {-0.5, 0.5})
                scene.bodies.push_back({.shape = shape,
                                        .motion = BodyMotion::dynamic,
                                        .radius = 0.1,
                                        .size = {{0.2, 0.2, 0.2}},
                                        .position = {{x, 0, 0}},
                                        .velocity = {{x < 0 ? 2.0 : 0.0, 0, 0}},
                                        .response = {.restitution = x < 0 ? first : 1 - first}});
            Simulation s(scene);
            s.advance_to(0.8);
            EXPECT_NEAR(s.bodies()[0].velocity[0], 0, 1e-6) << static_cast<int>(shape) << " " << first;
            EXPECT_NEAR(s.bodies()[1].velocity[0], 2, 1e-6) << static_cast<int>(shape) << " " << first;
        }
}

// An elastic ball on the ground stays there.
TEST(Solids, RestsThoughElastic) {
    Scene scene;
    scene.domain.response.restitution = 1;
    scene.bodies.push_back(
        {.motion = BodyMotion::dynamic, .position = {{0.5, 0.5, 0.1}}, .response = {.restitution = 1}});
    Simulation s(scene);
    while (s.time() < 0.5) {
        s.step();
        ASSERT_LT(std::abs(s.bodies()[0].velocity[2]), 0.01);
        ASSERT_NEAR(s.bodies()[0].position[2], 0.1, 1e-3);
    }
}

// Free rotation about the middle axis tumbles, but keeps its energy and its angular momentum.
TEST(Solids, FreeRotationKeepsItsEnergy) {
    for (const double speed : {100.0, 400.0}) {
        Scene scene;
        scene.gravity = {};
        scene.domain.box = {{{-5, -5, -5}}, {{5, 5, 5}}};
        const Vec3d e = {{0.4, 0.2, 0.05}};
        scene.bodies.push_back({.shape = BodyShape::box,
                                .motion = BodyMotion::dynamic,
                                .size = e,
                                .angular_velocity = {{0.1, speed, 0.1}}});
        Simulation s(scene);
        const auto energy = [&] {  // per mass
            const BodyPose& p = s.bodies()[0];
            const double w = p.orientation[0];
            const double u[3] = {-p.orientation[1], -p.orientation[2], -p.orientation[3]};
            double c[3], sum = 0;
            const auto& a = p.angular_velocity;
            for (int k = 0; k < 3; ++k) c[k] = 2 * (u[(k + 1) % 3] * a[(k + 2) % 3] - u[(k + 2) % 3] * a[(k + 1) % 3]);
            for (int k = 0; k < 3; ++k) {
                const int l = (k + 1) % 3, m = (k + 2) % 3;
                const double along = a[k] + w * c[k] + u[l] * c[m] - u[m] * c[l];
                sum += 0.5 * (e[l] * e[l] + e[m] * e[m]) / 12 * along * along;
            }
            return sum;
        };
        const double before = energy();
        for (int k = 1; k <= 4; ++k) {
            s.advance_to(0.25 * k);
            EXPECT_NEAR(energy(), before, 0.02 * before) << speed << " at " << s.time();
        }
    }
}

TEST(Solids, ABodyThatWouldNotStayFiniteIsNamed) {
    Scene scene;
    scene.bodies.push_back({.radius = 0.05, .position = {{0.1, 0.1, 0.1}}});
    scene.bodies.push_back(
        {.motion = BodyMotion::dynamic, .position = {{0.5, 0.5, 0.5}}, .angular_velocity = {{1e200, 1e200, 0}}});
    try {
        Simulation s(scene);
        s.advance_to(0.1);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.where().field, "/bodies/1/angular_velocity/0");
        EXPECT_NE(std::string(e.what()).find("/bodies/1"), std::string::npos) << e.what();
    }
}

// Its path is searched for beside bodies: the error must not be that of the search.
TEST(Solids, AParticleThatIsNotFiniteIsNamedBesideABody) {
    for (const StepKind steps : {StepKind::courant, StepKind::per_particle}) {
        simulation::Run s;
        s.world.scene = test::small_dam(3, 0.02);
        s.world.scene.stepping.kind = steps;
        s.world.scene.bodies.push_back(ball(0.03, {{0.3, 0.3, 0.06}}));
        simulation::set_up(s);
        s.clock.time = 0.25;
        s.fluid.p.v[17][1] = std::numeric_limits<float>::quiet_NaN();
        const Error e = test::thrown_by([&] {
            if (steps == StepKind::courant)
                simulation::move(s, 1e-3);
            else
                simulation::per_particle_frame(s, 1);
        });
        EXPECT_TRUE(e.where().index.has_value());
        EXPECT_NE(e.message().find("not a number: particle "), std::string::npos) << e.what();
        EXPECT_NE(e.message().find("at 0.25"), std::string::npos) << e.what();
    }
}

// A particle whose own support is larger than the scene's.
TEST(Solids, FillTheSupportOfEachParticle) {
    Scene scene;
    scene.gravity = {};
    scene.support = 0.04;
    scene.phases = {Phase{}, Phase{.support = 0.12}};
    scene.particles.push_back({.phase = 1, .positions = {{{0.5, 0.5, 0.345}}}});
    Scene walled = scene;
    walled.domain.planes.push_back({.offset = 0.3});
    const auto density = [](const Scene& c) {
        Simulation s(c);
        s.step();
        return double{s.densities()[0]};
    };
    const double alone = density(scene), wall = density(walled);
    scene.bodies.push_back({.shape = BodyShape::box, .size = {{0.6, 0.6, 0.2}}, .position = {{0.5, 0.5, 0.2}}});
    for (const BoundaryKind kind : {BoundaryKind::particles, BoundaryKind::ghosts, BoundaryKind::field}) {
        scene.bodies[0].boundary = kind;
        // Neither the walls' table nor one layer of samples is made for another support than the scene's: to a factor.
        EXPECT_GT(density(scene) - alone, 0.8 * (wall - alone));
        EXPECT_LT(density(scene) - alone, 4 * (wall - alone));
    }
}

TEST(Solids, ReactToEachParticleBySupportsOfTheirOwn) {
    Scene scene;
    scene.gravity = {};
    scene.domain.ghosts = false;
    scene.domain.open = {true, true, true, true, true, true};
    scene.domain.box = {{{-2, -2, -2}}, {{2, 2, 2}}};
    scene.bodies.push_back({.shape = BodyShape::box,
                            .motion = BodyMotion::dynamic,
                            .size = {{0.3, 0.3, 0.1}},
                            .density = 1000,
                            .position = {{0.12, 0.12, -0.06}},
                            .boundary = BoundaryKind::field});
    FluidParticles f;
    for (int k = 0; k < 12 * 12 * 4; ++k) {
        f.positions.push_back({{0.02 * (k % 12) + 0.01, 0.02 * (k / 12 % 12) + 0.01, 0.019 * (k / 144) + 0.004}});
        f.supports.push_back(0.06);
    }
    scene.particles.push_back(f);
    Simulation s(scene);
    for (int k = 0; k < 30; ++k) s.step();
    const double fluid = s.stats().momentum[2];
    EXPECT_GT(fluid, 0.01);
    EXPECT_NEAR(fluid + 9 * s.bodies()[0].velocity[2], 0, 1e-5 * fluid);
}

// Samples of a mesh lie as deep as they should below all faces, or as deep as it is thick enough for.
TEST(Solids, SamplesLieInsideAMesh) {
    for (const double thickness : {0.1, 0.02, 0.004}) {
        RigidBody body = test::cube_mesh(0.1);
        for (Vec3d& v : body.vertices) v[2] *= thickness / 0.1;
        const std::unique_ptr<simulation::Shape> shape = simulation::make_shape(body, 3);
        const std::vector<simulation::Vector> samples = shape->sample_surface(0.02, 0.01);
        // At least those of a sheet, at most those of the whole cube.
        EXPECT_GE(samples.size(), 16u) << thickness;
        EXPECT_LE(samples.size(), 200u) << thickness;
        for (const simulation::Vector& p : samples)
            EXPECT_LT(shape->deep_distance(p, 0.02).value, -0.9 * std::min(0.01, 0.25 * thickness)) << thickness;
    }
}

// A ball on the seam of a periodic box is as solid on the other side.
TEST(Solids, StandAcrossPeriodicSeams) {
    const auto depth = [](const Vec3f& x, const Vec3d& centre, double radius) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) {
            double d = double{x[k]} - centre[k];
            d -= std::round(d);
            sum += d * d;
        }
        return radius - std::sqrt(sum);
    };
    for (const BoundaryKind kind : {BoundaryKind::particles, BoundaryKind::ghosts, BoundaryKind::field}) {
        Scene scene;
        scene.spacing = 0.05;
        scene.gravity = {};
        scene.domain.periodic = {true, true, true};
        scene.bodies.push_back(ball(0.2, {{0, 0.5, 0.5}}));
        scene.bodies[0].boundary = kind;
        scene.particles.push_back(
            {.positions = {{{0.7, 0.52, 0.5}}, {{0.3, 0.52, 0.5}}}, .velocities = {{{1, 0, 0}}, {{-1, 0, 0}}}});
        Simulation s(scene);
        while (s.time() < 0.3) {
            s.step();
            for (const Vec3f& x : s.positions()) ASSERT_LT(depth(x, scene.bodies[0].position, 0.2), 1e-6);
        }
        scene.particles.clear();
        scene.blocks.push_back({.box = {{{0, 0, 0}}, {{1, 1, 1}}}});
        const Simulation full(scene);
        for (const Vec3f& x : full.positions()) ASSERT_LT(depth(x, scene.bodies[0].position, 0.2), -0.024);
    }
    Scene scene;  // two balls meet over the seam and change places; both stay in the box
    scene.gravity = {};
    scene.domain.periodic = {true, true, true};
    for (const double x : {0.2, 0.7})
        scene.bodies.push_back({.motion = BodyMotion::dynamic,
                                .position = {{x, 0.5, 0.5}},
                                .velocity = {{x > 0.5 ? 1.0 : 0.0, 0, 0}},
                                .response = {.restitution = 1}});
    Simulation s(scene);
    double farthest = 0;
    while (s.time() < 2) {
        s.step();
        for (const BodyPose& b : s.bodies()) farthest = std::max(farthest, std::abs(b.position[0] - 0.5));
        if (s.time() > 0.35 && s.time() < 0.6) {
            EXPECT_NEAR(s.bodies()[0].velocity[0], 1, 1e-9);
            EXPECT_NEAR(s.bodies()[1].velocity[0], 0, 1e-9);
        }
    }
    EXPECT_LE(farthest, 0.5);
    EXPECT_NEAR(s.bodies()[0].velocity[0] + s.bodies()[1].velocity[0], 1, 1e-9);
    scene.bodies[0].position = {{0.05, 0.5, 0.5}};
    scene.bodies[1].position = {{0.95, 0.5, 0.5}};
    EXPECT_EQ(refused(scene), "/bodies/1");
    scene.bodies = {box({{1.5, 0.1, 0.1}}, {{0.5, 0.5, 0.5}})};
    EXPECT_EQ(refused(scene), "/bodies/0");
    scene.bodies = {ball(0.1, {{0.5, 0.5, 0.5}})};
    scene.bodies[0].motion = BodyMotion::dynamic;
    scene.cloths.push_back({.triangles = {{0, 1, 2}}, .positions = {{{0, 0, 0.2}}, {{1, 0, 0.2}}, {{0, 1, 0.2}}}});
    EXPECT_EQ(refused(scene), "/bodies/0/motion");
}

}  // namespace
