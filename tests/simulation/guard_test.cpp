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

// A run with a tension and a body of each motion, none of which has moved yet.
simulation::Run run_of_everything() {
    simulation::Run run;
    Scene& s = run.world.scene;
    s = test::small_dam(2, 0.01);
    s.expected_speed = 0.5;
    s.phases[0].tension = 0.3;
    s.bodies.push_back({.radius = 0.02, .position = {{0.22, 0.1, 0}}});
    s.bodies.push_back({.shape = BodyShape::box,
                        .motion = BodyMotion::moving,
                        .size = {{0.06, 0.08, 0}},
                        .position = {{0.3, 0.1, 0}},
                        .velocity = {{3, 4, 0}},
                        .angular_velocity = {{0, 0, 2}}});
    s.bodies.push_back(
        {.motion = BodyMotion::dynamic, .radius = 0.02, .position = {{0.3, 0.3, 0}}, .velocity = {{0, 2, 0}}});
    simulation::set_up(run);
    simulation::look_around(run);
    simulation::start_budget(run);
    return run;
}

// Each part of the budget by itself, and the bound that follows from all.
TEST(Guard, TheBudgetIsTheSumOfItsParts) {
    simulation::Run run = run_of_everything();
    const double mass = static_cast<double>(run.fluid.p.size()) * double{run.fluid.phases[0].mass};
    const double before = run.budget.given;
    for (Vec3f& v : run.fluid.p.v) v = {{0.3f, 0.4f, 0}};
    simulation::start_budget(run);
    EXPECT_NEAR(run.budget.given - before, 0.5 * mass * 0.25, 1e-5 * mass);
    for (float& rho : run.fluid.p.rho) rho *= 1.05f;
    simulation::start_budget(run);
    EXPECT_GT(run.budget.given - before, 0.5 * mass * 0.25 + 1e-4 * mass);

    simulation::guard_move(run, {.work = 7}, 1e-4);
    EXPECT_EQ(run.budget.work, 7);
    EXPECT_NEAR(run.budget.solid_speed, 5 + 0.05 * 2, 1e-9);
    const double ball = 500 * 3.14159265 * 0.02 * 0.02;
    EXPECT_NEAR(run.budget.solid_energy, 0.5 * ball * 4, 1e-6);
    const auto bound = [&] {
        const simulation::Budget& b = run.budget;
        const double tension = 8 * 0.3 * 0.01 * static_cast<double>(run.fluid.p.size());
        return 2 * (b.given + std::max(b.work, 0.0) + mass * (0.5 * 0.25 + 2 * b.solid_speed * b.solid_speed) +
                    b.solid_energy + tension);
    };
    const double with_work = bound();
    EXPECT_NO_THROW(simulation::guard_move(run, {.kinetic = 0.9999 * with_work}, 1e-4));
    const Error e =
        test::thrown_by([&] { simulation::guard_move(run, {.kinetic = 1.0001 * with_work, .fastest = 3}, 1e-4); });
    EXPECT_EQ(e.where().index, run.fluid.p.id[3]);
    simulation::guard_move(run, {.work = -1000}, 1e-4);  // what gravity takes takes nothing from the rest
    EXPECT_NEAR(bound(), with_work - 14, 1e-6);
    EXPECT_NO_THROW(simulation::guard_move(run, {.kinetic = 0.9999 * bound()}, 1e-4));
    EXPECT_THROW(simulation::guard_move(run, {.kinetic = 1.0001 * bound()}, 1e-4), Error);
    EXPECT_THROW(simulation::guard_move(run, {.kinetic = std::nan("")}, 1e-4), Error);
    run.solids.poses[2].velocity = run.solids.poses[1].velocity = {};  // the largest so far counts
    const simulation::Budget last = run.budget;
    simulation::guard_move(run, {}, 1e-4);
    EXPECT_EQ(run.budget.solid_speed, last.solid_speed);
    EXPECT_EQ(run.budget.solid_energy, last.solid_energy);
}

