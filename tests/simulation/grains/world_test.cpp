// The world as a whole: threads, sleep, walls, and what is refused.
#include "simulation/grains/worlds.hpp"
#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

namespace quadrat::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool same(const Grains& a, const Grains& b) {
    const auto equal = [](auto x, auto y) {
        return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
    };
    return equal(a.positions(), b.positions()) && equal(a.velocities(), b.velocities()) &&
           equal(a.orientations(), b.orientations()) && equal(a.angular_velocities(), b.angular_velocities()) &&
           equal(a.asleep(), b.asleep());
}

TEST(GrainWorld, SameBytesForAnyThreads) {
    const GrainSurface surface{.friction = 0.4, .restitution = 0.3, .rolling = 0.02};
    Grains one({.sleep_speed = 0.05, .sleep_time = 0.2});
    fill_box(one, 12, 1.02, surface);
    for (int k = 0; k < 120; ++k) one.step(0.02);
    EXPECT_GT(one.stats().touching, 2000u);
    for (const unsigned threads : {2u, 7u}) {
        ThreadExecutor executor(threads);
        Grains many({.executor = &executor, .sleep_speed = 0.05, .sleep_time = 0.2});
        fill_box(many, 12, 1.02, surface);
        for (int k = 0; k < 120; ++k) many.step(0.02);
        EXPECT_TRUE(same(one, many)) << threads;
    }
}

// The margin of the search decides which contacts are foreseen, and how often is searched; piles do not see it.
TEST(GrainWorld, SearchesAreRareAtRest) {
    Grains grains;
    fill_box(grains, 6, 1.02, {});
    for (int k = 0; k < 600; ++k) grains.step(0.01);
    const std::uint64_t before = grains.stats().searches;
    for (int k = 0; k < 100; ++k) grains.step(0.01);
    EXPECT_LE(grains.stats().searches, before + 3);
    EXPECT_LT(grains.stats().max_overlap, 0.02);
}

TEST(GrainWorld, SleepsAndWakes) {
    Grains grains({.sleep_time = 0.3});
    grains.add(ground());
    for (int k = 0; k < 3; ++k) grains.add(Grain{.position = {{0, 0, 0.5 + k}}});
    grains.add(Grain{.position = {{10, 0, 0.5}}});
    for (int k = 0; k < 200; ++k) grains.step(0.01);
    EXPECT_EQ(grains.stats().asleep, 4u);
    const std::vector<Vec3d> rest(grains.positions().begin(), grains.positions().end());
    for (int k = 0; k < 50; ++k) grains.step(0.01);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), grains.positions().begin()));
    // One more falls on the column: all of it wakes, what lies elsewhere does not.
    grains.add(Grain{.position = {{0.1, 0, 5.5}}});
    bool woke = false;
    for (int k = 0; k < 100; ++k) {
        grains.step(0.01);
        const auto asleep = grains.asleep();
        woke = woke || (!asleep[0] && !asleep[1] && !asleep[2]);
        EXPECT_TRUE(asleep[3]);
    }
    EXPECT_TRUE(woke);
    // A push by hand wakes, too.
    grains.set_velocity(3, {{1, 0, 0}});
    grains.step(0.01);
    EXPECT_GT(grains.positions()[3][0], 10.005);
}

// An island wakes as a whole, also those that are not hit.
TEST(GrainWorld, IslandsWakeAsAWhole) {
    Grains grains({.sleep_time = 0.1});
    grains.add(ground());
    for (int k = 0; k < 6; ++k) grains.add(Grain{.position = {{0, 0, 0.5 + k}}});
    grains.add(Grain{.position = {{20, 0, 0.5}}});
    for (int k = 0; k < 200; ++k) grains.step(0.01);
    ASSERT_EQ(grains.stats().asleep, 7u);
    grains.set_velocity(0, {{-1, 0, 0}});
    for (std::size_t k = 0; k < 6; ++k) EXPECT_FALSE(grains.asleep()[k]) << k;
    EXPECT_TRUE(grains.asleep()[6]);
}

