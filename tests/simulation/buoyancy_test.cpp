// What still water does to bodies inside it: it carries the weight of the water that they displace, and stays still.
#include "simulation/scenes.hpp"
#include "simulation/step/integrate.hpp"

#include <quadrat/simulation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace {

using namespace quadrat;

constexpr double g = 9.81, spacing = 0.02;

// Water around a body of `size` spacings from its middle to its surface, with four spacings and more on all sides.
Scene around(BodyShape shape, double size, int dimension, SolverKind solver) {
    Scene scene;
    scene.solver = solver;
    scene.spacing = spacing;
    scene.dimension = dimension;
    const int up = dimension - 1;
    scene.gravity = {};
    scene.gravity[up] = -g;
    const double wide = spacing * (2 * std::ceil(size) + 8), deep = wide + 2 * spacing;
    for (int k = 0; k < dimension; ++k) scene.domain.box.hi[k] = k == up ? 2 * deep : wide;
    scene.blocks.push_back({.box = scene.domain.box});
    scene.blocks[0].box.hi[up] = deep;
    RigidBody b = test::cube_mesh(2 * size * spacing);
    b.shape = shape;
    b.radius = size * spacing;
    for (int k = 0; k < 3; ++k) {
        b.size[k] = 2 * size * spacing;
        if (k < dimension) b.position[k] = 0.5 * wide;
    }
    scene.bodies.push_back(b);
    return scene;
}

double volume(const RigidBody& b, int dimension) {
    if (b.shape != BodyShape::sphere) return std::pow(b.size[0], dimension);
    return std::numbers::pi * b.radius * b.radius * (dimension == 2 ? 1 : 4.0 / 3 * b.radius);
}

// The force on a body that is held, over the weight of its volume of water: the mean of the last third of the time. It
// is so heavy that the fluid does not move it, and put back after each step; what its speed lacks to that of free fall
// is the force.
double lift(Scene scene, double end) {
    const int up = scene.dimension - 1;
    scene.bodies[0].motion = BodyMotion::dynamic;
    scene.bodies[0].density = 1e6;
    simulation::Run s;
    s.world.scene = scene;
    simulation::set_up(s);
    const BodyPose held = s.solids.poses[0];
    double speed = 0, time = 0;
    while (s.clock.time < end) {
        double acts = 0;
        if (scene.solver == SolverKind::incompressible) {
            simulation::incompressible_step(s, end);
            acts = s.clock.last_step;
        } else {
            simulation::look_around(s);
            simulation::find_forces(s, true);
            const double dt = simulation::courant_step(s.world, s.fluid, s.clock);
            acts = 0.5 * (s.clock.last_step + dt);
            s.solids.accelerate(acts, simulation::vector(scene.gravity));
            simulation::move(s, dt);
        }
        if (s.clock.time > end * 2 / 3) {
            speed += s.solids.poses[0].velocity[up] + g * acts;
            time += acts;
        }
        s.solids.poses[0] = held;
    }
    return speed / time / s.solids.bodies()[0].inverse_mass / (1000 * g * volume(scene.bodies[0], scene.dimension));
}

TEST(Buoyancy, IsTheWeightOfTheVolume) {
    for (const SolverKind solver : {SolverKind::incompressible, SolverKind::weakly_compressible}) {
        EXPECT_NEAR(lift(around(BodyShape::sphere, 3, 3, solver), 0.6), 1, 0.15) << int(solver);
        EXPECT_NEAR(lift(around(BodyShape::box, 2.5, 3, solver), 0.6), 1, 0.15) << int(solver);
        EXPECT_NEAR(lift(around(BodyShape::sphere, 6, 2, solver), 1), 1, 0.15) << int(solver);
    }
    EXPECT_NEAR(lift(around(BodyShape::sphere, 6, 3, SolverKind::incompressible), 0.5), 1, 0.15);
    EXPECT_NEAR(lift(around(BodyShape::mesh, 2.5, 3, SolverKind::incompressible), 0.7), 1, 0.15);
}

TEST(Buoyancy, OfOtherBoundariesAndSupports) {
    for (const BoundaryKind kind : {BoundaryKind::ghosts, BoundaryKind::field}) {
        Scene scene = around(BodyShape::sphere, 3, 3, SolverKind::incompressible);
        scene.bodies[0].boundary = kind;
        EXPECT_NEAR(lift(scene, 0.7), 1, 0.15) << int(kind);
    }
    Scene scene = around(BodyShape::sphere, 3, 3, SolverKind::incompressible);
    scene.support = 3 * spacing;
    EXPECT_NEAR(lift(scene, 0.7), 1, 0.15);
    // As thick as a spacing, with fluid of the other side in the support of each side.
    scene = around(BodyShape::box, 4, 3, SolverKind::incompressible);
    scene.bodies[0].size[2] = spacing;
    EXPECT_NEAR(lift(scene, 0.7) * 8, 1, 0.25);
}

TEST(Buoyancy, DecidesWhatSinks) {
    for (const SolverKind solver : {SolverKind::incompressible, SolverKind::weakly_compressible})
        for (const double density : {850.0, 1150.0}) {
            Scene scene = around(BodyShape::sphere, 3, 3, solver);
            scene.bodies[0].motion = BodyMotion::dynamic;
            scene.bodies[0].density = density;
            const double start = scene.bodies[0].position[2];
            Simulation s(scene);
            s.advance_to(0.6);
            const double way = s.bodies()[0].position[2] - start;
            EXPECT_GT(density < 1000 ? way : -way, 0.5 * spacing) << density << ' ' << int(solver);
        }
}

TEST(Buoyancy, WaterAroundABodyStaysStill) {
    for (const SolverKind solver : {SolverKind::incompressible, SolverKind::weakly_compressible})
        for (const int dimension : {2, 3}) {
            Simulation s(around(BodyShape::sphere, dimension == 2 ? 6 : 3, dimension, solver));
            const auto energy = [&] {
                const SimulationStats e = s.stats();
                return e.kinetic + e.potential + e.internal;
            };
            const double start = energy();
            while (s.time() < 0.1) {
                s.step();
                ASSERT_LT(energy(), 1.02 * start) << s.time() << ' ' << dimension << ' ' << int(solver);
            }
        }
}

}  // namespace
