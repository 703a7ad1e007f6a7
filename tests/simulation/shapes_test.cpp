// What every shape promises, tried on all names of BodyShape, so that a new one is tried as soon as it has a name:
// distance, entry, corners, samples, triangles and mass tell of the same body, and in two dimensions it is flat or
// refused.
#include "simulation/scenes.hpp"
#include "simulation/solids/meetings.hpp"
#include "simulation/solids/shape.hpp"

#include <quadrat/simulation.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

namespace {

using namespace quadrat;
using simulation::Shape;
using simulation::Vector;
using simulation::vector;

RigidBody body_of(std::size_t shape) {
    RigidBody body = test::cube_mesh(0.5);
    body.shape = static_cast<BodyShape>(shape);
    body.radius = 0.25;
    body.size = {{0.5, 0.4, 0.6}};
    body.normal = {{0.6, 0.8, 0}};
    return body;
}

class Points {
  public:
    explicit Points(const Box3d& in) : box_(in) {}
    Vector operator()() {
        Vector p;
        for (int k = 0; k < 3; ++k) p[k] = box_.lo[k] + (box_.hi[k] - box_.lo[k]) * uniform_(random_);
        return p;
    }

  private:
    std::mt19937_64 random_{5};
    std::uniform_real_distribution<double> uniform_{0, 1};
    Box3d box_;
};

constexpr double far_away = 10;
const Box3d around = {{{-0.6, -0.6, -0.6}}, {{0.6, 0.6, 0.6}}};

TEST(Shapes, DistanceAndEntryAgree) {
    for (std::size_t k = 0; k < simulation::shape_count; ++k) {
        const auto shape = simulation::make_shape(body_of(k), 3);
        ASSERT_EQ(static_cast<std::size_t>(shape->kind()), k);
        Points point(around);
        std::size_t entered = 0;
        for (int i = 0; i < 3000; ++i) {
            const Vector a = point(), b = point();
            const Shape::Distance da = shape->deep_distance(a, far_away), db = shape->deep_distance(b, far_away);
            EXPECT_NEAR(da.normal.norm(), 1, 1e-9) << k;
            EXPECT_LE(std::abs(da.value - db.value), (a - b).norm() + 1e-12) << k;
            EXPECT_NEAR(shape->deep_distance(a - da.value * da.normal, far_away).value, 0, 1e-9) << k;
            const auto hit = shape->entry(a, b);
            if (da.value < 0) {
                EXPECT_FALSE(hit && shape->convex()) << k;
            } else if (db.value < 0) {
                ASSERT_TRUE(hit) << k;
            }
            if (!hit) continue;
            ++entered;
            EXPECT_NEAR(shape->deep_distance(a + hit->time * (b - a), far_away).value, 0, 1e-9) << k;
            EXPECT_NEAR(hit->normal.norm(), 1, 1e-9) << k;
            EXPECT_LE(hit->normal.dot(b - a), 1e-12) << k;
            const Vector before = a + hit->time * (b - a) + 1e-6 * hit->normal;
            EXPECT_NEAR(shape->deep_distance(before, far_away).value, 1e-6, 1e-9) << k;
        }
        EXPECT_GT(entered, 100u) << k;
    }
}

TEST(Shapes, PointsLieOnTheSurface) {
    for (std::size_t k = 0; k < simulation::shape_count; ++k) {
        const auto shape = simulation::make_shape(body_of(k), 3);
        for (const Vector& p : shape->corners())
            EXPECT_NEAR(shape->distance(p, far_away).value, shape->corners().size() == 1 ? -shape->radius() : 0, 1e-9)
                << k;
        for (const Vec3d& v : shape->surface({}).vertices)
            EXPECT_GE(shape->distance(vector(v), far_away).value, -1e-9) << k;
        if (shape->unbounded()) continue;
        const std::vector<Vector> on = shape->sample_surface(0.05, 0), below = shape->sample_surface(0.05, 0.02);
        const double area = simulation::surface_area(body_of(k), 3) / (0.05 * 0.05);
        EXPECT_NEAR(static_cast<double>(on.size()), area, 0.4 * area) << k;
        for (const Vector& p : on) EXPECT_NEAR(shape->distance(p, far_away).value, 0, 1e-9) << k;
        for (const Vector& p : below) EXPECT_NEAR(shape->deep_distance(p, far_away).value, -0.02, 1e-9) << k;
        for (const Vector& p : shape->sample_inside(0.05, 0.1))
            EXPECT_LT(shape->deep_distance(p, far_away).value, 0) << k;
        if (!shape->round()) {
            double arm = 0;
            for (const Vector& p : on) arm = std::max(arm, p.norm());
            EXPECT_GE(simulation::turning_arm(body_of(k), 3), arm - 1e-9) << k;
        }
    }
}

TEST(Shapes, MassAndBoundsAreThoseOfTheInside) {
    for (std::size_t k = 0; k < simulation::shape_count; ++k) {
        const auto shape = simulation::make_shape(body_of(k), 3);
        if (shape->unbounded()) continue;
        Points point(around);
        constexpr int n = 100000;
        const double share = 1.2 * 1.2 * 1.2 * 700 / n;
        double mass = 0;
        simulation::Matrix3d inertia = simulation::Matrix3d::Zero();
        for (int i = 0; i < n; ++i) {
            const Vector p = point();
            if (shape->deep_distance(p, far_away).value >= 0) continue;
            for (int j = 0; j < 3; ++j)
                ASSERT_TRUE(p[j] >= shape->bounds().lo[j] && p[j] <= shape->bounds().hi[j]) << k;
            mass += share;
            inertia += share * (p.squaredNorm() * simulation::Matrix3d::Identity() - p * p.transpose());
        }
        const Shape::Mass m = shape->mass(700);
        EXPECT_NEAR(mass / m.mass, 1, 0.03) << k;
        EXPECT_LT(m.centre.norm(), 1e-9) << k;
        EXPECT_LT((inertia - m.inertia).norm(), 0.06 * m.inertia.norm()) << k;
    }
}

TEST(Shapes, AreFlatInTwoDimensionsOrRefused) {
    for (std::size_t k = 0; k < simulation::shape_count; ++k) {
        Scene scene;
        scene.dimension = 2;
        scene.gravity = {{0, -9.81, 0}};
        scene.bodies = {body_of(k)};
        scene.bodies[0].position = {{0.5, 0.5, 0}};
        try {
            const Simulation simulation(scene);
        } catch (const Error& e) {
            EXPECT_EQ(e.where().field, "/bodies/0/shape") << e.what();
            continue;
        }
        const auto shape = simulation::make_shape(scene.bodies[0], 2);
        for (const Vector& p : shape->corners()) EXPECT_EQ(p[2], 0) << k;
        if (shape->unbounded()) continue;
        for (const Vector& p : shape->sample_surface(0.05, 0)) EXPECT_EQ(p[2], 0) << k;
        for (const Vector& p : shape->sample_inside(0.05, 0.1)) EXPECT_EQ(p[2], 0) << k;
        Points point({{{-0.6, -0.6, 0}}, {{0.6, 0.6, 0}}});
        double mass = 0;
        constexpr int n = 50000;
        for (int i = 0; i < n; ++i) {
            const Shape::Distance d = shape->distance(point(), far_away);
            EXPECT_EQ(d.normal[2], 0) << k;
            if (d.value < 0) mass += 1.2 * 1.2 * 700 / n;
        }
        EXPECT_NEAR(mass / shape->mass(700).mass, 1, 0.03) << k;
    }
}

// A table of meetings that is wrong in one place does not compile: here each check is shown such a table.
TEST(Meetings, AWrongTableIsSeen) {
    namespace checks = simulation::detail;
    using simulation::ContactRule;
    using simulation::OverlapRule;
    constexpr auto sphere = 0, box = 1, plane = 2, mesh = 3;
    const auto changed = [](int a, int b, auto&& change) {
        checks::Table table = checks::meetings;
        change(table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]);
        return table;
    };
    for (const int a : {sphere, box, plane, mesh})
        for (const int b : {sphere, box, plane, mesh}) {
            EXPECT_FALSE(checks::complete(changed(a, b, [](auto& m) { m.contacts = ContactRule::missing; })));
            EXPECT_FALSE(checks::complete(changed(a, b, [](auto& m) { m.overlap = OverlapRule::missing; })));
            const auto boxes = changed(a, b, [](auto& m) { m.contacts = ContactRule::boxes; });
            EXPECT_EQ(checks::fitting(boxes), a == box && b == box);
            const auto both_boxes = changed(a, b, [](auto& m) { m.overlap = OverlapRule::boxes; });
            EXPECT_EQ(checks::fitting(both_boxes), a == box && b == box);
            const auto ball = changed(a, b, [](auto& m) { m.overlap = OverlapRule::ball_in_second; });
            EXPECT_EQ(checks::fitting(ball), a == sphere);
            const auto other = changed(a, b, [](auto& m) { m.overlap = OverlapRule::ball_in_first; });
            EXPECT_EQ(checks::fitting(other), b == sphere);
            if (a == b) continue;
            EXPECT_FALSE(checks::mirrored(changed(a, b, [](auto& m) { m.contacts = ContactRule::never; })));
            EXPECT_FALSE(checks::mirrored(changed(a, b, [](auto& m) { m.overlap = OverlapRule::never; })));
        }
    EXPECT_EQ(simulation::number_of(static_cast<BodyShape>(simulation::shape_count)), simulation::no_shape);
}

}  // namespace