TEST(GrainWorld, ForcesCarryTheWeight) {
    Grains grains;
    grains.add(ground());
    const std::uint32_t first = grains.add(Grain{.position = {{0, 0, 0.5}}});
    grains.add(Grain{.position = {{0, 0, 1.5}}});
    for (int k = 0; k < 200; ++k) grains.step(0.01);
    std::vector<GrainContact> contacts;
    grains.find_contacts(contacts);
    ASSERT_EQ(contacts.size(), 2u);
    const double weight = grains.masses()[0] * gravity;
    for (const GrainContact& c : contacts) {
        const bool floor = c.with == GrainContact::With::plane;
        EXPECT_EQ(c.first, first);
        EXPECT_NEAR(c.normal[2], floor ? -1 : 1, 1e-6);
        EXPECT_NEAR(c.force[2], floor ? -2 * weight : weight, 0.01 * weight);
        EXPECT_NEAR(c.point[2], floor ? 0 : 1, 0.01);
    }
}

// A floor of many triangles carries a rolling sphere as a plane does: no edge of it is felt.
TEST(GrainWorld, TrianglesMakeAFloor) {
    Grains grains;
    GrainWall wall;
    constexpr int n = 12;
    for (int y = 0; y <= n; ++y)
        for (int x = 0; x <= n; ++x) wall.vertices.push_back({{0.7 * x - 0.313, 0.7 * y - 4.0, 0}});
    for (std::uint32_t y = 0; y < n; ++y)
        for (std::uint32_t x = 0; x < n; ++x) {
            const std::uint32_t a = y * (n + 1) + x;
            wall.triangles.push_back({a, a + 1, a + n + 1});
            wall.triangles.push_back({a + 1, a + n + 2, a + n + 1});
        }
    grains.add(wall);
    grains.add(Grain{.position = {{1, 0, 0.5}}, .velocity = {{2, 0.3, 0}}, .angular_velocity = {{-0.6, 4, 0}}});
    for (int k = 0; k < 200; ++k) {
        grains.step(0.01);
        EXPECT_NEAR(grains.positions()[0][2], 0.5, 2e-3);
        EXPECT_NEAR(grains.velocities()[0][2], 0, 2e-3);
    }
    EXPECT_NEAR(grains.velocities()[0][0], 2, 1e-3);
    EXPECT_NEAR(grains.velocities()[0][1], 0.3, 1e-3);
    EXPECT_NEAR(grains.positions()[0][0], 5, 1e-2);
    // Fast enough that an edge ahead would throw it up.
    grains.set_velocity(0, {{-15, 0, 0}}, {{0, -30, 0}});
    for (int k = 0; k < 20; ++k) {
        grains.step(0.01);
        EXPECT_NEAR(grains.velocities()[0][2], 0, 2e-3);
    }
}

// A table that moves takes along what lies on it.
TEST(GrainWorld, AMovingWallCarries) {
    Grains grains;
    GrainWall wall{.triangles = {{0, 1, 2}, {0, 2, 3}},
                   .vertices = {{{-5, -5, 0}}, {{5, -5, 0}}, {{5, 5, 0}}, {{-5, 5, 0}}},
                   .velocity = {{0, 0, 0.5}}};
    const std::uint32_t number = grains.add(wall);
    grains.add(Grain{.position = {{0.3, 0.2, 0.5}}});
    for (int k = 0; k < 100; ++k) grains.step(0.01);
    EXPECT_NEAR(grains.wall(number).position[2], 0.5, 1e-9);
    EXPECT_NEAR(grains.positions()[0][2], 1.0, 0.01);
    grains.move_wall(number, {}, {{0, 0, 1}});
    for (int k = 0; k < 200; ++k) grains.step(0.01);
    EXPECT_NEAR(grains.angular_velocities()[0][2], 0, 0.1);  // a point contact does not spin it
}

void expect_refused(const std::function<void(Grains&)>& call, const char* field,
                    ErrorKind kind = ErrorKind::bad_value) {
    Grains grains;
    const Error e = thrown_by([&] { call(grains); });
    EXPECT_EQ(e.where().field, field);
    EXPECT_EQ(e.kind(), kind) << field;
    EXPECT_EQ(grains.size(), 0u);
}

