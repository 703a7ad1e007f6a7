// What stops a run that blows up: the budget of energy before walls act, densities, fixed steps.
#include <quadrat/error.hpp>
#include <quadrat/simulation.hpp>

#include "simulation/scenes.hpp"
#include "simulation/step/guard.hpp"
#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

using namespace quadrat;

// The step of 10 ms gave 2.9e26 J once, behind walls, and no error.
Scene too_long_a_step() {
    Scene s;
    s.spacing = 0.02;
    s.domain.box = {{{0, 0, 0}}, {{0.4, 0.2, 0.3}}};
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{0.16, 0.2, 0.16}}}});
    s.stepping = {.kind = StepKind::fixed, .fixed = 0.01};
    return s;
}

TEST(Guard, AFixedStepThatBreaksEq12IsRefused) {
    const Error e = test::thrown_by([] { const Simulation s(too_long_a_step()); });
    EXPECT_EQ(e.where().field, "/stepping/fixed");
    EXPECT_NE(e.message().find("eq. 12"), std::string::npos) << e.message();
    Scene fine = too_long_a_step();
    Simulation largest([&] {
        Scene s = fine;
        s.stepping.kind = StepKind::courant;
        return s;
    }());
    fine.stepping.fixed = largest.preset().first_step;
    EXPECT_NO_THROW(Simulation(fine).advance_to(0.02));
    fine.stepping.fixed *= 1.01;
    EXPECT_EQ(test::thrown_by([&] { const Simulation s(fine); }).where().field, "/stepping/fixed");
}

TEST(Guard, AFixedStepThatForcesDoNotAllowIsRefused) {
    Scene s = too_long_a_step();
    s.kernel = KernelKind::paper;
    s.phases[0].viscosity = 500;
    s.stepping = {.kind = StepKind::fixed, .fixed = 4e-4, .courant = 10};
    const Error e = test::thrown_by([&] { const Simulation run(s); });
    EXPECT_EQ(e.where().field, "/stepping/fixed");
    EXPECT_NE(e.message().find("viscosity"), std::string::npos) << e.message();
}

TEST(Guard, ABlowUpBetweenWallsIsFound) {
    Scene s = too_long_a_step();
    s.stepping.courant = 1000;  // as if it were asked for
    Simulation run(s);
    const Error e = test::thrown_by([&] { run.advance_to(0.3); });
    EXPECT_EQ(e.kind(), ErrorKind::bad_value);
    EXPECT_TRUE(e.where().index.has_value());
    EXPECT_NE(e.message().find("particle"), std::string::npos) << e.message();
    EXPECT_NE(e.message().find(" J"), std::string::npos) << e.message();
    EXPECT_LT(run.time(), 0.15);
}

// Energy from nowhere, between walls that would take it away again at once.
TEST(Guard, EnergyThatNothingExplainsIsFound) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible}) {
        simulation::Run run;
        run.world.scene = test::small_dam(2, 0.01);
        run.world.scene.solver = solver;
        simulation::set_up(run);
        simulation::look_around(run);
        simulation::start_budget(run);
        for (int k = 0; k < 20; ++k) simulation::step(run, 1);
        for (Vec3f& v : run.fluid.p.v) v[0] += 5;
        const Error e = test::thrown_by([&] { simulation::step(run, 1); });
        EXPECT_NE(e.message().find("J of kinetic energy"), std::string::npos) << e.message();
    }
}

// Gravity along a periodic axis, emitters and bodies that push give energy all the time, and explain it.
TEST(Guard, WhatIsExplainedGoesOn) {
    Scene s = test::small_dam(2, 0.01);
    s.blocks[0].box = {{{0, 0, 0}}, {{0.4, 0.2, 0}}};
    s.domain.periodic[0] = true;
    s.domain.response.friction = 0;
    s.gravity = {{5, -9.81, 0}};
    s.solver = SolverKind::incompressible;
    Simulation falling(s);
    EXPECT_NO_THROW(falling.advance_to(1));
    EXPECT_GT(falling.stats().kinetic, 10 * falling.stats().mass);

    Scene pushed = test::small_dam(2, 0.01);
    pushed.gravity = {};
    pushed.solver = SolverKind::incompressible;
    pushed.expected_speed = 0.1;
    pushed.bodies.push_back({.shape = BodyShape::box,
                             .motion = BodyMotion::moving,
                             .size = {{0.05, 0.2, 0}},
                             .position = {{0.3, 0.1, 0}},
                             .velocity = {{-0.3, 0, 0}},
                             .boundary = BoundaryKind::field});
    EXPECT_NO_THROW(Simulation(pushed).advance_to(0.3));

    Scene fed = test::small_dam(2, 0.01);
    fed.gravity = {};
    fed.expected_speed = 0.5;
    fed.solver = SolverKind::incompressible;
    fed.emitters.push_back({.position = {{0.3, 0.3, 0}}, .direction = {{1, 0, 0}}, .radius = 0.03, .speed = 2});
    EXPECT_NO_THROW(Simulation(fed).advance_to(0.2));
}

TEST(Guard, ACrowdIsFound) {
    Scene s = test::small_dam(2, 0.01);
    s.blocks[0].count = {60, 60, 0};
    Simulation run(s);
    const Error e = test::thrown_by([&] { run.advance_to(0.1); });
    EXPECT_TRUE(e.where().index.has_value());
}

}  // namespace
