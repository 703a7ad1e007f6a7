// A cloth falls on a pyramid and on itself: never a crossing, and it comes to lie on the floor.
#include <quadrat/ccd/proximity.hpp>
#include <quadrat/error.hpp>
#include <quadrat/simulation/cloth.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace quadrat {
namespace {

struct Sheet {
    std::vector<Triangle> triangles;
    std::vector<Vec3d> vertices;
};

Sheet make_sheet(std::uint32_t n, double height) {
    Sheet s;
    for (std::uint32_t i = 0; i <= n; ++i)
        for (std::uint32_t j = 0; j <= n; ++j) {
            s.vertices.push_back({{i / double(n) - 0.5, j / double(n) - 0.47, height + 0.05 * (i / double(n))}});
            if (i && j) {
                const std::uint32_t d = i * (n + 1) + j;
                s.triangles.push_back({d, d - 1, d - n - 1});
                s.triangles.push_back({d - 1, d - n - 2, d - n - 1});
            }
        }
    return s;
}

std::size_t crossings(const Cloth& cloth, const std::vector<Triangle>& obstacle, std::span<const Vec3d> at) {
    std::size_t count = 0;
    const auto x = cloth.positions();
    const auto t = cloth.triangles();
    for (std::size_t i = 0; i < t.size(); ++i) {
        const std::array<Vec3d, 3> a = {x[t[i].a], x[t[i].b], x[t[i].c]};
        for (std::size_t j = i + 1; j < t.size(); ++j) {
            if (std::set<std::uint32_t>{t[i].a, t[i].b, t[i].c, t[j].a, t[j].b, t[j].c}.size() < 6) continue;
            count += triangles_intersect(a, {x[t[j].a], x[t[j].b], x[t[j].c]});
        }
        for (const Triangle& o : obstacle) count += triangles_intersect(a, {at[o.a], at[o.b], at[o.c]});
    }
    return count;
}

TEST(Cloth, IsNeverPenetrated) {
    const Sheet s = make_sheet(8, 0.35);
    Cloth cloth(s.triangles, s.vertices, {.thickness = 0.02, .iterations = 8});
    const std::vector<Triangle> pyramid = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}, {5, 6, 7}, {5, 7, 8}};
    const std::vector<Vec3d> corners = {{{-.2, -.2, 0.01}}, {{.2, -.2, 0.01}}, {{.2, .2, 0.01}},
                                        {{-.2, .2, 0.01}},  {{0, 0, 0.3}},     {{-2, -2, 0}},
                                        {{2, -2, 0}},       {{2, 2, 0}},       {{-2, 2, 0}}};
    cloth.add_obstacle(pyramid, corners);
    for (int step = 0; step < 120; ++step) {
        cloth.step();
        if (step % 10 == 9) {
            ASSERT_EQ(crossings(cloth, pyramid, corners), 0u) << step;
        }
    }
    double lowest = 1;
    for (const Vec3d& v : cloth.positions()) lowest = std::min(lowest, v[2]);
    EXPECT_GT(lowest, 0);
    EXPECT_LT(lowest, 0.1);
}

// How far the middle of a sheet hangs down that is held along two sides.
double sag(std::uint32_t n) {
    Sheet s = make_sheet(n, 0.5);
    for (Vec3d& v : s.vertices) v[2] = 0.5;
    Cloth cloth(s.triangles, s.vertices, {.damping = 10});
    for (std::uint32_t k = 0; k <= n; ++k) {
        cloth.pin(k);
        cloth.pin(n * (n + 1) + k);
    }
    for (int step = 0; step < 60; ++step) cloth.step();
    return 0.5 - cloth.positions()[n / 2 * (n + 1) + n / 2][2];
}

// Sweeps over springs one by one made a sheet of twice as many cells hang twice as far.
TEST(Cloth, AFinerSheetHangsAsFar) {
    const double coarse = sag(12);
    EXPECT_GT(coarse, 0.001);
    EXPECT_LT(coarse, 0.05);
    for (const std::uint32_t n : {24u, 48u}) EXPECT_NEAR(sag(n) / coarse, 1, 0.05) << n;
}

// Up a slope of 20 degrees against friction: a sheet at rest on it stays if the coefficient is above tan 20 = 0.36.
TEST(Cloth, FrictionHoldsItOnASlope) {
    for (const double friction : {0.2, 0.6}) {
        const Sheet s = make_sheet(8, 0);
        const double slope = 20 * 3.14159265358979 / 180, g = 9.81;
        std::vector<Vec3d> flat = s.vertices;
        for (Vec3d& v : flat) v[2] = 0.021;
        Cloth cloth(
            s.triangles, flat,
            {.gravity = {{g * std::sin(slope), 0, -g * std::cos(slope)}}, .thickness = 0.02, .friction = friction});
        cloth.add_obstacle(std::vector<Triangle>{{0, 1, 2}},
                           std::vector<Vec3d>{{{-20, -9, 0}}, {{20, -9, 0}}, {{0, 30, 0}}});
        for (int step = 0; step < 120; ++step) cloth.step();
        const double way = cloth.positions()[40][0] - flat[40][0];
        const double free = 0.5 * g * (std::sin(slope) - friction * std::cos(slope));
        if (friction > std::tan(slope))
            EXPECT_NEAR(way, 0, 0.01);
        else
            EXPECT_NEAR(way, free, 0.25 * free);  // damping takes a part
    }
}

TEST(Cloth, BadInput) {
    const Sheet s = make_sheet(3, 1);
    EXPECT_THROW(Cloth(s.triangles, s.vertices, {.thickness = -1}), Error);
    Cloth cloth(s.triangles, s.vertices);
    EXPECT_THROW(cloth.pin(999), Error);
    EXPECT_THROW(cloth.add_obstacle(s.triangles, s.vertices), Error);  // it starts in contact
    for (const std::uint32_t none : {0u, 1u, 0xffffffffu}) {           // the last is not the cloth itself
        EXPECT_THROW(cloth.move_obstacle(none, s.vertices), Error);
        EXPECT_THROW(cloth.restore_obstacle(none, s.vertices), Error);
        EXPECT_THROW((void)cloth.obstacle(none), Error);
    }
    const std::vector<Triangle> blade = {{0, 1, 2}};
    const std::vector<Vec3d> through = {{{0.1, 0.03, 0.5}}, {{0.11, 0.04, 1.5}}, {{0.9, 0.9, 1.7}}};
    EXPECT_THROW(cloth.add_obstacle(blade, through), Error);  // it starts across the cloth, without touching any vertex
}

}  // namespace
}  // namespace quadrat
