// What a scene may hold and where it may lie: each refusal names its path. And what happens at the ends of a periodic
// axis.
#include <quadrat/error.hpp>
#include <quadrat/simulation.hpp>

#include "simulation/scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

using namespace quadrat;

template <class Change>
std::string refused(Scene scene, Change&& change) {
    change(scene);
    try {
        const Simulation s(scene);
    } catch (const Error& e) {
        return e.where().field;
    }
    return "none";
}

SceneCloth upright_sheet(double x) {
    SceneCloth c;
    c.positions = {{{x, 0.2, 0.2}}, {{x, 0.8, 0.2}}, {{x, 0.2, 0.8}}, {{x, 0.8, 0.8}}};
    c.triangles = {{0, 1, 2}, {1, 3, 2}};
    c.pins = {0, 1, 2, 3};
    return c;
}

TEST(SceneLimits, TwoDimensionsAreAPlane) {
    const auto flat = [](auto&& change) { return refused(test::small_dam(2, 0.02), change); };
    const auto body = [&](auto&& change) {
        return flat([&](Scene& s) {
            s.bodies.push_back({.radius = 0.02, .position = {{0.3, 0.3, 0}}});
            change(s.bodies[0]);
        });
    };
    EXPECT_EQ(flat([](Scene&) {}), "none");
    EXPECT_EQ(flat([](Scene& s) { s.blocks[0].velocity[2] = 1; }), "/blocks/0/velocity/2");
    EXPECT_EQ(flat([](Scene& s) { s.emitters.push_back({.position = {{0.3, 0.3, 0}}}); }), "/emitters/0/direction/2");
    EXPECT_EQ(flat([](Scene& s) {
                  s.particles.push_back({.positions = {{{0.3, 0.3, 0}}}, .velocities = {{{0, 0, 1}}}});
              }),
              "/particles/0/velocities/0/2");
    EXPECT_EQ(flat([](Scene& s) { s.domain.planes.resize(1); }), "/domain/planes/0/normal/2");
    EXPECT_EQ(body([](RigidBody&) {}), "none");
    EXPECT_EQ(body([](RigidBody& b) { b.velocity[2] = 1; }), "/bodies/0/velocity/2");
    EXPECT_EQ(body([](RigidBody& b) { b.angular_velocity[0] = 1; }), "/bodies/0/angular_velocity");
    EXPECT_EQ(body([](RigidBody& b) { b.orientation = {0.8, 0.6, 0, 0}; }), "/bodies/0/rotation");
    EXPECT_EQ(body([](RigidBody& b) { b.orientation = {0.8, 0, 0, 0.6}; }), "none");
}

TEST(SceneLimits, SupportsAndSteps) {
    const auto wrong = [](auto&& change) { return refused(test::small_dam(3, 0.02), change); };
    EXPECT_EQ(wrong([](Scene& s) { s.support = 0.05; }), "none");
    EXPECT_EQ(wrong([](Scene& s) { s.support = 1; }), "/support");
    EXPECT_EQ(wrong([](Scene& s) { s.support = 0.019; }), "/support");
    EXPECT_EQ(wrong([](Scene& s) { s.phases[0].support = 100; }), "/phases/0/support");
    EXPECT_EQ(wrong([](Scene& s) { s.phases[0].particle_mass = 1e-12; }), "/phases/0/particle_mass");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.particles.push_back({.positions = {{{0.3, 0.3, 0.06}}}, .supports = {10}});
              }),
              "/particles/0/supports/0");
    EXPECT_EQ(wrong([](Scene& s) { s.stepping = {.kind = StepKind::fixed, .fixed = 1e-300}; }), "/stepping/fixed");
    EXPECT_EQ(wrong([](Scene& s) { s.stepping.largest = 1e-300; }), "/stepping/largest");
    EXPECT_EQ(wrong([](Scene& s) { s.stepping.courant = 1e-300; }), "/stepping/courant");
    EXPECT_EQ(wrong([](Scene& s) { s.phases[0].sound_speed = 1e30; }), "/phases/0/sound_speed");
    EXPECT_EQ(wrong([](Scene& s) { s.phases[0].viscosity = 1e30; }), "/phases/0/viscosity");
    EXPECT_EQ(wrong([](Scene& s) { s.gravity[1] = -1e30; }), "/gravity/1");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.cloths.push_back(upright_sheet(0.3));
                  s.cloths[0].options.time_step = 1e-300;
              }),
              "/cloths/0/time_step");
    EXPECT_EQ(wrong([](Scene& s) { s.jitter = 2; }), "/jitter");
    EXPECT_EQ(wrong([](Scene& s) { s.blocks[0].count = {100000, 100000, 100000}; }), "/blocks/0");
}

