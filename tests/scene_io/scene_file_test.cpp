// A scene file becomes the scene that it says, and errors of the simulation are named by the file's own paths.
#include "scene_io/scene_file.hpp"
#include "scene_io/view_fields.hpp"
#include "simulation/scene/scene_fields.hpp"

#include <quadrat/simulation.hpp>

#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace quadrat;
using scene_io::SceneFile;

SceneFile parse(const std::string& more) {
    return scene_io::parse_scene(R"({"domain": {"lo": [0, 0, 0], "hi": [1, 1, 1]}, "spacing": 0.05, )" + more + "}",
                                 "scene.json");
}

// An error of the simulation as the file would show it.
std::string placed(const std::string& more) {
    const SceneFile file = parse(more);
    try {
        const Simulation s(file.scene);
    } catch (const Error& error) {
        return file.placed(error, "scene.json").what();
    }
    return "none";
}

TEST(SceneFile, EveryFieldArrives) {
    const Scene s = parse(R"("dimension": 3, "name": "n", "gravity": [0, 1, 2], "attraction": 3, "support": 0.1,
        "kernel": "cubic", "solver": "ideal_gas", "expected_speed": 4,
        "stepping": {"kind": "fixed", "fixed": 0.001, "courant": 0.1, "largest": 0.002},
        "incompressible": {"density_error": 0.1, "divergence_error": 0.2, "max_iterations": 7},
        "phases": [{"name": "a"}, {"name": "b", "rest_density": 2, "viscosity": 3, "artificial_viscosity": 4,
            "sound_speed": 5, "stiffness": 6, "gamma": 8, "tension": 9, "negative_pressure": true,
            "particle_mass": 10, "support": 11}],
        "blocks": [{"lo": [0, 0, 0], "hi": [0.5, 0.5, 0.5], "velocity": [1, 2, 3], "phase": "b", "count": [1, 2, 3]}],
        "emitters": [{"phase": 1, "position": [1, 2, 3], "direction": [4, 5, 6], "radius": 7, "speed": 8, "start": 9,
            "end": 10, "max_particles": 11}],
        "bodies": [{"name": "x", "shape": "box", "size": [1, 2, 3], "motion": "moving", "density": 4,
            "position": [5, 6, 7], "rotation": {"axis": [0, 0, 2], "degrees": 180}, "velocity": [8, 9, 10],
            "angular_velocity": [11, 12, 13], "boundary": "field", "restitution": 0.5, "friction": 2}],
        "jitter": 0.5, "seed": 18446744073709551615, "end_time": 2, "frame_interval": 0.5)")
                        .scene;
    EXPECT_EQ(s.name, "n");
    EXPECT_EQ(s.gravity, (Vec3d{{0, 1, 2}}));
    EXPECT_EQ(s.kernel, KernelKind::cubic_spline);
    EXPECT_EQ(s.solver, SolverKind::ideal_gas);
    EXPECT_EQ(s.stepping.kind, StepKind::fixed);
    EXPECT_EQ(s.stepping.fixed + s.stepping.courant + s.stepping.largest, 0.001 + 0.1 + 0.002);
    EXPECT_EQ(s.incompressible.max_iterations, 7u);
    ASSERT_EQ(s.phases.size(), 2u);
    const Phase& p = s.phases[1];
    EXPECT_EQ(p.rest_density + 10 * p.viscosity + 100 * p.artificial_viscosity + 1e3 * p.sound_speed +
                  1e4 * p.stiffness + 1e5 * p.gamma + 1e6 * p.tension + 1e8 * p.particle_mass + 1e10 * p.support,
              2 + 30 + 400 + 5e3 + 6e4 + 8e5 + 9e6 + 10e8 + 11e10);
    EXPECT_TRUE(p.negative_pressure);
    EXPECT_EQ(s.blocks.at(0).phase, 1u);
    EXPECT_EQ(s.blocks[0].count, (std::array<std::uint32_t, 3>{1, 2, 3}));
    EXPECT_EQ(s.blocks[0].velocity, (Vec3d{{1, 2, 3}}));
    const Emitter& e = s.emitters.at(0);
    EXPECT_EQ(e.direction, (Vec3d{{4, 5, 6}}));
    EXPECT_EQ(e.radius + 10 * e.speed + 100 * e.start + 1e3 * e.end, 7 + 80 + 900 + 1e4);
    EXPECT_EQ(e.max_particles, 11u);
    const RigidBody& b = s.bodies.at(0);
    EXPECT_EQ(b.shape, BodyShape::box);
    EXPECT_EQ(b.motion, BodyMotion::moving);
    EXPECT_EQ(b.boundary, BoundaryKind::field);
    EXPECT_EQ(b.angular_velocity, (Vec3d{{11, 12, 13}}));
    EXPECT_NEAR(b.orientation[3], 1, 1e-12);
    EXPECT_EQ(b.response.restitution + b.response.friction, 2.5);
    EXPECT_EQ(s.seed, UINT64_MAX);
}

TEST(SceneFile, ErrorsHaveThePathOfTheFile) {
    const std::string ball = R"({"radius": 0.05, "position": [0.5, 0.5, 0.5]})";
    const std::string row =
        R"({"radius": 0.05, "position": [0.1, 0.1, 0.1], "array": {"count": [3], "step": [0.2, 0, 0]}})";
    EXPECT_EQ(placed(R"("bodies": [)" + row + "," + ball + "," + ball + "]"),
              "scene.json: /bodies/2: overlaps /bodies/1");
    EXPECT_EQ(
        placed(
            R"("bodies": [{"radius": 0.15, "position": [0.1, 0.1, 0.1], "array": {"count": [3], "step": [0.2, 0, 0]}}])"),
        "scene.json: /bodies/0: two of its bodies overlap");
    EXPECT_EQ(placed(R"("bodies": [)" + row + "," + ball + R"(], "emitters": [{"position": [0.5, 0.5, 0.5]}])"),
              "scene.json: /emitters/0/position: overlaps /bodies/1");
    EXPECT_EQ(placed(R"("bodies": [)" + ball + R"(], "stepping": {"kind": "fixed", "fixed": 1e-15})").substr(0, 29),
              "scene.json: /stepping/fixed: ");
    EXPECT_EQ(placed(R"("bodies": [{"radius": 0.05, "motion": "dynamic"}])").substr(0, 33),
              "scene.json: /bodies/0: position: ");  // a default of ours
}

TEST(SceneFile, AnUnknownVariantIsItsOwnError) {
    EXPECT_THROW((void)scene_io::parse_scene(R"({"variants": {"a": {}}})", "scene.json", "b"),
                 scene_io::UnknownVariant);
}

// What the tables say of the limits of a field holds for the validator and for the reader.
TEST(SceneFields, DefaultsAreInRange) {
    EXPECT_EQ(placed(R"("blocks": [{"lo": [0, 0, 0], "hi": [0.5, 0.5, 0.5]}])"), "none");
}

}  // namespace