TEST(Guard, WhatComesInIsGiven) {
    simulation::Run run;
    Scene& s = run.world.scene;
    s.gravity = {};
    s.solver = SolverKind::incompressible;
    s.expected_speed = 0.01;
    s.emitters.push_back({.position = {{0.5, 0.5, 0.5}}, .radius = 0.05, .speed = 3});
    simulation::set_up(run);
    simulation::start_budget(run);
    EXPECT_EQ(run.budget.given, 0);
    simulation::emit_counted(run);
    const double mass = static_cast<double>(run.fluid.p.size()) * double{run.fluid.phases[0].mass};
    EXPECT_GT(run.fluid.p.size(), 10u);
    EXPECT_NEAR(run.budget.given, 0.5 * mass * 9, 1e-6);
}

TEST(Guard, PlacesSpeedsAndDensitiesHaveBounds) {
    const simulation::Run fresh = run_of_everything();
    const auto named = [](auto&& change) {
        simulation::Run run = run_of_everything();
        change(run.fluid.p);
        try {
            simulation::guard_move(run, {}, 1e-5);
        } catch (const Error& e) {
            EXPECT_EQ(e.where().index, run.fluid.p.id[5]) << e.what();
            return e.message();
        }
        return std::string();
    };
    // The domain reaches to 0.4.
    EXPECT_EQ(named([](auto& p) { p.x[5][1] = -0.99f * 4000; }), "");
    EXPECT_NE(named([](auto& p) { p.x[5][1] = -1.01f * 4000; }).find("blew up"), std::string::npos);
    EXPECT_NE(named([](auto& p) { p.x[5][0] = NAN; }).find("blew up"), std::string::npos);
    const float fast = 100 * static_cast<float>(std::max(fresh.world.expected_speed, fresh.fluid.sound_speed));
    EXPECT_EQ(named([&](auto& p) { p.v[5][0] = 0.99f * fast; }), "");
    EXPECT_NE(named([&](auto& p) { p.v[5][0] = -1.01f * fast; }).find("blew up"), std::string::npos);
    EXPECT_NE(named([](auto& p) { p.v[5][1] = NAN; }).find("not a number"), std::string::npos);
    EXPECT_EQ(named([](auto& p) { p.rho[5] = 4990; }), "");
    EXPECT_NE(named([](auto& p) { p.rho[5] = 5010; }).find("5.01 times its rest density"), std::string::npos);
    EXPECT_NE(named([](auto& p) { p.rho[5] = NAN; }).find("rest density"), std::string::npos);
}

// Twice the step of eq. 12 at the speed that was met is too much.
TEST(Guard, AFixedStepIsComparedWithWhatMoved) {
    simulation::Run run;
    run.world.scene = test::small_dam(2, 0.01);
    run.world.scene.stepping = {.kind = StepKind::fixed, .fixed = 1e-5};
    simulation::set_up(run);
    simulation::look_around(run);
    simulation::start_budget(run);
    const double step = run.clock.courant * 0.5 * run.fluid.support / (run.fluid.sound_speed + 2);
    EXPECT_NO_THROW(simulation::guard_move(run, {.fastest_sq = 4}, 1.999 * step));
    EXPECT_THROW(simulation::guard_move(run, {.fastest_sq = 4}, 2.001 * step), Error);
    run.world.scene.stepping.kind = StepKind::courant;
    EXPECT_NO_THROW(simulation::guard_move(run, {.fastest_sq = 4}, 2.001 * step));
}

TEST(Guard, ACrowdIsFound) {
    Scene s = test::small_dam(2, 0.01);
    s.blocks[0].count = {60, 60, 0};
    Simulation run(s);
    const Error e = test::thrown_by([&] { run.advance_to(0.1); });
    EXPECT_TRUE(e.where().index.has_value());
}

}  // namespace