// What the tables say of each field holds for a program's scenes, at the ends of a range, too.
TEST(SceneLimits, EachFieldIsInItsRange) {
    const auto wrong = [](auto&& change) { return refused(test::small_dam(3, 0.02), change); };
    const auto flat = [](auto&& change) { return refused(test::small_dam(2, 0.02), change); };
    EXPECT_EQ(wrong([](Scene& s) { s.solver = SolverKind::incompressible; }), "none");
    EXPECT_EQ(wrong([](Scene& s) { s.solver = static_cast<SolverKind>(3); }), "/solver");
    EXPECT_EQ(wrong([](Scene& s) { s.dimension = 4; }), "/dimension");
    EXPECT_EQ(wrong([](Scene& s) { s.dimension = 1; }), "/dimension");
    EXPECT_EQ(wrong([](Scene& s) { s.phases.clear(); }), "/phases");
    EXPECT_EQ(wrong([](Scene& s) { s.phases.resize(255); }), "none");
    EXPECT_EQ(wrong([](Scene& s) { s.phases.resize(256); }), "/phases");
    EXPECT_EQ(wrong([](Scene& s) { s.phases.resize(2), s.blocks[0].phase = 1; }), "none");
    EXPECT_EQ(wrong([](Scene& s) { s.phases.resize(2), s.blocks[0].phase = 2; }), "/blocks/0/phase");
    EXPECT_EQ(wrong([](Scene& s) { s.incompressible.max_iterations = 1; }), "none");
    EXPECT_EQ(wrong([](Scene& s) { s.incompressible.max_iterations = 0; }), "/incompressible/max_iterations");
    EXPECT_EQ(wrong([](Scene& s) { s.jitter = 1; }), "none");
    EXPECT_EQ(wrong([](Scene& s) { s.jitter = -1e-9; }), "/jitter");
    EXPECT_EQ(wrong([](Scene& s) { s.phases[0].viscosity = -1e-9; }), "/phases/0/viscosity");
    EXPECT_EQ(wrong([](Scene& s) { s.phases[0].rest_density = 0; }), "/phases/0/rest_density");
    EXPECT_EQ(wrong([](Scene& s) { s.phases[0].stiffness = -1; }), "/phases/0/stiffness");
    EXPECT_EQ(wrong([](Scene& s) { s.domain.box.lo[1] = std::nan(""); }), "/domain/lo/1");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.emitters.push_back({.position = {{0.3, 0.3, 0.06}}, .direction = {}});
              }),
              "/emitters/0/direction");
    const auto box = [](double depth) {
        return [depth](Scene& s) {
            s.bodies.push_back({.shape = BodyShape::box, .size = {{0.02, 0.02, depth}}, .position = {{0.3, 0.3, 0}}});
        };
    };
    EXPECT_EQ(wrong(box(0.02)), "none");
    EXPECT_EQ(wrong(box(0)), "/bodies/0/size/2");
    EXPECT_EQ(flat(box(0)), "none");  // a depth has no meaning
    EXPECT_EQ(flat([](Scene& s) { s.domain.box.lo[2] = 1, s.domain.box.hi[2] = -1; }), "none");
    const auto turning = [](double about_y, double about_z) {
        return [=](Scene& s) {
            s.bodies.push_back({.motion = BodyMotion::moving,
                                .radius = 0.02,
                                .position = {{0.3, 0.3, 0}},
                                .angular_velocity = {{0, about_y, about_z}}});
        };
    };
    EXPECT_EQ(flat(turning(0, 1)), "none");
    EXPECT_EQ(flat(turning(1, 0)), "/bodies/0/angular_velocity");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.bodies.push_back({.radius = 0.02, .position = {{0.3, 0.3, 0.06}}, .response = {.restitution = 1}});
              }),
              "none");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.bodies.push_back({.radius = 0.02, .position = {{0.3, 0.3, 0.06}}, .response = {.restitution = 2}});
              }),
              "/bodies/0/restitution");
}

