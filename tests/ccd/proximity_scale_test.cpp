// Closest points against rational numbers, from the smallest double to the largest, for features of every degeneracy.
#include <quadrat/ccd.hpp>

#include "ccd/closest_oracle.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace quadrat::proximity_scale_test {
namespace {

constexpr ImpactKind kinds[] = {ImpactKind::vertex_face, ImpactKind::edge_edge};

double size_of(const FourPoints& p) {
    double size = 0;
    for (std::size_t i = 1; i < 4; ++i)
        for (int k = 0; k < 3; ++k) size = std::max(size, std::fabs(p[i][k] - p[0][k]));
    return size;
}

double norm(const Vec3d& v) {
    return std::hypot(v[0], v[1], v[2]);
}

// The promises of closest_points().
void expect_right(ImpactKind kind, const FourPoints& p, const std::string& note) {
    const Closest c = closest_points(kind, p);
    const test::Rational square = test::squared_distance(kind, p);
    const double truth = test::root(square), size = size_of(p);
    constexpr double tiny = 0x1p-1074;
    if (square == 0) {
        ASSERT_EQ(c.distance, 0) << note;
    } else if (truth > 4 * tiny) {
        ASSERT_GT(c.distance, 0) << note;
    }
    ASSERT_NEAR(c.distance, truth, std::max(truth * 0x1p-30, tiny)) << note;
    ASSERT_NEAR(c.distance, truth, std::max(size * 0x1p-46, tiny)) << note;
    double sum = 0;
    for (const double w : c.barycentric) {
        ASSERT_GE(w, 0) << note;
        ASSERT_LE(w, 1) << note;
        sum += w;
    }
    ASSERT_NEAR(sum, 2, 4e-15) << note;
    // The points of the weights are that far apart; a weight is rounded, and moves its point by that much.
    const double named = test::root(test::squared_distance_at(kind, p, c.barycentric));
    ASSERT_NEAR(named, truth, std::max({truth * 0x1p-30, size * 0x1p-46, 4 * tiny})) << note;
    if (square > 0) {
        ASSERT_NEAR(norm(c.direction), 1, 1e-14) << note;
    }
}

// Characters of coordinates: whole numbers (full of degeneracy), noise around them, any, and of many scales.
double coordinate(std::mt19937_64& random, int character) {
    std::uniform_real_distribution<double> real(-1, 1);
    const double whole = static_cast<double>(static_cast<int>(random() % 5) - 2);
    switch (character) {
        case 0:
            return whole;
        case 1:
            return whole + (random() % 3 ? 0.0 : real(random) * 1e-15);
        case 2:
            return real(random);
        case 3:
            return std::ldexp(whole, static_cast<int>(random() % 60) - 30);
        case 4:
            return whole + (random() % 3 ? 0.0 : std::ldexp(real(random), -static_cast<int>(random() % 52)));
        default:
            return std::ldexp(real(random), static_cast<int>(random() % 2040) - 1040);
    }
}

FourPoints some_points(std::mt19937_64& random, int character) {
    FourPoints p;
    for (Vec3d& v : p)
        for (double& x : v.v) x = coordinate(random, character);
    switch (random() % 8) {
        case 0:
            p[2] = p[3];
            break;
        case 1:
            p[1] = p[0];
            break;
        case 2:
            for (Vec3d& v : p) v[2] = p[0][2];
            break;
        default:
            break;
    }
    return p;
}

TEST(ProximityScale, AgreesWithRationalNumbers) {
    std::mt19937_64 random(41);
    for (int character = 0; character < 6; ++character)
        for (int i = 0; i < (character == 5 ? test::scaled(30, 30, 4) : test::scaled(200, 100, 20)); ++i) {
            const FourPoints p = some_points(random, character);
            for (const ImpactKind kind : kinds)
                expect_right(kind, p, "character " + std::to_string(character) + " points " + std::to_string(i));
        }
}

// Nearly parallel edges and slivers, whose normal double cannot tell.
TEST(ProximityScale, NearlyParallelEdgesAndSlivers) {
    std::mt19937_64 random(43);
    std::uniform_real_distribution<double> real(-1, 1);
    for (int i = 0; i < test::scaled(600, 300, 30); ++i) {
        FourPoints p;
        Vec3d along, step;
        const double angle = std::ldexp(1, -static_cast<int>(random() % 60));
        const double away = std::ldexp(1, -static_cast<int>(random() % 60));
        for (int k = 0; k < 3; ++k) {
            along[k] = real(random);
            step[k] = away * real(random);
            p[0][k] = real(random);
            p[1][k] = p[0][k] + along[k];
            p[2][k] = p[0][k] + step[k] + angle * real(random) + 0.3 * along[k];
            p[3][k] = p[0][k] + step[k] + angle * real(random) + 0.9 * along[k];
        }
        for (const ImpactKind kind : kinds) expect_right(kind, p, "points " + std::to_string(i));
    }
}

// The same places in all units: the answer is the same up to the unit.
TEST(ProximityScale, FromTheSmallestDoubleToTheLargest) {
    std::mt19937_64 random(47);
    for (int i = 0; i < test::scaled(60, 60, 6); ++i) {
        const FourPoints p = some_points(random, i % 2 ? 0 : 2);
        for (const int exponent : {-1074, -1060, -1000, -600, -260, 260, 600, 1000, 1021})
            for (const ImpactKind kind : kinds) {
                FourPoints q = p;
                for (Vec3d& v : q)
                    for (double& x : v.v) x = std::ldexp(x, exponent);
                expect_right(kind, q, "exponent " + std::to_string(exponent) + " points " + std::to_string(i));
            }
    }
}

TEST(ProximityScale, WhereTheRangeEnds) {
    const FourPoints far = {Vec3d{{0.5, 0.5, 0}}, Vec3d{{0, 0, 1}}, Vec3d{{1, 0, 1}}, Vec3d{{0, 1, 1}}};
    for (const double unit : {1e100, 1e200, 1e300, 1e-100, 1e-300}) {
        FourPoints p = far;
        for (Vec3d& v : p)
            for (double& x : v.v) x *= unit;
        EXPECT_NEAR(closest_points(ImpactKind::vertex_face, p).distance / unit, 1, 1e-12) << unit;
        FourPoints edges = {Vec3d{{0, 0, 0}}, Vec3d{{unit, 0, 0}}, Vec3d{{0, 0, unit}}, Vec3d{{0, unit, unit}}};
        EXPECT_NEAR(closest_points(ImpactKind::edge_edge, edges).distance / unit, 1, 1e-12) << unit;
    }
    // A vertex above the unit face, as near as a double can say.
    for (const double height : {1e-310, 0x1p-1074, 1e-200, 1e-30, 1e-15}) {
        const FourPoints p = {Vec3d{{0.25, 0.25, height}}, Vec3d{{0, 0, 0}}, Vec3d{{1, 0, 0}}, Vec3d{{0, 1, 0}}};
        const Closest c = closest_points(ImpactKind::vertex_face, p);
        EXPECT_EQ(c.distance, height);
        EXPECT_EQ(c.direction, (Vec3d{{0, 0, 1}}));
        EXPECT_EQ(c.barycentric, (std::array<double, 4>{1, 0.5, 0.25, 0.25}));
    }
    const double most = std::numeric_limits<double>::max();
    const Vec3d right{{most, 0, 0}}, left{{-most, 0, 0}};
    EXPECT_EQ(closest_points(ImpactKind::vertex_face, {right, left, left, left}).distance,
              std::numeric_limits<double>::infinity());
    EXPECT_EQ(closest_points(ImpactKind::edge_edge, {left, right, left, right}).distance, 0);
}

// Weights, normal, points and distance of a contact do not depend on the unit, nor on a step of 1e80.
TEST(ProximityScale, ContactsInEveryUnit) {
    for (const int exponent : {-1020, -600, -266, 0, 266, 600, 1000}) {
        const auto place = [&](double x, double y, double z) {
            return Vec3d{{std::ldexp(x, exponent), std::ldexp(y, exponent), std::ldexp(z, exponent)}};
        };
        const std::vector<Vec3d> floor = {place(0, 0, 0), place(1, 0, 0), place(0, 1, 0)};
        const std::vector<Vec3d> above = {place(0.3, 0.3, 1), place(0.3, 0.4, 1), place(0.4, 0.3, 1)};
        std::vector<Vec3d> below = above;
        for (Vec3d& v : below) v[2] = -v[2];
        const std::vector<Triangle> one = {{0, 1, 2}};
        const ContactList list =
            find_contacts({.triangles = one, .start = above, .end = below}, {.triangles = one, .start = floor});
        ASSERT_EQ(list.size(), 3u) << exponent;
        for (const Contact& c : list) {
            EXPECT_NEAR(c.time, 0.5, 1e-6);
            const double x = std::ldexp(above[c.features[0]][0], -exponent);
            const double y = std::ldexp(above[c.features[0]][1], -exponent);
            const std::array<double, 4> weights = {1, 1 - x - y, x, y};
            for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(c.barycentric[i], weights[i], 1e-12) << exponent;
            EXPECT_EQ(c.normal, (Vec3d{{0, 0, 1}})) << exponent;
            EXPECT_LE(std::ldexp(c.distance, -exponent), 1e-5) << exponent;
            EXPECT_NEAR(std::ldexp(c.points[1][0], -exponent), x, 1e-12);
        }
    }
    // A fall by a denormal: the normal is a unit vector.
    const FourPoints start = {Vec3d{{0.25, 0.25, 1e-310}}, Vec3d{{0, 0, 0}}, Vec3d{{1, 0, 0}}, Vec3d{{0, 1, 0}}};
    FourPoints end = start;
    end[0][2] = -1e-310;
    const auto hit = find_impact(ImpactKind::vertex_face, start, end);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->barycentric, (std::array<double, 4>{1, 0.5, 0.25, 0.25}));
    EXPECT_EQ(hit->normal, (Vec3d{{0, 0, 1}}));
}

}  // namespace
}  // namespace quadrat::proximity_scale_test