TEST(GrainWorld, RefusesBadGrains) {
    const auto refused = [](const Grain& g, const char* field) {
        expect_refused([&](Grains& w) { w.add(g); }, field);
        Grains grains;
        const Error e = thrown_by([&] { grains.add(std::vector<Grain>{Grain{}, g}); });
        EXPECT_EQ(e.where().index, 1u);
        EXPECT_EQ(grains.size(), 0u);
    };
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        refused({.radius = bad}, "radius");
        refused({.shape = GrainShape::box, .size = {{1, bad, 1}}}, "size");
        refused({.shape = GrainShape::capsule, .length = bad}, "length");
        refused({.density = bad}, "density");
    }
    for (const double bad : {nan, infinity, -infinity}) {
        refused({.position = {{0, bad, 0}}}, "position");
        refused({.velocity = {{0, 0, bad}}}, "velocity");
        refused({.angular_velocity = {{bad, 0, 0}}}, "angular_velocity");
        refused({.orientation = {1, bad, 0, 0}}, "orientation");
    }
    refused({.orientation = {1, 1, 0, 0}}, "orientation");
    refused({.shape = GrainShape::convex, .hull = 0}, "hull");
    refused({.surface = {.friction = -0.1}}, "friction");
    refused({.surface = {.restitution = 1.1}}, "restitution");
    refused({.surface = {.rolling = nan}}, "rolling");
}

TEST(GrainWorld, RefusesBadWalls) {
    const std::vector<Vec3d> corners = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{2, 0, 0}}};
    expect_refused([](Grains& w) { w.add(GrainPlane{.normal = {{0, 0, 0}}}); }, "normal");
    expect_refused([](Grains& w) { w.add(GrainPlane{.normal = {{0, 0, nan}}}); }, "normal");
    expect_refused([](Grains& w) { w.add(GrainPlane{.offset = infinity}); }, "offset");
    expect_refused([](Grains& w) { w.add(GrainWall{}); }, "triangles");
    expect_refused([&](Grains& w) { w.add(GrainWall{.triangles = {{0, 1, 4}}, .vertices = corners}); }, "triangles");
    expect_refused([&](Grains& w) { w.add(GrainWall{.triangles = {{0, 1, 3}}, .vertices = corners}); }, "triangles");
    expect_refused(
        [&](Grains& w) {
            w.add(GrainWall{.triangles = {{0, 1, 2}}, .vertices = {{{nan, 0, 0}}}});
        },
        "vertices");
    expect_refused([](Grains& w) { w.move_wall(0, {}, {}); }, "wall", ErrorKind::stale_id);
    expect_refused([](Grains& w) { w.set_velocity(0, {}); }, "grain", ErrorKind::stale_id);
    for (const double bad : {0.0, -1.0, nan, infinity}) expect_refused([&](Grains& w) { w.step(bad); }, "dt");
}

TEST(GrainWorld, RefusesBadOptions) {
    const auto refused = [](const GrainOptions& o, const char* field) {
        EXPECT_EQ(thrown_by([&] { Grains grains(o); }).where().field, field);
    };
    refused({.dimension = 4}, "dimension");
    refused({.gravity = {{0, nan, 0}}}, "gravity");
    refused({.dimension = 2}, "gravity");
    refused({.substeps = 0}, "substeps");
    refused({.substeps = 1001}, "substeps");
    refused({.contacts = GrainContacts::hertz}, "stiffness");
    refused({.bounce_speed = -1}, "bounce_speed");
    refused({.sleep_speed = nan}, "sleep_speed");
    refused({.sleep_time = -1}, "sleep_time");
    refused({.margin = 1.5}, "margin");
    Grains flat({.dimension = 2, .gravity = {{0, -gravity, 0}}});
    EXPECT_EQ(thrown_by([&] { flat.add(Grain{.shape = GrainShape::box}); }).kind(), ErrorKind::unsupported);
    EXPECT_EQ(thrown_by([&] { flat.add(Grain{.position = {{0, 0, 1}}}); }).where().field, "position");
    EXPECT_EQ(thrown_by([&] { flat.add(GrainWall{}); }).kind(), ErrorKind::unsupported);
}

TEST(GrainWorld, StopsBetweenSteps) {
    StopSource stop;
    Grains grains({.watch = {.stop = stop, .report = {}}});
    grains.add(Grain{});
    grains.step(0.01);
    stop.request_stop();
    EXPECT_EQ(thrown_by([&] { grains.step(0.01); }).kind(), ErrorKind::stopped);
    EXPECT_EQ(grains.time(), 0.01);
}

TEST(GrainWorld, EmptyOnesStep) {
    Grains grains;
    grains.step(0.1);
    grains.add(ground());
    grains.step(0.1);
    std::vector<GrainContact> contacts(3);
    grains.find_contacts(contacts);
    EXPECT_TRUE(contacts.empty());
    EXPECT_EQ(grains.stats().steps, 2u);
}

}  // namespace
}  // namespace quadrat::test