TEST(SceneLimits, EverythingLiesInTheDomain) {
    const auto wrong = [](auto&& change) { return refused(test::small_dam(3, 0.02), change); };
    EXPECT_EQ(wrong([](Scene& s) { s.blocks[0].box = {{{2, 2, 2}}, {{2.2, 2.2, 2.2}}}; }), "/blocks/0");
    EXPECT_EQ(wrong([](Scene& s) { s.blocks[0].box.hi[0] = 0.5; }), "/blocks/0");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.blocks[0].box.hi[0] = 0.5;
                  s.domain.open[1] = true;
              }),
              "none");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.blocks[0].box.hi[0] = 0.5;
                  s.domain.periodic[0] = true;
              }),
              "/blocks/0");
    EXPECT_EQ(wrong([](Scene& s) { s.domain.planes.push_back({.normal = {{0, 2, 0}}, .offset = 0.005}); }), "none");
    EXPECT_EQ(wrong([](Scene& s) { s.domain.planes.push_back({.normal = {{0, 2, 0}}, .offset = 0.02}); }), "/blocks/0");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.particles.push_back({.positions = {{{0.3, 0.3, 0.06}}, {{0.3, -0.1, 0.06}}}});
              }),
              "/particles/0/positions/1");
    const auto emitter = [&](const Vec3d& position) {
        return wrong([&](Scene& s) {
            s.emitters.push_back({.position = position, .direction = {{0, -1, 0}}, .radius = 0.05});
        });
    };
    EXPECT_EQ(emitter({{0.3, 0.3, 0.06}}), "none");
    EXPECT_EQ(emitter({{0.3, 0.5, 0.06}}), "/emitters/0/position");
    EXPECT_EQ(emitter({{0.39, 0.3, 0.06}}), "/emitters/0/position");  // a part of its disc
    EXPECT_EQ(wrong([](Scene& s) {
                  s.emitters.push_back({.position = {{0.3, 0.3, 0.06}}, .radius = 0.05, .max_particles = 5});
              }),
              "/emitters/0/max_particles");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.emitters.push_back({.position = {{0.3, 0.3, 0.06}}, .radius = 1e12});
              }),
              "/emitters/0/max_particles");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.bodies.push_back({.motion = BodyMotion::dynamic, .radius = 0.02, .position = {{0.3, -1, 0.06}}});
              }),
              "/bodies/0/position");
    EXPECT_EQ(wrong([](Scene& s) { s.cloths.push_back(upright_sheet(0.3)); }), "/cloths/0/positions/0");
}

TEST(SceneLimits, BlocksDoNotOverlap) {
    const auto wrong = [](const Box3d& box) {
        return refused(test::small_dam(3, 0.02), [&](Scene& s) { s.blocks.push_back({.box = box}); });
    };
    EXPECT_EQ(wrong({{{0.16, 0, 0}}, {{0.3, 0.2, 0.12}}}), "none");         // beside it
    EXPECT_EQ(wrong({{{0.16 - 1e-6, 0, 0}}, {{0.3, 0.2, 0.12}}}), "none");  // rounding
    EXPECT_EQ(wrong({{{0.15, 0, 0}}, {{0.3, 0.2, 0.12}}}), "/blocks/1");
    EXPECT_EQ(wrong({{{0.04, 0.04, 0.04}}, {{0.1, 0.1, 0.1}}}), "/blocks/1");
    EXPECT_EQ(wrong({{{0.04, 0.2, 0.04}}, {{0.1, 0.3, 0.1}}}), "none");
}

TEST(SceneLimits, NamesAreNotThereTwice) {
    const auto wrong = [](auto&& change) { return refused(test::small_dam(3, 0.02), change); };
    EXPECT_EQ(wrong([](Scene& s) { s.phases = {Phase{.name = "a"}, Phase{.name = "b"}, Phase{}, Phase{}}; }), "none");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.phases = {Phase{.name = "a"}, Phase{.name = "b"}, Phase{.name = "a"}};
              }),
              "/phases/2/name");
    EXPECT_EQ(wrong([](Scene& s) {
                  s.cloths = {upright_sheet(0.3), upright_sheet(0.35)};
                  s.cloths[0].name = s.cloths[1].name = "sheet";
              }),
              "/cloths/1/name");
}

