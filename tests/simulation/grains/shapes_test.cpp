// Grains that are no spheres: masses, where two of them touch, and how they slide, stand and fall.
#include "simulation/grains/shapes/meet.hpp"
#include "simulation/grains/worlds.hpp"
#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

namespace quadrat::test {
namespace {

namespace grains_ns = simulation::grains;
using grains_ns::V3d;

std::vector<Vec3d> cube_points(double edge) {
    std::vector<Vec3d> points;
    for (int k = 0; k < 8; ++k) points.push_back({{k & 1 ? edge : 0, k & 2 ? edge : 0, k & 4 ? edge : 0}});
    points.push_back({{edge / 2, edge / 2, edge / 2}});  // inside
    points.push_back({{edge / 2, edge / 2, edge}});      // on a face
    return points;
}

TEST(GrainShapes, MassesAndInertia) {
    constexpr double pi = std::numbers::pi;
    Grains grains({.gravity = {{0, 0, 0}}});
    const std::uint32_t hull = grains.add_hull(cube_points(2));
    const double w = 3;
    const auto rotational = [&](Grain g, const Vec3d& spin) {
        Grains one({.gravity = {{0, 0, 0}}});
        if (g.shape == GrainShape::convex) g.hull = one.add_hull(cube_points(2));
        g.angular_velocity = spin;
        one.add(g);
        return std::pair(one.masses()[0], one.stats().rotational);
    };
    for (int k = 0; k < 3; ++k) {
        Vec3d spin = {};
        spin[k] = w;
        const auto [m, e] = rotational({.shape = GrainShape::convex, .hull = hull, .density = 2}, spin);
        EXPECT_NEAR(m, 16, 1e-9);
        EXPECT_NEAR(e, 0.5 * w * w * m * 4 / 6, 1e-9);
    }
    const auto [mb, eb] = rotational({.shape = GrainShape::box, .size = {{1, 2, 3}}, .density = 1}, {{0, w, 0}});
    EXPECT_NEAR(mb, 6, 1e-12);
    EXPECT_NEAR(eb, 0.5 * w * w * 6 / 12 * 10, 1e-9);
    // A capsule that is nearly a sphere, and one that is nearly a rod.
    const auto [ms, es] =
        rotational({.shape = GrainShape::capsule, .radius = 1, .length = 1e-9, .density = 1}, {{w, 0, 0}});
    EXPECT_NEAR(ms, 4 * pi / 3, 1e-6);
    EXPECT_NEAR(es, 0.5 * w * w * 0.4 * ms, 1e-6);
    const auto [mr, er] =
        rotational({.shape = GrainShape::capsule, .radius = 1e-3, .length = 1, .density = 1}, {{w, 0, 0}});
    EXPECT_NEAR(er, 0.5 * w * w * mr / 12, 0.01 * er);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(grains.hull_origin(hull)[k], -1, 1e-12);
}

TEST(GrainShapes, HullsOfPoints) {
    const grains_ns::Hull cube = grains_ns::convex_hull(cube_points(1));
    EXPECT_EQ(cube.corners.size(), 8u);
    EXPECT_EQ(cube.faces.size(), 6u);
    EXPECT_EQ(cube.edges.size(), 3u);
    for (const auto& f : cube.faces) EXPECT_EQ(f.corners.size(), 4u);
    base::SplitMix random(3);
    for (int round = 0; round < 20; ++round) {
        std::vector<Vec3d> points;
        for (int k = 0; k < 30; ++k) points.push_back({{random.uniform(), random.uniform(), random.uniform()}});
        const grains_ns::Hull hull = grains_ns::convex_hull(points);
        for (const auto& f : hull.faces)
            for (const Vec3d& p : points) EXPECT_LE(dot(f.normal, grains_ns::vector(p)), f.offset + 1e-9);
        // Euler: corners - edges + faces = 2, each side of a face being half an edge.
        std::size_t sides = 0;
        for (const auto& f : hull.faces) sides += f.corners.size();
        EXPECT_EQ(hull.corners.size() + hull.faces.size(), sides / 2 + 2);
    }
}

TEST(GrainShapes, RefusesBadHulls) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Grains grains;
    const auto refused = [&](const std::vector<Vec3d>& points) {
        const Error e = thrown_by([&] { (void)grains.add_hull(points); });
        EXPECT_EQ(e.kind(), ErrorKind::bad_value);
        EXPECT_EQ(e.where().field, "points");
        return e.where().index;
    };
    refused({});
    refused({{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}});
    refused({{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{1, 1, 0}}, {{3, 1, 0}}});
    refused({{{2, 2, 2}}, {{2, 2, 2}}, {{2, 2, 2}}, {{2, 2, 2}}});
    EXPECT_EQ(refused({{{0, 0, 0}}, {{1, 0, 0}}, {{0, nan, 0}}, {{0, 0, 1}}}), 2u);
    std::vector<Vec3d> ball;
    base::SplitMix random(5);
    for (int k = 0; k < 500; ++k) {
        const double z = random.uniform(-1, 1), a = random.uniform(0, 6.3), r = std::sqrt(1 - z * z);
        ball.push_back({{r * std::cos(a), r * std::sin(a), z}});
    }
    refused(ball);
    EXPECT_EQ(thrown_by([&] { (void)grains.hull_origin(0); }).kind(), ErrorKind::stale_id);
}

// The gap of two bodies against the largest over many directions, which is the same for bodies apart.
TEST(GrainShapes, GapsOfBodiesApart) {
    base::SplitMix random(11);
    const auto anything = [&](int kind) {
        if (kind == 0) return grains_ns::box_hull({{random.uniform(0.5, 2), random.uniform(0.5, 2), 1}});
        if (kind == 1) return grains_ns::capsule_hull(0.3, random.uniform(0.5, 2));
        std::vector<Vec3d> points;
        for (int k = 0; k < 12; ++k)
            points.push_back({{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}});
        return grains_ns::convex_hull(points);
    };
    int apart = 0;
    for (int round = 0; round < 300; ++round) {
        const grains_ns::Hull a = anything(round % 3), b = anything(round / 3 % 3);
        grains_ns::Quaternion q = {1, 0, 0, 0};
        q = grains_ns::turned(q, {random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(-3, 3)});
        const V3d at = {random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(-3, 3)};
        const grains_ns::Placed pa(a, {0, 0, 0}, grains_ns::turn({1, 0, 0, 0})), pb(b, at, grains_ns::turn(q));
        const grains_ns::Gap gap = grains_ns::gap_between(pa, pb);
        if (gap.distance == 0) continue;
        ++apart;
        EXPECT_NEAR(length(gap.b - gap.a), gap.distance, 1e-9);
        const V3d n = 1 / gap.distance * (gap.b - gap.a);
        // Both nearest points are extreme along the line between them.
        EXPECT_NEAR(pa.extent(n), dot(n, gap.a), 1e-9);
        EXPECT_NEAR(-pb.extent(-n), dot(n, gap.b), 1e-9);
    }
    EXPECT_GT(apart, 100);
}

// Coulomb: a box on a slope of `angle` rests below mu = tan(angle) and slides with g (sin - mu cos) above.
TEST(GrainShapes, BlockOnASlope) {
    const double angle = 0.4, t = 1;
    for (const double friction : {0.2, 0.35, 0.48}) {
        Grains grains;
        const GrainSurface s{.friction = friction};
        grains.add(GrainPlane{.normal = {{std::sin(angle), 0, std::cos(angle)}}, .surface = s});
        const double h = 0.25;
        grains.add(Grain{.shape = GrainShape::box,
                         .size = {{1, 1, 2 * h}},
                         .position = {{h * std::sin(angle), 0, h * std::cos(angle)}},
                         .orientation = {std::cos(angle / 2), 0, std::sin(angle / 2), 0},
                         .surface = s});
        for (int k = 0; k < 100; ++k) grains.step(t / 100);
        const Vec3d v = grains.velocities()[0];
        const double speed = std::hypot(v[0], v[2]);
        const double a = gravity * (std::sin(angle) - friction * std::cos(angle));
        if (friction > std::tan(angle))
            EXPECT_LT(speed, 1e-3) << friction;
        else
            EXPECT_NEAR(speed, a * t, 0.01 * a * t) << friction;
        EXPECT_LT(length(grains_ns::vector(grains.angular_velocities()[0])), 1e-2);
    }
}

TEST(GrainShapes, AStackOfBoxesStands) {
    Grains grains;
    grains.add(ground());
    for (int k = 0; k < 10; ++k)
        grains.add(Grain{.shape = GrainShape::box, .position = {{0.02 * (k % 2), 0, 0.5 + k}}});
    for (int k = 0; k < 500; ++k) grains.step(0.01);
    for (std::size_t k = 0; k < 10; ++k) {
        EXPECT_NEAR(grains.positions()[k][2], 0.5 + static_cast<double>(k), 0.05);
        EXPECT_NEAR(grains.positions()[k][0], 0.02 * static_cast<double>(k % 2), 0.01);
        EXPECT_GT(std::abs(grains.orientations()[k][0]), 0.9999);
    }
    EXPECT_LT(grains.stats().max_speed, 1e-2);
}

// Each shape comes to rest on a floor at the height that it has lying.
TEST(GrainShapes, EachComesToRest) {
    for (int floor = 0; floor < 2; ++floor) {
        Grains grains;
        if (floor == 0)
            grains.add(ground());
        else
            grains.add(GrainWall{.triangles = {{0, 1, 2}, {0, 2, 3}},
                                 .vertices = {{{-9, -8, 0}}, {{9, -8, 0}}, {{9, 8, 0}}, {{-9, 8, 0}}}});
        const std::uint32_t hull = grains.add_hull(cube_points(1));
        const std::array<double, 4> tilted = {std::cos(0.4), std::sin(0.4), 0, 0};
        grains.add(
            Grain{.shape = GrainShape::box, .size = {{1, 2, 0.5}}, .position = {{0, 0, 1.5}}, .orientation = tilted});
        grains.add(
            Grain{.shape = GrainShape::capsule, .radius = 0.3, .position = {{3, 0, 1.5}}, .orientation = tilted});
        grains.add(Grain{.shape = GrainShape::convex, .hull = hull, .position = {{-3, 0, 1.5}}, .orientation = tilted});
        grains.add(Grain{.position = {{0, 4, 1.5}}});
        for (int k = 0; k < 600; ++k) grains.step(0.01);
        EXPECT_NEAR(grains.positions()[0][2], 0.25, 0.02) << floor;
        EXPECT_NEAR(grains.positions()[1][2], 0.3, 0.02) << floor;
        EXPECT_NEAR(grains.positions()[2][2], 0.5, 0.02) << floor;
        EXPECT_NEAR(grains.positions()[3][2], 0.5, 0.02) << floor;
        EXPECT_LT(grains.stats().max_speed, 0.05) << floor;
    }
}

void pour(Grains& grains, double restitution) {
    const GrainSurface s{.friction = 0.5, .restitution = restitution};
    const std::uint32_t hull = grains.add_hull(cube_points(0.8));
    for (int k = 0; k < 3; ++k) {
        GrainPlane side{.normal = {{0, 0, 0}}, .surface = s};
        side.normal[k] = 1;
        side.offset = k == 2 ? 0 : -3;
        grains.add(side);
        side.normal[k] = -1;
        side.offset = k == 2 ? -20 : -3;
        grains.add(side);
    }
    base::SplitMix random(9);
    for (int k = 0; k < 100; ++k) {
        Grain g{.shape = static_cast<GrainShape>(k % 4), .radius = 0.4, .size = {{0.9, 0.7, 0.6}}, .length = 0.5};
        g.hull = hull;
        g.position = {{-2 + 1.3 * (k % 4), -2 + 1.3 * (k / 4 % 4), 1 + 1.3 * (k / 16)}};
        g.orientation = grains_ns::turned(g.orientation, {random.uniform(-2, 2), random.uniform(-2, 2), 1});
        g.surface = s;
        grains.add(g);
    }
}

TEST(GrainShapes, AHeapOfAllIsTheSameForAnyThreadsAndMakesNoEnergy) {
    for (const double restitution : {0.0, 0.5}) {
        Grains one;
        pour(one, restitution);
        const double begin = energy(one);
        double before = begin, most = 0;
        for (int k = 0; k < 300; ++k) {
            one.step(0.01);
            const double now = energy(one);
            most = std::max(most, now - before);
            before = now;
        }
        EXPECT_LT(most, 2e-3 * begin);
        EXPECT_LT(one.stats().max_overlap, 0.05);
        for (const Vec3d& p : one.positions())
            for (int k = 0; k < 2; ++k) EXPECT_LT(std::abs(p[k]), 3);
        ThreadExecutor executor(3);
        Grains many({.executor = &executor});
        pour(many, restitution);
        for (int k = 0; k < 300; ++k) many.step(0.01);
        EXPECT_TRUE(std::equal(one.positions().begin(), one.positions().end(), many.positions().begin()));
    }
}

// A box that spins about its longest or shortest axis goes on; none gains energy.
TEST(GrainShapes, SpinKeepsItsEnergy) {
    Grains grains({.gravity = {{0, 0, 0}}});
    grains.add(Grain{.shape = GrainShape::box, .size = {{1, 2, 3}}, .angular_velocity = {{3, 0.01, 0.02}}});
    grains.add(Grain{
        .shape = GrainShape::box, .size = {{1, 2, 3}}, .position = {{9, 0, 0}}, .angular_velocity = {{0.01, 3, 0.02}}});
    grains.add(Grain{
        .shape = GrainShape::box, .size = {{1, 2, 3}}, .position = {{18, 0, 0}}, .angular_velocity = {{1, 2, 3}}});
    double before = energy(grains);
    const double begin = before;
    for (int k = 0; k < 500; ++k) {
        grains.step(0.01);
        EXPECT_LE(energy(grains), before * (1 + 1e-12));
        before = energy(grains);
    }
    EXPECT_GT(before, 0.9 * begin);
}

}  // namespace
}  // namespace quadrat::test