TEST(SceneLimits, AClothIsThinnerThanItsEdges) {
    const auto wrong = [](double thickness) {
        Scene scene;
        scene.cloths = {upright_sheet(0.5)};
        return refused(scene, [&](Scene& s) { s.cloths[0].options.thickness = thickness; });
    };
    EXPECT_EQ(wrong(0), "none");
    EXPECT_EQ(wrong(0.59), "none");
    EXPECT_EQ(wrong(0.61), "/cloths/0/thickness");
}

// Sheets do not see each other; at least they must not begin in one place.
TEST(SceneLimits, ClothsStartApart) {
    Scene scene;
    scene.cloths = {upright_sheet(0.5), upright_sheet(0.52), upright_sheet(0.5)};
    EXPECT_EQ(refused(scene, [](Scene&) {}), "/cloths/2");
    EXPECT_EQ(refused(scene, [](Scene& s) { s.cloths.pop_back(); }), "none");
    EXPECT_EQ(refused(scene,
                      [](Scene& s) {
                          for (Vec3d& x : s.cloths[2].positions) x = {{x[1], 0.5, x[2] + 0.1}};  // crossed
                      }),
              "/cloths/2");
}

TEST(SceneLimits, ABlockInsideABodyIsEmpty) {
    Scene scene = test::small_dam(2, 0.02);
    scene.blocks.push_back({.box = {{{0.28, 0.28, 0}}, {{0.32, 0.32, 0}}}});
    scene.bodies.push_back({.radius = 0.08, .position = {{0.3, 0.3, 0}}});
    EXPECT_EQ(refused(scene, [](Scene&) {}), "/blocks/1");
    scene.blocks[1].box.hi[0] = 0.4;
    EXPECT_EQ(refused(scene, [](Scene&) {}), "none");
}

TEST(Fluid, GammaOneHasAnEnergy) {
    Scene scene = test::small_dam(2, 0.02);
    const auto internal = [&](double gamma) {
        scene.phases[0].gamma = gamma;
        scene.phases[0].stiffness = 1e4;
        Simulation s(scene);
        s.advance_to(0.01);
        return s.stats().internal;
    };
    const double energy = internal(1);
    EXPECT_GT(energy, 0);
    EXPECT_NEAR(internal(1.0001), energy, 1e-2 * energy);
}

// A particle that crosses the seam meets the sheets that lie on its way, on either side of the seam, and no other.
TEST(PeriodicAxis, ClothAcrossTheSeam) {
    const auto end = [](double sheet, double speed) {
        Scene scene;
        scene.gravity = {};
        scene.domain.periodic[0] = true;
        scene.particles.push_back(
            {.positions = {{{speed > 0 ? 0.995 : 0.005, 0.5, 0.45}}}, .velocities = {{{speed, 0, 0}}}});
        scene.cloths.push_back(upright_sheet(sheet));
        Simulation s(scene);
        s.advance_to(0.02);
        return double{s.positions()[0][0]};
    };
    EXPECT_NEAR(end(0.5, 1), 0.015, 1e-4);
    EXPECT_NEAR(end(0.5, -1), 0.985, 1e-4);
    for (const double sheet : {0.0004, 0.9996, 0.003, 0.998}) {
        const double right = end(sheet, 1), left = end(sheet, -1);
        EXPECT_TRUE(sheet > 0.5 ? right > 0.9 && right < sheet : right > 0.9 || right < sheet) << sheet << " " << right;
        EXPECT_TRUE(sheet < 0.5 ? left < 0.1 && left > sheet : left < 0.1 || left > sheet) << sheet << " " << left;
    }
}

TEST(PeriodicAxis, AFastParticleStaysInTheBox) {
    Scene scene;
    scene.gravity = {};
    scene.domain.periodic[0] = true;
    scene.particles.push_back({.positions = {{{0.5, 0.5, 0.5}}}, .velocities = {{{80, 0, 0}}}});
    scene.stepping = {.kind = StepKind::fixed, .fixed = 0.1, .courant = 1e6};
    scene.phases[0].artificial_viscosity = 0;
    scene.frame_interval = 1;
    Simulation s(scene);
    for (int k = 1; k < 4; ++k) {
        s.step();
        EXPECT_NEAR(s.positions()[0][0], 0.5, 1e-3);
    }
}

}  // namespace
